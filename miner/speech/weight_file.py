"""The weights of a small network of the package <- their file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from miner.errors import InputError
from miner.files import printable, reason_of


def find_weights(folder: Path, language: str) -> Path | None:
    """Returns the file of a language; None where there is none.

    The name of a file has the codes of its languages: `en.safetensors`, `de-fr.safetensors`.
    """
    paths = sorted(folder.glob("*.safetensors"))
    return next((path for path in paths if language in path.stem.split("-")), None)


def read_weights(path: Path) -> dict[str, NDArray[np.float32]]:
    """Returns the weights in a file by name."""
    try:
        found = {name: item.astype(np.float32) for name, item in load_file(path).items()}
    except (SafetensorError, TypeError, ValueError) as error:  # TypeError: numbers unknown to NumPy
        raise InputError(f"{printable(path)}: cannot be loaded: {reason_of(error)}") from error
    for name, weight in found.items():
        if not np.isfinite(weight).all():
            raise InputError(f"{printable(path)}: found {name} with no number, expected weights")
    return found
