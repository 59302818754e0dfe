"""A method and examples -> its scores with their intervals, and what exactly was scored.

The tasks are 1-of-100 (CD, section 4), and 1 in 2 and 1 in 10 (UD, sections 3.4 and 3.5). Two
harder kinds of 1 in 10 take false responses of the same chapter, and those most like the true one
(UD, section 6.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from miner.lab.lessons.comparison import score_means
from miner.lab.lessons.examples import Example, books_of, count_books, keep_turns, refuse_too_few
from miner.lab.lessons.selection.tasks import (
    BATCH,
    Barred,
    draw_batches,
    draw_candidates,
    draw_contexts,
    encode,
    encode_contexts,
    other_books,
    rank_among,
    rank_in_batches,
    recall_of,
    same_chapter,
    similar_candidates,
)
from miner.version import __version__

if TYPE_CHECKING:
    from miner.lab.lessons.selection.methods import Method, Vectors

ONE_OF_MANY = f"1-of-{BATCH}"
RANKED = 10  # candidates of which a true response is one; UD, section 3.5
HARDER = f"1 in {RANKED} of the chapter", f"1 in {RANKED} alike"  # UD, section 6.2
ACCURACY, RECIPROCAL_RANK = "R@1", "MRR"
_RANKS = (1, 2, 5)  # k of Recall@k


@dataclass(frozen=True, slots=True)
class Scoring:
    """What is scored, and how often."""

    most_examples: int = 50_000  # how many are taken of a source that has more, at random
    shuffles: int = 10  # how often the batches are drawn anew; a score is the mean
    resamples: int = 1000  # draws of books for the 95% intervals
    seed: int = 0  # of all these draws
    harder: bool = False  # whether the harder kinds of 1 in 10 are scored, too

    def sample(self, examples: Sequence[Example]) -> list[Example]:
        """Returns the examples that are scored, in their order."""
        if len(examples) <= self.most_examples:
            return list(examples)
        random = np.random.default_rng(self.seed)
        drawn = random.choice(len(examples), self.most_examples, replace=False)
        return [examples[number] for number in sorted(drawn.tolist())]

    def describe(self, examples: Sequence[Example]) -> str:
        """Returns what is scored of examples, in one line."""
        n, n_books = len(self.sample(examples)), len(books_of(examples))
        n_batches = n // BATCH
        books = count_books(books_of(examples))
        others = "books" if n_books > 1 else "examples"
        harder = "; harder: of the same chapter, or most like the true one" * self.harder
        return (
            f"{n_batches * BATCH:,} of {len(examples):,} examples of {books} in {n_batches:,} "
            f"batch{'es' * (n_batches != 1)} of {BATCH}; 1 in 2 and 1 in {RANKED}: all of them, "
            f"false responses of other {others}{harder}; mean of {self.shuffles} draws, "
            f"intervals by {self.resamples:,} draws of {'books' if n_books else 'examples'}, "
            f"seed {self.seed}, version {__version__}"
        )


@dataclass(frozen=True, slots=True)
class Score:
    """How a method does on a task, 0..1, with its 95% interval."""

    task: str  # "1-of-100", "1 in 2", "1 in 10", "1 in 10 of the chapter" or "1 in 10 alike"
    measure: str  # "R@k", whether the true response is among the first k; "MRR", 1 over its place
    value: float  # the mean over the draws
    low: float | None  # the lower end of the interval; None where there is one book
    high: float | None  # the upper end
    n_examples: int  # that have candidates: a chapter may have too few different responses
    n_books: int  # of how many books; 0 where the source names none

    @property
    def is_harder(self) -> bool:
        """Whether the false responses are harder ones (UD, section 6.2)."""
        return self.task in HARDER


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a method does on each example by one measure of a task."""

    task: str  # as in `Score`
    measure: str  # as in `Score`
    sums: NDArray[np.float64]  # over the draws in which an example was scored, [examples]
    n: NDArray[np.float64]  # in how many it was, [examples]


