"""JSON Lines, a row a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from miner.corpus.export import BookRows
from miner.corpus.schema import KINDS, arrow_schemas

if TYPE_CHECKING:
    import pyarrow as pa

FILES = {f"{kind}.jsonl": about for kind, about in KINDS.items()}


def schemas() -> Mapping[str, pa.Schema]:
    """Returns the columns of the files."""
    return {f"{kind}.jsonl": schema for kind, schema in arrow_schemas().items()}


def write_books(folder: Path, books: Iterable[BookRows], split: str = "train") -> None:
    """Writes the rows of all books, one after the other.

    The files are not compressed: who wants them small takes Parquet.
    """
    with ExitStack() as opened:
        files = {
            kind: opened.enter_context((folder / f"{kind}.jsonl").open("wb")) for kind in KINDS
        }
        for book in books:
            for kind, file in files.items():
                file.write(book[kind])
