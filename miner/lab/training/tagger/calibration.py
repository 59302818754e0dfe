"""Fits the temperature of a model, so that its confidence is the share of correct tags.

Temperature scaling (Guo et al. 2017, "On Calibration of Modern Neural Networks", section 4) divides
the scores by one number that is fitted on data outside the training set. The best tags stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from miner.errors import InputError
from miner.lab.measure.confidence import Bin, bin_tags
from miner.speech.tags import TAGS
from miner.tagger.decoding import marginals, viterbi

_STEPS = 20  # between the weights 0 and 1
_RANGE = (0.2, 10.0)  # of temperatures; a value outside would show another error


@dataclass(frozen=True, slots=True)
class Calibration:
    """A temperature, and the expected calibration error before and after scaling, 0..1.

    `bins` hold the tags by their confidence after scaling.
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
    """Returns the temperature at which the gold tags are most probable.

    Args:
        scores: the scores of each chapter, (utterances, 4).
        tags: the indices of the gold tags in `decoding.TAGS`, (utterances,) for each chapter.
        start_offset: added to the scores of B-START before decoding.
    """
    if not sum(map(len, tags)):
        raise InputError("found no utterance, expected some to calibrate on")

    def loss(temperature: float) -> float:
        """Returns the mean of minus the log-probability of the gold tags."""
        right = [
            marginals(rows / temperature)[np.arange(len(gold)), gold]
            for rows, gold in zip(scores, tags, strict=True)
            if len(gold)
        ]
        return float(-np.log(np.maximum(np.concatenate(right), 1e-12)).mean())

    found: Any = minimize_scalar(loss, bounds=_RANGE, method="bounded", options={"xatol": 1e-3})
    temperature = float(found.x)
    before, _ = calibration_error(scores, tags, 1.0, start_offset)
    after, bins = calibration_error(scores, tags, temperature, start_offset)
    return Calibration(temperature, before, after, bins)


def fit_weight(
    one: NDArray[np.floating], other: NDArray[np.floating], answers: NDArray[np.bool_]
) -> float:
    """Returns the weight of `one` in a mixture with `other` that fits the answers best, 0..1.

    Each weight is judged at its best temperature, so that overconfident odds do not matter.
    """

    def loss(weight: float) -> float:
        odds = np.where(answers, 1.0, -1.0) * (weight * one + (1 - weight) * other)
        found: Any = minimize_scalar(
            lambda temperature: np.logaddexp(0.0, -odds / temperature).mean(),
            bounds=_RANGE,
            method="bounded",
        )
        return float(found.fun)

    return min((n / _STEPS for n in range(_STEPS + 1)), key=loss)


def calibration_error(
    scores: Sequence[NDArray[np.floating]],
    tags: Sequence[NDArray[np.int64]],
    temperature: float,
    start_offset: float,
) -> tuple[float, tuple[Bin, ...]]:
    """Returns the expected calibration error of the decoded tags, 0..1, and its equal-width bins.

    Args:
        scores: the scores of each chapter, (utterances, 4).
        tags: the indices of the gold tags in `decoding.TAGS`, (utterances,) for each chapter.
        temperature: the scores are divided by it before they become probabilities.
        start_offset: added to the scores of B-START before decoding.
    """
    confidence: list[float] = []
    is_correct: list[bool] = []
    for rows, gold in zip(scores, tags, strict=True):
        probabilities = marginals(rows / temperature)
        for n, tag in enumerate(viterbi(rows, start_offset)):
            chosen = TAGS.index(tag)
            confidence.append(float(probabilities[n, chosen]))
            is_correct.append(chosen == gold[n])
    bins = bin_tags(confidence, is_correct)
    error = sum(item.n * abs(item.confidence - item.accuracy) for item in bins) / len(confidence)
    return float(error), bins
