"""Answers -> their scores by each metric, with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan, sqrt

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.lab.lessons.generation.answers import Answer
from miner.lab.lessons.generation.metrics import METRICS, AnswerWords, Values, split_answers
from miner.lab.lessons.generation.metrics.bleu import SMOOTHING, bleus
from miner.lab.lessons.generation.metrics.distinct import distinct
from miner.lab.lessons.generation.metrics.divergence import divergences
from miner.lab.lessons.generation.metrics.embedding import likenesses
from miner.lab.lessons.generation.metrics.entropy import entropies
from miner.lab.lessons.generation.metrics.length import lengths
from miner.lab.lessons.generation.reference import Reference
from miner.lab.lessons.generation.word_vectors import WordVectors
from miner.lab.lessons.generation.words import nltk_version
from miner.lab.measure.scores import resample_chapters, score_from_draws
from miner.version import __version__

_NORMAL = 1.96  # standard deviations on each side of the mean that hold 95% of a normal curve


@dataclass(frozen=True, slots=True)
class Scoring:
    """How answers are scored.

    Args:
        resamples: draws of books for the 95% intervals; 0 for no intervals.
        seed: of these draws, of the random responses, and of the contexts that are shown.
    """

    resamples: int = 1000
    seed: int = 0

    def describe(self, answers: Sequence[Answer]) -> str:
        """Returns how answers are scored, in one line."""
        groups = "books" if any(one.book for one in answers) else "answers"
        return (
            f"words and BLEU of NLTK {nltk_version()}, smoothing {SMOOTHING}; intervals by "
            f"{self.resamples:,} draws of {groups}, of d1 and d2 by leaving out each; seed "
            f"{self.seed}, version {__version__}"
        )


@dataclass(frozen=True, slots=True)
class Score:
    """A score of answers by one metric, with its 95% interval.

    Attributes:
        metric: the name of the metric (`METRICS`).
        value: None where it is not defined: without vectors of words, or if all are skipped.
        low: the lower end of the interval; None where there is one book, or no value.
        high: the upper end.
        n: how many answers count; the others are skipped.
    """

    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int


def score_answers(
    answers: Sequence[Answer],
    reference: Reference,
    vectors: WordVectors | None = None,
    scoring: Scoring | None = None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> list[Score]:
    """Returns the scores of the answers of one model, in the order of `METRICS`.

    Intervals are the 2.5 and 97.5 percentiles of draws of books with replacement; an answer that
    names no book is drawn by itself. All draws take the probabilities of KL from all answers, as
    the confidence of dialog-eval does, which is that of a mean. Drawing the same answers again adds
    n-grams but no different ones, so that d1 and d2 of a draw are too low: their interval is 1.96
    standard errors on each side, from the values without each book (the jackknife).
    """
    if not answers:
        raise InputError("found no answers, expected at least one")
    rows = split_answers(answers, progress)
    books = [one.book for one in answers]
    return score_words(rows, books, reference, vectors, scoring or Scoring())


def score_words(
    rows: Sequence[AnswerWords],
    books: Sequence[str],
    reference: Reference,
    vectors: WordVectors | None,
    scoring: Scoring,
) -> list[Score]:
    """Returns the scores of the words of answers; see `score_answers`."""
    groups = _number_groups(books)
    values = {
        **lengths(rows),
        **entropies(rows, reference),
        **divergences(rows, reference),
        **(likenesses(rows, reference, vectors) if vectors else {}),
        **bleus(rows),
    }
    scores = {one.metric: one for one in _score_means(values, groups, scoring)}
    for n, name in ((1, "d1"), (2, "d2")):
        value, left_out = distinct(rows, reference, n, groups)
        scores[name] = _score_share(name, value, left_out, len(rows), scoring)
    without = {one.name: Score(one.name, None, None, None, 0) for one in METRICS}
    return list((without | scores).values())


def _number_groups(books: Sequence[str]) -> NDArray[np.int64]:
    """The number of the book of each answer; an answer without a book has one of its own."""
    names = [book or f"\0{number}" for number, book in enumerate(books)]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], np.int64)


def _score_means(
    values: dict[str, Values], groups: NDArray[np.int64], scoring: Scoring
) -> list[Score]:
    """The mean of each metric over the answers that it does not skip."""
    columns = []
    for of_answers in values.values():
        is_kept = ~np.isnan(of_answers)
        columns += [
            np.bincount(groups, np.where(is_kept, of_answers, 0)),
            np.bincount(groups, is_kept),
        ]
    table = np.stack(columns, axis=1)
    drawn = resample_chapters(table, scoring.resamples, scoring.seed)
    scores = []
    with np.errstate(invalid="ignore"):
        total, means = table.sum(axis=0), drawn[:, 0::2] / drawn[:, 1::2]
        for number, name in enumerate(values):
            value, n = total[2 * number] / total[2 * number + 1], int(total[2 * number + 1])
            found = score_from_draws(name, value, means[:, number])
            scores.append(Score(name, found.value, found.low, found.high, n))
    return scores


def _score_share(name: str, value: float, left_out: Values, n: int, scoring: Scoring) -> Score:
    """A share of all n-grams, with the interval of the jackknife."""
    if isnan(value):
        return Score(name, None, None, None, 0)
    n_groups = len(left_out)
    if n_groups < 2 or np.isnan(left_out).any() or not scoring.resamples:
        return Score(name, value, None, None, n)
    error = sqrt((n_groups - 1) / n_groups * ((left_out - left_out.mean()) ** 2).sum())
    low, high = max(0.0, value - _NORMAL * error), min(1.0, value + _NORMAL * error)
    return Score(name, value, low, high, n)
