"""A file of word vectors -> the vectors of some words."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.files import printable


def read_word_vectors(path: Path, words: Collection[str]) -> dict[str, NDArray[np.float32]]:
    """Returns the vectors of those words that a file has."""
    wanted = set(words)
    found: dict[str, NDArray[np.float32]] = {}
    size = 0
    with path.open(encoding="utf-8", errors="replace") as file:
        for n, line in enumerate(file, 1):
            word, *numbers = line.rstrip("\n").rstrip(" ").split(" ")
            if n == 1 and len(numbers) == 1:
                continue
            size = size or len(numbers)
            if len(numbers) != size:
                raise InputError(
                    f"{printable(path)}:{n}: found {len(numbers)} numbers after the word, "
                    f"expected {size} as in the lines before"
                )
            if word in wanted:
                try:
                    found[word] = np.array(numbers, np.float32)
                except ValueError as error:
                    raise InputError(
                        f"{printable(path)}:{n}: found a word without numbers, expected its vector"
                    ) from error
    if not found:
        raise InputError(
            f"{printable(path)}: found none of the {len(wanted):,} words of the pairs, expected "
            "word vectors as text"
        )
    return found
