"""Words of texts for the methods that count words, and files of words with their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from miner.errors import InputError
from miner.examples.example import Context
from miner.files import printable, read_text, reason_of

if TYPE_CHECKING:
    import numpy as np

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_WORDS, _NUMBERS = "words.txt", "numbers.npz"


def split_words(text: str) -> list[str]:
    """Returns the words of a text in lower case, without punctuation.

    >>> split_words("Well, Mr. Bennet—don’t!")
    ['well', 'mr', 'bennet', "don't"]
    """
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


def join_turns(context: Context) -> str:
    """Returns the turns of a context as one text, a line each."""
    return "\n".join(context)


def write_vocabulary(folder: Path, words: Iterable[str], numbers: dict[str, np.ndarray]) -> None:
    """Writes words, one a line, and arrays of numbers that belong to them."""
    import numpy as np

    (folder / _WORDS).write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    np.savez(folder / _NUMBERS, allow_pickle=False, **numbers)  # pyright: ignore[reportArgumentType]


def read_vocabulary(
    folder: Path, names: Sequence[str] | set[str]
) -> tuple[list[str], dict[str, np.ndarray]]:
    """Returns the words of a folder and the arrays of numbers with the given names.

    Raises:
        InputError: if a file is missing or damaged; names it.
    """
    import numpy as np

    try:
        words = read_text(folder / _WORDS).split("\n")[:-1]
        with np.load(folder / _NUMBERS, allow_pickle=False) as file:
            numbers = {name: file[name] for name in names}
        for name, array in numbers.items():
            if array.ndim and len(array) != len(words):
                raise InputError(f"found {len(array):,} {name} of {len(words):,} words")
        return words, numbers
    except Exception as error:  # the library raises errors of many kinds at a damaged file
        raise InputError(f"{printable(folder)}: cannot be loaded: {reason_of(error)}") from error
