"""Answers of several models to the same contexts -> their scores, side by side.

Below the models stand the two rows that GD's tables have: random responses of the training texts,
and the true responses taken for answers. They tell what a value means, and are no competitors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from math import isnan, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from miner.errors import InputError
from miner.lab.lessons.comparison import Comparison, number_books, score_means
from miner.lab.lessons.embeddings import WordVectors, find_word_vectors
from miner.lab.lessons.examples import count_books
from miner.lab.lessons.generation.answers import Answer
from miner.lab.lessons.generation.metrics import (
    METRICS,
    SMOOTHING,
    AnswerWords,
    Metric,
    Reference,
    Values,
    bleus,
    distinct,
    divergences,
    entropies,
    lengths,
    likenesses,
    nltk_version,
    split_answers,
    split_words,
)
from miner.version import __version__

_NORMAL = 1.96  # standard deviations on each side of the mean that hold 95% of a normal curve


@dataclass(frozen=True, slots=True)
class Scoring:
    """How answers are scored."""

    resamples: int = 1000  # draws of books for the 95% intervals; 0 for no intervals
    seed: int = 0  # of these draws, of the random responses, and of the contexts that are shown

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
    """A score of answers by one metric, with its 95% interval."""

    metric: str  # the name of the metric (`METRICS`)
    value: float | None  # None without vectors of words, or if all answers are skipped
    low: float | None  # the lower end of the interval; None where there is one book, or no value
    high: float | None  # the upper end
    n: int  # how many answers count; the others are skipped


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
    values = {
        **lengths(rows),
        **entropies(rows, reference),
        **divergences(rows, reference),
        **(likenesses(rows, reference, vectors) if vectors else {}),
        **bleus(rows),
    }
    kept = {name: ~np.isnan(of_rows) for name, of_rows in values.items()}
    columns = {
        name: (np.where(kept[name], of_rows, 0), kept[name]) for name, of_rows in values.items()
    }
    scores = {
        name: Score(name, one.value, one.low, one.high, int(kept[name].sum()))
        for name, one in zip(
            columns, score_means(columns, books, scoring.resamples, scoring.seed), strict=True
        )
    }
    groups = number_books(books)
    for n, name in ((1, "d1"), (2, "d2")):
        value, left_out = distinct(rows, reference, n, groups)
        scores[name] = _score_share(name, value, left_out, len(rows), scoring)
    without = {one.name: Score(one.name, None, None, None, 0) for one in METRICS}
    return list((without | scores).values())


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


RANDOM, TRUTH = "random", "truth"
_LONGEST_SHOWN = 60  # characters of a text that an error shows


@dataclass(frozen=True, slots=True)
class ScoredAnswers:
    """A row of a comparison."""

    name: str  # of the model, `RANDOM` or `TRUTH`
    group: str  # of the models that it is compared with, "" where there are no groups
    scores: tuple[Score, ...]  # in the order of `METRICS`
    best: frozenset[str] = frozenset()  # metrics whose interval is apart from all of its group

    @property
    def is_model(self) -> bool:
        """Whether it is a model's, and no row to compare with."""
        return self.name not in (RANDOM, TRUTH)

    def to_json(self) -> dict[str, Any]:
        """The row as plain values."""
        return {
            "name": self.name,
            "group": self.group,
            "scores": [
                {**asdict(score), "is_best": score.metric in self.best} for score in self.scores
            ],
        }


@dataclass(frozen=True, slots=True)
class ShownAnswers:
    """A context, its true response, and what each model answered."""

    answer: Answer  # of the model that read most turns of the context
    predicted: tuple[tuple[str, str], ...]  # the name of each model and its answer

    def to_json(self) -> dict[str, Any]:
        """The context and the answers as plain values."""
        return {
            "book": self.answer.book,
            "chapter": self.answer.chapter,
            "context": list(self.answer.context),
            "response": self.answer.response,
            "predicted": dict(self.predicted),
        }


AnswerComparison = Comparison[ScoredAnswers, ShownAnswers]


