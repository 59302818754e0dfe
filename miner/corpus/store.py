"""What a run keeps for itself: a file for each result, in MessagePack, whole or not there.

Any process can write a file, since each is independent of all others. A run that was killed in the
middle of a file leaves no file of that name, and half a file counts as missing.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from msgspec import DecodeError, ValidationError, msgpack

from miner.books.book_file import read_book_file
from miner.books.sources import Source
from miner.corpus.book_features import BookFeatures
from miner.corpus.mined_book import MinedBook, MiningOptions, SetAside
from miner.errors import InputError
from miner.files import json_line, printable, writing

Value = TypeVar("Value")
SHARD = ".shard"  # the ending of the names of shards
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Store(Generic[Value]):
    """A folder of values of one type, by name. It can be sent to other processes."""

    path: Path  # the folder; the first value makes it
    out: Path  # where the output will be, which errors name
    made_of: type[Value]  # the type of the values: a dataclass, or an array

    def add(self, name: str, value: Value) -> None:
        """Writes a file that is whole from the moment it has its name."""
        # Not the name alone: the process of a run that was killed may still be writing.
        unfinished = self.path / f"{name}.{os.getpid()}.part"
        with writing(self.out):
            self.path.mkdir(parents=True, exist_ok=True)
            try:
                unfinished.write_bytes(msgpack.encode(value, enc_hook=_from_array))
                os.replace(unfinished, self.path / name)
            finally:
                unfinished.unlink(missing_ok=True)

    def find(self, name: str) -> Value | None:
        """The value of that name, or None if it is not there or is not as it was written."""
        path = self.path / name
        try:
            return msgpack.decode(path.read_bytes(), type=self.made_of, dec_hook=_to_array)
        except FileNotFoundError:
            return None
        except OSError as error:
            _log.warning("%s: cannot be read (%s): it is made again", path, error.strerror)
        except (DecodeError, ValidationError):
            _log.warning("%s: not as it was written: it is made again", path)
        return None

    def take(self, name: str) -> Value:
        """The value of that name, which an earlier stage has made."""
        value = self.find(name)
        if value is None:
            raise InputError(
                f"{self.path / name}: not there or not as it was written, expected what the run "
                "has made: `resume=True` makes it again"
            )
        return value

    def find_or_make(self, name: str, make: Callable[[], Value]) -> Value:
        """The value of that name, which is made if it is not there."""
        value = self.find(name)
        if value is None:
            self.add(name, value := make())
        return value


def _from_array(value: Any) -> tuple[str, tuple[int, ...], bytes]:  # noqa: ANN401 - of msgspec
    if not isinstance(value, np.ndarray):
        raise TypeError(f"found {type(value).__name__}, expected a value that MessagePack holds")
    return value.dtype.str, value.shape, value.tobytes()


def _to_array(_: type, value: Any) -> np.ndarray:  # noqa: ANN401 - of msgspec
    dtype, shape, content = value
    return np.frombuffer(content, dtype).reshape(shape)


@dataclass(frozen=True, slots=True)
class Shard:
    """The result of a source: a mined book, or the name and the reason of what was set aside."""

    entry: dict[str, Any] = field(default_factory=dict)
    encoded: dict[str, bytes] = field(default_factory=dict)
    confidences: tuple[float | None, ...] = ()
    features: BookFeatures | None = None
    set_aside: tuple[str, str] | None = None

    @classmethod
    def of(cls, result: MinedBook | SetAside) -> Shard:
        """The shard of a result."""
        if isinstance(result, SetAside):
            return cls(set_aside=(result.name, result.why))
        entry, encoded = dict(result.entry), dict(result.encoded)
        return cls(entry, encoded, result.confidences, result.features)

    def result(self, options: MiningOptions) -> MinedBook | SetAside:
        """The result that the shard was made of."""
        if self.set_aside:
            return SetAside(*self.set_aside)
        return MinedBook(self.entry, self.encoded, self.confidences, options, self.features)


def shard_name(source: Source) -> str:
    """The name of a source's shard, which is another one after the content of its file changed.

    It is "" for a file that cannot be read or is too large, so that a resumed run tries it again.
    """
    assert source.path is not None
    try:
        content = sha256(read_book_file(source.path)).hexdigest()
    except (InputError, OSError):
        return ""
    identity = [printable(source.word), source.id, printable(source.path), content]
    return sha256(json_line({"source": identity})).hexdigest()[:32] + SHARD
