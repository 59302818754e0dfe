"""The output folder of a run: a file for each finished book, then the files of the output.

What is done is kept in a folder beside the output, `OUT.partial`. It stays there when a run is
interrupted, and a later run continues with it. Each file in it is whole or not there, and
independent of all others, so any process can write it. The output appears when all books are done.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from filelock import FileLock, Timeout

from miner.corpus.card import write_card
from miner.corpus.export import BookRows, Format, find_format
from miner.corpus.schema import rows_from_lines
from miner.corpus.statistics import CorpusAccount, LengthStatistics, data_files_of, measure_rows
from miner.corpus.store import SHARD, Shard, Store
from miner.errors import InputError
from miner.files import (
    CARD,
    RUN_RECORD,
    digest_of,
    find_other,
    json_line,
    made_folders,
    printable,
    refuse_another,
    refuse_existing,
    umask,
    writing,
)
from miner.version import __version__

if TYPE_CHECKING:
    from miner.tagger.published_scores import PublishedScores

_HEAD = "head.json"
_LOCK = "lock"
_SHARDS = "shards"
_STAGES = "stages"  # what a build knows of the books so far
_OUTPUT = "output"  # the files, until they are complete
_SPLIT = "train"  # of all that is mined


class OutputFolder:
    """The output folder of one run, as a context manager.

    After an error or Ctrl-C inside the block, `OUT.partial` keeps the books that are done. Without
    any finished book nothing is left of the run.

    Attributes:
        shards: where the finished books are kept; it exists inside the block.
    """

    def __init__(
        self,
        path: Path,
        *,
        force: bool = False,
        resume: bool = False,
        head: Mapping[str, Any] | None = None,
        inputs: Iterable[Path] = (),
    ) -> None:
        """Refuses a folder that cannot be written, before any work is done."""
        self._path = path
        self._head = dict(head or {})
        self._exists = path.is_dir()
        self._work = path.parent / f"{path.name}.partial"
        if self._exists and not self._work.is_dir():
            # The folder may be a disk of its own: files are moved inside it, not into it.
            self._work = path / self._work.name
        self._resumes = resume and self._work.is_dir()
        has_files = self._exists and any(item != self._work for item in path.iterdir())
        is_inside = self._work.parent == path
        if has_files and not (self._resumes and is_inside) or not self._exists:
            refuse_existing(path, force)
        if os.path.lexists(path) and not self._exists:
            raise InputError(f"{path}: found a file, expected the name of a folder")
        if has_files and not _is_output(path):
            raise InputError(
                f"{path}: found files but no {RUN_RECORD} of an earlier run, "
                "expected a new name: `force=True` replaces the output of `mine` and `build` only"
            )
        if has_files:
            self._refuse_others((RUN_RECORD,), inputs)
        if other := self._other_file():
            raise InputError(
                f"{other}: found a file of something else, expected to keep finished books there"
            )
        if self._work.exists() and not (resume or force):
            if (self._work / _LOCK).exists():
                self._locked().release()  # refuses a run that goes on still
            raise InputError(
                f"{self._work}: found an interrupted run, expected `resume=True` to continue it or "
                "`force=True` to start again"
            )
        self.shards = Store(self._work / _SHARDS, path, Shard)
        self._is_ours = False  # the working folder, which may be removed
        self._n_kept = 0
        self._closing = ExitStack()

    def _other_file(self) -> Path | None:
        """A file in the place of the working folder, or one in it that no run has written."""
        if not self._work.is_dir():
            return self._work if os.path.lexists(self._work) else None
        ours = {_HEAD, _LOCK, _SHARDS, _STAGES, _OUTPUT}
        return next((item for item in self._work.iterdir() if item.name not in ours), None)

    def _locked(self) -> FileLock:
        """Keeps other processes out of the working folder, until the lock is released."""
        lock = FileLock(self._work / _LOCK, timeout=0)
        try:
            lock.acquire()
        except Timeout as error:
            raise InputError(f"{self._work}: another run is writing to it") from error
        return lock

    def __enter__(self) -> Self:
        with ExitStack() as closing, writing(self._path):
            closing.enter_context(made_folders(self._work.parent))
            self._work.mkdir(exist_ok=True)
            closing.callback(self._clear)
            closing.callback(self._locked().release)
            if not self._has_head():
                self.discard()
                self.shards.path.mkdir()
                (self._work / _HEAD).write_bytes(json_line(self._head))
            self._is_ours = True
            self._closing = closing.pop_all()
        return self

    def _has_head(self) -> bool:
        """Whether there is a run to continue. Refuses a run with another head."""
        if not self._resumes:
            return False
        try:
            head = json.loads((self._work / _HEAD).read_bytes())
        except (OSError, ValueError, RecursionError):
            return False
        if not isinstance(head, dict):
            return False
        refuse_another(self._work, head, json.loads(json_line(self._head)))
        return self.shards.path.is_dir()

    def finish(
        self,
        names: Sequence[str],
        format: str,
        record: Mapping[str, Any],
        trusts: Sequence[PublishedScores] = (),
    ) -> list[Path]:
        """Joins the shards into files, puts all files in place and returns their paths."""
        chosen = find_format(format)
        output = self._work / _OUTPUT
        with writing(self._path):
            shutil.rmtree(output, ignore_errors=True)
            output.mkdir()
            lengths: dict[str, LengthStatistics] = {}
            left_out = chosen.write_books(output, _measured(self._books(names), lengths))
            (output / CARD).write_text(_card(chosen, record, lengths, trusts), encoding="utf-8")
            files = {name: digest_of(output / name) for name in (*chosen.files, CARD)}
            whole = {**record, "files": files}
            if left_out:
                whole["left_out_of_files"] = left_out
            (output / RUN_RECORD).write_text(
                json.dumps(whole, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
            )
        return self.put_in_place()

    @property
    def stages(self) -> Path:
        """The folder for what the stages of a build keep; it may not exist yet."""
        return self._work / _STAGES

    @property
    def output(self) -> Path:
        """The folder in which the files are written; it may not exist yet."""
        return self._work / _OUTPUT

    def keep_only(self, names: Collection[str]) -> None:
        """Removes all but some files from `output`: what an interrupted run of other books left."""
        for path in sorted(self.output.rglob("*"), reverse=True):  # a folder after what is in it
            if path.is_dir():
                with suppress(OSError):
                    path.rmdir()
            elif path.relative_to(self.output).as_posix() not in names:
                path.unlink()

    def put_in_place(self) -> list[Path]:
        """Moves all files from `output` to their places, ends the run and returns their paths."""
        output = self.output
        with writing(self._path):
            files = sorted(
                path.relative_to(output).as_posix() for path in output.rglob("*") if path.is_file()
            )
            for file in files:
                os.chmod(output / file, 0o666 & ~umask())
            if self._exists:
                self._replace_files(files)
            else:
                os.rename(output, self._path)
            self.discard()
        return [self._path / file for file in files]

    def _books(self, names: Sequence[str]) -> Iterator[BookRows]:
        """The rows of each book that was not set aside."""
        for name in names:
            if rows := self.shards.take(name).encoded:
                yield rows

    def _replace_files(self, files: Sequence[str]) -> None:
        """Moves the files into a folder that exists. Nothing of an earlier run is left there."""
        self._refuse_others(files)
        # The earlier files go while the earlier record still names them, and the new record comes
        # before the new files. So after a kill in between, each file is one that the record names.
        for name in _files_of_run(self._path):
            _remove(self._path, name)
        for file in sorted(files, key=lambda name: name != RUN_RECORD):
            (self._path / file).parent.mkdir(parents=True, exist_ok=True)
            os.replace(self.output / file, self._path / file)

    def _refuse_others(self, files: Iterable[str] = (), inputs: Iterable[Path] = ()) -> None:
        """Refuses what is no file of the earlier run and stands in the place of one, or of `files`.

        A file that somebody has changed is theirs. So is one of a run without digests.
        """
        written = _files_of_run(self._path)
        for name in dict.fromkeys([*written, *files]):
            if other := _find_changed(self._path, name, written.get(name)):
                raise InputError(
                    f"{printable(other)}: found something that no run wrote, or that was changed "
                    "since, and that is kept; expected nothing in the way: move it elsewhere"
                )
        ours = {os.path.realpath(self._path / name) for name in written}
        if other := next((path for path in inputs if os.path.realpath(path) in ours), None):
            raise InputError(
                f"{printable(other)}: found an input in the folder that is to be replaced, "
                "expected it elsewhere"
            )

    def discard(self) -> None:
        """Empties the working folder, except for the lock."""
        for item in self._work.iterdir():
            if item.is_dir():
                shutil.rmtree(item)
            elif item.name != _LOCK:
                item.unlink()

    def add_note(self, error: BaseException) -> None:
        """Says on an error, once, what is left of a run that it ended early."""
        books = "book is" if self._n_kept == 1 else "books are"
        note = f"{self._n_kept} {books} kept in {self._work}, `resume=True` continues"
        if not self._n_kept:
            note = "nothing was written"
        if self._is_ours and note not in getattr(error, "__notes__", ()):
            error.add_note(note)

    def _clear(self) -> None:
        """Removes the working folder, unless books are kept in it."""
        if not self._is_ours:
            return
        self._n_kept = sum(1 for _ in self.shards.path.glob(f"*{SHARD}"))
        if not self._n_kept:
            shutil.rmtree(self._work, ignore_errors=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.__exit__(kind, error, trace)
        if error is not None:
            self.add_note(error)


def _measured(
    books: Iterable[BookRows], lengths: dict[str, LengthStatistics]
) -> Iterator[BookRows]:
    """The books as they are. The lengths of their dialogues are added up by language."""
    for book in books:
        if rows := rows_from_lines(book["dialogues"]):
            language = rows[0]["language"]
            so_far = lengths.get(language, LengthStatistics())
            lengths[language] = so_far + measure_rows(rows)
        yield book


def _card(
    form: Format,
    record: Mapping[str, Any],
    lengths: Mapping[str, LengthStatistics],
    trusts: Sequence[PublishedScores],
) -> str:
    """The dataset card of a run, all of whose rows are in one split."""
    options = record.get("options", {})
    tagged = Counter((book["language"], book["tagger"]) for book in record.get("books", ()))
    account = CorpusAccount(
        name="Conversations mined from books",
        version=__version__,
        statistics={(_SPLIT, language): lengths[language] for language in sorted(lengths)},
        files=data_files_of(form, None, [_SPLIT], lambda name, _: name),
        other_files={RUN_RECORD: "from which files, by which options, and what was left out"},
        taggers=dict(sorted(tagged.items())),
        trusts=trusts,
        min_confidence=options.get("min_confidence", 0.0),
        n_set_aside=len(record.get("set_aside", ())),
    )
    return write_card(account)


def _is_output(folder: Path) -> bool:
    """Whether the folder holds the record of an earlier run."""
    return "miner" in _read_record(folder)


def _files_of_run(folder: Path) -> dict[str, Any]:
    """The names of the files that the earlier run in a folder wrote and that are still there.

    Each has its digest.
    """
    files = _read_record(folder).get("files")
    if not isinstance(files, dict):
        return {}
    return {
        name: digest
        for name, digest in files.items()
        if _is_inside(name) and os.path.lexists(folder / name)
    }


def _is_inside(name: str) -> bool:
    """Whether the name of a file leads to a place in its folder, other than that of the record."""
    path = PurePosixPath(name)
    return (
        not path.is_absolute() and ".." not in path.parts and path.parts not in ((), (RUN_RECORD,))
    )


def _find_changed(folder: Path, name: str, digest: object) -> Path | None:
    """What is in the place of a file, or of a folder above it, and is not what a run wrote."""
    place = folder / name
    if (other := find_other(folder, name)) or not place.is_file():
        return other
    # The record cannot hold its own digest. What it says has shown that a run wrote it.
    return None if name == RUN_RECORD or digest_of(place) == digest else place


def _remove(folder: Path, name: str) -> None:
    """Removes a file, and the folders above it that are empty then."""
    (folder / name).unlink(missing_ok=True)
    for parent in PurePosixPath(name).parents[:-1]:
        with suppress(OSError):
            (folder / parent).rmdir()


def _read_record(folder: Path) -> dict[str, Any]:
    """The record of the earlier run in a folder; empty if there is none."""
    try:
        record = json.loads((folder / RUN_RECORD).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
