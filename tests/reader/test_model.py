"""The model of the reader: what it reads, how chapters are read together, its pointer and parts."""

import numpy as np
import pytest
import torch
from encoders import KINDS
from readers import SIZES, read_chapter, reader_of
from torch import nn

from miner.people.chain import Way
from miner.reader.batch import Batch, Padded, group_by_tokens, join_chapters
from miner.reader.config import ReadingConfig
from miner.reader.model import Pointer
from miner.reader.reader import score_chapters
from miner.reader.units import NO_ONE

CPU = torch.device("cpu")


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_every_utterance_and_candidate_has_scores(kind):
    model = reader_of(kind)
    chapter = read_chapter(model, 0, kind)
    (scores,) = score_chapters(model, [chapter])
    n = len(chapter.candidates.spans)
    assert scores.tags.shape == (n, 4)
    assert scores.candidates.shape == (sum(map(len, chapter.candidates.candidates)), len(Way))
    assert np.isfinite(scores.tags).all() and np.isfinite(scores.candidates).all()
    assert (scores.tags[:, 1] == scores.tags[:, 3]).all()  # the same turn


@pytest.mark.parametrize("shape", [{}, {"units": "none"}, {"features": False}, {"layers": 2}])
def test_chapters_have_the_same_scores_alone_and_together(shape):
    model = reader_of(**shape)
    chapters = [read_chapter(model, number) for number in (0, 1, 3)]
    for alone, together in zip(
        [score_chapters(model, [chapter])[0] for chapter in chapters],
        score_chapters(model, chapters),
        strict=True,
    ):
        close(together.tags, alone.tags)
        close(together.candidates, alone.candidates)


def test_a_window_that_holds_a_chapter_reads_it_at_once():
    model = reader_of(window=512, overlap=0)
    chapter = read_chapter(model, 0)
    (window, *others) = chapter.encoding.windows
    assert (len(window.ids) == len(chapter.units.tokens) + 2) == (not others)


def test_marks_have_vectors_of_their_own():
    model = reader_of()
    chapter = read_chapter(model, 0)
    before = model.read_tokens(chapter.encoding)
    with torch.no_grad():
        model.marks.weight[0].mul_(-1)
    after = model.read_tokens(chapter.encoding)
    assert (before - after).abs().max() > 1e-3
    assert before.shape == (len(chapter.units.tokens), model.encoder.config.hidden_size)


@pytest.mark.parametrize("units", ["lstm", "none"])
def test_units_read_one_another_only_through_the_lstm(units):
    """The encoder is put out: units differ by their kind alone."""
    model = reader_of(units=units, features=False)
    chapter = read_chapter(model, 0)
    with torch.no_grad():
        for part in (model.utterance, model.mention):
            part.weight.zero_()
    (scores,) = score_chapters(model, [chapter])
    assert (np.ptp(scores.tags, axis=0).max() > 1e-3) == (units == "lstm")


def test_features_are_read_only_if_the_config_says_so():
    for features in (True, False):
        model = reader_of(features=features)
        chapter = read_chapter(model, 0)
        (scores,) = score_chapters(model, [chapter])
        chapter.structure[:] = 1.0 - chapter.structure
        (changed,) = score_chapters(model, [chapter])
        chapter.structure[:] = 1.0 - chapter.structure
        assert (np.abs(scores.tags - changed.tags).max() > 1e-3) == features


def test_the_pointer_sums_over_the_mentions_of_a_person():
    rng = np.random.default_rng(0)
    n_chapters, n_units, n_people, width = 2, 9, 4, 6
    config = ReadingConfig(**SIZES)
    torch.manual_seed(0)
    pointer = Pointer(width, config)
    nn.init.normal_(pointer.distance.weight)
    states = torch.randn(n_chapters, n_units, width)
    mentions = torch.tensor([[0, 2, 3, 7], [1, 4, 0, 0]])
    is_there = torch.tensor([[True] * 4, [True, True, False, False]])
    people = torch.tensor([[2, 0, 2, 1], [3, 3, n_people, n_people]])
    asking = Padded(torch.tensor([[3, 5], [4, 8]]), torch.ones(2, 2, dtype=torch.bool))
    queries = torch.from_numpy(rng.normal(size=(2, 2, config.pointer)).astype(np.float32))
    given = {name: None for name in Batch._fields}
    given |= {"mentions": Padded(mentions, is_there), "people": people, "n_people": n_people}
    found = pointer(queries, asking, states, Batch(**given)).detach()
    for chapter in range(2):
        keys = pointer.key(states[chapter]).detach()
        for row, place in enumerate(asking.positions[chapter].tolist()):
            sums = np.full(n_people, np.exp(pointer.floor.item()))
            for number, there, person in zip(
                mentions[chapter].tolist(),
                is_there[chapter].tolist(),
                people[chapter].tolist(),
                strict=True,
            ):
                if there and number != place:
                    away = pointer.distance.weight[number - place + 80].item()
                    product = (queries[chapter, row] @ keys[number]).item()
                    sums[person] += np.exp(product / config.pointer**0.5 + away)
            close(found[chapter, row].numpy(), np.log(sums))


def test_evidence_of_a_candidate_is_that_of_its_person():
    model = reader_of()
    chapters = [read_chapter(model, number) for number in (0, 1)]
    batch = join_chapters(chapters, CPU)
    most = batch.utterances.positions.shape[1]
    places = iter(batch.evidence.tolist())
    for n, chapter in enumerate(chapters):
        for row, numbers in enumerate(chapter.candidates.candidates):
            for number in numbers:
                assert next(places) == (n * most + row) * batch.n_people + number
    known = [int((chapter.units.people != NO_ONE).sum()) for chapter in chapters]
    assert batch.mentions.is_there.sum(dim=1).tolist() == known


def test_groups_hold_all_chapters_and_few_tokens():
    assert list(group_by_tokens([5, 6, 20, 1, 1, 9], 11)) == [[0, 1], [2], [3, 4, 5]]
    assert list(group_by_tokens([], 11)) == []
