"""."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from miner.dialogue.tags import TaggedSpan

_BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Tags whose confidence lies from `low` to `high`: how many, how sure, how many are right."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


def reliability(matched: Iterable[tuple[TaggedSpan, TaggedSpan]]) -> tuple[Bin, ...]:
    """How often the tags of a tagger are right, by how sure it is of them.

    Args:
        matched: gold and predicted, as `matching.matched_tags` gives them.

    Returns:
        Bins of equal width, those without a tag left out; none where the tagger claims no
        confidence.
    """
    claimed = [
        (theirs.confidence, ours.tag is theirs.tag)
        for ours, theirs in matched
        if theirs.confidence is not None
    ]
    return binned([sure for sure, _ in claimed], [right for _, right in claimed])


def binned(sure: Sequence[float], right: Sequence[bool]) -> tuple[Bin, ...]:
    """Tags by their confidence, in bins of equal width; those without a tag are left out."""
    confidence, correct = np.array(sure, dtype=float), np.array(right, dtype=float)
    numbers = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    return tuple(
        Bin(
            n / _BINS,
            (n + 1) / _BINS,
            int((numbers == n).sum()),
            float(confidence[numbers == n].mean()),
            float(correct[numbers == n].mean()),
        )
        for n in range(_BINS)
        if (numbers == n).any()
    )
