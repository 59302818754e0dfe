"""The texts of blocks -> segments: the words between two marks of punctuation.

Speech begins and ends at punctuation. What stands between two words is their *glue*: a space, a
comma and a space, a dash. A segment begins at the first word of a block and after each glue with a
mark that may divide speech from narration. All blocks of a book are read at once, as arrays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from miner.languages.registry import any_of

Ints = NDArray[np.integer]

_EDGE = "\x02"  # stands between two blocks
_GLUE = re.compile(r"([\W_]+)")
# A hyphen or an apostrophe between two letters is a part of a word: "dit-il", "s'écria". Letters
# stand for them while words are looked for.
_JOINER = re.compile(r"['’-](?<=[^\W_].)(?=[^\W_])")
_LETTERS = {"'": "\ua78b", "’": "\ua78c", "-": "\ua7fa"}  # none is in use in print
_JOINERS = str.maketrans({letter: joiner for joiner, letter in _LETTERS.items()})
_DASHES = re.compile(r"-{2,}|[\u2014\u2013\u2015]|(?<!\S)-|-(?!\S)")
_DOTS = re.compile(r"\.(?:\s?\.)+|\u2026")
_DIVIDES = frozenset(
    '.,;:!?\u2014\u2026()[]\u00ab\u00bb\u2039\u203a\u201c\u201d\u201e"\u00bf\u00a1'
)
_OPENERS = frozenset("\u00ab\u2039\u201e\u201c")
_CLOSERS = frozenset("\u00bb\u203a\u201d")
_EITHER = frozenset('\u00ab\u00bb\u2039\u203a\u201c\u201d"')
_ABBREVIATION = re.compile(rf"[^\W\d_]|{any_of(lambda language: language.abbreviations)}")


@dataclass(frozen=True, slots=True)
class Glue:
    """What stands between two words.

    Attributes:
        text: the glue, with one spelling for each kind of dash, dots and space.
        divides: whether speech may begin or end here.
        has_dash: whether a dash is in it.
        marks: how many quotations are open after it, more than before it.
        opens: whether a quotation mark in it opens.
        brackets: how many parentheses are open after it, more than before it.
        is_stop: whether it may stand after an abbreviation.
    """

    text: str
    divides: bool
    has_dash: bool
    marks: int
    opens: bool
    brackets: int
    is_stop: bool


@lru_cache(maxsize=8192)
def read_glue(raw: str) -> Glue:
    r"""Returns what a glue is made of.

    >>> read_glue(" -- ").text, read_glue("\n").divides
    (' — ', False)
    """
    text = _DOTS.sub("\u2026", _DASHES.sub("\u2014", " ".join(re.split(r"\s+", raw))))
    marks, opens = 0, False
    for place, character in enumerate(text):
        if character in _EITHER or character == "\u201e":
            at_word, at_end = place == 0, place == len(text) - 1
            is_opener = character in _OPENERS
            if at_word != at_end and character != "\u201e":
                is_opener = at_end
            marks += 1 if is_opener else -1
            opens |= is_opener
    return Glue(
        text,
        not _DIVIDES.isdisjoint(text),
        "\u2014" in text,
        marks,
        opens,
        sum((character in "([") - (character in ")]") for character in text),
        text in (". ", "."),
    )


@dataclass(frozen=True, slots=True)
class Segments:
    """The words of some blocks and the segments that they form.

    Attributes:
        vocabulary: the different words, as printed.
        glues: the different glues, as printed; the edge of a block is a character of its own.
        words: the word at each place: (words,), numbers of `vocabulary`.
        before: the glue before each word, and that after the last: (words + 1,).
        starts: where each word begins in its block: (words,).
        ends: where each word ends in its block: (words,).
        blocks: the block of each word: (words,).
        first: the place of the first word of each segment: (segments,).
    """

    vocabulary: tuple[str, ...]
    glues: tuple[str, ...]
    words: Ints
    before: Ints
    starts: Ints
    ends: Ints
    blocks: Ints
    first: Ints


def find_segments(texts: Sequence[str]) -> Segments:
    """Returns the segments of the texts of blocks, in order."""
    joined = _EDGE.join(("", *(text.replace(_EDGE, " ") for text in texts), ""))
    parts = _GLUE.split(_JOINER.sub(lambda match: _LETTERS[match[0]], joined))
    words, vocabulary = number_texts(parts[2:-1:2])
    vocabulary = tuple(word.translate(_JOINERS) for word in vocabulary)
    before, glues = number_texts(parts[1::2])
    ends = np.cumsum(np.fromiter(map(len, parts), np.int32, len(parts)), dtype=np.int32)
    n_edges = np.array([glue.count(_EDGE) for glue in glues], dtype=np.int32)
    blocks = np.cumsum(n_edges[before[:-1]], dtype=np.int32) - 1
    sizes = np.fromiter((len(text) + 1 for text in texts), np.int32, len(texts))
    offsets = np.concatenate([[1], 1 + np.cumsum(sizes)]).astype(np.int32)[blocks]
    first = _first_words(vocabulary, glues, words, before)
    return Segments(
        vocabulary,
        glues,
        words,
        before,
        ends[1:-2:2] - offsets,
        ends[2:-1:2] - offsets,
        blocks,
        first,
    )


def number_texts(texts: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """Returns the texts as numbers, and the different texts in the order of their numbers."""
    different = tuple(dict.fromkeys(texts))
    numbers = dict(zip(different, range(len(different)), strict=True))
    return np.fromiter(map(numbers.__getitem__, texts), np.int32, len(texts)), different


def _first_words(
    vocabulary: Sequence[str], glues: Sequence[str], words: Ints, before: Ints
) -> Ints:
    """Returns the places at which segments begin."""
    kinds = [read_glue(glue) for glue in glues]
    divides = np.array([kind.divides or _EDGE in kind.text for kind in kinds], dtype=np.bool_)
    is_stop = np.array([kind.is_stop for kind in kinds], dtype=np.bool_)
    is_short = np.array(
        [_ABBREVIATION.fullmatch(word) is not None for word in vocabulary], np.bool_
    )
    begins = divides[before[:-1]]
    begins[1:] &= ~(is_stop[before[1:-1]] & is_short[words[:-1]])
    return np.flatnonzero(begins).astype(np.int32)


def edge_of(glue: str, at_start: bool) -> str:
    """Returns the part of a glue that belongs to one block, with a sign for the block's edge."""
    if _EDGE not in glue:
        return glue
    parts = glue.split(_EDGE)
    return "^" + parts[-1] if at_start else parts[0] + "$"
