"""The losses: the log-probability among all allowed sequences, pairs of speakers, chapters."""

from itertools import product

import numpy as np
import pytest
import torch
from models_helpers import sequences, sums

from miner.lab.training.tagger.training import chapters_loss, sequence_loss, speaker_loss
from miner.tagger.model import SequenceScores


@pytest.mark.parametrize("n", range(1, 6))
def test_the_loss_is_the_log_probability_among_all_allowed_sequences(n):
    rows = np.random.default_rng(n).normal(0, 3, (n, 4))
    totals = sums(rows)
    log_share = totals - np.log(np.exp(totals - totals.max()).sum()) - totals.max()
    for tags, expected in zip(sequences(n), log_share, strict=True):
        loss = sequence_loss(torch.tensor(rows), torch.from_numpy(tags))
        assert loss.item() == pytest.approx(-expected / n)
    # The probabilities of all allowed sequences add up to 1.
    losses = [float(sequence_loss(torch.tensor(rows), torch.from_numpy(t))) for t in sequences(n)]
    assert np.exp(-n * np.array(losses)).sum() == pytest.approx(1)


@pytest.mark.parametrize("height", [0, 1, 1000])
def test_the_gradient_of_the_loss_is_finite(height):
    for n, seed in product((1, 2, 40), range(3)):
        generator = torch.Generator().manual_seed(seed)
        scores = (height * torch.randn(n, 4, generator=generator)).requires_grad_()
        tags = torch.tensor([0, *[2, 3] * n][:n])
        loss = sequence_loss(scores, tags)
        loss.backward()
        assert torch.isfinite(loss) and loss >= -1e-4
        assert torch.isfinite(scores.grad).all()
        # The gradient raises one score by what it lowers the others.
        assert scores.grad.sum(1).abs().max() < 1e-3


def test_a_step_against_the_gradient_makes_the_gold_tags_more_probable():
    scores = torch.randn(6, 4, generator=torch.Generator().manual_seed(3)).requires_grad_()
    tags = torch.tensor([0, 1, 2, 3, 0, 2])
    before = sequence_loss(scores, tags)
    before.backward()
    after = sequence_loss(scores.detach() - scores.grad, tags)
    assert after < before


def test_speakers_are_compared_within_reach():
    alike = torch.randn(12, 8, generator=torch.Generator().manual_seed(3))
    speakers = torch.tensor([0, 1, 0, 1, 0, -1, 0, 1, 0, 1, 2, 2])
    pairs = [
        (i, j)
        for i in range(12)
        for j in range(i + 1, min(i + 9, 12))
        if speakers[i] >= 0 and speakers[j] >= 0
    ]
    scores = torch.stack([alike[j, j - i - 1] for i, j in pairs])
    same = torch.tensor([float(speakers[i] == speakers[j]) for i, j in pairs])
    expected = torch.nn.functional.binary_cross_entropy_with_logits(scores, same)
    assert torch.allclose(speaker_loss(alike, speakers), expected, atol=1e-6)


@pytest.mark.parametrize("speakers", [[0], [], [-1, -1, -1], [0, -1]])
def test_without_two_known_speakers_there_is_nothing_to_compare(speakers):
    alike = torch.randn(len(speakers), 8, requires_grad=True)
    loss = speaker_loss(alike, torch.tensor(speakers, dtype=torch.long))
    assert loss.item() == 0
    loss.backward()


SCORES = torch.randn(5, 4, generator=torch.Generator().manual_seed(1))
ALIKE = torch.randn(5, 8, generator=torch.Generator().manual_seed(2))
TAGS, SPEAKERS = torch.tensor([0, 2, 3, 0, 1]), torch.tensor([0, 1, 1, 2, 2])


def test_the_loss_of_a_chapter_is_the_sum_over_its_utterances():
    found = chapters_loss([[SequenceScores(SCORES, ALIKE)]], [TAGS], [SPEAKERS], 0.0, 0.0)
    assert torch.allclose(found, 5 * sequence_loss(SCORES, TAGS))


def test_a_start_weight_raises_the_other_tags_where_the_gold_is_a_start():
    plain = chapters_loss([[SequenceScores(SCORES, None)]], [TAGS], [SPEAKERS], 0.0, 0.0)
    raised = SCORES.clone()
    for n in (0, 3):
        raised[n, 1:] += 0.5
    found = chapters_loss([[SequenceScores(SCORES, None)]], [TAGS], [SPEAKERS], 0.5, 0.0)
    assert torch.allclose(found, 5 * sequence_loss(raised, TAGS)) and found > plain


def test_a_speaker_weight_adds_the_speaker_loss_if_the_text_was_read():
    plain = 5 * sequence_loss(SCORES, TAGS)
    found = chapters_loss([[SequenceScores(SCORES, ALIKE)]], [TAGS], [SPEAKERS], 0.0, 0.5)
    assert torch.allclose(found, plain + 2.5 * speaker_loss(ALIKE, SPEAKERS))
    found = chapters_loss([[SequenceScores(SCORES, None)]], [TAGS], [SPEAKERS], 0.0, 0.5)
    assert torch.allclose(found, plain)


