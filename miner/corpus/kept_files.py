"""Files that a run keeps for itself: whole and as they were written, or not there.

The first line of a file is the SHA-256 of the rest. A run that was killed in the middle of a file
leaves no file of that name, and a file that a disk has damaged counts as missing.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from miner.errors import InputError
from miner.files import writing

_log = logging.getLogger(__name__)


def keep_file(path: Path, parts: Iterable[bytes], out: Path) -> None:
    """Writes a file that is whole from the moment it has its name."""
    content = list(parts)
    digest = sha256()
    for part in content:
        digest.update(part)
    # Not the name alone: the process of a run that was killed may still be writing.
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    with writing(out):
        try:
            with unfinished.open("wb") as file:
                file.write(digest.hexdigest().encode() + b"\n")
                file.writelines(content)
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)


def read_kept(path: Path) -> bytes | None:
    """Returns the content of a file, or None if it is not there or is not as it was written."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _log.warning("%s: cannot be read (%s): it is made again", path, error.strerror)
        return None
    digest, _, content = data.partition(b"\n")
    if digest != sha256(content).hexdigest().encode():
        _log.warning("%s: not as it was written: it is made again", path)
        return None
    return content


def take_kept(path: Path, expected: str) -> bytes:
    """Returns the content of a file that must be there."""
    content = read_kept(path)
    if content is None:
        raise InputError(f"{path}: not there or not as it was written, expected {expected}")
    return content
