"""What was scored on the same examples, side by side: what both comparisons of lessons share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from miner.lab.measure.scores import resample_chapters, score_from_draws
from miner.score import Score


class _Plain(Protocol):
    def to_json(self) -> dict[str, Any]: ...


Row = TypeVar("Row", bound=_Plain)
Shown = TypeVar("Shown", bound=_Plain)


@dataclass(frozen=True, slots=True)
class Comparison(Generic[Row, Shown]):
    """Methods or models that were scored on the same examples."""

    rows: tuple[Row, ...]  # in the order in which they were named
    scored: str  # what exactly was scored, in one line
    notes: tuple[str, ...]  # what the scores do not tell
    shown: tuple[Shown, ...] = ()  # contexts, each with what was chosen or answered

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain values."""
        return {
            "scored": self.scored,
            "notes": list(self.notes),
            "rows": [row.to_json() for row in self.rows],
            "shown": [context.to_json() for context in self.shown],
        }


def score_means(
    columns: Mapping[str, tuple[NDArray[Any], NDArray[Any]]],
    books: Sequence[str],
    resamples: int,
    seed: int,
) -> list[Score]:
    """Returns the mean of each measure over examples, of whose sums and numbers it is the ratio.

    Intervals are by draws of books with replacement.
    """
    groups = number_books(books)
    sums = [np.bincount(groups, column) for pair in columns.values() for column in pair]
    table = np.stack(sums, axis=1)
    drawn, total = resample_chapters(table, resamples, seed), table.sum(axis=0)
    with np.errstate(invalid="ignore"):
        values, means = total[0::2] / total[1::2], drawn[:, 0::2] / drawn[:, 1::2]
    return [score_from_draws(values[k], means[:, k]) for k in range(len(columns))]


def number_books(books: Sequence[str]) -> NDArray[np.int64]:
    """Returns the number of the book of each example; one without a book has one of its own."""
    names = [book or f"\0{number}" for number, book in enumerate(books)]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], np.int64)
