"""The books that the words of a command name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miner.books.sources import Source


def book_reader(books: Path | None, mirror: str | None) -> Callable[[str], bytes]:
    """Returns a function that reads a book by its number."""
    return lambda id: open_book(id, books, mirror)[1]


def open_book(word: str, books: Path | None, mirror: str | None) -> tuple[Source, bytes]:
    """Finds the one book that a word names, and returns it with its bytes."""
    source, path = find_book_file(word, books, mirror)
    return source, path.read_bytes()


def find_book_file(word: str, books: Path | None, mirror: str | None) -> tuple[Source, Path]:
    """Finds the one book that a word names, and its file, which is downloaded if necessary."""
    from miner.books.download import DEFAULT_MIRROR, find_book

    return find_book(word, books, mirror or DEFAULT_MIRROR)


@contextmanager
def naming_book(word: str) -> Iterator[None]:
    """Puts the book's name before the message of a `ValueError` that is raised inside."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{word}: {error}") from error
