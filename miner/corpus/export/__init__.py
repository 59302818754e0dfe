"""Rows of books -> files, one module a format.

A module of this folder is a format. Its name is the name of the format and the suffix of the files.
It has one function, `write_rows`; see `WriteRows`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Protocol


class WriteRows(Protocol):
    """The function of a format."""

    def __call__(self, path: Path, kind: str, books: Iterable[bytes]) -> None:
        """Writes all rows of a kind to the file `path`.

        Args:
            path: a new file.
            kind: one of `schema.KINDS`.
            books: the rows of each book, as JSON Lines. A book may have none.
        """
        ...


def format_names() -> list[str]:
    """The names of all formats, in alphabetical order."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find_row_writer(name: str) -> WriteRows:
    """The function that writes a format.

    Raises:
        ValueError: if there is no format of that name.
    """
    if name not in format_names():
        raise ValueError(f"found format {name!r}, expected {' or '.join(format_names())}")
    return import_module(f"{__name__}.{name}").write_rows
