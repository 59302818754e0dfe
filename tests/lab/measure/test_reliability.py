"""How often tags are right by their confidence, counted by hand."""

import pytest
import scipy.stats
from helpers import book

from miner.annotation.matching import match_tags
from miner.lab.measure.confidence import Bin, join_small_bins, measure_reliability
from miner.speech.tags import TaggedBook, TaggedSpan


def test_bins_of_confidence():
    gold, guess = book("SRRR"), book("SSRR")
    sure = (0.95, 0.35, 0.91, None)
    spans = (TaggedSpan(item.span, item.tag, c) for item, c in zip(guess.spans, sure, strict=True))
    bins = measure_reliability(match_tags([gold], [TaggedBook("7", tuple(spans))]))
    assert bins == (Bin(0.3, 0.4, 1, 0.35, 0.0), Bin(0.9, 1.0, 2, pytest.approx(0.93), 1.0))
    assert measure_reliability(match_tags([gold], [guess])) == ()


@pytest.mark.parametrize(
    ("sizes", "joined"),
    [
        ((), ()),
        ((3,), (3,)),  # all that there is
        ((1, 1, 6, 1, 1, 12, 5, 153), (10, 12, 158)),
        ((1, 20), (21,)),
        ((20, 1, 1), (22,)),
        ((10, 10, 9), (10, 19)),
    ],
)
def test_no_bin_is_small(sizes, joined):
    tenths = [Bin(n / 10, (n + 1) / 10, size, n / 10, 1.0) for n, size in enumerate(sizes)]
    found = join_small_bins(tenths)
    assert tuple(item.n for item in found) == joined
    assert [item.low for item in found[1:]] == [item.high for item in found[:-1]]
    for part in ("confidence", "accuracy"):
        sums = [sum(item.n * getattr(item, part) for item in of) for of in (tenths, found)]
        assert sums[0] == pytest.approx(sums[1])


@pytest.mark.parametrize(("right", "n"), [(0, 10), (5, 10), (153, 158), (158, 158)])
def test_intervals_are_those_of_wilson(right, n):
    interval = Bin(0.0, 1.0, n, 0.5, right / n).interval
    expected = scipy.stats.binomtest(right, n).proportion_ci(method="wilson")
    assert interval == pytest.approx((expected.low, expected.high), abs=1e-4)
