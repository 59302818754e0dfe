"""Dialogues -> the dialogues that pass the filters, and what each filter took.

A filter is a function here, a line in `filter_dialogues` and a line in `_REASONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

from miner.errors import InputError
from miner.speech.dialogues import Dialogue, Turn, turn_pairs

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
    """

    came: Amount = field(default_factory=Amount)  # what the filters before it had left
    # what it took of that. A book is taken with its last dialogue.
    taken: Amount = field(default_factory=Amount)

    def __add__(self, other: FilterCount) -> FilterCount:
        return FilterCount(self.came + other.came, self.taken + other.taken)


@dataclass(frozen=True, slots=True)
class FilterCounts:
    """What all filters took of some books. Sums of counts are the counts of all their books."""

    # the books that were taken whole, with all that was mined of them, by filter.
    books: Mapping[str, Amount] = field(default_factory=dict)
    # for each filter on dialogues, in the order in which they took, what it took.
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


def _sums(one: Mapping[str, _Part], other: Mapping[str, _Part]) -> dict[str, _Part]:
    """Returns the sums by name, in the order of the first that has a name."""
    total: dict[str, Any] = dict(one)
    for name, part in other.items():
        total[name] = total[name] + part if name in total else part
    return total


# One turn is no dialogue: nobody answers.
MIN_TURNS = 2

# Returns what a filter leaves of a dialogue: parts of it, in order, or nothing.
_Filter = Callable[[Dialogue], list[Dialogue]]

# For each filter, in their order: what run.json calls that which it takes, and what it counts.
_REASONS = {
    "empty_turns": {"empty turns": "turns"},
    "max_turn_words": {"long turns": "turns"},
    "set_pieces": {"turns in letters and verse": "turns"},
    "min_confidence": {"unsure pairs": "pairs"},
    "min_turns": {"short dialogues": "dialogues", "turns in short dialogues": "turns"},
    "max_rare_words": {
        "dialogues of rare words": "dialogues",
        "turns in dialogues of rare words": "turns",
    },
}


@dataclass(frozen=True, slots=True)
class DialogueLimits:
    """Limits that turns, pairs and dialogues keep to."""

    # the most words, split at white space, of a turn; None for no limit.
    max_turn_words: int | None = None
    # the least `Pair.confidence`, 0 to 1, at which two turns stay a pair.
    min_confidence: float = 0.0
    min_turns: int = MIN_TURNS  # the fewest turns of a dialogue, or of a part of one; 1 keeps all

    def __post_init__(self) -> None:
        if self.max_turn_words is not None and self.max_turn_words < 1:
            raise InputError(f"max_turn_words: found {self.max_turn_words}, expected at least 1")
        if not 0 <= self.min_confidence <= 1:
            raise InputError(f"min_confidence: found {self.min_confidence}, expected 0 to 1")
        if self.min_turns < 1:
            raise InputError(f"min_turns: found {self.min_turns}, expected at least 1")


@dataclass(frozen=True, slots=True)
class FilteredDialogues:
    """The dialogues of a book that passed, and what each filter took."""

    kept: tuple[Dialogue, ...]  # the dialogues and parts of dialogues that passed, in order
    counts: FilterCounts  # what each filter took, in the order in which they took

    @property
    def drops(self) -> tuple[tuple[str, int], ...]:
        """How many turns, pairs and dialogues did not pass, by reason."""
        return tuple(
            (reason, getattr(count.taken, unit))
            for name, count in self.counts.dialogues.items()
            for reason, unit in _REASONS.get(name, {name: "dialogues"}).items()
        )

    def without(self, places: Collection[int], name: str) -> FilteredDialogues:
        """Returns what is left if one more filter takes some dialogues."""
        gone = frozenset(places)
        left = [part for place, part in enumerate(self.kept) if place not in gone]
        count = _count_of(self.kept, left, len(self.kept) - len(left))
        return FilteredDialogues(tuple(left), self.counts + FilterCounts(dialogues={name: count}))


