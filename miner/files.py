"""Output that is written whole or not at all, and never over an existing file unasked."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import orjson

CHECKPOINT_CONFIG, CHECKPOINT_WEIGHTS = "config.json", "model.safetensors"
# All that decides what a checkpoint says.
CHECKPOINT = (CHECKPOINT_CONFIG, CHECKPOINT_WEIGHTS, "tokenizer.json", "tokenizer_config.json")
RUN_RECORD = "run.json"
CARD = "README.md"


def json_line(row: Mapping[str, Any]) -> bytes:
    """One row of a JSON Lines file, UTF-8, newline included."""
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def printable(name: str | Path) -> str:
    """The name of a file as output can hold it: what is no UTF-8 is replaced."""
    return os.fsencode(name).decode("utf-8", "replace")


def reason_of(error: Exception) -> str:
    """What an error of a library says, in one line."""
    return (str(error).splitlines() or [type(error).__name__])[0]


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


def refuse_another(place: Path, was: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Stops a run from going on with what another one began.

    Args:
        place: where the interrupted run is kept.
        was: what decided its result.
        wanted: what decides that of the run at hand.

    Raises:
        ValueError: if the two differ; says in what first.
    """
    for key in dict.fromkeys([*wanted, *was]):
        if was.get(key) != wanted.get(key):
            raise ValueError(
                f"{place}: found a run with {key} {was.get(key)}, expected {wanted.get(key)} "
                "to go on with it; --force begins anew"
            )


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
    with writing(path), made_folders(path.parent):
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o666 & ~umask())
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
    with writing(path), made_folders(path):
        work = Path(tempfile.mkdtemp(dir=path, prefix=".writing."))
        try:
            yield work
            for file in sorted(work.iterdir()):
                os.chmod(file, 0o666 & ~umask())
                os.replace(file, path / file.name)
        finally:
            shutil.rmtree(work, ignore_errors=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Makes an error name what was to be written, not the temporary file beside it."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, f"cannot be written: {reason}", str(path)) from error


@contextmanager
def made_folders(folder: Path) -> Iterator[None]:
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


def umask() -> int:
    """The permissions that new files are not given."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
