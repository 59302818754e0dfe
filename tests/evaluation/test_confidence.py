"""What is kept at each least confidence, counted by hand, and the picture of it."""

import pytest

from miner.app.plots.evaluation import reliability_plot, save_figure, tradeoff_plot
from miner.evaluation.confidence import measure_tradeoff
from miner.evaluation.pair_errors import JudgedPair, JudgedPairs
from miner.evaluation.reliability import Bin

# chapter, confidence, right
MINED = [(1, 0.9, True), (1, 0.4, False), (2, 0.8, True), (2, 0.6, False), (2, 0.5, True)]


def judged(mined=MINED, gold=None):
    pairs = (JudgedPair("7", c, sure, "" if right else "half a turn") for c, sure, right in mined)
    return JudgedPairs(tuple(pairs), gold or {("7", 1): 2, ("7", 2): 3})


def test_what_is_kept():
    rows = measure_tradeoff(judged(), (0.0, 0.5, 0.7, 0.95), resamples=50)
    assert [row.n_pairs for row in rows] == [5, 4, 2, 0]
    assert [row.share for row in rows] == pytest.approx([1, 0.8, 0.4, 0])
    assert [row.precision.value for row in rows] == [0.6, 0.75, 1.0, None]
    assert [row.recall.value for row in rows] == [0.6, 0.6, 0.4, 0.0]


def test_intervals_are_of_chapters():
    (row,) = measure_tradeoff(judged(), (0.0,), resamples=500)
    # Chapter 1 alone has 1 of 2 right, chapter 2 alone 2 of 3.
    assert (row.precision.low, row.precision.high) == pytest.approx((1 / 2, 2 / 3))
    assert row.to_json()["precision"]["value"] == 0.6


def test_a_chapter_without_pairs_counts():
    (row,) = measure_tradeoff(judged(gold={("7", 1): 2, ("7", 2): 3, ("7", 3): 5}), (0.0,))
    assert row.recall.value == 0.3
    assert row.recall.low is not None and row.recall.low < 0.3


def test_tags_without_confidence_are_refused():
    with pytest.raises(ValueError, match="expected those of a checkpoint"):
        measure_tradeoff(judged([(1, None, True)]))


def test_nothing_mined_is_refused():
    with pytest.raises(ValueError, match="found no mined pair"):
        measure_tradeoff(judged([]))


def test_pictures(tmp_path):
    save_figure(tradeoff_plot(measure_tradeoff(judged()), "dev"), tmp_path / "a.png", False)
    save_figure(reliability_plot([Bin(0.9, 1.0, 5, 0.95, 0.8)], "dev"), tmp_path / "b.svg", False)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "b.svg").read_bytes()


def test_a_picture_of_no_known_kind(tmp_path):
    figure = reliability_plot([Bin(0.9, 1.0, 5, 0.95, 0.8)], "dev")
    with pytest.raises(ValueError, match="found ending '.doc', expected one such as .png"):
        save_figure(figure, tmp_path / "a.doc", False)
    assert not (tmp_path / "a.doc").exists()


def test_points_of_the_picture_are_the_rows():
    rows = measure_tradeoff(judged(), (0.0, 0.7))
    (axes,) = tradeoff_plot(rows, "dev").axes
    x, y = axes.lines[0].get_data()
    assert list(x) == pytest.approx([100, 40])
    assert list(y) == [0.6, 1.0]