def compare_answers(
    answers: Mapping[str, Sequence[Answer]],
    reference: Reference,
    vectors: str | Path | None = None,
    scoring: Scoring | None = None,
    *,
    groups: Mapping[str, str] | None = None,
    n_shown: int = 0,
    begin: Callable[[str], object] = lambda name: None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> AnswerComparison:
    """Scores the answers of models to the same contexts.

    Contexts are the same if their last turns are: models may read more turns or fewer, as GD's do.
    The books are those of the first model that names them.
    """
    scoring, groups = scoring or Scoring(), groups or {}
    _check_names(answers, groups)
    common = _common_answers(answers)
    drawn = _draw_shown(answers, common, n_shown, scoring.seed)
    predicted = {name: [one.predicted for one in of] for name, of in answers.items()}
    predicted[RANDOM] = reference.draw_responses(len(common), scoring.seed)
    rows: dict[str, list[AnswerWords]] = {}
    split: list[AnswerWords] = []  # contexts and responses are the same for all models
    for name, texts in predicted.items():
        begin(name)
        if not split:
            split = rows[name] = split_answers(common, progress)
            continue
        rows[name] = []
        for row, text in zip(split, texts, strict=True):
            rows[name].append(replace(row, predicted=tuple(split_words(text))))
            progress(len(rows[name]), len(split))
    rows[TRUTH] = [replace(row, predicted=row.response) for row in split]
    found = None
    if vectors:
        begin("vectors of words")
        words = {
            word
            for of_model in rows.values()
            for row in of_model
            for word in (*row.context, *row.response, *row.predicted)
        }
        found = find_word_vectors(vectors, words, progress)
    books = [one.book for one in common]
    scored = [
        ScoredAnswers(
            name, groups.get(name, ""), tuple(score_words(of_row, books, reference, found, scoring))
        )
        for name, of_row in rows.items()
    ]
    return Comparison(
        tuple(replace(row, best=_find_best(row, scored)) for row in scored),
        "; ".join(
            (
                _describe(common),
                f"reference {reference.describe()}",
                f"vectors {found.describe()}" if found else "no vectors of words",
                scoring.describe(common),
            )
        ),
        tuple(_notes(answers, common, reference, with_vectors=found is not None)),
        tuple(drawn),
    )


def _check_names(answers: Mapping[str, Sequence[Answer]], groups: Mapping[str, str]) -> None:
    if not answers:
        raise InputError("found no models, expected at least one")
    for name, of_model in answers.items():
        if name in (RANDOM, TRUTH):
            raise InputError(
                f"found a model that is named {name}, expected another name than that of a row "
                "that every table has"
            )
        if not of_model:
            raise InputError(f"{name}: found no answers, expected at least one")
    if unknown := [name for name in groups if name not in answers]:
        raise InputError(f"found a group of {unknown[0]!r}, expected one of {', '.join(answers)}")


def _common_answers(answers: Mapping[str, Sequence[Answer]]) -> list[Answer]:
    """The answers of the first model, each with the longest context and a book if one has it."""
    (first, common), *others = answers.items()
    common = list(common)
    for name, of_model in others:
        if len(of_model) != len(common):
            raise InputError(
                f"{name}: found {len(of_model):,} answers, expected {len(common):,} as in {first}"
            )
        for number, (one, other) in enumerate(zip(common, of_model, strict=True)):
            for part, mine, theirs in (
                ("context", one.context[-1], other.context[-1]),
                ("response", one.response, other.response),
            ):
                if mine.split() != theirs.split():
                    raise InputError(
                        f"{name}: found {_cut(theirs)} as {part} {number + 1}, expected "
                        f"{_cut(mine)} as in {first}"
                    )
            context = max(one.context, other.context, key=len)
            place = one if one.book else other
            common[number] = replace(one, context=context, book=place.book, chapter=place.chapter)
    return common


def _cut(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


def _draw_shown(
    answers: Mapping[str, Sequence[Answer]], common: Sequence[Answer], n_shown: int, seed: int
) -> list[ShownAnswers]:
    if n_shown > len(common):
        raise InputError(
            f"found {n_shown} contexts to show, expected at most {len(common)}, as there are"
        )
    drawn = np.random.default_rng(seed).choice(len(common), n_shown, replace=False)
    return [
        ShownAnswers(
            common[number], tuple((name, of[number].predicted) for name, of in answers.items())
        )
        for number in sorted(drawn.tolist())
    ]


def _find_best(row: ScoredAnswers, rows: Sequence[ScoredAnswers]) -> frozenset[str]:
    """The metrics by which a model is better than all others of its group."""
    others = [
        other
        for other in rows
        if other.is_model and other.name != row.name and other.group == row.group
    ]
    if not row.is_model or not others:
        return frozenset()
    return frozenset(
        metric.name
        for number, metric in enumerate(METRICS)
        if all(_is_apart(metric, row.scores[number], other.scores[number]) for other in others)
    )


def _is_apart(metric: Metric, one: Score, other: Score) -> bool:
    """Whether the interval of one score is on the better side of the other."""
    if metric.less_is_better:
        one, other = other, one
    return one.low is not None and other.high is not None and one.low > other.high


def _describe(answers: Sequence[Answer]) -> str:
    books = count_books(one.book for one in answers)
    digest = sha256()
    for one in answers:
        digest.update(f"{one.context[-1]}\0{one.response}\0".encode())
    return (
        f"answers to {len(answers):,} context{'s' * (len(answers) != 1)} of {books}"
        f"@{digest.hexdigest()[:8]}"
    )


def _notes(
    answers: Mapping[str, Sequence[Answer]],
    common: Sequence[Answer],
    reference: Reference,
    with_vectors: bool,
) -> list[str]:
    notes: list[str] = []
    if not with_vectors:
        names = [metric.name for metric in METRICS if metric.needs_vectors]
        notes.append(f"{', '.join(names)} have no value without vectors of words")
    books = {one.book for one in common}
    if n := len(books & set(reference.books) - {""}):
        notes.append(f"{n:,} of the books answered {'is' if n == 1 else 'are'} in the reference")
    if "" in books:
        n = sum(not one.book for one in common)
        notes.append(
            f"{n:,} of {len(common):,} contexts name no book: the intervals take each for one of "
            "its own, and nothing tells whether it is in the reference"
        )
    elif len(books) == 1:
        notes.append("all contexts are of one book: no intervals, and no value is marked as best")
    for name, of_model in answers.items():
        if n := sum(not one.predicted.strip() for one in of_model):
            notes.append(f"{name}: {n:,} of {len(of_model):,} answers are empty")
    return notes
