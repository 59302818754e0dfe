"""Parquet files have groups of rows of some size, whatever the sizes of the books."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_helpers import written

import miner
from miner.corpus.export import find_format, parquet
from miner.corpus.schema import SCHEMAS, arrow_schema


@pytest.fixture(scope="module")
def sample():
    return miner.mine("sample", tagger="gap").encoded


@pytest.fixture(scope="module")
def table(sample):
    """The spans of the sample in memory."""
    rows = [json.loads(line) for line in sample["spans"].splitlines()]
    return pa.Table.from_pylist(rows, schema=arrow_schema(SCHEMAS["spans"]))


def sizes_of_groups(path):
    metadata = pq.ParquetFile(path).metadata
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


def test_small_books_share_a_group(tmp_path, sample):
    folder = written(tmp_path, "parquet", *[sample] * 5)
    for kind, lines in sample.items():
        assert sizes_of_groups(folder / f"{kind}.parquet") == [5 * len(lines.splitlines())]


def test_a_large_book_is_divided(tmp_path, sample, table, monkeypatch):
    monkeypatch.setattr(parquet, "_GROUP_BYTES", table.nbytes / 5)
    path = written(tmp_path, "parquet", sample) / "spans.parquet"
    sizes = sizes_of_groups(path)
    assert len(sizes) == 5 and max(sizes) - min(sizes) < 5
    assert pq.read_table(path) == table


def test_groups_are_written_as_books_come(tmp_path, sample, table, monkeypatch):
    monkeypatch.setattr(parquet, "_GROUP_BYTES", 2 * table.nbytes)
    path = written(tmp_path, "parquet", *[sample] * 5) / "spans.parquet"
    assert sizes_of_groups(path) == [2 * len(table), 2 * len(table), len(table)]


def test_equal_books_give_equal_bytes(tmp_path, sample):
    (tmp_path / "again").mkdir()
    one, two = (written(folder, "parquet", sample) for folder in (tmp_path, tmp_path / "again"))
    for name in find_format("parquet").files:
        assert (one / name).read_bytes() == (two / name).read_bytes()
