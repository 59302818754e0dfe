"""Rows of books -> the files of a folder. Each module is one format.

The name of a format is the name of its module, and the first line of the module's docstring
describes it. The module has `FILES` and one function, `write_books`; see `Format`. A new module
here is a new format of `miner mine`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from miner.formats import describe_modules, find_module

BookRows = Mapping[str, bytes]  # all rows of a book, by kind (`schema.KINDS`), as JSON Lines


class WriteBooks(Protocol):
    """The function of a format."""

    def __call__(self, folder: Path, books: Iterable[BookRows]) -> None:
        """Writes all files of a format.

        Args:
            folder: an empty folder.
            books: the rows of each book. They are read one book at a time, and only once, so that
                writing takes the memory of one book.
        """
        ...


class Format(NamedTuple):
    """A format.

    Attributes:
        files: the names of the files, each with what is in it. `write_books` writes all of them,
            even if there are no books. A file that ends in .json holds one object, every other
            file holds rows.
        write_books: writes them.
    """

    files: Mapping[str, str]
    write_books: WriteBooks


def describe_formats() -> dict[str, str]:
    """Returns the names of all formats, in alphabetical order, each with its description."""
    return describe_modules(sys.modules[__name__])


def find_format(name: str) -> Format:
    """Returns a format.

    Raises:
        ValueError: if there is no format with that name.
    """
    module = find_module(sys.modules[__name__], name)
    return Format(module.FILES, module.write_books)
