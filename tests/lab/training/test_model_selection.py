"""What is fitted on dev: the best epoch, the weight of each expert, the offset of B-START."""

import numpy as np
import pytest
import torch
from encoders import model_of, plain_of
from helpers import ROOT
from models_helpers import read_sample

from miner.lab.training.tagger.encoded_chapters import ChapterEncoder
from miner.lab.training.tagger.model_selection import (
    BestEpoch,
    evaluate_epoch,
    fit_shares,
    fit_start_offset,
    goal_of,
    mean_loss,
    mix_experts,
    score_chapters,
    score_decoded,
    trained_experts,
)
from miner.lab.training.tagger.training import sequence_loss
from miner.lab.training.tagger.training_data import read_examples
from miner.tagger.config import Expert


@pytest.fixture(scope="module")
def gold():
    return read_examples(ROOT / "annotations", "sample", read_sample)


def best_of(epochs):
    best = BestEpoch()
    for n, (goal, loss) in enumerate(epochs):
        best = best.compare(n, goal, loss)
    return best


@pytest.mark.parametrize(
    ("epochs", "kept"),
    [
        ([(0.80, 0.19), (0.83, 0.18), (0.84, 0.17)], 2),  # better in both
        ([(0.80, 0.19), (0.83, 0.20)], 1),  # much better, so the loss does not count
        ([(0.83, 0.19), (0.84, 0.20)], 0),  # a little better may be luck
        ([(0.84, 0.19), (0.83, 0.18)], 1),  # a little worse may be bad luck
        ([(0.84, 0.19), (0.81, 0.18)], 0),
        # After many small steps down, an epoch is compared with the highest goal.
        ([(0.84, 0.19), (0.83, 0.18), (0.815, 0.17)], 1),
        ([(0.84, 0.19), (0.85, 0.20), (0.825, 0.18)], 0),
    ],
)
def test_the_best_epoch(epochs, kept):
    best = best_of(epochs)
    assert best.epoch == kept
    assert (best.goal, best.loss) == epochs[kept]
    assert best.highest == max(goal for goal, _ in epochs)


def scores_by_hand(opens, continues):
    """Scores (n, 4) with the given log-odds of both questions."""
    log = torch.nn.functional.logsigmoid
    rest = log(torch.tensor(-opens))
    same_turn = rest + log(torch.tensor(continues))
    new_turn = rest + log(torch.tensor(-continues))
    return torch.stack([log(torch.tensor(opens)), same_turn, new_turn, same_turn], dim=1).numpy()


def test_each_expert_has_a_weight_for_each_question():
    random = np.random.default_rng(3)
    opens, continues, *noise = random.normal(0, 3, (4, 4000))
    drawn = [random.random(4000) < 1 / (1 + np.exp(-odds)) for odds in (opens, continues)]
    tags = np.where(drawn[0], 0, np.where(drawn[1], 3, 2))
    # The text knows of conversations, the structure of turns.
    text, structure = scores_by_hand(opens, noise[0]), scores_by_hand(noise[1], continues)
    alone = {Expert.STRUCTURE: [structure[:1000], structure[1000:]]}
    alone[Expert.TEXT] = [text[:1000], text[1000:]]
    model = model_of()
    fit_shares(model, alone, [tags[:1000], tags[1000:]])
    assert model.config.start_share > 0.9 and model.config.turn_share < 0.1
    mixed = mix_experts(model, alone)
    assert [len(rows) for rows in mixed] == [1000, 3000]
    right = np.arange(4000), tags
    assert np.concatenate(mixed)[right].mean() > max(text[right].mean(), structure[right].mean())


def test_a_single_expert_is_not_mixed():
    model, rows = model_of(), [np.zeros((3, 4), np.float32)]
    fit_shares(model, {Expert.TEXT: rows}, [np.zeros(3, np.int64)])
    assert mix_experts(model, {Expert.TEXT: rows}) is rows
    assert model.config.start_share == model_of().config.start_share


