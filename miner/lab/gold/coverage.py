"""How much of the annotated books was at hand, and what figures are therefore of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from miner.errors import InputError

# Below this, the percentile bootstrap is too narrow: of normal figures, a 95% interval from n
# chapters holds the true value in P(|t with n-1 degrees of freedom| < 1.96 sqrt(1 - 1/n)) of all
# cases, which is .85 of 5 chapters, .90 of 10 and .94 of 30.
FEW = 10


@dataclass(frozen=True, slots=True)
class LeftOutBook:
    """An annotated book that is not at hand, and why, in one line; as text, `1342: no such page`.

    `n_units` counts what is annotated in it, in the unit of the `Coverage`.
    """

    book: str
    why: str
    n_units: int

    def __str__(self) -> str:
        return f"{self.book}: {self.why}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """What figures are of: how many of the annotated chapters or novels, and what was left out.

    Attributes:
        unit: what is counted, "chapters" or "novels".
        n_all: how many there are in all annotated books that were asked for.
        left_out: the books that are not at hand.
    """

    unit: str
    n_all: int
    left_out: tuple[LeftOutBook, ...]

    @property
    def n_left_out(self) -> int:
        """How many of the unit are in the books that are not at hand."""
        return sum(book.n_units for book in self.left_out)

    @property
    def summary(self) -> str:
        """What is left, and which books are not at hand; "" if nothing was left out."""
        if not (n := len(self.left_out)):
            return ""
        names = ", ".join(book.book for book in self.left_out)
        return (
            f"{self.n_all - self.n_left_out} of {self.n_all} {self.unit}: "
            f"{n} {'book' if n == 1 else 'books'} not at hand ({names})"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines below a table: what its figures are of, if books are missing; if they are few."""
        missing = (f"figures are of {self.summary}",) if self.left_out else ()
        return missing + note_of_few({"": self.n_all - self.n_left_out}, self.unit)

    def to_json(self) -> dict[str, Any]:
        """The counts and the books that were left out, as plain values."""
        return {
            "unit": self.unit,
            "all": self.n_all,
            "left_out": self.n_left_out,
            "books_left_out": [{"book": item.book, "why": item.why} for item in self.left_out],
        }


def note_of_few(counts: Mapping[str, int], unit: str = "chapters") -> tuple[str, ...]:
    """A line below a table of scores of fewer than `FEW` chapters or novels; none of more."""
    few = [f"{name} {n}".strip() for name, n in counts.items() if n < FEW]
    if not few:
        return ()
    unit = unit.removesuffix("s") if few == ["1"] else unit
    return (
        f"{', '.join(few)} {unit}: too few to tell which is better, since 95% intervals of fewer "
        f"than {FEW} are too narrow; tests/benchmarks/README.md has tables of more (split test)",
    )


def read_or_leave_out(read: Callable[[str], bytes], book: str, n_units: int) -> bytes | LeftOutBook:
    """Returns the bytes of a book, or why it is not at hand."""
    try:
        return read(book)
    except (InputError, OSError) as error:
        return LeftOutBook(book, str(error).removeprefix(f"{book}: "), n_units)


def refuse_nothing(left_out: Sequence[LeftOutBook], n_books: int) -> None:
    """Raises an error if all books were left out."""
    if left_out and len(left_out) == n_books:
        raise InputError(f"found none of {n_books} annotated books, expected one; {left_out[0]}")
