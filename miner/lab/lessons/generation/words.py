"""A text -> its words, as GD prepares texts: in lower case, the tokens of NLTK (section 5.2).

NLTK divides a text into sentences first, so that only the full stop of a sentence becomes a word of
its own. The trained rules for it are a download, and words must not depend on what is on a
computer: here a full stop ends a sentence unless it stands after an abbreviation or an initial.

The words are those of English: "don't" becomes "do" and "n't", and the abbreviations are English
ones. In other languages the words are those between blanks and punctuation, where an apostrophe
within a word stays; the scores can be compared with one another, not across languages.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from miner.extras import import_extra
from miner.languages.en import LANGUAGE

if TYPE_CHECKING:
    from nltk.tokenize import NLTKWordTokenizer, PunktSentenceTokenizer

EXTRA = "generation"  # what brings NLTK
# As people type, so that typography makes no difference: NLTK leaves "well—no" one word.
_AS_TYPED = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'", "—": "--", "…": "..."}
)
_ABBREVIATIONS = frozenset(
    "ms prof capt col gen rev hon lieut serjt sergt sgt supt esq jr".split()
) | {one.lower() for one in LANGUAGE.attribution.abbreviations}


def split_words(text: str) -> list[str]:
    """Returns the words of a text in lower case, with punctuation as words.

    >>> split_words("“Don’t!” said Mr. Otway—twice.")
    ['``', 'do', "n't", '!', "''", 'said', 'mr.', 'otway', '--', 'twice', '.']
    """
    sentences, words = _tokenizers()
    typed = text.translate(_AS_TYPED).lower()
    return [word for sentence in sentences.tokenize(typed) for word in words.tokenize(sentence)]


@cache
def _tokenizers() -> tuple[PunktSentenceTokenizer, NLTKWordTokenizer]:
    punkt = import_extra("nltk.tokenize.punkt", EXTRA)
    rules = punkt.PunktParameters()
    rules.abbrev_types |= _ABBREVIATIONS
    library = import_extra("nltk.tokenize", EXTRA)
    return punkt.PunktSentenceTokenizer(rules), library.NLTKWordTokenizer()


def nltk_version() -> str:
    """Returns the version of NLTK, by which BLEU and words may differ."""
    return import_extra("nltk", EXTRA).__version__
