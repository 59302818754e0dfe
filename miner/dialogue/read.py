"""The bytes of a book file -> its spans. All code that needs the spans of a file goes this way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from miner.books.book import Book, parse_book
from miner.dialogue.spans import BookSpans, split_book
from miner.dialogue.typography import infer_typography, spoken_blocks, typography_from_names

# In a play a block begins with the name of its speaker and a stop. A name that begins this many
# blocks is a speaker's, and a book is a play if this share of its blocks have a speaker.
_LINES_OF_A_SPEAKER = 3
_SHARE_OF_A_PLAY = 0.3
# A book is tested for being a play if the confidence in its typography is below this.
_DOUBTFUL = 0.5
_SPEAKER = re.compile(r"([A-Z\u00c0-\u00dd][\w\u2019'. -]{0,28}?)[.:\u2014](?:\s|$)")


def parse_spans(
    data: bytes, book_id: str, quotes: Sequence[str] = (), *, thoughts: bool = False
) -> BookSpans:
    """Returns the spans of a book file, in reading order.

    Args:
        data: the bytes of a Gutenberg HTML file.
        book_id: the id of the book in everything made from it.
        quotes: the names of the marks that open speech. If empty they are inferred from the text.
        thoughts: whether thoughts in quotation marks count as utterances; see `split_book`.

    Raises:
        ValueError: if the file cannot be parsed, is a play or holds no dialogue.
    """
    book = parse_book(data, book_id)
    typography = infer_typography(book)
    if quotes:
        typography = typography_from_names(quotes, typography.language)
    book_spans = split_book(book, typography, thoughts=thoughts)
    if not any(span.is_utterance for span in book_spans.spans):
        raise ValueError(_why_no_dialogue(book))
    if typography.confidence < _DOUBTFUL and _is_play(book):
        raise ValueError(_why_no_dialogue(book))
    return book_spans


def _why_no_dialogue(book: Book) -> str:
    """Returns the message that says why a book has no dialogue to mine."""
    if _is_play(book):
        return "a play: lines are headed by their speakers' names, not set in quotation marks"
    return (
        "no dialogue: found no speech between quotation marks or after dashes "
        f"in {book.n_words:,} words"
    )


def _is_play(book: Book) -> bool:
    """Whether many blocks begin with a speaker's name."""
    blocks = spoken_blocks(book.blocks)
    labels = [match[1] for block in blocks if (match := _SPEAKER.match(block.text))]
    counts = Counter(labels)
    lines = sum(count for count in counts.values() if count >= _LINES_OF_A_SPEAKER)
    return bool(blocks) and lines >= _SHARE_OF_A_PLAY * len(blocks)
