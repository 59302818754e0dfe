"""Output that is written whole or not at all, and never over an existing file unasked."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self

import orjson

from miner.records import KINDS, Row, arrow_schemas

Format = Literal["jsonl", "parquet"]
RUN_RECORD = "run.json"
CARD = "README.md"


def json_line(row: Mapping[str, Any]) -> bytes:
    """One row of a JSON Lines file, UTF-8, newline included."""
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def refuse_existing(path: Path, force: bool) -> None:
    """Stops before any work is done that could not be kept.

    Raises:
        ValueError: if `path` exists (a folder: if it is not empty) and `force` was not given.
    """
    if force or not path.exists():
        return
    if path.is_dir() and not any(path.iterdir()):
        return
    raise ValueError(f"{path}: exists already, expected a new name (or --force to replace it)")


@contextmanager
def whole_file(path: Path, force: bool = False) -> Iterator[BinaryIO]:
    """A file to write to that takes the name `path` when the block ends without an error.

    Raises:
        ValueError: if `path` exists and `force` was not given.
        OSError: if it cannot be written; nothing is left behind.
    """
    refuse_existing(path, force)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        refuse_existing(path, force)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


class OutputFolder:
    """The files of one run of `mine`, filled book by book, in place only when all are complete.

    Used as a context manager: an error or Ctrl-C inside the block leaves no trace.
    """

    def __init__(self, path: Path, format: Format, force: bool) -> None:
        refuse_existing(path, force)
        if path.exists() and not path.is_dir():
            raise ValueError(f"{path}: found a file, expected the name of a folder")
        self._path = path
        self._format: Format = format
        path.parent.mkdir(parents=True, exist_ok=True)
        self._work = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        self._writers = {
            kind: _writer(kind, self._work / f"{kind}.{format}", format) for kind in KINDS
        }

    def __enter__(self) -> Self:
        return self

    def add(self, encoded: Mapping[str, bytes]) -> None:
        """Appends what `encode` made of one book."""
        for kind, data in encoded.items():
            self._writers[kind].add(data)

    def finish(self, record: Mapping[str, Any]) -> list[Path]:
        """Writes the run record and the card, puts all files in place and returns their paths."""
        for writer in self._writers.values():
            writer.close()
        (self._work / RUN_RECORD).write_text(
            json.dumps(record, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
        )
        (self._work / CARD).write_text(_card(self._format), encoding="utf-8")
        names = sorted(path.name for path in self._work.iterdir())
        os.chmod(self._work, 0o777 & ~_umask())
        if self._path.is_dir():
            self._replace_files(names)
        else:
            os.rename(self._work, self._path)
        return [self._path / name for name in names]

    def _replace_files(self, names: Iterable[str]) -> None:
        """Into a folder that exists: each file whole, and none left of a run in another format."""
        for kind in KINDS:
            for suffix in ("jsonl", "parquet"):
                if suffix != self._format:
                    (self._path / f"{kind}.{suffix}").unlink(missing_ok=True)
        for name in names:
            os.replace(self._work / name, self._path / name)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for writer in self._writers.values():
            writer.close()
        shutil.rmtree(self._work, ignore_errors=True)


def encode(kind: str, rows: Iterable[Row], format: Format) -> bytes:
    """Rows of one kind as bytes for `OutputFolder.add`: JSON Lines, or an Arrow stream."""
    if format == "jsonl":
        return b"".join(map(json_line, rows))
    import pyarrow as pa

    table = pa.Table.from_pylist(list(rows), schema=arrow_schemas()[kind])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


class _JsonLinesWriter:
    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")

    def add(self, data: bytes) -> None:
        self._file.write(data)

    def close(self) -> None:
        self._file.close()


class _ParquetWriter:
    """One row group a book, so that memory stays that of one book."""

    def __init__(self, kind: str, path: Path) -> None:
        import pyarrow.parquet as pq

        self._writer = pq.ParquetWriter(path, arrow_schemas()[kind], compression="zstd")

    def add(self, data: bytes) -> None:
        import pyarrow as pa

        self._writer.write_table(pa.ipc.open_stream(data).read_all())

    def close(self) -> None:
        self._writer.close()


def _writer(kind: str, path: Path, format: Format) -> _JsonLinesWriter | _ParquetWriter:
    return _JsonLinesWriter(path) if format == "jsonl" else _ParquetWriter(kind, path)


def _card(format: Format) -> str:
    """A dataset card by which `datasets.load_dataset(folder, kind)` finds its file."""
    configs = "".join(
        f"  - config_name: {kind}\n    data_files: {kind}.{format}\n"
        + ("    default: true\n" if kind == "pairs" else "")
        for kind in KINDS
    )
    return (
        f"---\nconfigs:\n{configs}---\n\n"
        "Conversations mined from novels. `spans` is the ordered stream of utterances and\n"
        "narration, `dialogues` the conversations with their turns, `pairs` a turn and its\n"
        f"answer. "
        f"`{RUN_RECORD}` says from which files, with which options, and what was left out.\n"
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
