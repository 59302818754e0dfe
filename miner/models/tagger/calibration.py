"""How far confidence can be believed, and the temperature that makes it so.

Temperature scaling after Guo et al. 2017, "On Calibration of Modern Neural Networks" (section 4):
scores divided by one number, fitted on data that was not trained on, which leaves the best tag as
it is while confidence comes to mean the share of right tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from miner.evaluation.reliability import Bin, bin_tags
from miner.models.tagger.decoding import TAGS, marginals, viterbi

_SHARES = 20  # steps between the one and the other
_RANGE = (0.2, 10.0)  # of temperatures; beyond it something else is wrong


@dataclass(frozen=True, slots=True)
class Calibration:
    """The temperature, and the expected calibration error before and after it, 0..1.

    `bins` are of the tags after it, by their confidence.
    """

    temperature: float
    error_before: float
    error_after: float
    bins: tuple[Bin, ...]


def fit_temperature(
    scores: Sequence[NDArray[np.floating]],
    tags: Sequence[NDArray[np.int64]],
    start_offset: float = 0.0,
) -> Calibration:
    """The temperature under which the right tags are most probable.

    Args:
        scores: of each sequence, (utterances, 4), of `decoding.TAGS`.
        tags: the right ones, as indices.
        start_offset: added to the scores of B-START before decoding.

    Raises:
        ValueError: if there is no utterance.
    """
    if not sum(map(len, tags)):
        raise ValueError("found no utterance, expected some to calibrate on")

    def surprise(temperature: float) -> float:
        """The mean of minus the log-probability of the right tag."""
        right = [
            marginals(rows / temperature)[np.arange(len(gold)), gold]
            for rows, gold in zip(scores, tags, strict=True)
            if len(gold)
        ]
        return float(-np.log(np.maximum(np.concatenate(right), 1e-12)).mean())

    found: Any = minimize_scalar(surprise, bounds=_RANGE, method="bounded", options={"xatol": 1e-3})
    temperature = float(found.x)
    before, _ = calibration_error(scores, tags, 1.0, start_offset)
    after, bins = calibration_error(scores, tags, temperature, start_offset)
    return Calibration(temperature, before, after, bins)


def fit_weight(
    one: NDArray[np.floating], other: NDArray[np.floating], right: NDArray[np.bool_]
) -> float:
    """The weight of `one` beside `other`, 0..1, under which what is right is most probable.

    At the best temperature for each weight, so that it does not matter which of them is too sure.

    Args:
        one: log-odds, (n,).
        other: likewise, of the same.
        right: whether it is so, (n,).
    """

    def at(share: float) -> float:
        odds = np.where(right, 1.0, -1.0) * (share * one + (1 - share) * other)
        found: Any = minimize_scalar(
            lambda temperature: np.logaddexp(0.0, -odds / temperature).mean(),
            bounds=_RANGE,
            method="bounded",
        )
        return float(found.fun)

    return min((n / _SHARES for n in range(_SHARES + 1)), key=at)


def calibration_error(
    scores: Sequence[NDArray[np.floating]],
    tags: Sequence[NDArray[np.int64]],
    temperature: float,
    start_offset: float,
) -> tuple[float, tuple[Bin, ...]]:
    """The expected calibration error of the decoded tags, 0..1, and its bins of equal width.

    Args:
        scores: of each sequence, (utterances, 4), of `decoding.TAGS`.
        tags: the right ones, as indices.
        temperature: by which the scores are divided.
        start_offset: added to the scores of B-START before decoding.
    """
    sure: list[float] = []
    right: list[bool] = []
    for rows, gold in zip(scores, tags, strict=True):
        probable = marginals(rows / temperature)
        for n, tag in enumerate(viterbi(rows, start_offset)):
            chosen = TAGS.index(tag)
            sure.append(float(probable[n, chosen]))
            right.append(chosen == gold[n])
    bins = bin_tags(sure, right)
    error = sum(item.n * abs(item.confidence - item.accuracy) for item in bins) / len(sure)
    return float(error), bins
