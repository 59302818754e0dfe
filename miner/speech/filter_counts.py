"""What filters took, in values that add up over books."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

_Part = TypeVar("_Part", bound="Amount | FilterCount")


@dataclass(frozen=True, slots=True)
class Amount:
    """How much of what was mined: books, dialogues and parts of them, turns, pairs of turns."""

    books: int = 0
    dialogues: int = 0
    turns: int = 0
    pairs: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            self.books + other.books,
            self.dialogues + other.dialogues,
            self.turns + other.turns,
            self.pairs + other.pairs,
        )


@dataclass(frozen=True, slots=True)
class FilterCount:
    """What one filter took, of how much.

    A dialogue is taken if nothing is left of it. A filter that divides dialogues takes the pairs
    across the places where it divides, too.

    Attributes:
        came: what the filters before it had left.
        taken: what it took of that. A book is taken with its last dialogue.
    """

    came: Amount = field(default_factory=Amount)
    taken: Amount = field(default_factory=Amount)

    def __add__(self, other: FilterCount) -> FilterCount:
        return FilterCount(self.came + other.came, self.taken + other.taken)


@dataclass(frozen=True, slots=True)
class FilterCounts:
    """What all filters took of some books. Sums of counts are the counts of all their books.

    Attributes:
        books: the books that were taken whole, with all that was mined of them, by filter.
        dialogues: for each filter on dialogues, in the order in which they took, what it took.
    """

    books: Mapping[str, Amount] = field(default_factory=dict)
    dialogues: Mapping[str, FilterCount] = field(default_factory=dict)

    def __add__(self, other: FilterCounts) -> FilterCounts:
        return FilterCounts(_sums(self.books, other.books), _sums(self.dialogues, other.dialogues))

    def add_book(self, name: str, n_dialogues: int, n_turns: int) -> FilterCounts:
        """Returns the counts with one more book that a filter takes whole."""
        taken = Amount(1, n_dialogues, n_turns, n_turns - n_dialogues)
        return self + FilterCounts(books={name: taken})

    @property
    def came_to_dialogues(self) -> Amount:
        """What no filter on books took."""
        return next(iter(self.dialogues.values()), FilterCount()).came

    def to_record(self) -> dict[str, Any]:
        """The counts as JSON has them."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> FilterCounts:
        """The counts of which `to_record` gave the record."""
        return cls(
            {name: Amount(**amount) for name, amount in record["books"].items()},
            {
                name: FilterCount(Amount(**count["came"]), Amount(**count["taken"]))
                for name, count in record["dialogues"].items()
            },
        )


def _sums(one: Mapping[str, _Part], other: Mapping[str, _Part]) -> dict[str, _Part]:
    """Returns the sums by name, in the order of the first that has a name."""
    total: dict[str, Any] = dict(one)
    for name, part in other.items():
        total[name] = total[name] + part if name in total else part
    return total
