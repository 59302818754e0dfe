"""Parquet, with a row group a book."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from miner.corpus.export import BookRows
from miner.corpus.schema import KINDS, arrow_schemas, rows_from_lines

FILES = {f"{kind}.parquet": about for kind, about in KINDS.items()}


def write_books(folder: Path, books: Iterable[BookRows]) -> None:
    """Writes the rows with the columns of `schema.arrow_schemas`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with ExitStack() as opened:
        writers = {
            kind: opened.enter_context(
                pq.ParquetWriter(folder / f"{kind}.parquet", schema, compression="zstd")
            )
            for kind, schema in arrow_schemas().items()
        }
        for book in books:
            for kind, writer in writers.items():
                if rows := rows_from_lines(book[kind]):
                    writer.write_table(pa.Table.from_pylist(rows, schema=writer.schema))
