"""Parquet, compressed, in row groups of some 16 MB."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from miner.corpus.export import BookRows
from miner.corpus.export import KindOptions as Options
from miner.corpus.schema import KINDS, SCHEMAS, Columns, arrow_schema, rows_from_lines

if TYPE_CHECKING:
    import pyarrow as pa

PACKAGES = ("pyarrow",)
FILES = {f"{kind}.parquet": about for kind, about in KINDS.items()}
# Of a row group in memory. Readers load a group as a whole; many small ones are slow to read and
# compress worse.
_GROUP_BYTES = 16 << 20


_ALL = Options()


def schemas(options: Options = _ALL) -> Mapping[str, Columns]:
    """Returns the columns of the files."""
    return {f"{kind}.parquet": SCHEMAS[kind] for kind in options.tables}


def write_books(
    folder: Path, books: Iterable[BookRows], split: str = "train", options: Options = _ALL
) -> None:
    """Writes the rows with the columns of `schema.SCHEMAS`.

    A group holds rows of several books, or a part of a book. The compression is Zstandard.
    """
    with ExitStack() as opened:
        files = {
            kind: opened.enter_context(_GroupedFile(folder / f"{kind}.parquet", SCHEMAS[kind]))
            for kind in options.tables
        }
        for book in books:
            for kind, file in files.items():
                file.add(book[kind])


class _GroupedFile:
    """A Parquet file that collects rows until there are enough for a group."""

    def __init__(self, path: Path, columns: Columns) -> None:
        import pyarrow.parquet as pq

        self._writer = pq.ParquetWriter(path, arrow_schema(columns), compression="zstd")
        self._tables: list[pa.Table] = []
        self._n_bytes = 0

    def add(self, lines: bytes) -> None:
        """Adds the rows of a book."""
        import pyarrow as pa

        if not lines:
            return
        table = pa.Table.from_pylist(rows_from_lines(lines), schema=self._writer.schema)
        self._tables.append(table)
        self._n_bytes += table.nbytes
        if self._n_bytes >= _GROUP_BYTES:
            self._write()

    def _write(self) -> None:
        import pyarrow as pa

        table = pa.concat_tables(self._tables)
        n_groups = math.ceil(self._n_bytes / _GROUP_BYTES)
        self._writer.write_table(table, row_group_size=math.ceil(table.num_rows / n_groups))
        self._tables, self._n_bytes = [], 0

    def __enter__(self) -> _GroupedFile:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            if self._tables and error[0] is None:
                self._write()
        finally:
            self._writer.close()
