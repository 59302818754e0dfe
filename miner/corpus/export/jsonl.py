"""JSON Lines, a row a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from miner.corpus.export import BookRows, refuse_other_than_tables
from miner.corpus.schema import KINDS, arrow_schemas

if TYPE_CHECKING:
    import pyarrow as pa

FILES = {f"{kind}.jsonl": about for kind, about in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Options:
    """Which tables are written.

    Args:
        tables: some of "spans", "dialogues", "pairs" and "characters".

    Raises:
        ValueError: if there is no such table.
    """

    tables: tuple[str, ...] = tuple(KINDS)

    def __post_init__(self) -> None:
        refuse_other_than_tables(self.tables, KINDS)


_ALL = Options()


def schemas(options: Options = _ALL) -> Mapping[str, pa.Schema]:
    """Returns the columns of the files."""
    known = arrow_schemas()
    return {f"{kind}.jsonl": known[kind] for kind in options.tables}


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
