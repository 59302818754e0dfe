"""A context and its response: what methods learn from and are judged on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from miner.errors import InputError

if TYPE_CHECKING:
    from miner.lab.gold.editions import Coverage

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
Context = tuple[str, ...]  # turns, the oldest first; the last is what the response answers


@dataclass(frozen=True, slots=True)
class Example:
    """A response and the turns before it."""

    book: str  # the id of its book, "" where the source names none
    context: Context  # the turns before the response, the oldest first; at least one
    response: str  # the turn that answers the last of them
    chapter: int = 0  # the number of its chapter, 0 where the source has none

    def __post_init__(self) -> None:
        """Refuses an example without a context."""
        if not self.context:
            raise InputError(f"found response {self.response!r:.60} without a context")


def join_turns(context: Context) -> str:
    """Returns the turns of a context as one text, a line each."""
    return "\n".join(context)


def split_words(text: str) -> list[str]:
    """Returns the words of a text in lower case, without punctuation.

    >>> split_words("Well, Mr. Bennet—don’t!")
    ['well', 'mr', 'bennet', "don't"]
    """
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


def keep_turns(examples: Iterable[Example], history_turns: int | None) -> list[Example]:
    """Returns the examples with shorter contexts."""
    if history_turns is None:
        return list(examples)
    return [
        Example(one.book, one.context[-1 - history_turns :], one.response, one.chapter)
        for one in examples
    ]


def normal_form(text: str) -> str:
    """Returns a response as it is compared: letters and digits in lower case, single spaces.

    >>> normal_form("Yes, sir!"), normal_form(" yes sir ")
    ('yes sir', 'yes sir')

    A text without a letter is compared as it is.

    >>> normal_form("…!")
    '…!'
    """
    words = "".join(c if c.isalnum() else " " for c in text.casefold()).split()
    return " ".join(words) or text.strip()


def books_of(examples: Iterable[Example]) -> tuple[str, ...]:
    """Returns the ids of the books of examples, in alphabetical order, without ""."""
    return tuple(sorted({one.book for one in examples} - {""}))


def books_of_record(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the ids of the books of a training and of those before, validation included."""
    parts = [part["books"] for part in (record["train"], record["validation"]) if part]
    before = [record.get(f"{what}_on_before", ()) for what in ("trained", "judged")]
    return tuple(sorted({book for books in (*parts, *before) for book in books}))


def refuse_shared_books(train: Iterable[str], judged: Iterable[str], where: str) -> None:
    """Refuses to judge on a book that was trained on."""
    if shared := sorted(set(train) & set(judged) - {""}):
        named = ", ".join(shared[:5]) + (", …" if len(shared) > 5 else "")
        raise InputError(
            f"{where}: found {len(shared)} book{'s' * (len(shared) > 1)} of the training "
            f"({named}), expected others"
        )


def refuse_too_few(examples: Sequence[Example], least: int, where: str) -> None:
    """Refuses to judge on so few examples that no batch is full."""
    if len(examples) < least:
        raise InputError(
            f"{where}: found {len(examples):,} examples, expected at least {least}, as a batch has"
        )


def describe_examples(examples: Sequence[Example]) -> dict[str, Any]:
    """Returns what a record says of examples: their number, their books and a digest."""
    digest = sha256()
    for one in examples:
        digest.update("\0".join((one.book, *one.context, one.response, "")).encode())
    return {
        "examples": len(examples),
        "books": list(books_of(examples)),
        "sha256": digest.hexdigest(),
    }


@dataclass(frozen=True, slots=True)
class Part:
    """Examples and where they come from."""

    examples: Sequence[Example]  # with all their turns, in the order of the source
    source: str  # and its split, as records and tables name them ("mined/pairs.jsonl")
    chosen: Sequence[str] = ()  # which of the source they are, in words; empty for all
    path: str = ""  # of the source, which tells it from another one of the same name
    left_out: Mapping[str, int] = field(default_factory=dict)  # pairs that are none, by reason
    coverage: Coverage | None = None  # which annotated books are not at hand

    @property
    def books(self) -> tuple[str, ...]:
        """The ids of the books, without ""."""
        return books_of(self.examples)

    @property
    def n_without_book(self) -> int:
        """How many examples name no book, so that nobody can tell whether it was trained on."""
        return sum(not one.book for one in self.examples)

    def describe(self) -> dict[str, Any]:
        """What a record says of them."""
        of_examples = describe_examples(self.examples)
        place = {"source": self.source, "path": self.path}
        return {**place, "chosen": list(self.chosen), **of_examples}


def check_parts(train: Part, validation: Part | None, what: str) -> None:
    """Refuses parts from which nothing can be trained, and several processes."""
    if (n_processes := int(os.environ.get("WORLD_SIZE", "1"))) > 1:
        raise InputError(f"found {n_processes} processes, expected one: it trains {what}")
    if not train.examples:
        raise InputError(f"{train.source}: found no pairs, expected some to learn from")
    if validation:
        refuse_shared_books(
            books_of(train.examples), books_of(validation.examples), validation.source
        )


def describe_part(part: Mapping[str, Any]) -> str:
    """Returns where examples come from, and which of them were taken."""
    return ", ".join([part["source"], *part["chosen"]])


def describe_size(part: Mapping[str, Any]) -> str:
    """Returns how many examples there are, and of how many books ("1,658 pairs of 15 books")."""
    return f"{part['examples']:,} pairs of {count_books(part['books'])}"


def count_books(books: Iterable[str]) -> str:
    """Returns how many books there are, in words."""
    n = len(set(books) - {""})
    return f"{n:,} book{'s' * (n != 1)}" if n else "books without an id"


def refuse_trained_on(record: Mapping[str, Any], examples: Sequence[Example], where: str) -> None:
    """Refuses to judge on books that were learned from, or on the same pairs without a book."""
    refuse_shared_books(books_of_record(record), books_of(examples), where)
    digest = describe_examples(examples)["sha256"]
    if any(part and part["sha256"] == digest for part in (record["train"], record["validation"])):
        raise InputError(f"{where}: found the pairs that it was trained on, expected others")