def test_the_tags_of_several_sequences_are_one_sequence():
    parts = [SequenceScores(SCORES[:2], ALIKE[:2]), SequenceScores(SCORES[2:], ALIKE[2:])]
    found = chapters_loss([parts], [TAGS], [SPEAKERS], 0.0, 0.5)
    speakers = 0.5 * (2 * speaker_loss(ALIKE[:2], SPEAKERS[:2]))
    speakers += 0.5 * (3 * speaker_loss(ALIKE[2:], SPEAKERS[2:]))
    assert torch.allclose(found, 5 * sequence_loss(SCORES, TAGS) + speakers)


def test_chapters_side_by_side_have_the_loss_and_the_gradients_that_they_have_alone():
    generator = torch.Generator().manual_seed(4)
    chapters = []
    for n, cuts in ((7, [7]), (1, [1]), (30, [12, 18]), (64, [64])):
        scores = torch.randn(n, 4, generator=generator, requires_grad=True)
        alike = torch.randn(n, 8, generator=generator, requires_grad=True)
        tags = torch.tensor([0, *[2, 3] * n][:n])
        speakers = torch.randint(-1, 3, (n,), generator=generator)
        parts = [
            SequenceScores(*both)
            for both in zip(scores.split(cuts), alike.split(cuts), strict=True)
        ]
        chapters.append((parts, tags, speakers, scores, alike))

    def loss_of(some):
        parts, tags, speakers, *_ = zip(*some, strict=True)
        return chapters_loss(parts, tags, speakers, 0.3, 0.5)

    together = loss_of(chapters)
    together.backward()
    found = [leaf.grad.clone() for *_, scores, alike in chapters for leaf in (scores, alike)]
    for *_, scores, alike in chapters:
        scores.grad = alike.grad = None
    alone = [loss_of([chapter]) for chapter in chapters]
    torch.stack(alone).sum().backward()
    expected = [leaf.grad for *_, scores, alike in chapters for leaf in (scores, alike)]
    assert torch.allclose(together, torch.stack(alone).sum(), rtol=1e-6)
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


SOFT = torch.tensor([[1.0, 0.0], [0.25, 0.5], [0.0, 1.0], [0.5, 0.0]])
EVEN = torch.log(torch.tensor([[0.5, 0.25, 0.25, 0.25]] * 4))  # opens, goes on, another turn


def loss_of(scores, tags, soft, share, **given):
    speakers = [torch.full((len(item),), -1) for item in tags]
    parts = [[SequenceScores(item, None)] for item in scores]
    return chapters_loss(parts, tags, speakers, given.get("start_weight", 0.0), 0.0, soft, share)


def test_the_loss_of_soft_labels_by_hand():
    """Bits of each utterance after the first: 1/4 + 3/4 * 2, 2, and 1/2 + 1/2 * 2."""
    tags = torch.tensor([0, 1, 2, 0])  # of 2, 2 and 1 bits
    half = np.log(2)
    for share, bits in ((1.0, 1.75 + 2 + 1.5), (0.0, 5.0), (0.25, 0.75 * 5 + 0.25 * 5.25)):
        found = loss_of([EVEN], [tags], [SOFT], share)
        assert found.item() == pytest.approx(bits * half, rel=1e-5)


def test_teachers_alone_teach_a_chapter_without_tags():
    unknown = torch.full((4,), -1)
    found = loss_of([EVEN], [unknown], [SOFT.half()], 1.0, start_weight=0.5)
    assert found.item() == pytest.approx(5.25 * np.log(2), rel=1e-5)


def test_certain_labels_teach_what_the_tags_teach():
    certain = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    scores = SCORES[:, [0, 1, 2, 1]]  # as a model gives them: a turn goes on, whoever speaks
    found = [loss_of([scores], [TAGS], [certain], share) for share in (1.0, 0.0)]
    assert torch.allclose(*found, rtol=1e-5)


def test_chapters_side_by_side_learn_of_teachers_what_they_learn_alone():
    sizes = (3, 1, 20)
    generator = torch.Generator().manual_seed(6)
    scores = [torch.randn(n, 4, generator=generator, requires_grad=True) for n in sizes]
    soft = [torch.rand(n, 2, generator=generator) for n in sizes]
    tags = [torch.tensor([0, *[2] * (n - 1)]) for n in sizes]
    together = loss_of(scores, tags, soft, 0.5)
    alone = [
        loss_of(*([item] for item in chapter), 0.5)
        for chapter in zip(scores, tags, soft, strict=True)
    ]
    assert torch.allclose(together, torch.stack(alone).sum(), rtol=1e-6)
    together.backward()
    assert all(torch.isfinite(item.grad).all() for item in scores)
