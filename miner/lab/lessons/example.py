"""A context and its response: what methods learn from and are judged on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from miner.errors import InputError

Context = tuple[str, ...]  # turns, the oldest first; the last is what the response answers


@dataclass(frozen=True, slots=True)
class Example:
    """A response and the turns before it.

    Args:
        book: the id of its book, "" where the source names none.
        context: the turns before the response, the oldest first; at least one.
        response: the turn that answers the last of them.
        chapter: the number of its chapter, 0 where the source has none.
    """

    book: str
    context: Context
    response: str
    chapter: int = 0

    def __post_init__(self) -> None:
        """Refuses an example without a context."""
        if not self.context:
            raise InputError(f"found response {self.response!r:.60} without a context")


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
