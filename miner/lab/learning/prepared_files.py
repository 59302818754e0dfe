"""Prepared examples <-> one compressed file of arrays, from which a network is trained.

The file is NumPy's `.npz`. It has numbers, ids and names of books and of features, and a record of
what it was made from. No text is in it, but the token ids of the tagger's examples give most of the
text back.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.files import printable, reason_of, whole_file

_FORMAT = 1  # raised when this version would read an older file wrongly
_RECORD = "record"

Arrays = dict[str, NDArray[Any]]
Record = dict[str, Any]  # as JSON holds it


def write_prepared(
    path: Path, kind: str, record: Record, arrays: Mapping[str, NDArray[Any]], force: bool = False
) -> None:
    """Writes prepared examples."""
    text = json.dumps({"format": _FORMAT, "kind": kind, **record})
    with whole_file(path, force) as file:
        np.savez_compressed(file, allow_pickle=False, **{_RECORD: np.array(text)}, **arrays)


def read_prepared(path: Path, kind: str) -> tuple[Record, Arrays]:
    """Returns the record and the arrays of prepared examples."""
    expected = f"expected prepared examples of the {kind}"
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        record = json.loads(str(arrays.pop(_RECORD)))
        found = record.pop("format"), record.pop("kind")
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{printable(path)}: found {reason_of(error)}, {expected}") from error
    if found != (_FORMAT, kind):
        version, other = found
        raise InputError(
            f"{printable(path)}: found examples of the {other!s:.40} in format {version!s:.40}, "
            f"{expected} in format {_FORMAT}"
        )
    return record, arrays


def digest_arrays(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Returns 8 hexadecimal digits that change with any value of the arrays."""
    found = hashlib.sha256()
    for name, values in sorted(arrays.items()):
        found.update(f"{name} {values.dtype} {values.shape}".encode())
        found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()[:8]
