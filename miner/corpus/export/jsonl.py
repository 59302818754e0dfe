"""JSON Lines, a row a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from miner.corpus.export import BookRows
from miner.corpus.export import KindOptions as Options
from miner.corpus.schema import KINDS, SCHEMAS, Columns

FILES = {f"{kind}.jsonl": about for kind, about in KINDS.items()}


_ALL = Options()


def schemas(options: Options = _ALL) -> Mapping[str, Columns]:
    """Returns the columns of the files."""
    return {f"{kind}.jsonl": SCHEMAS[kind] for kind in options.tables}


def write_books(
    folder: Path, books: Iterable[BookRows], split: str = "train", options: Options = _ALL
) -> None:
    """Writes the rows of all books, one after the other.

    The files are not compressed: who wants them small takes Parquet.
    """
    with ExitStack() as opened:
        files = {
            kind: opened.enter_context((folder / f"{kind}.jsonl").open("wb"))
            for kind in options.tables
        }
        for book in books:
            for kind, file in files.items():
                file.write(book[kind])
