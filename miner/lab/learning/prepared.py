"""Prepared examples <-> one file, from which a network is trained without books and annotations.

The file is MessagePack in gzip: the examples as their classes have them, and a record of what they
were made from. It has no text, but the tokens of the tagger's examples give most of it back.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from msgspec import DecodeError, Struct, ValidationError
from msgspec.msgpack import Decoder, Encoder
from numpy.typing import NDArray

from miner.errors import InputError
from miner.files import printable, reason_of, whole_file

_FORMAT = 3  # raised when this version would read an older file wrongly
Examples = TypeVar("Examples")
Record = dict[str, Any]  # as JSON holds it


class _Head(Struct):
    """Whose examples a file holds, and the names of their features."""

    format: int
    kind: str
    features: tuple[str, ...]


class _File(_Head, Generic[Examples]):
    record: Record
    examples: Examples


def write_prepared(
    path: Path,
    kind: str,
    record: Record,
    examples: object,
    features: Sequence[str] = (),
    force: bool = False,
) -> None:
    """Writes prepared examples."""
    content = _pack(_File(_FORMAT, kind, tuple(features), record, examples))
    with whole_file(path, force) as file:
        file.write(gzip.compress(content, mtime=0))


def read_prepared(
    path: Path, kind: str, form: type[Examples], features: Sequence[str] = ()
) -> tuple[Examples, Record]:
    """Returns the examples of a file, of the class `form`, and the record of what they are."""
    expected = f"expected prepared examples of the {kind}"
    try:
        content = gzip.decompress(path.read_bytes())
        head = Decoder(_Head).decode(content)
        if (head.format, head.kind) != (_FORMAT, kind):
            raise InputError(
                f"{printable(path)}: found examples of the {head.kind:.40} in format "
                f"{head.format}, {expected} in format {_FORMAT}"
            )
        if head.features != tuple(features):
            raise InputError(
                f"{printable(path)}: found examples of other features, expected our "
                f"{len(features)}: prepare them again with this version"
            )
        found = Decoder(_File[form], dec_hook=_array_of).decode(content)
    except (gzip.BadGzipFile, zlib.error, EOFError, DecodeError, ValidationError) as error:
        raise InputError(f"{printable(path)}: found {reason_of(error)}, {expected}") from error
    return found.examples, found.record


def digest_prepared(examples: object) -> str:
    """Returns 8 hexadecimal digits that change with any value of examples."""
    return hashlib.sha256(_pack(examples)).hexdigest()[:8]


def _pack(values: object) -> bytes:
    return Encoder(enc_hook=_parts_of).encode(values)


def _parts_of(array: Any) -> tuple[str, tuple[int, ...], bytes]:  # noqa: ANN401
    """Returns the type, the shape and the bytes of an array, or of a number of NumPy.

    They are in the order of columns: values of one feature are much alike.
    """
    found = np.asarray(array)
    return found.dtype.str, found.shape, found.tobytes(order="F")


def _array_of(_: type, parts: Any) -> NDArray[Any]:  # noqa: ANN401
    dtype, shape, content = parts
    return np.frombuffer(content, dtype).reshape(shape, order="F").copy(order="C")
