"""Words of texts for the methods that count words, and files of words with their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZIP_STORED, ZipFile

from miner.errors import InputError
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


def write_vocabulary(folder: Path, words: Iterable[str], numbers: dict[str, np.ndarray]) -> None:
    """Writes words, one a line, and arrays of numbers that belong to them."""
    import numpy as np

    (folder / _WORDS).write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    np.savez(folder / _NUMBERS, allow_pickle=False, **numbers)  # pyright: ignore[reportArgumentType]


def read_vocabulary(
    folder: Path, of_words: str, names: Sequence[str] = ()
) -> tuple[list[str], dict[str, np.ndarray]]:
    """Returns the words of a folder, and its numbers by their names."""
    import numpy as np

    try:
        words = read_text(folder / _WORDS).split("\n")[:-1]
        if len(set(words)) < len(words):
            raise InputError("found a word twice")
        with ZipFile(folder / _NUMBERS) as file:
            if any(item.compress_type != ZIP_STORED for item in file.infolist()):
                raise InputError("found compressed numbers, which may have any size")
        with np.load(folder / _NUMBERS, allow_pickle=False) as file:
            numbers = {name: file[name] for name in (of_words, *names)}
        for name, array in numbers.items():
            if array.shape != ((len(words),) if name == of_words else ()):
                raise InputError(f"found {array.size:,} {name} of {len(words):,} words")
            if array.dtype.kind != "f" or not np.isfinite(array).all():
                raise InputError(f"found {name} that is no finite number")
        return words, numbers
    except Exception as error:  # the library raises errors of many kinds at a damaged file
        raise InputError(f"{printable(folder)}: cannot be loaded: {reason_of(error)}") from error
