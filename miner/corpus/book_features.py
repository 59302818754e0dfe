"""Texts -> how often each word stands in them, in 16 bytes a word, so that counts of books add up.

A word is a run of letters, in small letters: "Don’t go, L’abbé!" has the words don, t, go, l and
abbé. Digits, marks and the underscore of emphasis are no letters. This is the same in all languages
and needs no list. A word is kept as a hash of eight bytes: of ten million different words, any two
share one in 1 of 370,000 corpora.

"The Gutenberg Dialogue Dataset" (GD, section 3) leaves out books of unusual language and dialogues
of rare words. What its paper does not say is taken from its code (github.com/ricsinaruto/
gutenberg-dialog, code/pipeline/pre_filter.py and post_filter.py): the natural logarithm, all words
and not the most frequent only, and all books of a language, the book itself among them. It differs
in what a word is. GD divides books at white space and keeps capitals and marks: "Go," is not "go".
So its divergences are larger (in 149 English novels, on average 1.6 times), and so are its counts
(494,000 different words there, here 91,000). And GD counts rare words, and marks as words, among
the mined dialogues; here it is the words of whole books.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from miner.books.book import SPOKEN_KINDS, BlockKind
from miner.books.language_identification import identify_language
from miner.errors import InputError
from miner.speech.spans import BookSpans

Hashes = npt.NDArray[np.uint64]

_WORD = re.compile(r"[^\W\d_]+")
_HASH_BYTES = 8
# Counts of several books wait until they are this many, or a quarter of the sum, and are then added
# to it at once. So each word is moved a few times only, however many books there are.
_FEWEST_WAITING = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts:
    """How often each word stands in some texts."""

    hashes: Hashes  # those of the words, ascending, none twice; (words,), uint64
    counts: npt.NDArray[np.int64]  # how often each of them is there, at least once; (words,), int64

    def __post_init__(self) -> None:
        if self.hashes.shape != self.counts.shape or self.hashes.ndim != 1:
            raise ValueError(
                f"found {self.hashes.shape} hashes and {self.counts.shape} counts, "
                "expected one count for each hash"
            )
        if np.any(self.hashes[1:] <= self.hashes[:-1]) or np.any(self.counts < 1):
            raise ValueError("found word counts that are not sorted or below 1")

    @property
    def n_words(self) -> int:
        """All words, each as often as it is there."""
        return int(self.counts.sum())

    @property
    def n_distinct(self) -> int:
        """Different words."""
        return len(self.hashes)


NO_WORDS = WordCounts(np.empty(0, np.uint64), np.empty(0, np.int64))


def split_words(text: str) -> list[str]:
    """Returns the words of a text, in order.

    >>> split_words("Don’t go, _L’abbé!_ It is 1866.")
    ['don', 't', 'go', 'l', 'abbé', 'it', 'is']
    """
    return _WORD.findall(text.lower())


def hash_words(words: Iterable[str]) -> Hashes:
    """Returns the hash of each word (BLAKE2b, eight bytes), in order. No word is put in lower case.

    The hash is the same on every machine.
    """
    digests = b"".join(
        blake2b(word.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest()
        for word in words
    )
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def count_words(texts: Iterable[str]) -> WordCounts:
    """Returns how often each word stands in some texts. No word runs from one text into the next.

    >>> counts = count_words(["So it was.", "So it is."])
    >>> counts.n_words, counts.n_distinct
    (6, 4)
    """
    printed = Counter[str]()  # between white space, which no word contains
    for text in texts:
        printed.update(text.split())
    words = Counter[str]()
    for part, count in printed.items():
        for word in split_words(part):
            words[word] += count
    hashes = hash_words(words)
    return _summed(hashes, np.fromiter(words.values(), np.int64, len(words)))


class WordSum:
    """The sum of the counts of many books, which are added one at a time, in any order.

    Memory is about 80 bytes a different word of all of them together, whatever the number of books.
    The sum has 16.
    """

    def __init__(self) -> None:
        """Begins with no words."""
        self._total = NO_WORDS
        self._waiting: list[WordCounts] = []
        self._n_waiting = 0

    def add(self, counts: WordCounts) -> None:
        """Adds the counts of one more book."""
        self._waiting.append(counts)
        self._n_waiting += counts.n_distinct
        if self._n_waiting >= max(_FEWEST_WAITING, self._total.n_distinct // 4):
            self.total()

    def total(self) -> WordCounts:
        """The sum so far."""
        if self._waiting:
            many = [self._total, *self._waiting]
            self._total = _summed(
                np.concatenate([counts.hashes for counts in many]),
                np.concatenate([counts.counts for counts in many]),
            )
            self._waiting, self._n_waiting = [], 0
        return self._total


def add_counts(many: Iterable[WordCounts]) -> WordCounts:
    """Returns the sum of the counts of many books. Their order does not matter."""
    total = WordSum()
    for counts in many:
        total.add(counts)
    return total.total()


def _summed(hashes: Hashes, counts: npt.NDArray[np.int64]) -> WordCounts:
    """Returns the counts of hashes in any order, of which some may be equal."""
    if not len(hashes):
        return NO_WORDS
    order = np.argsort(hashes, kind="stable")
    hashes, counts = hashes[order], counts[order]
    is_first = np.empty(len(hashes), bool)
    is_first[0] = True
    np.not_equal(hashes[1:], hashes[:-1], out=is_first[1:])
    return WordCounts(hashes[is_first], np.add.reduceat(counts, np.flatnonzero(is_first)))


def kl_divergence(book: WordCounts, total: WordCounts) -> float:
    """Returns how far the words of a book are from those of all books, from 0, in nats.

    It is the Kullback-Leibler divergence of the book's distribution of words from that of all
    books, with natural logarithms; 0 for a book without words. After GD, section 3, Pre-filtering.

    >>> book, other = count_words(["a a a b"]), count_words(["b b"])
    >>> round(kl_divergence(book, add_counts([book, other])), 4)
    0.1308
    """
    places = np.searchsorted(total.hashes, book.hashes)
    is_known = np.zeros(book.n_distinct, bool)
    within = places < total.n_distinct
    is_known[within] = total.hashes[places[within]] == book.hashes[within]
    if n_unknown := int(np.count_nonzero(~is_known)):
        raise ValueError(
            f"found {n_unknown:,} words of the book that the counts of all books lack, "
            "expected the book among them"
        )
    n_words, n_total = book.n_words, total.n_words
    # Python's logarithm and an exact sum give the same figure on every machine. NumPy's need not.
    return math.fsum(
        count / n_words * math.log(count * n_total / (n_words * of_total))
        for count, of_total in zip(book.counts.tolist(), total.counts[places].tolist(), strict=True)
    )


def frequent_words(total: WordCounts, n: int) -> Hashes:
    """Returns the hashes of the most frequent words, ascending; all of them if there are no more.

    Of words that are equally frequent, those with the smaller hash are taken.
    """
    if n < 1:
        raise InputError(f"found {n} frequent words, expected at least 1")
    if total.n_distinct <= n:
        return total.hashes
    # Hashes ascend, so a stable order by counts puts the smaller hash first.
    return np.sort(total.hashes[np.argsort(-total.counts, kind="stable")[:n]])


def share_of_rare_words(text: str, frequent: Hashes) -> float:
    """Returns the share of a text's words that are not among the frequent ones; 0 without words.

    A word counts as often as it is there. After GD, section 3, Long utterances and rare words.
    """
    hashes = hash_words(split_words(text))
    if not len(hashes):
        return 0.0
    if not len(frequent):
        return 1.0
    places = np.minimum(np.searchsorted(frequent, hashes), len(frequent) - 1)
    return int(np.count_nonzero(frequent[places] != hashes)) / len(hashes)


_SET_PIECES = (BlockKind.LETTER, BlockKind.VERSE)
_DASHES = "-\u2014\u2013\u2015"
# A speech has two, its opening and its closing mark.
_DELIMITERS_OF_A_SPEECH = 2
_PER_WORDS = 10_000
NO_SKETCH: Hashes = np.empty(0, np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class BookFeatures:
    """What a corpus must know of a book to choose it."""

    # how often each word stands in the book; headings, notes and captions count, too.
    words: WordCounts
    n_words: int  # the words of the book as they are shown everywhere, divided at white space
    n_delimiters: int  # marks that open or close quoted text or speech
    language: str  # the code of the language that its paragraphs are in, or "" if it has none
    language_confidence: float  # the share of paragraphs in that language, 0 to 1
    # the blocks that are letters or verse on the page, by their index; ascending.
    set_pieces: tuple[int, ...] = ()
    # hashes of the text, by which editions of one work are found; (hashes,), uint64.
    sketch: Hashes = field(default_factory=lambda: NO_SKETCH)

    @property
    def delimiters_per_10_000_words(self) -> float:
        """The delimiters in 10,000 words of the book; 0 for a book without words."""
        return _PER_WORDS * self.n_delimiters / self.n_words if self.n_words else 0.0


def find_features(book_spans: BookSpans, sketch: Hashes = NO_SKETCH) -> BookFeatures:
    """Returns the facts of a book."""
    book = book_spans.book
    paragraphs = [block.text for block in book.story if block.kind is BlockKind.PARAGRAPH]
    # A book of verse or letters has hardly a paragraph.
    spoken = paragraphs or [block.text for block in book.story if block.kind in SPOKEN_KINDS]
    language = identify_language(spoken)
    return BookFeatures(
        words=count_words(block.text for block in book.blocks),
        n_words=book.n_words,
        n_delimiters=count_delimiters(book_spans),
        language=language.code,
        language_confidence=language.confidence,
        set_pieces=tuple(block.index for block in book.blocks if block.kind in _SET_PIECES),
        sketch=sketch,
    )


def count_delimiters(book_spans: BookSpans) -> int:
    """Returns how many marks open or close quoted text or speech in a book.

    They are the marks of the book's typography, and two for each opening mark, whether a closing
    mark follows or the next paragraph goes on. A dash at the start of a paragraph that opens speech
    counts two, as well: the end of the speech is its other mark.

    After "The Gutenberg Dialogue Dataset", section 3, Delimiter filter, whose code counts one mark
    of English, the most frequent one, of " and two of each “ and ‘. It knows no straight single
    marks, where an apostrophe looks the same. Nor does it count two for a dash, with which only two
    of seven Hungarian novels and no Spanish one of eight would have enough of them.
    """
    typography = book_spans.typography
    assert typography is not None  # `parse_spans` gives it
    openers = tuple(marks.opener for marks in typography.marks)
    n_speeches = 0
    for span in book_spans.spans:
        if span.in_marks:
            is_dashed = typography.dash and not span.start and span.text[0] in _DASHES
            n_speeches += is_dashed or span.text.startswith(openers)
    return _DELIMITERS_OF_A_SPEECH * n_speeches
