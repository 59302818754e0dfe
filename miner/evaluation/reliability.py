"""Tags with a confidence -> how often they are right, by how confident the tagger is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from miner.dialogue.tags import TaggedSpan

_N_BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """The `n` tags whose confidence lies from `low` to `high`.

    `confidence` is their mean confidence, `accuracy` the share of them that is right.
    """

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


def measure_reliability(matched: Iterable[tuple[TaggedSpan, TaggedSpan]]) -> tuple[Bin, ...]:
    """Measures how often predicted tags are right, by their confidence.

    Args:
        matched: gold and predicted spans, as `matching.match_tags` yields them.

    Returns:
        Ten bins of equal width without the empty ones; no bin if the tags have no confidence.
    """
    claimed = [
        (theirs.confidence, ours.tag is theirs.tag)
        for ours, theirs in matched
        if theirs.confidence is not None
    ]
    return bin_tags([confidence for confidence, _ in claimed], [right for _, right in claimed])


def bin_tags(confidences: Sequence[float], are_right: Sequence[bool]) -> tuple[Bin, ...]:
    """Sorts tags into ten bins of equal width by their confidence; empty bins are left out."""
    confidence, correct = np.array(confidences, dtype=float), np.array(are_right, dtype=float)
    numbers = np.minimum((confidence * _N_BINS).astype(int), _N_BINS - 1)
    return tuple(
        Bin(
            n / _N_BINS,
            (n + 1) / _N_BINS,
            int((numbers == n).sum()),
            float(confidence[numbers == n].mean()),
            float(correct[numbers == n].mean()),
        )
        for n in range(_N_BINS)
        if (numbers == n).any()
    )
