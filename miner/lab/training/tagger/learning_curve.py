"""Run folders -> the learning curve: a score by the number of chapters in training."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from miner.errors import InputError
from miner.files import RUN_RECORD, read_text
from miner.score import Score


@dataclass(frozen=True, slots=True)
class Learned:
    """The scores of the runs that were trained on the same number of chapters."""

    n_chapters: int
    runs: tuple[Score, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """The score of each run, 0 if it is not defined."""
        return tuple(run.value or 0.0 for run in self.runs)

    @property
    def mean(self) -> float:
        """The mean over the runs."""
        return fmean(self.values)

    @property
    def interval(self) -> tuple[float, float]:
        """The lowest and the highest end of the 95% intervals of the runs.

        A run without an interval counts as its value.
        """
        lows, highs = zip(*(run.ends for run in self.runs), strict=True)
        return min(lows), max(highs)


def read_learning_curve(
    runs: Iterable[Path], split: str, measure: str = "turn-pair.f1"
) -> list[Learned]:
    """Returns the scores of runs by their number of chapters, fewest first."""
    found: dict[int, list[Score]] = {}
    for run in runs:
        n_chapters, score = _read_score(run / RUN_RECORD, split, measure)
        found.setdefault(n_chapters, []).append(score)
    if not found:
        raise InputError("found no run, expected folders that train.py wrote")
    return [Learned(n, tuple(scores)) for n, scores in sorted(found.items())]


def _read_score(path: Path, split: str, measure: str) -> tuple[int, Score]:
    """Returns the number of chapters of a run, and its score."""
    try:
        record = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}: found bad JSON ({error}), expected the record of a run"
        ) from error
    try:
        n_chapters, splits = record["training"]["chapters"], record["scores"]
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{path}: found no scores, expected the record of a training run"
        ) from error
    if split not in splits:
        raise InputError(f"{path}: found scores of {', '.join(splits)}, expected {split}")
    scores = splits[split]["total"]["end_to_end"]["scores"]
    if measure not in scores:
        raise InputError(f"{path}: found no measure {measure}, expected one such as turn-pair.f1")
    return n_chapters, Score(**scores[measure])
