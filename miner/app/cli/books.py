"""The books that the numbers of annotations name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def book_reader(books: Path | None, mirror: str | None) -> Callable[[str], bytes]:
    """Returns a function that reads a book by its number, and downloads it if necessary."""
    from miner.books.book_file import read_book_file

    find = book_finder(books, mirror)
    return lambda id: read_book_file(find(id))


def book_finder(books: Path | None, mirror: str | None) -> Callable[[str], Path]:
    """Returns a function that finds the file of a number, and downloads it if necessary."""
    from miner.books.download import find_book

    return lambda id: find_book(id, books, mirror)[1]
