"""Words as numbers: what is one word in two printings of a text is one number.

Case, accents, ligatures, punctuation, marks of emphasis, and apostrophes and hyphens inside a word
do not count: "To-day", "today" and "_Today_" are one word. The numbers are the same on every
machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

from miner.books.words import drop_accents

Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]

# Not "_", the mark of emphasis. A hyphen (soft, hard or plain) or an apostrophe may join letters.
_WORD = re.compile("[^\\W_]+(?:[-\xad\u2010\u2011'’‘ʼ][^\\W_]+)*")
_JOIN = re.compile("[-\xad\u2010\u2011'’‘ʼ]")
_LIGATURES = str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "ı": "i", "ſ": "s"})
# The finalizer of MurmurHash3 for 64 bits (Austin Appleby, public domain): every bit of the number
# depends on every bit of what goes in.
_MIX = ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53))


def fold(text: str) -> str:
    """A text in small letters, without accents and ligatures.

    >>> fold("Œuvres de Brontë")
    'oeuvres de bronte'
    """
    return drop_accents(text.casefold().translate(_LIGATURES))


def fold_words(text: str) -> list[str]:
    """The words of a text, folded.

    >>> fold_words("“To-day,” said he, “we _don’t_!”")
    ['today', 'said', 'he', 'we', 'dont']
    """
    return [fold(_JOIN.sub("", word)) for word in _WORD.findall(text)]


def hash_words(texts: Iterable[str]) -> list[Hashes]:
    """The words of each text as numbers of 64 bits, in their order."""
    known = _WordHashes()
    # A book has some ten thousand different words: all else is looked up.
    return [
        np.fromiter(map(known.__getitem__, _WORD.findall(text)), dtype=np.uint64) for text in texts
    ]


def hash_shingles(words: Hashes, length: int) -> Hashes:
    """A number for each run of `length` words, in their order; none if there are fewer words."""
    n = len(words) - length + 1
    if n <= 0:
        return np.empty(0, dtype=np.uint64)
    mixed = words[:n].copy()
    for place in range(1, length):
        mixed *= np.uint64(0x9E3779B97F4A7C15)  # odd, so that no word is lost
        mixed += words[place : place + n]
    return mix(mixed)


def mix(numbers: Hashes) -> Hashes:
    """Numbers of 64 bits, scattered evenly over all numbers of 64 bits. No two become one."""
    for shift, factor in _MIX:
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(33))


class _WordHashes(dict[str, int]):
    """The numbers of words as they are printed."""

    def __missing__(self, word: str) -> int:
        folded = fold(_JOIN.sub("", word)).encode("utf-8", "surrogatepass")
        number = int.from_bytes(blake2b(folded, digest_size=8).digest(), "little")
        self[word] = number
        return number
