"""The temperature that makes confidence the share of correct tags, and the expected error."""

from functools import cache

import numpy as np
import pytest
from models_helpers import sequences, sums

from miner.errors import InputError
from miner.lab.training.tagger.model_selection import fit_temperature, fit_weight
from miner.speech.tags import TAGS
from miner.tagger.decoding import viterbi

N = 6  # utterances of a chapter, which has 243 allowed sequences


@cache
def drawn(n_chapters, seed=0):
    """Scores, and gold tags that are drawn with the probabilities of the scores."""
    random = np.random.default_rng(seed)
    scores, tags = [], []
    for _ in range(n_chapters):
        rows = random.normal(0, 1.5, (N, 4))
        totals = sums(rows)
        shares = np.exp(totals - totals.max())
        chosen = random.choice(len(totals), p=shares / shares.sum())
        scores.append(rows.astype(np.float32))
        tags.append(sequences(N)[chosen].astype(np.int64))
    return scores, tags


@cache
def drawn_temperature():
    return fit_temperature(*drawn(200))


def test_calibrated_scores_have_the_temperature_1():
    found = drawn_temperature()
    assert found.temperature == pytest.approx(1, abs=0.12)
    assert found.error_before < 0.05
    assert found.error_after < 0.05


@pytest.mark.parametrize("factor", [0.4, 3.0])
def test_a_factor_of_the_scores_is_found(factor):
    scores, tags = drawn(200)
    right = drawn_temperature()
    found = fit_temperature([factor * rows for rows in scores], tags)
    assert (found.temperature > 1) == (factor > 1)
    assert found.temperature == pytest.approx(factor * right.temperature, rel=0.02)
    assert found.error_after < found.error_before / 2
    assert found.error_after == pytest.approx(right.error_after, abs=0.01)


def test_unfounded_confidence_gets_a_high_temperature():
    # High confidence in tags that do not depend on the scores.
    random = np.random.default_rng(5)
    scores = [rows * 5 for rows, _ in zip(*drawn(60), strict=True)]
    tags = [sequences(N)[random.integers(len(sequences(N)))] for _ in scores]
    found = fit_temperature(scores, tags)
    assert found.temperature > 5
    assert found.error_after < found.error_before - 0.2


def test_bins_add_up():
    scores, tags = drawn(30)
    scores = [3 * rows for rows in scores]
    # Chapters of other lengths, and one without an utterance.
    scores += [scores[0][:1], scores[1][:3], scores[2][:0]]
    tags = [*tags, tags[0][:1], tags[1][:3], tags[2][:0]]
    found = fit_temperature(scores, tags)
    n = sum(map(len, tags))
    assert sum(item.n for item in found.bins) == n == 30 * N + 4
    assert all(item.n > 0 for item in found.bins)
    for item in found.bins:
        assert item.high == pytest.approx(item.low + 0.1)
        assert item.low <= item.confidence <= item.high + 1e-9
        assert 0 <= item.accuracy <= 1
    assert [item.low for item in found.bins] == sorted({item.low for item in found.bins})
    right = sum(
        TAGS.index(tag) == gold
        for rows, of_chapter in zip(scores, tags, strict=True)
        for tag, gold in zip(viterbi(rows), of_chapter, strict=True)
    )
    assert sum(item.n * item.accuracy for item in found.bins) == pytest.approx(right)
    error = sum(item.n * abs(item.confidence - item.accuracy) for item in found.bins) / n
    assert found.error_after == pytest.approx(error)


def test_one_utterance_is_enough():
    found = fit_temperature([np.zeros((1, 4))], [np.array([0])])
    (only,) = found.bins
    assert (only.low, only.high, only.n, only.confidence, only.accuracy) == (0.9, 1.0, 1, 1.0, 1.0)
    assert found.error_before == found.error_after == 0


@pytest.mark.parametrize("chapters", [0, 2])
def test_no_utterance_is_refused(chapters):
    with pytest.raises(InputError) as error:
        fit_temperature([np.zeros((0, 4))] * chapters, [np.zeros(0, np.int64)] * chapters)
    assert str(error.value) == "found no utterance, expected some to calibrate on"


@pytest.mark.parametrize("share", [0.0, 0.35, 1.0])
@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_the_weight_of_the_best_mixture_is_found(share, factor):
    random = np.random.default_rng(7)
    mixed, noise = random.normal(0, 3, (2, 20_000))
    right = random.random(len(mixed)) < 1 / (1 + np.exp(-mixed))
    one, other = noise, mixed
    if share:
        one, other = (mixed - (1 - share) * noise) / share, noise
    # The confidence of the two does not matter.
    assert fit_weight(factor * one, factor * other, right) == pytest.approx(share, abs=0.051)


def test_the_offset_of_starts_leaves_the_temperature():
    scores, tags = drawn(60)
    plain, found = fit_temperature(scores, tags), fit_temperature(scores, tags, start_offset=3.0)
    assert found.temperature == plain.temperature
    low = [sum(item.n for item in of.bins if item.high <= 0.5) for of in (plain, found)]
    assert low[1] > low[0]
