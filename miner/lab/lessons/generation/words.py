"""A text -> its words, as GD prepares texts: in lower case, the tokens of NLTK (section 5.2).

NLTK divides a text into sentences first, so that only the full stop of a sentence becomes a word of
its own. The trained rules for it are a download, and words must not depend on what is on a
computer: here a full stop ends a sentence unless it stands after an abbreviation or an initial.

The words are those of English: "don't" becomes "do" and "n't", and the abbreviations are English
ones. In other languages the words are those between blanks and punctuation, where an apostrophe
within a word stays; the scores can be compared with one another, not across languages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeVar

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


NGram = tuple[str, ...]
_Item = TypeVar("_Item", bound=Hashable)


def n_grams(words: Sequence[str], n: int) -> Iterator[NGram]:
    """Yields the `n` words from each word on, as many times as there are.

    >>> list(n_grams(["a", "lamp", "burns"], 2))
    [('a', 'lamp'), ('lamp', 'burns')]
    """
    return zip(*(words[start:] for start in range(n)), strict=False)


def count_n_grams(texts: Iterable[Sequence[str]], n: int) -> Counter[NGram]:
    """Returns how often each n-gram is in texts; none crosses from one text to the next."""
    return Counter(one for words in texts for one in n_grams(words, n))


def share_counts(counts: Mapping[_Item, int]) -> dict[_Item, float]:
    """Returns the share of each in all of them, 0..1."""
    total = sum(counts.values())
    return {one: n / total for one, n in counts.items()}
