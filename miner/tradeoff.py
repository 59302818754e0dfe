"""Judged pairs -> how size is traded for quality: what is kept at each least confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from miner.errors import JudgedPairs
from miner.scores import Score

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
        for name in ("precision", "recall"):
            score: Score = getattr(self, name)
            row[name] = {"value": score.value, "low": score.low, "high": score.high}
        return row


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
    gold = np.array([judged.gold[chapter] for chapter in chapters], dtype=float)
    draws = np.random.default_rng(seed).integers(len(chapters), size=(resamples, len(chapters)))
    found: list[Kept] = []
    for level in least:
        kept, right = np.zeros_like(gold), np.zeros_like(gold)
        for pair in judged.mined:
            if (pair.confidence or 0.0) >= level:
                kept[number[pair.book, pair.chapter]] += 1
                right[number[pair.book, pair.chapter]] += pair.is_right
        found.append(
            Kept(
                level,
                int(kept.sum()),
                float(kept.sum() / len(judged.mined)),
                _ratio("precision", right, kept, draws),
                _ratio("recall", right, gold, draws),
            )
        )
    return found


def _ratio(name: str, of: np.ndarray, all: np.ndarray, draws: np.ndarray) -> Score:
    """One sum over chapters by another; None where there is nothing to divide by."""
    if not all.sum():
        return Score(name, None, None, None)
    if len(all) < 2:
        return Score(name, float(of.sum() / all.sum()), None, None)
    sums = all[draws].sum(axis=1)
    ratios = of[draws].sum(axis=1)[sums > 0] / sums[sums > 0]
    low, high = np.percentile(ratios, (2.5, 97.5))
    return Score(name, float(of.sum() / all.sum()), float(low), float(high))
