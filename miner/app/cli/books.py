"""The books that the words of a command name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miner.books.sources import Source


def book_reader(books: Path | None, mirror: str | None) -> Callable[[str], bytes]:
    """Gives the bytes of a book by its number."""
    return lambda id: one_book(id, books, mirror)[1]


def mark_names(quotes: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in quotes.split(",") if name.strip()) if quotes else ()


def one_book(word: str, books: Path | None, mirror: str | None) -> tuple[Source, bytes]:
    """The one book that a word names, and its bytes."""
    source, path = file_of(word, books, mirror)
    return source, path.read_bytes()


def file_of(word: str, books: Path | None, mirror: str | None) -> tuple[Source, Path]:
    """The one book that a word names, and its file, downloaded if it is in no folder."""
    from miner.books.download import DEFAULT_MIRROR, find_book

    return find_book(word, books, mirror or DEFAULT_MIRROR)


@contextmanager
def naming(word: str) -> Iterator[None]:
    """Puts the book's name before an error that lacks it."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{word}: {error}") from error
