"""The files of one run of `mine`: filled book by book, resumable, in place only when complete.

Until then they grow in a folder beside their place, `OUT.partial`, with a journal of the books that
are in them: how far each file reached after each book, and a checksum of what was added. A run that
was killed in the middle of a book is cut back to the last whole one.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, get_args
from zlib import crc32

from filelock import FileLock, Timeout

from miner.corpus.schema import KINDS, Row, arrow_schemas
from miner.files import (
    CARD,
    RUN_RECORD,
    Format,
    json_line,
    made_folders,
    refuse_another,
    refuse_existing,
    umask,
    writing,
)

_JOURNAL = "journal.jsonl"
_LOCK = "lock"
_ROWS = ".rows"  # of the files that grow


class OutputFolder:
    """The files of one run of `mine`.

    Used as a context manager. An error or Ctrl-C inside the block leaves `OUT.partial` with the
    books that were added, to go on with by `resume`, or no trace where there were none; a note on
    the error says which.
    """

    def __init__(
        self,
        path: Path,
        format: Format,
        *,
        force: bool = False,
        resume: bool = False,
        head: Mapping[str, Any] | None = None,
    ) -> None:
        """Refuses what cannot be written to, before any work is done.

        Args:
            path: where the files will be.
            format: of the files.
            force: whether files of an earlier run may be replaced, an interrupted one thrown away.
            resume: whether to go on with an interrupted run, if there is one.
            head: what decides the output beside the books; one interrupted run is gone on with
                only under the same.

        Raises:
            ValueError: if `path` exists, or an interrupted run of it does, and neither `force` nor
                `resume` allows for it; if the interrupted run had another head.
        """
        self._path = path
        self._format: Format = format
        self._head = dict(head or {})
        # A folder that is there already may be a disk of its own: files are moved inside it.
        self._exists = path.is_dir()
        self._work = (path if self._exists else path.parent) / f"{path.name}.partial"
        self._resumes = resume and self._work.is_dir()
        others = self._exists and any(item != self._work for item in path.iterdir())
        if not self._resumes and (others or not self._exists):
            refuse_existing(path, force)
        if path.exists() and not self._exists:
            raise ValueError(f"{path}: found a file, expected the name of a folder")
        if others and not _is_output(path):
            raise ValueError(
                f"{path}: found files but no {RUN_RECORD} of an earlier run, "
                "expected a new name: --force replaces the output of `mine` only"
            )
        if self._work.exists() and not (resume or force):
            raise ValueError(
                f"{self._work}: found an interrupted run, expected --resume to go on with it or "
                "--force to begin anew"
            )
        self._is_ours = False  # the working folder, to take away
        self.notes: list[dict[str, Any]] = []
        self._ends: dict[str, int] = dict.fromkeys(KINDS, 0)
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as closing, writing(self._path):
            closing.enter_context(made_folders(self._work.parent))
            self._work.mkdir(exist_ok=True)
            closing.callback(self._clear)
            try:
                closing.enter_context(FileLock(self._work / _LOCK, timeout=0))
            except Timeout as error:
                raise ValueError(f"{self._work}: another run is writing to it") from error
            kept = self._kept() if self._resumes else []
            self._is_ours = True
            for item in self._work.iterdir():
                if not kept and item.name != _LOCK:
                    item.unlink()
            self._files: dict[str, BinaryIO] = {}
            for kind in KINDS:
                self._files[kind] = file = (self._work / f"{kind}{_ROWS}").open("ab")
                closing.callback(_close_quietly, file)
            self._journal = (self._work / _JOURNAL).open("ab")
            closing.callback(_close_quietly, self._journal)
            if not kept:
                self._journal.write(json_line(self._head))
            self._cut_back(sum(map(len, kept)))
            self._closing = closing.pop_all()
        return self

    def _kept(self) -> list[bytes]:
        """The head of the journal and its books that are whole in the files; sets notes and ends.

        Nothing, where not even the head is whole.
        """
        journal = self._work / _JOURNAL
        whole = journal.read_bytes() if journal.is_file() else b""
        head, *lines = whole.splitlines(True) or [b""]
        if not head.endswith(b"\n"):
            return []
        refuse_another(self._work, _read(head), _read(json_line(self._head)))
        kept = [head]
        with ExitStack() as stack:
            files: dict[str, BinaryIO] = {}
            for kind in KINDS:
                path = self._work / f"{kind}{_ROWS}"
                path.touch()
                files[kind] = stack.enter_context(path.open("rb"))
            for line in lines:
                entry = _read(line)
                if not entry or not line.endswith(b"\n"):
                    break
                ends: dict[str, int] = entry["ends"]
                sums = {
                    kind: crc32(file.read(ends[kind] - self._ends[kind]))
                    for kind, file in files.items()
                }
                reached = {kind: file.tell() for kind, file in files.items()}
                if sums != entry["sums"] or reached != ends:
                    break
                kept.append(line)
                self.notes.append(entry["note"])
                self._ends = ends
        return kept

    def cut(self, n: int) -> None:
        """Forgets all books but the first `n`: what comes after them is to be done again."""
        if n >= len(self.notes):
            return
        lines = (self._work / _JOURNAL).read_bytes().splitlines(True)[: 1 + n]
        self.notes = self.notes[:n]
        self._ends = _read(lines[-1])["ends"] if n else dict.fromkeys(KINDS, 0)
        self._cut_back(sum(map(len, lines)))

    def _cut_back(self, journal: int) -> None:
        """Takes away what the files hold beyond the books that are kept."""
        for kind, file in self._files.items():
            file.truncate(self._ends[kind])
        self._journal.flush()
        if journal:
            self._journal.truncate(journal)

    def add(self, note: Mapping[str, Any], encoded: Mapping[str, bytes]) -> None:
        """Appends what `encode` made of one book.

        Args:
            note: what `notes` is to have of it when the run is gone on with; JSON.
            encoded: bytes by kind; none of a book that was set aside.
        """
        with writing(self._path):
            sums: dict[str, int] = dict.fromkeys(KINDS, 0)
            for kind, data in encoded.items():
                self._files[kind].write(data)
                self._files[kind].flush()
                self._ends[kind] += len(data)
                sums[kind] = crc32(data)
            self._journal.write(json_line({"note": note, "ends": self._ends, "sums": sums}))
            self._journal.flush()
            self.notes.append(dict(note))

    def finish(self, record: Mapping[str, Any]) -> list[Path]:
        """Writes the run record and the card, puts all files in place and returns their paths."""
        with writing(self._path):
            for file in self._files.values():
                file.close()
            if self._format == "parquet":
                for kind in KINDS:
                    self._write_parquet(kind)
            (self._work / RUN_RECORD).write_text(
                json.dumps(record, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
            )
            (self._work / CARD).write_text(_card(self._format), encoding="utf-8")
            self._journal.close()
            # Nothing is left to write: only now may go what an interrupted run would go on from.
            (self._work / _JOURNAL).unlink()
            for kind in KINDS:
                rows = self._work / f"{kind}{_ROWS}"
                if self._format == "jsonl":
                    os.rename(rows, rows.with_suffix(".jsonl"))
                else:
                    rows.unlink()
            names = sorted(path.name for path in self._work.iterdir() if path.name != _LOCK)
            for name in names:
                os.chmod(self._work / name, 0o666 & ~umask())
            if self._exists:
                self._replace_files(names)
            else:
                (self._work / _LOCK).unlink(missing_ok=True)
                os.rename(self._work, self._path)
            self.notes = []
        return [self._path / name for name in names]

    def _write_parquet(self, kind: str) -> None:
        """The rows of a kind, one row group a book, so that memory stays that of one book."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self._work / f"{kind}.parquet"
        with pq.ParquetWriter(path, arrow_schemas()[kind], compression="zstd") as writer:
            for data in self._pieces(kind, self._work / f"{kind}{_ROWS}"):
                writer.write_table(pa.ipc.open_stream(data).read_all())

    def _pieces(self, kind: str, rows: Path) -> Iterator[bytes]:
        """What was added of a kind, book by book."""
        start = 0
        with rows.open("rb") as file, (self._work / _JOURNAL).open("rb") as journal:
            next(journal)
            for line in journal:
                end = _read(line)["ends"][kind]
                if end > start:
                    yield file.read(end - start)
                start = end

    def _replace_files(self, names: Sequence[str]) -> None:
        """Into a folder that exists: each file whole, and none left of a run in another format."""
        for name in names:
            os.replace(self._work / name, self._path / name)
        for kind in KINDS:
            for suffix in get_args(Format):
                if suffix != self._format:
                    (self._path / f"{kind}.{suffix}").unlink(missing_ok=True)

    def _clear(self) -> None:
        """Takes the working folder away, unless books are kept in it."""
        if self._is_ours and not self.notes:
            shutil.rmtree(self._work, ignore_errors=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        n = len(self.notes)
        if error is not None:
            kept = f"{n} {'book is' if n == 1 else 'books are'} kept in {self._work}"
            error.add_note(f"{kept}, --resume goes on" if n else "nothing was written")
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


def _read(line: bytes) -> dict[str, Any]:
    """A line of the journal; nothing of one that was cut short."""
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


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


def _close_quietly(file: BinaryIO) -> None:
    """Closes a file that may be closed already; a full disk must not stop that."""
    try:
        file.close()
    except OSError:
        return
