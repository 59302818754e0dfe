"""Annotated books -> the editions at hand, parsed once: the gold spans and the miner's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from miner.annotations import AnnotatedBook
from miner.book import parse_book
from miner.locate import Located, locate, refuse_losses
from miner.spans import BookSpans, split_book
from miner.typography import infer_typography

# Gives the bytes of a book by its id.
ReadBook = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class Edition:
    """An annotated book on the edition at hand.

    `book_spans` are the spans as the miner finds them, of the whole book; `located` has the
    annotated ones.
    """

    annotated: AnnotatedBook
    book_spans: BookSpans
    located: Located

    @property
    def is_annotated_one(self) -> bool:
        """Whether it is the very file that was annotated."""
        return self.located.is_own


def editions(books: Iterable[AnnotatedBook], read: ReadBook) -> Iterator[Edition]:
    """Each annotated book on the edition that `read` gives, one at a time.

    Raises:
        ValueError: if a file cannot be parsed, or lacks too many annotated spans of a chapter
            (`locate.refuse_losses`); names the book.
    """
    for annotated in books:
        edition = open_edition(annotated, read(annotated.card.book))
        refuse_losses(edition.located)
        yield edition


def open_edition(annotated: AnnotatedBook, data: bytes) -> Edition:
    """An annotated book on the edition in `data`, however many of its spans are found.

    Raises:
        ValueError: if the file cannot be parsed; names the book.
    """
    card = annotated.card
    try:
        book = parse_book(data, card.book)
    except ValueError as error:
        raise ValueError(f"{card.book}: {error}") from error
    book_spans = split_book(book, infer_typography(book))
    return Edition(annotated, book_spans, locate(annotated, book_spans))
