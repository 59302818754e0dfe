"""Tags with a confidence -> how often they are right, by how confident the tagger is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from miner.speech.tags import TaggedSpan

_N_BINS = 10
_LEAST = 10  # tags of a bin that is drawn; of fewer, the interval is most of 0..1
_Z = 1.96  # of a 95% interval


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

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of `accuracy` (Wilson 1927), as if each tag were drawn by itself."""
        share = _Z**2 / self.n
        middle = self.accuracy + share / 2
        half = _Z * math.sqrt(self.accuracy * (1 - self.accuracy) / self.n + share / 4 / self.n)
        return max(0.0, (middle - half) / (1 + share)), min(1.0, (middle + half) / (1 + share))

    def join(self, other: Bin) -> Bin:
        """Returns one bin of these tags and those of a bin above."""
        n = self.n + other.n
        confidence = (self.n * self.confidence + other.n * other.confidence) / n
        accuracy = (self.n * self.accuracy + other.n * other.accuracy) / n
        return Bin(self.low, other.high, n, confidence, accuracy)


def measure_reliability(matched: Iterable[tuple[TaggedSpan, TaggedSpan]]) -> tuple[Bin, ...]:
    """Measures how often predicted tags are right, by their confidence."""
    claimed = [
        (theirs.confidence, ours.tag is theirs.tag)
        for ours, theirs in matched
        if theirs.confidence is not None
    ]
    return bin_tags([confidence for confidence, _ in claimed], [right for _, right in claimed])


def join_small_bins(bins: Iterable[Bin]) -> tuple[Bin, ...]:
    """Joins neighbours, from the lowest up, until each has at least ten tags.

    Fewer tags than that are one bin.
    """
    joined: list[Bin] = []
    for item in bins:
        if joined and joined[-1].n < _LEAST:
            item = joined.pop().join(item)
        joined.append(item)
    if len(joined) > 1 and joined[-1].n < _LEAST:
        last = joined.pop()
        joined.append(joined.pop().join(last))
    return tuple(joined)


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
