"""Words of titles, names and headings, as they are compared: case, accents and marks fall away."""

from __future__ import annotations

import re
import unicodedata

from miner.books.book_file import limit_marks

_WORD, _APOSTROPHE = re.compile(r"\w+"), re.compile("['’‘]")


def folded_words(text: str) -> list[str]:
    """The words of a text in small letters, without accents, apostrophes and punctuation.

    "&" is the word "and".

    >>> folded_words("L’Été & l'hiver!")
    ['lete', 'and', 'lhiver']
    """
    letters = drop_accents(text.casefold())
    return _WORD.findall(_APOSTROPHE.sub("", letters.replace("&", " and ")))


def words_within(text: str) -> set[str]:
    """The folded words of a text, and those on either side of an apostrophe.

    >>> sorted(words_within("Alice's Cat"))
    ['alice', 'alices', 'cat', 's']
    """
    return {*folded_words(text), *folded_words(_APOSTROPHE.sub(" ", text))}


def drop_accents(text: str) -> str:
    """A text without accents, in the letters that remain when they are taken apart.

    >>> drop_accents("Brontë, ﬁn")
    'Bronte, fin'
    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", limit_marks(text))
    return "".join(char for char in decomposed if not unicodedata.combining(char))
