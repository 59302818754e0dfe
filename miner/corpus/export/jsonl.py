"""JSON Lines: one row a line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def write_rows(path: Path, kind: str, books: Iterable[bytes]) -> None:
    """Writes the rows of all books, one after the other."""
    with path.open("wb") as file:
        for rows in books:
            file.write(rows)
