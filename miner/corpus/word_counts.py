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
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from miner.errors import InputError

Hashes = npt.NDArray[np.uint64]

_WORD = re.compile(r"[^\W\d_]+")
_HASH_BYTES = 8
_VERSION = b"\x01"  # of the bytes of `to_bytes`
_LARGE = 255  # counts from here on stand apart, so that the others take one byte
# Counts of several books wait until they are this many, or a quarter of the sum, and are then added
# to it at once. So each word is moved a few times only, however many books there are.
_FEWEST_WAITING = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts:
    """How often each word stands in some texts.

    Attributes:
        hashes: those of the words, ascending, none twice; (words,), uint64.
        counts: how often each of them is there, at least once; (words,), int64.
    """

    hashes: Hashes
    counts: npt.NDArray[np.int64]

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

    def to_bytes(self) -> bytes:
        """The counts as bytes: nine for most words. Equal counts give equal bytes."""
        large = self.counts[self.counts >= _LARGE]
        return b"".join(
            (
                _VERSION,
                np.array([self.n_distinct, len(large)], "<u8").tobytes(),
                self.hashes.astype("<u8").tobytes(),
                np.minimum(self.counts, _LARGE).astype("u1").tobytes(),
                large.astype("<u8").tobytes(),
            )
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> WordCounts:
        """The counts whose `to_bytes` the bytes are."""
        if data[:1] != _VERSION:
            raise InputError(f"found word counts of version {data[:1]!r}, expected {_VERSION!r}")
        start = 1 + 2 * 8
        if len(data) >= start:
            n_distinct, n_large = np.frombuffer(data, "<u8", 2, 1).tolist()
            if len(data) == start + 9 * n_distinct + 8 * n_large:
                hashes = np.frombuffer(data, "<u8", n_distinct, start).astype(np.uint64)
                start += 8 * n_distinct
                counts = np.frombuffer(data, "u1", n_distinct, start).astype(np.int64)
                is_large = counts == _LARGE
                if np.count_nonzero(is_large) == n_large:
                    counts[is_large] = np.frombuffer(data, "<u8", n_large, start + n_distinct)
                    return cls(hashes, counts)
        raise InputError(f"found {len(data):,} bytes of word counts that are not whole")


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


def add_counts(many: Iterable[WordCounts]) -> WordCounts:
    """Returns the sum of the counts of many books. Their order does not matter.

    They are taken one at a time. While they are added, memory is about 80 bytes a different word of
    all of them together, whatever the number of books. The sum has 16.
    """
    total = NO_WORDS
    waiting: list[WordCounts] = []
    n_waiting = 0
    for counts in many:
        waiting.append(counts)
        n_waiting += counts.n_distinct
        if n_waiting >= max(_FEWEST_WAITING, total.n_distinct // 4):
            total = _added([total, *waiting])
            waiting, n_waiting = [], 0
    return _added([total, *waiting])


def _added(many: list[WordCounts]) -> WordCounts:
    """Returns the sum of some counts, all at once."""
    return _summed(
        np.concatenate([counts.hashes for counts in many]),
        np.concatenate([counts.counts for counts in many]),
    )


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