def filter_dialogues(
    dialogues: Iterable[Dialogue],
    limits: DialogueLimits = DialogueLimits(),
    *,
    is_letter_or_verse: Callable[[Turn], bool] | None = None,
    is_rare: Callable[[Dialogue], bool] | None = None,
) -> FilteredDialogues:
    """Returns the dialogues of a book that pass the filters, and what each filter took.

    The filters, in this order, remove empty turns, long turns and set pieces; divide dialogues
    between the two turns of an unsure pair; and remove short dialogues and those of rare words. A
    dialogue ends before a turn that is removed, and a new part of it begins after that turn. So
    every pair of the result is a pair of the book. A turn of which nothing is left without its
    quotation marks is empty, and always removed.

    After "The Gutenberg Dialogue Dataset" (section 3, Long utterances and rare words), which
    removes utterances of more than 100 words, then dialogues of one utterance, then those of rare
    words; an utterance there is a turn here. It has no other filter of these.
    """
    dividing: dict[str, _Filter] = {
        "empty_turns": _remove_empty_turns,
        "max_turn_words": partial(_remove_long_turns, max_words=limits.max_turn_words),
    }
    if is_letter_or_verse is not None:
        dividing["set_pieces"] = partial(_remove_turns, is_removed=is_letter_or_verse)
    dividing["min_confidence"] = partial(_divide_unsure_pairs, least=limits.min_confidence)
    removing: dict[str, _Filter] = {
        "min_turns": lambda part: [part] if len(part.turns) >= limits.min_turns else []
    }
    if is_rare is not None:
        removing["max_rare_words"] = lambda part: [] if is_rare(part) else [part]
    counts: dict[str, FilterCount] = {}
    kept = _applied(dividing, list(dialogues), counts)
    kept = _applied(removing, _numbered(kept), counts)
    return FilteredDialogues(tuple(kept), FilterCounts(dialogues=counts))


def _applied(
    filters: Mapping[str, _Filter], parts: list[Dialogue], counts: dict[str, FilterCount]
) -> list[Dialogue]:
    """Returns what some filters leave, and notes what each takes."""
    for name, leave in filters.items():
        found = [leave(part) for part in parts]
        left = [part for of_one in found for part in of_one]
        counts[name] = _count_of(parts, left, sum(not of_one for of_one in found))
        parts = left
    return parts


def _count_of(parts: Sequence[Dialogue], left: Sequence[Dialogue], n_gone: int) -> FilterCount:
    """Returns what a filter took that leaves some dialogues, and nothing of `n_gone` others."""
    came, after = _amount_of(parts), _amount_of(left)
    taken = Amount(
        came.books - after.books, n_gone, came.turns - after.turns, came.pairs - after.pairs
    )
    return FilterCount(came, taken)


def _amount_of(parts: Sequence[Dialogue]) -> Amount:
    """Returns how much some dialogues of one book are."""
    n_turns = sum(len(part.turns) for part in parts)
    return Amount(int(bool(parts)), len(parts), n_turns, n_turns - len(parts))


def _numbered(parts: Iterable[Dialogue]) -> list[Dialogue]:
    """Returns the parts with their numbers in their dialogue."""
    return [
        part if part.part == number else replace(part, part=number)
        for _, of_one in groupby(parts, key=lambda part: (part.book, part.index))
        for number, part in enumerate(of_one)
    ]


def _remove_empty_turns(dialogue: Dialogue) -> list[Dialogue]:
    """Removes each turn without text."""
    return _remove_turns(dialogue, lambda turn: not turn.text)


def _remove_long_turns(dialogue: Dialogue, max_words: int | None) -> list[Dialogue]:
    """Removes each turn of more than `max_words` words."""
    if max_words is None:
        return [dialogue]
    return _remove_turns(dialogue, lambda turn: len(turn.quoted_text.split()) > max_words)


def _remove_turns(dialogue: Dialogue, is_removed: Callable[[Turn], bool]) -> list[Dialogue]:
    """Removes some turns."""
    removed = [is_removed(turn) for turn in dialogue.turns]
    if not any(removed):
        return [dialogue]
    runs: list[list[Turn]] = [[]]
    for turn, is_gone in zip(dialogue.turns, removed, strict=True):
        if is_gone:
            runs.append([])
        else:
            runs[-1].append(turn)
    return [replace(dialogue, turns=tuple(run)) for run in runs if run]


def _divide_unsure_pairs(dialogue: Dialogue, least: float) -> list[Dialogue]:
    """Divides between the two turns of each pair that is less sure than `least`."""
    if not least:
        return [dialogue]
    runs = [[dialogue.turns[0]]]
    for pair in turn_pairs(dialogue):
        if pair.confidence is None:
            raise InputError("found tags without confidence, expected those of a checkpoint")
        if pair.confidence < least:
            runs.append([])
        runs[-1].append(pair.response)
    return [replace(dialogue, turns=tuple(run)) for run in runs]
