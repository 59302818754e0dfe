"""Words of titles, names and headings, as they are compared: case, accents and marks fall away."""

from __future__ import annotations

import re
import unicodedata

_WORD, _APOSTROPHE = re.compile(r"\w+"), re.compile("['’‘]")


def folded_words(text: str) -> list[str]:
    """The words of a text in small letters, without accents, apostrophes and punctuation.

    "&" is the word "and".

    >>> folded_words("L’Été & l'hiver!")
    ['lete', 'and', 'lhiver']
    """
    letters = text.casefold()
    if not letters.isascii():
        decomposed = unicodedata.normalize("NFKD", letters)
        letters = "".join(char for char in decomposed if not unicodedata.combining(char))
    return _WORD.findall(_APOSTROPHE.sub("", letters.replace("&", " and ")))
