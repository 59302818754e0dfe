"""Trained weights -> the file that the package loads, with a record of the training beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from miner.errors import InputError
from miner.files import refuse_existing, sha256_of, whole_file
from miner.lab.learning.prepared_files import Arrays, Record
from miner.version import __version__


def record_path(path: Path) -> Path:
    """Returns the file of the record of weights: `en.json` beside `en.safetensors`."""
    return path.with_suffix(".json")


def refuse_existing_weights(path: Path, force: bool) -> None:
    """Raises an error if the weights or their record exist. Called before any training."""
    if record_path(path) == path:
        raise InputError(f"{path}: found a name of a record, expected one like en.safetensors")
    for file in (path, record_path(path)):
        refuse_existing(file, force)


def write_weights(path: Path, weights: Arrays, record: Mapping[str, object], force: bool) -> None:
    """Writes weights and their record, to which their digest and the version are added."""
    refuse_existing_weights(path, force)
    content = save({name: np.ascontiguousarray(weight) for name, weight in weights.items()})
    whole: Record = {**record, "miner": __version__, "digest of the weights": sha256_of(content)}
    with whole_file(path, force) as file:
        file.write(content)
    with whole_file(record_path(path), force) as file:
        file.write((json.dumps(whole, indent=1) + "\n").encode())
