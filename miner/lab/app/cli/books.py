"""The books that the numbers of annotations name, and those of them that are not at hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from miner.lab.gold.editions import Coverage


def book_reader(books: Path | None, mirror: str | None) -> Callable[[str], bytes]:
    """Returns a function that reads a book by its number, and downloads it if necessary."""
    from miner.books.book_file import read_book_file

    find = book_finder(books, mirror)
    return lambda id: read_book_file(find(id))


def book_finder(books: Path | None, mirror: str | None) -> Callable[[str], Path]:
    """Returns a function that finds the file of a number, and downloads it if necessary."""
    from miner.books.download import find_book, urls_from_mirror
    from miner.books.sources import find_sources

    find_sources((), books)
    if mirror:
        urls_from_mirror(mirror, "1")
    return lambda id: find_book(id, books, mirror)[1]


def show_left_out(coverage: Coverage | None) -> None:
    """Prints a line for each annotated book that is not at hand, to stderr."""
    for book in coverage.left_out if coverage else ():
        click.echo(f"{click.style('left out', fg='yellow')}: {book}", err=True)
