"""Reading UTF-8 and JSON Lines, and writing files that are complete or not there at all.

Any room may import this module. Nothing here overwrites an existing file unless the caller asks.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO, StringIO
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import orjson

from miner.errors import InputError

CHECKPOINT_CONFIG, CHECKPOINT_WEIGHTS = "config.json", "model.safetensors"
# The files that decide which tags a checkpoint gives.
CHECKPOINT = (CHECKPOINT_CONFIG, CHECKPOINT_WEIGHTS, "tokenizer.json", "tokenizer_config.json")
CHECKPOINT_ENCODER = "encoder.onnx"  # for ONNX Runtime; where it is missing, PyTorch computes
RUN_RECORD = "run.json"
PUBLISHED = "trust.json"  # what was measured of a checkpoint, in its folder
_HALF = re.compile("[\ud800-\udfff]")  # only an escape can write one
CARD = "README.md"
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029]")  # among them all that end a line


def read_text(path: Path) -> str:
    """Returns the text of a UTF-8 file, without a byte order mark."""
    return decode_text(path.read_bytes(), path)


def decode_text(content: bytes, path: Path) -> str:
    """Returns the text in the bytes of a UTF-8 file, without a byte order mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{printable(path)}:{line}: found bytes that are not UTF-8, expected UTF-8"
        ) from error


