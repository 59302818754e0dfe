"""How often tags are right by their confidence, counted by hand."""

import pytest
from helpers import book

from miner.dialogue.tags import TaggedBook, TaggedSpan
from miner.evaluation.matching import match_tags
from miner.evaluation.reliability import Bin, measure_reliability


def test_bins_of_confidence():
    gold, guess = book("SRRR"), book("SSRR")
    sure = (0.95, 0.35, 0.91, None)
    spans = (TaggedSpan(item.span, item.tag, c) for item, c in zip(guess.spans, sure, strict=True))
    bins = measure_reliability(match_tags([gold], [TaggedBook("7", tuple(spans))]))
    assert bins == (Bin(0.3, 0.4, 1, 0.35, 0.0), Bin(0.9, 1.0, 2, pytest.approx(0.93), 1.0))
    assert measure_reliability(match_tags([gold], [guess])) == ()
