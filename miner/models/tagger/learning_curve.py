"""Run folders of training -> the learning curve: a score by the number of chapters trained on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from miner.evaluation.scores import Score
from miner.files import RUN_RECORD, read_text


@dataclass(frozen=True, slots=True)
class Learned:
    """What runs that were trained on so many chapters reach, a score each."""

    n_chapters: int
    runs: tuple[Score, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """The score of each run; where it is not defined, 0."""
        return tuple(run.value or 0.0 for run in self.runs)

    @property
    def mean(self) -> float:
        """The mean over the runs."""
        return fmean(self.values)

    @property
    def interval(self) -> tuple[float, float]:
        """From the least to the greatest end of the runs' 95% intervals.

        A run without an interval counts as its value.
        """
        lows, highs = zip(*(run.ends for run in self.runs), strict=True)
        return min(lows), max(highs)


def learning_curve(
    runs: Iterable[Path], split: str, measure: str = "turn-pair.f1"
) -> list[Learned]:
    """What the runs reach, by the number of chapters that they were trained on, fewest first.

    Args:
        runs: folders that `train.py` wrote.
        split: whose scores, as the run calls them: "dev", "test".
        measure: a name of `scores.Figure`, on the spans of the gold.

    Raises:
        ValueError: if there is no folder, or one holds no finished run, or none of that split or
            measure.
        OSError: if a file cannot be read.
    """
    found: dict[int, list[Score]] = {}
    for run in runs:
        n_chapters, score = _reached(run / RUN_RECORD, split, measure)
        found.setdefault(n_chapters, []).append(score)
    if not found:
        raise ValueError("found no run, expected folders that train.py wrote")
    return [Learned(n, tuple(scores)) for n, scores in sorted(found.items())]


def _reached(path: Path, split: str, measure: str) -> tuple[int, Score]:
    """The number of chapters of a run, and its score."""
    try:
        record = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path}: found bad JSON ({error}), expected the record of a run"
        ) from error
    try:
        n_chapters, splits = record["training"]["chapters"], record["scores"]
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: found no scores, expected the record of a training run"
        ) from error
    if split not in splits:
        raise ValueError(f"{path}: found scores of {', '.join(splits)}, expected {split}")
    scores = splits[split]["total"]["end_to_end"]["scores"]
    if measure not in scores:
        raise ValueError(f"{path}: found no measure {measure}, expected one such as turn-pair.f1")
    return n_chapters, Score(measure, **scores[measure])
