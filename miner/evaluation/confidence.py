"""Judged pairs -> how size is traded for quality: what is kept at each least confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from miner.evaluation.pair_errors import JudgedPairs
from miner.evaluation.scores import Score, resampled, scored

LEAST = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)


@dataclass(frozen=True, slots=True)
class Kept:
    """The mined pairs of at least some confidence.

    `share` is of all mined pairs; `precision` says how many of the kept ones are right, `recall`
    how many of the gold pairs they are.
    """

    least: float
    n_pairs: int
    share: float
    precision: Score
    recall: Score

    def to_json(self) -> dict[str, Any]:
        """The row as plain values."""
        row: dict[str, Any] = {"least": self.least, "pairs": self.n_pairs, "share": self.share}
        return row | {"precision": self.precision.to_json(), "recall": self.recall.to_json()}


def tradeoff(
    judged: JudgedPairs,
    least: Sequence[float] = LEAST,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Kept]:
    """What is kept at each least confidence, with 95% intervals from resampled chapters.

    Raises:
        ValueError: if nothing was mined, or a pair has no confidence.
    """
    if not judged.mined:
        raise ValueError("found no mined pair in the annotated chapters, expected some")
    if any(pair.confidence is None for pair in judged.mined):
        raise ValueError("found tags without confidence, expected those of a checkpoint")
    chapters = list(judged.gold)
    number = {chapter: n for n, chapter in enumerate(chapters)}
    found: list[Kept] = []
    for level in least:
        counts = np.zeros((len(chapters), 3))  # kept, right, gold
        counts[:, 2] = [judged.gold[chapter] for chapter in chapters]
        for pair in judged.mined:
            if (pair.confidence or 0.0) >= level:
                counts[number[pair.book, pair.chapter], :2] += 1, pair.is_right
        total, drawn = counts.sum(axis=0)[None, :], resampled(counts, resamples, seed)
        n_kept = int(total[0, 0])
        precision, recall = (
            scored(name, _rate(total, of)[0], _rate(drawn, of))
            for name, of in (("precision", 0), ("recall", 2))
        )
        found.append(Kept(level, n_kept, n_kept / len(judged.mined), precision, recall))
    return found


def _rate(counts: NDArray[np.float64], of: int) -> NDArray[np.float64]:
    """Right pairs by another column, of each row; NaN for 0 / 0."""
    with np.errstate(invalid="ignore"):
        return counts[:, 1] / counts[:, of]
