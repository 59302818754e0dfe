"""The pairs that are kept at each minimum confidence, counted by hand."""

import pytest
from msgspec import to_builtins

from miner.annotation.matching import JudgedPair, JudgedPairs
from miner.errors import InputError
from miner.lab.measure.confidence import measure_tradeoff

# chapter, confidence, right
MINED = [(1, 0.9, True), (1, 0.4, False), (2, 0.8, True), (2, 0.6, False), (2, 0.5, True)]


def judged(mined=MINED, n_gold=None):
    pairs = (JudgedPair("7", c, sure, "" if right else "half a turn") for c, sure, right in mined)
    return JudgedPairs(tuple(pairs), n_gold or {("7", 1): 2, ("7", 2): 3})


def test_pairs_kept_at_each_confidence():
    rows = measure_tradeoff(judged(), (0.0, 0.5, 0.7, 0.95), resamples=50)
    assert [row.n_pairs for row in rows] == [5, 4, 2, 0]
    assert [row.share for row in rows] == pytest.approx([1, 0.8, 0.4, 0])
    assert [row.precision.value for row in rows] == [0.6, 0.75, 1.0, None]
    assert [row.recall.value for row in rows] == [0.6, 0.6, 0.4, 0.0]


def test_intervals_come_from_resampled_chapters():
    (row,) = measure_tradeoff(judged(), (0.0,), resamples=500)
    # Chapter 1 alone has 1 of 2 right, chapter 2 alone 2 of 3.
    assert (row.precision.low, row.precision.high) == pytest.approx((1 / 2, 2 / 3))
    assert to_builtins(row)["precision"]["value"] == 0.6


def test_a_chapter_without_pairs_counts():
    (row,) = measure_tradeoff(judged(n_gold={("7", 1): 2, ("7", 2): 3, ("7", 3): 5}), (0.0,))
    assert row.recall.value == 0.3
    assert row.recall.low is not None and row.recall.low < 0.3


def test_tags_without_confidence_are_refused():
    with pytest.raises(InputError, match="expected those of a checkpoint"):
        measure_tradeoff(judged([(1, None, True)]))


def test_without_confidence_all_pairs_are_measured_together():
    (row,) = measure_tradeoff(judged([(1, None, True), (1, None, False)]), (0.0,))
    assert (row.n_pairs, row.share, row.precision.value) == (2, 1.0, 0.5)


def test_nothing_mined_is_refused():
    with pytest.raises(InputError, match="found no mined pair"):
        measure_tradeoff(judged([]))
