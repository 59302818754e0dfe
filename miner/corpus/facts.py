"""The spans of a book -> its facts: what a corpus must know of the book to choose it.

They are found while the text of the book is at hand, so that no later stage reads the book again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson

from miner.books.book import SPOKEN_KINDS, BlockKind
from miner.books.language_identification import identify_language
from miner.corpus.word_counts import Hashes, WordCounts, count_words
from miner.errors import InputError
from miner.speech.spans import BookSpans

_SET_PIECES = (BlockKind.LETTER, BlockKind.VERSE)
_DASHES = "-\u2014\u2013\u2015"
# A speech has two, its opening and its closing mark.
_DELIMITERS_OF_A_SPEECH = 2
_PER_WORDS = 10_000
_VERSION = 1  # of the bytes of `to_bytes`
NO_SKETCH: Hashes = np.empty(0, np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class BookFacts:
    """What a corpus must know of a book to choose it.

    Attributes:
        words: how often each word stands in the book; headings, notes and captions count, too.
        n_words: the words of the book as they are shown everywhere, divided at white space.
        n_delimiters: marks that open or close quoted text or speech.
        language: the code of the language that its paragraphs are in, or "" if it has none.
        language_confidence: the share of paragraphs in that language, 0 to 1.
        set_pieces: the blocks that are letters or verse on the page, by their index; ascending.
        sketch: hashes of the text, by which editions of one work are found; (hashes,), uint64.
    """

    words: WordCounts
    n_words: int
    n_delimiters: int
    language: str
    language_confidence: float
    set_pieces: tuple[int, ...] = ()
    sketch: Hashes = field(default_factory=lambda: NO_SKETCH)

    @property
    def delimiters_per_10_000_words(self) -> float:
        """The delimiters in 10,000 words of the book; 0 for a book without words."""
        return _PER_WORDS * self.n_delimiters / self.n_words if self.n_words else 0.0

    def to_bytes(self) -> bytes:
        """The facts as bytes. Equal facts give equal bytes, on every machine."""
        words = self.words.to_bytes()
        head = orjson.dumps(
            {
                "version": _VERSION,
                "n_words": self.n_words,
                "n_delimiters": self.n_delimiters,
                "language": self.language,
                "language_confidence": self.language_confidence,
                "set_pieces": self.set_pieces,
                "bytes_of_words": len(words),
                "n_hashes": len(self.sketch),
            }
        )
        return b"\n".join((head, words + self.sketch.astype("<u8").tobytes()))

    @classmethod
    def from_bytes(cls, data: bytes) -> BookFacts:
        """The facts whose `to_bytes` the bytes are."""
        first, _, rest = data.partition(b"\n")
        try:
            head: dict[str, Any] = orjson.loads(first)
            version, n_bytes, n_hashes = (
                head[key] for key in ("version", "bytes_of_words", "n_hashes")
            )
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(f"found {first[:40]!r}, expected the facts of a book") from error
        if version != _VERSION or len(rest) != n_bytes + 8 * n_hashes:
            raise InputError(
                f"found facts of version {version} with {len(rest):,} bytes of words and sketch, "
                f"expected version {_VERSION} with {n_bytes + 8 * n_hashes:,}"
            )
        return cls(
            WordCounts.from_bytes(rest[:n_bytes]),
            head["n_words"],
            head["n_delimiters"],
            head["language"],
            head["language_confidence"],
            tuple(head["set_pieces"]),
            np.frombuffer(rest, "<u8", n_hashes, n_bytes).astype(np.uint64),
        )


def find_facts(book_spans: BookSpans, sketch: Hashes = NO_SKETCH) -> BookFacts:
    """Returns the facts of a book."""
    book = book_spans.book
    paragraphs = [block.text for block in book.blocks if block.kind is BlockKind.PARAGRAPH]
    # A book of verse or letters has hardly a paragraph.
    spoken = paragraphs or [block.text for block in book.blocks if block.kind in SPOKEN_KINDS]
    language = identify_language(spoken)
    return BookFacts(
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
