"""A method and examples -> its scores with their intervals, and what exactly was scored.

So far there is the task 1-of-100 (CD, section 4); a further task is a further function that returns
a table of books for `_scores`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from miner.evaluation.scores import resample_chapters, score_from_draws
from miner.selection.examples import Example, refuse_too_few
from miner.selection.tasks import (
    BATCH,
    draw_batches,
    encode,
    equal_responses,
    rank_in_batches,
    recall_of,
)
from miner.version import __version__

if TYPE_CHECKING:
    from miner.selection.methods import Method

ONE_OF_MANY = f"1-of-{BATCH}"
ACCURACY, RECIPROCAL_RANK = "R@1", "MRR"


@dataclass(frozen=True, slots=True)
class Scoring:
    """What is scored, and how often.

    Args:
        most_examples: how many are taken of a source that has more, at random; 50,000 in CD.
        shuffles: how often the batches are drawn anew; a score is the mean.
        resamples: draws of books for the 95% intervals.
        seed: of all these draws.
    """

    most_examples: int = 50_000
    shuffles: int = 10
    resamples: int = 1000
    seed: int = 0

    def sample(self, examples: Sequence[Example]) -> list[Example]:
        """Returns the examples that are scored, in their order."""
        if len(examples) <= self.most_examples:
            return list(examples)
        random = np.random.default_rng(self.seed)
        drawn = random.choice(len(examples), self.most_examples, replace=False)
        return [examples[number] for number in sorted(drawn.tolist())]

    def describe(self, examples: Sequence[Example]) -> str:
        """Returns what is scored of examples, in one line."""
        n, n_books = len(self.sample(examples)), len({one.book for one in examples} - {""})
        n_batches = n // BATCH
        books = f"{n_books:,} book{'s' * (n_books != 1)}" if n_books else "books without an id"
        return (
            f"{n_batches * BATCH:,} of {len(examples):,} examples of {books} in {n_batches:,} "
            f"batch{'es' * (n_batches != 1)} of {BATCH}, mean of {self.shuffles} shuffles, "
            f"intervals by {self.resamples:,} draws of {'books' if n_books else 'examples'}, "
            f"seed {self.seed}, version {__version__}"
        )


@dataclass(frozen=True, slots=True)
class Score:
    """How a method does on a task, 0..1, with its 95% interval.

    Attributes:
        task: "1-of-100".
        measure: "R@1", the share of contexts whose true response is first; "MRR", the mean of 1
            over its place.
        value: the mean over the shuffles.
        low: the lower end of the interval; None where there is one book.
        high: the upper end.
        n_examples: how many were scored.
        n_books: of how many books; 0 where the source names none.
    """

    task: str
    measure: str
    value: float
    low: float | None
    high: float | None
    n_examples: int
    n_books: int


def score_method(
    method: Method,
    examples: Sequence[Example],
    scoring: Scoring,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> list[Score]:
    """Returns the scores of a method on examples.

    Args:
        method: what is scored.
        examples: with the turns that the method reads, at least a batch.
        scoring: the choices.
        progress: called with the number of texts that are encoded and of all.

    Raises:
        ValueError: if there are fewer examples than a batch has, or a score is not a number.
    """
    refuse_too_few(examples, BATCH, ONE_OF_MANY)
    drawn = scoring.sample(examples)
    contexts, responses = encode(method, drawn, progress)
    equal = equal_responses(drawn)
    sums = np.zeros((3, len(drawn)))  # of each example: R@1, MRR, and in how many shuffles it was
    random = np.random.default_rng(scoring.seed)
    for _ in range(scoring.shuffles):
        batches = draw_batches(len(drawn), BATCH, random)
        better, tied = rank_in_batches(contexts, responses, equal, batches)
        # An example is in a shuffle once, so that no place is added to twice.
        sums[0, batches] += recall_of(better, tied, 1)
        sums[1, batches] += reciprocal_rank_of(better, tied)
        sums[2, batches] += 1
    return _scores(
        drawn, ONE_OF_MANY, {ACCURACY: sums[0], RECIPROCAL_RANK: sums[1]}, sums[2], scoring
    )


def reciprocal_rank_of(better: NDArray[np.int64], tied: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns 1 over the place of the true response, 0..1, in the shape of the counts.

    It is the mean over the places that a true response may have which shares its score with others.
    """
    last = int((better + tied).max(initial=0)) + 1
    below = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, last + 1))])
    return (below[better + tied + 1] - below[better]) / (tied + 1)


def _scores(
    examples: Sequence[Example],
    task: str,
    sums: dict[str, NDArray[np.float64]],
    n: NDArray[np.float64],
    scoring: Scoring,
) -> list[Score]:
    """Returns the mean of each measure; books, or examples without a book, are drawn anew."""
    names = [one.book or f"\0{number}" for number, one in enumerate(examples)]
    groups = {name: group for group, name in enumerate(dict.fromkeys(names))}
    of_example = np.array([groups[name] for name in names])
    columns = (*sums.values(), n)
    table = np.stack([np.bincount(of_example, column) for column in columns], axis=1)
    drawn = resample_chapters(table, scoring.resamples, scoring.seed)
    total = table.sum(axis=0)
    n_books = len({one.book for one in examples} - {""})
    made: list[Score] = []
    for column, measure in enumerate(sums):
        with np.errstate(invalid="ignore"):
            values = drawn[:, column] / drawn[:, -1]
        found = score_from_draws(measure, total[column] / total[-1], values)
        assert found.value is not None
        made.append(
            Score(task, measure, found.value, found.low, found.high, len(examples), n_books)
        )
    return made
