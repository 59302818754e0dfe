"""Judged pairs -> how many are kept, and how many of those are right, at each confidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from miner.annotation.pair_errors import JudgedPairs
from miner.errors import InputError
from miner.lab.measure.scores import resample_chapters, score_from_draws
from miner.tagger.published_scores import KeptPairs

# The values of `miner mine --min-confidence` that the trade-off shows.
MIN_CONFIDENCES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)


def measure_tradeoff(
    judged: JudgedPairs,
    min_confidences: Sequence[float] = MIN_CONFIDENCES,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> list[KeptPairs]:
    """Measures what is kept at each minimum confidence, with 95% intervals over chapters."""
    if not judged.mined:
        raise InputError("found no mined pair in the annotated chapters, expected some")
    if any(min_confidences) and any(pair.confidence is None for pair in judged.mined):
        raise InputError("found tags without confidence, expected those of a checkpoint")
    chapters = list(judged.n_gold)
    number = {chapter: n for n, chapter in enumerate(chapters)}
    rows: list[KeptPairs] = []
    for level in min_confidences:
        counts = np.zeros((len(chapters), 3))  # kept, right, gold
        counts[:, 2] = [judged.n_gold[chapter] for chapter in chapters]
        for pair in judged.mined:
            if (pair.confidence or 0.0) >= level:
                counts[number[pair.book, pair.chapter], :2] += 1, pair.is_right
        total, drawn = counts.sum(axis=0)[None, :], resample_chapters(counts, resamples, seed)
        n_kept = int(total[0, 0])
        precision, recall = (
            score_from_draws(name, _rate(total, of)[0], _rate(drawn, of))
            for name, of in (("precision", 0), ("recall", 2))
        )
        rows.append(KeptPairs(level, n_kept, n_kept / len(judged.mined), precision, recall))
    return rows


def _rate(counts: NDArray[np.float64], of: int) -> NDArray[np.float64]:
    """Right pairs divided by the column `of`, for each row; NaN for 0 / 0."""
    with np.errstate(invalid="ignore"):
        return counts[:, 1] / counts[:, of]
