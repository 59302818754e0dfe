"""The length of answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miner.lab.lessons.generation.metrics import AnswerWords, MetricValues


def lengths(rows: Sequence[AnswerWords]) -> MetricValues:
    """Returns |U|, the number of words of each answer; 0 of one without a word (GD, 5.1)."""
    return {"|U|": np.array([len(row.predicted) for row in rows], np.float64)}
