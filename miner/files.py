"""Output that is written whole or not at all, and never over an existing file unasked."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self, get_args

import orjson

from miner.records import KINDS, Row, arrow_schemas

Format = Literal["jsonl", "parquet"]
CHECKPOINT_CONFIG, CHECKPOINT_WEIGHTS = "config.json", "model.safetensors"
RUN_RECORD = "run.json"
CARD = "README.md"


def json_line(row: Mapping[str, Any]) -> bytes:
    """One row of a JSON Lines file, UTF-8, newline included."""
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def is_checkpoint(path: Path) -> bool:
    """Whether a path is the folder of a checkpoint."""
    return (path / CHECKPOINT_CONFIG).is_file()


def refuse_existing(path: Path, force: bool) -> None:
    """Stops before any work is done that could not be kept.

    Raises:
        ValueError: if `path` exists (a folder: if it is not empty) and `force` was not given.
    """
    if force or not os.path.lexists(path):
        return
    if path.is_dir() and not any(path.iterdir()):
        return
    raise ValueError(f"{path}: exists already, expected a new name (or --force to replace it)")


@contextmanager
def whole_file(path: Path, force: bool = False) -> Iterator[BinaryIO]:
    """A file to write to that takes the name `path` when the block ends without an error.

    Raises:
        ValueError: if `path` exists and `force` was not given, or is a folder.
        OSError: if it cannot be written; nothing is left behind.
    """
    refuse_existing(path, force)
    if path.is_dir():
        raise ValueError(f"{path}: found a folder, expected the name of a file")
    with _writing(path), _made_folders(path.parent):
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


@contextmanager
def whole_folder(path: Path, force: bool = False) -> Iterator[Path]:
    """A folder to write files to that are in `path` when the block ends without an error.

    Raises:
        ValueError: if `path` exists and `force` was not given, or is a file. With `force` files of
            the same names are replaced, others stay.
        OSError: if it cannot be written; nothing is left behind.
    """
    refuse_existing(path, force)
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path}: found a file, expected the name of a folder")
    with _writing(path), _made_folders(path):
        work = Path(tempfile.mkdtemp(dir=path, prefix=".writing."))
        try:
            yield work
            for file in sorted(work.iterdir()):
                os.chmod(file, 0o666 & ~_umask())
                os.replace(file, path / file.name)
        finally:
            shutil.rmtree(work, ignore_errors=True)


class OutputFolder:
    """The files of one run of `mine`, filled book by book, in place only when all are complete.

    Used as a context manager: an error or Ctrl-C inside the block leaves no trace.
    """

    def __init__(self, path: Path, format: Format, force: bool) -> None:
        refuse_existing(path, force)
        if path.exists() and not path.is_dir():
            raise ValueError(f"{path}: found a file, expected the name of a folder")
        if path.is_dir() and any(path.iterdir()) and not _is_output(path):
            raise ValueError(
                f"{path}: found files but no {RUN_RECORD} of an earlier run, "
                "expected a new name: --force replaces the output of `mine` only"
            )
        self._path = path
        self._format: Format = format
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        # A folder that is there already may be a disk of its own: files are moved inside it.
        self._exists = self._path.is_dir()
        home = self._path if self._exists else self._path.parent
        with ExitStack() as closing, _writing(self._path):
            closing.enter_context(_made_folders(home))
            self._work = Path(tempfile.mkdtemp(dir=home, prefix=f".{self._path.name}."))
            closing.callback(shutil.rmtree, self._work, ignore_errors=True)
            self._writers = {}
            for kind in KINDS:
                writer = _writer(kind, self._work / f"{kind}.{self._format}", self._format)
                self._writers[kind] = writer
                closing.callback(_close_quietly, writer)
            self._closing = closing.pop_all()
        return self

    def add(self, encoded: Mapping[str, bytes]) -> None:
        """Appends what `encode` made of one book."""
        with _writing(self._path):
            for kind, data in encoded.items():
                self._writers[kind].add(data)

    def finish(self, record: Mapping[str, Any]) -> list[Path]:
        """Writes the run record and the card, puts all files in place and returns their paths."""
        with _writing(self._path):
            for writer in self._writers.values():
                writer.close()
            (self._work / RUN_RECORD).write_text(
                json.dumps(record, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
            )
            (self._work / CARD).write_text(_card(self._format), encoding="utf-8")
            names = sorted(path.name for path in self._work.iterdir())
            if self._exists:
                self._replace_files(names)
            else:
                os.chmod(self._work, 0o777 & ~_umask())
                os.rename(self._work, self._path)
        return [self._path / name for name in names]

    def _replace_files(self, names: Iterable[str]) -> None:
        """Into a folder that exists: each file whole, and none left of a run in another format."""
        for name in names:
            os.replace(self._work / name, self._path / name)
        for kind in KINDS:
            for suffix in get_args(Format):
                if suffix != self._format:
                    (self._path / f"{kind}.{suffix}").unlink(missing_ok=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.__exit__(kind, error, trace)


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
        f"answer. `{RUN_RECORD}` says from which files, by which options, and what was left out.\n"
    )


def _is_output(folder: Path) -> bool:
    """Whether the folder holds the record of an earlier run."""
    try:
        record = json.loads((folder / RUN_RECORD).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(record, dict) and "miner" in record


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Makes an error name what was to be written, not the temporary file beside it."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, f"cannot be written: {reason}", str(path)) from error


@contextmanager
def _made_folders(folder: Path) -> Iterator[None]:
    """The folder and those above it, for the block; what stays empty is taken away again."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        if folder.is_file():
            raise NotADirectoryError(errno.ENOTDIR, "", str(folder))
        folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        with suppress(OSError):
            for place in missing:
                place.rmdir()  # refuses a folder that holds anything


def _close_quietly(writer: _JsonLinesWriter | _ParquetWriter) -> None:
    """Closes a file that is thrown away, or is closed already; a full disk must not stop that."""
    with suppress(OSError):
        writer.close()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