def json_rows(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the objects of a JSON Lines file with their places, "file:line". Skips empty lines."""
    name = printable(path)
    # Not splitlines(): it also breaks at separators that may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        row = parse_json(line, where, "one object")
        if "\\u" in line and _HALF.search(json.dumps(row, ensure_ascii=False)):
            raise InputError(f"{where}: found half a character, expected whole ones")
        if not isinstance(row, dict):
            raise InputError(f"{where}: found {type(row).__name__}, expected an object")
        yield where, row


def csv_rows(path: Path, text: str, strict: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Yields the cells of the rows of a CSV file with their places, "file:line"."""
    name = printable(path)
    rows = csv.reader(StringIO(text, newline=""), strict=strict)
    while True:
        where = f"{name}:{rows.line_num + 1}"
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise InputError(f"{where}: {error}, expected comma-separated fields") from error
        if row is None:
            return
        yield where, row


def parse_json(text: str, where: str, expected: str) -> Any:  # noqa: ANN401 - any JSON
    """Returns the value of a JSON text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: found {_fault_of_json(error)}, expected {expected}") from error


def _fault_of_json(error: ValueError | RecursionError) -> str:
    match error:
        case json.JSONDecodeError():
            return f"bad JSON ({error})"
        case RecursionError():
            return "JSON of too many levels"
        case _:
            return "a number of thousands of digits"


def json_line(row: Mapping[str, Any]) -> bytes:
    """Returns one row of a JSON Lines file in UTF-8, with its newline."""
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Returns a JSON Lines file in UTF-8."""
    # `orjson` gives each line more memory than it needs; a list of lines would hold all of it.
    lines = BytesIO()
    lines.writelines(map(json_line, rows))
    return lines.getvalue()


def sha256_of(content: bytes) -> str:
    """Returns the SHA-256 of some bytes as 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def digest_of(path: Path) -> str:
    """Returns the SHA-256 of a file as 64 hexadecimal digits."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def file_signature(path: Path, sha256: str) -> str:
    """Returns the name of a file and the first 8 digits of its SHA-256: "tags.jsonl@1ec0df8c"."""
    return f"{printable(path.name)}@{sha256[:8]}"


def printable(name: str | Path) -> str:
    """Returns the name of a file as UTF-8 text on one line.

    Bytes that are not UTF-8 are replaced, and control characters are escaped.
    """
    return one_line(os.fsencode(name).decode("utf-8", "replace"))


def name_paths(paths: Sequence[Path]) -> list[str]:
    """Returns a name for each path: its end, so long that no other has it.

    >>> name_paths([Path("gap/bm25"), Path("auto/bm25"), Path("lstm")])
    ['gap/bm25', 'auto/bm25', 'lstm']
    """
    whole = [path.resolve() for path in paths]
    for number, own in enumerate(whole):
        if own in whole[:number]:
            raise InputError(f"{printable(paths[number])}: found a second time, expected it once")
    return [printable(name) for name in shortest_ends(whole)]


def shortest_ends(paths: Sequence[Path]) -> list[str]:
    """Returns the end of each path, so long that no other has it; the paths differ.

    >>> shortest_ends([Path("/gap/corpus"), Path("/auto/corpus"), Path("/auto/mined")])
    ['gap/corpus', 'auto/corpus', 'mined']
    """
    parts = [path.parts for path in paths]
    ends: list[str] = []
    for number, own in enumerate(parts):
        others = parts[:number] + parts[number + 1 :]
        least = (n for n in range(1, len(own)) if own[-n:] not in [o[-n:] for o in others])
        ends.append("/".join(own[-next(least, len(own)) :]))
    return ends


def one_line(text: str) -> str:
    r"""Returns a text with its control characters escaped.

    >>> print(one_line("one\ntwo"))
    one\ntwo
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def whole_number(text: str) -> int | None:
    """Returns the number that a text of at most 18 digits is, or None for any other text.

    Python refuses to read thousands of digits, and no table holds a number of more.

    >>> whole_number("300"), whole_number("-1"), whole_number("9" * 5000)
    (300, None, None)
    """
    return int(text) if text.isdecimal() and len(text) <= 18 else None


def reason_of(error: BaseException) -> str:
    """Returns the first line of a library's error message, or the name of the error."""
    return (str(error).splitlines() or [type(error).__name__])[0]


@contextmanager
def telling(found: str, expected: str) -> Iterator[None]:
    """Makes one line of what a library raises at bad input, which may be an error of any kind."""
    try:
        yield
    except Exception as error:
        raise InputError(f"{found} ({reason_of(error)}), expected {expected}") from error


def is_checkpoint(path: Path) -> bool:
    """Whether a path is the folder of a checkpoint."""
    return os.path.isfile(path / CHECKPOINT_CONFIG)  # False, too, where no path can be so long


def refuse_existing(path: Path, force: bool, markers: Sequence[str] = ()) -> None:
    """Raises an error if `path` is taken. Called before any work whose result could not be kept.

    With `force` an ordinary file may be replaced, and a folder that has one of the files `markers`,
    as each run like this one leaves. A link, a device or a pipe never is.
    """
    if not os.path.lexists(path):
        return
    if path.is_dir():
        if not any(path.iterdir()):
            return
    elif path.is_symlink() or not path.is_file():
        kind = "a link" if path.is_symlink() else "a device or a pipe"
        raise InputError(f"{printable(path)}: found {kind}, expected a plain file or a new name")
    if not force:
        raise InputError(
            f"{printable(path)}: exists already, "
            "expected a new name (or `force=True` to replace it)"
        )
    if path.is_dir() and markers and not any(map(os.path.isfile, (path / m for m in markers))):
        raise InputError(
            f"{printable(path)}: found files but no {markers[0]} of an earlier run, "
            "expected a new name: `force=True` replaces the output of a run only"
        )


def find_other(folder: Path, name: str) -> Path | None:
    """Returns what stands where a plain file or a folder above it should, and is another thing."""
    place = folder
    for part in PurePosixPath(name).parent.parts:
        place /= part
        if place.is_symlink() or os.path.lexists(place) and not place.is_dir():
            return place
    place = folder / name
    is_plain = place.is_file() and not place.is_symlink()
    return place if os.path.lexists(place) and not is_plain else None


def refuse_another(place: Path, was: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raises an error if a run would resume another run that was started with other options."""
    for key in dict.fromkeys([*wanted, *was]):
        found, expected = was.get(key), wanted.get(key)
        if found == expected:
            continue
        if isinstance(found, Mapping) and isinstance(expected, Mapping):
            part = next(
                name for name in (*expected, *found) if found.get(name) != expected.get(name)
            )
            key, found, expected = f"{key} {part}", found.get(part), expected.get(part)
        raise InputError(
            f"{printable(place)}: found a run with {key} {found}, expected {expected} "
            "to resume it; `force=True` starts again"
        )


@contextmanager
def whole_file(path: Path, force: bool = False) -> Iterator[BinaryIO]:
    """Opens a temporary file that is renamed to `path` when the block ends without an error."""
    refuse_existing(path, force)
    if path.is_dir():
        raise InputError(f"{printable(path)}: found a folder, expected the name of a file")
    with writing(path), made_folders(path.parent):
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=_temporary_prefix(path))
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


def remove_unfinished(path: Path) -> None:
    """Removes the temporary files of `whole_file` that a killed process left beside `path`.

    The caller must know that no other process writes `path` at this time.
    """
    pattern = re.compile(re.escape(_temporary_prefix(path)) + r"[a-z0-9_]{8}")
    for name in os.listdir(path.parent) if path.parent.is_dir() else ():
        left = path.parent / name
        if pattern.fullmatch(name) and left.is_file() and not left.is_symlink():
            left.unlink(missing_ok=True)


def _temporary_prefix(path: Path) -> str:
    return f".{path.name}.writing."


@contextmanager
def whole_folder(path: Path, force: bool = False, markers: Sequence[str] = ()) -> Iterator[Path]:
    """Makes a temporary folder whose files move to `path` when the block ends without an error.

    With `force`, files of the same names are replaced and other files stay.
    """
    refuse_existing(path, force, markers)
    if path.exists() and not path.is_dir():
        raise InputError(f"{printable(path)}: found a file, expected the name of a folder")
    with writing(path), made_folders(path):
        work = Path(tempfile.mkdtemp(dir=path, prefix=".writing."))
        try:
            yield work
            names = sorted(
                file.relative_to(work).as_posix() for file in work.rglob("*") if file.is_file()
            )
            for name in names:
                if other := find_other(path, name):
                    raise InputError(f"{printable(other)}: found no plain file, expected one")
            for name in names:
                os.chmod(work / name, 0o666 & ~umask())
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                os.replace(work / name, path / name)
        finally:
            shutil.rmtree(work, ignore_errors=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Makes an error of the block name `path` instead of a temporary file beside it."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, f"cannot be written: {reason}", str(path)) from error


@contextmanager
def made_folders(folder: Path) -> Iterator[None]:
    """Makes a folder and its parents for the block. Removes those that are still empty after it."""
    missing = _missing(folder)
    try:
        if folder.is_file():
            raise NotADirectoryError(errno.ENOTDIR, "", str(folder))
        make_folders(folder)
        yield
    finally:
        with suppress(OSError):
            for place in missing:
                place.rmdir()  # fails for a folder that is not empty


def make_folders(folder: Path) -> None:
    """Makes a folder and its parents, however many they are: `mkdir(parents=True)` recurses."""
    for place in (*reversed(_missing(folder)), folder):
        place.mkdir(exist_ok=True)


def _missing(folder: Path) -> list[Path]:
    """A folder and those above it that do not exist, from the innermost on."""
    return list(takewhile(lambda place: not place.exists(), (folder, *folder.parents)))


def umask() -> int:
    """Returns the permission bits that the system withholds from new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
