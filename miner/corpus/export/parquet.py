"""Parquet: one row group a book, so that writing takes the memory of one book."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from miner.corpus.schema import arrow_schemas, rows_from_lines


def write_rows(path: Path, kind: str, books: Iterable[bytes]) -> None:
    """Writes the rows with the columns of `schema.arrow_schemas`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow_schemas()[kind]
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for lines in filter(None, books):
            writer.write_table(pa.Table.from_pylist(rows_from_lines(lines), schema=schema))