def score_method(
    method: Method,
    examples: Sequence[Example],
    scoring: Scoring,
    history_turns: int | None = None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> list[Score]:
    """Returns the scores of a method on examples."""
    drawn = scoring.sample(examples)
    outcomes = try_method(method, drawn, scoring, history_turns, progress)
    return [score_outcome(outcome, drawn, scoring) for outcome in outcomes if outcome.n.any()]


def try_method(
    method: Method,
    examples: Sequence[Example],
    scoring: Scoring,
    history_turns: int | None = None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> list[Outcome]:
    """Returns what a method does on each example, by each measure.

    With the same examples and scoring, all methods are tried on the same draws.
    """
    refuse_too_few(examples, BATCH, ONE_OF_MANY)
    barred = Barred.of(examples)
    examples = keep_turns(examples, history_turns)
    contexts, responses = encode(method, examples, progress)
    tallies = _Tallies(len(examples))
    random = np.random.default_rng(scoring.seed)
    for _ in range(scoring.shuffles):
        batches = draw_batches(len(examples), BATCH, random)
        better, tied = rank_in_batches(contexts, responses, barred, batches)
        tallies.add(ONE_OF_MANY, batches, better, tied, (1,))
    whole = [one.context for one in examples]
    shorter = draw_contexts(whole, random)
    if shorter != whole:
        contexts = encode_contexts(method, shorter)
    for _ in range(scoring.shuffles):
        pools = other_books(examples)
        for n, ks in ((2, ()), (RANKED, _RANKS)):
            candidates = draw_candidates(pools, barred, n - 1, random)
            tallies.rank(f"1 in {n}", contexts, responses, candidates, ks or (1,))
        if scoring.harder:
            candidates = draw_candidates(same_chapter(examples), barred, RANKED - 1, random)
            tallies.rank(HARDER[0], contexts, responses, candidates, (1,))
    if scoring.harder:
        alike = similar_candidates(examples, barred, RANKED - 1)
        tallies.rank(HARDER[1], contexts, responses, alike, (1,))
    return tallies.outcomes()


class _Tallies:
    """Sums of each measure over draws."""

    def __init__(self, n_examples: int) -> None:
        self._n_examples = n_examples
        self._sums: dict[tuple[str, str], NDArray[np.float64]] = {}
        self._n: dict[str, NDArray[np.float64]] = {}

    def rank(
        self,
        task: str,
        contexts: Vectors,
        responses: Vectors,
        candidates: NDArray[np.int64],
        ks: Sequence[int],
    ) -> None:
        """Ranks each true response among its candidates, and adds how it did."""
        rows = np.flatnonzero(candidates[:, 0] >= 0)
        if not len(rows):
            return
        better, tied = rank_among(contexts, responses, rows, candidates[rows])
        self.add(task, rows, better, tied, ks)

    def add(
        self,
        task: str,
        numbers: NDArray[np.int64],
        better: NDArray[np.int64],
        tied: NDArray[np.int64],
        ks: Sequence[int],
    ) -> None:
        """Adds the places of the true responses of some examples, each of which is there once."""
        found = {f"R@{k}": recall_of(better, tied, k) for k in ks}
        if task != "1 in 2":  # where it says what R@1 says
            found[RECIPROCAL_RANK] = reciprocal_rank_of(better, tied)
        for measure, values in found.items():
            zeros = np.zeros(self._n_examples)
            self._sums.setdefault((task, measure), zeros)[numbers] += values
        self._n.setdefault(task, np.zeros(self._n_examples))[numbers] += 1

    def outcomes(self) -> list[Outcome]:
        """One for each task and measure, in the order in which they were added first."""
        return [
            Outcome(task, measure, sums, self._n[task])
            for (task, measure), sums in self._sums.items()
        ]


def reciprocal_rank_of(better: NDArray[np.int64], tied: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns 1 over the place of the true response, 0..1, in the shape of the counts.

    It is the mean over the places that a true response may have which shares its score with others.
    """
    last = int((better + tied).max(initial=0)) + 1
    below = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, last + 1))])
    return (below[better + tied + 1] - below[better]) / (tied + 1)


def score_outcome(outcome: Outcome, examples: Sequence[Example], scoring: Scoring) -> Score:
    """Returns the mean over examples; books, or examples without a book, are drawn anew."""
    scored = np.flatnonzero(outcome.n)
    books = [examples[number].book for number in scored.tolist()]
    columns = {outcome.measure: (outcome.sums[scored], outcome.n[scored])}
    (found,) = score_means(columns, books, scoring.resamples, scoring.seed)
    assert found.value is not None
    n_books = len(set(books) - {""})
    return Score(
        outcome.task, outcome.measure, found.value, found.low, found.high, len(scored), n_books
    )


def mean_outcome(outcomes: Sequence[Outcome]) -> Outcome:
    """Returns the mean of outcomes on the same draws, such as those of trainings by other seeds."""
    first = outcomes[0]
    sums = np.mean([outcome.sums for outcome in outcomes], axis=0)
    return Outcome(first.task, first.measure, sums, first.n)


def subtract(one: Outcome, other: Outcome) -> Outcome:
    """Returns by how much one outcome is better than another on the same draws."""
    same = (one.task, one.measure) == (other.task, other.measure)
    if not same or not np.array_equal(one.n, other.n):
        raise ValueError("found outcomes of two tasks or draws, expected the same")
    return Outcome(one.task, one.measure, one.sums - other.sums, one.n)
