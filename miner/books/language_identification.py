"""The paragraphs of a book -> the language that they are in.

A book may claim another language than it has: a Spanish novel with English notes for schools claims
English. Fifty paragraphs, evenly spread over the book, are identified one by one by py3langid (Lui
and Baldwin 2012, "langid.py: An Off-the-shelf Language Identification Tool"), and the language of
most of them is the book's. So a book of two languages shows as such, and the time is the same for
each book.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import NamedTuple

from miner.files import writing

_MOST_PARAGRAPHS = 50
_LONGEST = 500  # characters of a paragraph that are looked at
# A shorter paragraph may be a name, a cry or a page number. Where there is nothing else, several
# are read as one.
_SHORTEST = 100


class IdentifiedLanguage(NamedTuple):
    """The language of a text."""

    code: str  # its code ("en"), or "" for a text without letters
    confidence: float  # the share of the paragraphs looked at that are in it, 0 to 1


def identify_language(paragraphs: Sequence[str]) -> IdentifiedLanguage:
    """Returns the language of most paragraphs of a text."""
    # Loading takes half a second, so it is done only where a language is asked for.
    import py3langid

    texts = [text for text in paragraphs if len(text) >= _SHORTEST] or _joined(paragraphs)
    n = min(len(texts), _MOST_PARAGRAPHS)
    sample = [texts[number * len(texts) // n] for number in range(n)]
    with writing(Path(gettempdir())):  # where its model is unpacked, the first time
        votes = Counter(str(py3langid.classify(text[:_LONGEST])[0]) for text in sample)
    if not votes:
        return IdentifiedLanguage("", 0.0)
    code = min(votes, key=lambda code: (-votes[code], code))
    return IdentifiedLanguage(code, votes[code] / n)


def _joined(paragraphs: Sequence[str]) -> list[str]:
    """Returns paragraphs, all of them short, joined to longer ones. Those without letters fall."""
    texts = [text for text in paragraphs if any(map(str.isalpha, text))]
    joined: list[str] = []
    for text in texts:
        if joined and len(joined[-1]) < _SHORTEST:
            joined[-1] = f"{joined[-1]} {text}"
        else:
            joined.append(text)
    return joined


@cache
def can_identify(code: str) -> bool:
    """Whether `identify_language` knows the language of a code: 140 of them."""
    import py3langid

    return any(known == code for known, _ in py3langid.rank(""))