def test_the_structure_is_trained_before_the_text():
    assert trained_experts(model_of(), Expert.STRUCTURE) == [Expert.STRUCTURE]
    assert trained_experts(model_of()) == [Expert.STRUCTURE, Expert.TEXT]
    assert trained_experts(model_of(features=False)) == [Expert.TEXT]


def test_the_offset_of_starts_is_the_best_that_was_tried(gold):
    random = np.random.default_rng(2)
    rows = [
        np.eye(4)[item.tags] * 2 + random.normal(0, 1, (len(item.tags), 4))
        for item in gold.examples
    ]
    for item in rows:
        item[:, 0] -= 3.0  # the model doubts starts

    def goal_at(offset):
        return goal_of(score_decoded(gold, rows, "sample", start_offset=offset).total.end_to_end)

    found = fit_start_offset(gold, rows)
    assert 0.5 < found <= 2.0
    assert goal_at(found) == pytest.approx(max(goal_at(step / 10) for step in range(-5, 21)))
    assert goal_at(found) > goal_at(0.0)


def test_of_equally_good_offsets_the_one_nearest_to_zero_is_taken(gold):
    rows = [np.eye(4)[item.tags] * 100 for item in gold.examples]
    assert fit_start_offset(gold, rows) == 0.0
    measures = score_decoded(gold, rows, "sample").total.end_to_end
    assert goal_of(measures) == 1.0  # the gold tags are decoded


def test_the_goal_is_the_mean_of_two_f1(gold):
    random = np.random.default_rng(4)
    rows = [random.normal(0, 1, (len(item.tags), 4)) for item in gold.examples]
    measures = score_decoded(gold, rows, "sample").total.end_to_end
    f1 = [measures[name].value for name in ("B-START.f1", "turn-pair.f1")]
    assert goal_of(measures) == pytest.approx(sum(f1) / 2)


def test_the_mean_loss_is_per_utterance(gold):
    rows = [np.random.default_rng(5).normal(0, 1, (len(e.tags), 4)) for e in gold.examples]
    total = sum(
        float(sequence_loss(torch.from_numpy(item), torch.from_numpy(e.tags))) * len(e.tags)
        for item, e in zip(rows, gold.examples, strict=True)
    )
    n = sum(len(example.tags) for example in gold.examples)
    assert mean_loss(gold, rows) == pytest.approx(total / n)


def test_an_epoch_is_evaluated_on_dev(gold):
    model = model_of()
    chapters = ChapterEncoder(model, plain_of()).encode(gold.examples)
    model.train()
    experts = trained_experts(model)
    result = evaluate_epoch(model, chapters, gold, "sample", experts, torch.float32)
    assert not model.training
    assert list(result.losses) == ["structure", "text", "mixture"]
    alone = score_chapters(model, chapters, [Expert.TEXT])
    assert result.losses["text"] == pytest.approx(mean_loss(gold, alone), abs=1e-6)
    both = score_chapters(model, chapters, experts)  # with the weights that were fitted
    assert result.losses["mixture"] == pytest.approx(mean_loss(gold, both), abs=1e-5)
    offset = fit_start_offset(gold, both)
    expected = score_decoded(gold, both, "sample", start_offset=offset)
    assert goal_of(result.scores.total.end_to_end) == pytest.approx(
        goal_of(expected.total.end_to_end)
    )


def test_the_structure_alone_does_not_depend_on_the_encoder(gold):
    model = model_of()
    chapters = ChapterEncoder(model, plain_of()).encode(gold.examples[:2])
    alone = score_chapters(model, chapters, [Expert.STRUCTURE])
    both = score_chapters(model, chapters, list(Expert))
    with torch.no_grad():
        for weight in model.encoder.parameters():
            weight.mul_(-3.0)
    again = score_chapters(model, chapters, [Expert.STRUCTURE])
    assert all((a == b).all() for a, b in zip(alone, again, strict=True))
    mixed = score_chapters(model, chapters, list(Expert))
    assert any((a != b).any() for a, b in zip(both, mixed, strict=True))
