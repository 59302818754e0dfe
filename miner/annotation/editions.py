"""Annotated books -> the editions at hand, parsed once: the gold spans and the miner's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from miner.annotation.annotations import (
    AnnotatedBook,
)
from miner.annotation.locate import Located, locate, losses, refuse_losses
from miner.books.sources import find_sources
from miner.dialogue.read import read_spans
from miner.dialogue.spans import BookSpans

# Gives the bytes of a book by its id.
BookReader = Callable[[str], bytes]


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


def editions(
    books: Iterable[AnnotatedBook],
    read: BookReader,
    leave_out: Callable[[str], object] | None = None,
) -> Iterator[Edition]:
    """Each annotated book on the edition that `read` gives, one at a time.

    Args:
        books: annotated ones.
        read: gives the bytes of a book by its id.
        leave_out: is told of each chapter that is not found as it was annotated
            (`locate.losses`), which then counts as not annotated; without any other chapter the
            book is passed over. If None, such a chapter is an error: a score is of all chapters.

    Raises:
        ValueError: if a file cannot be parsed, or without `leave_out` a chapter is not found as it
            was annotated; names the book.
    """
    for annotated in books:
        edition = open_edition(annotated, read(annotated.card.book))
        if leave_out is None:
            refuse_losses(edition.located)
        while leave_out and (poor := losses(edition.located)):
            for line in poor.values():
                leave_out(line)
            kept = [fact for fact in edition.annotated.annotations if fact.chapter not in poor]
            fewer = replace(annotated, annotations=tuple(kept))
            edition = Edition(fewer, edition.book_spans, locate(fewer, edition.book_spans))
        if edition.annotated.annotations or not annotated.annotations:
            yield edition


def open_edition(annotated: AnnotatedBook, data: bytes) -> Edition:
    """An annotated book on the edition in `data`, however many of its spans are found.

    Raises:
        ValueError: if the file cannot be parsed; names the book.
    """
    card = annotated.card
    try:
        book_spans = read_spans(data, card.book)
    except ValueError as error:
        raise ValueError(f"{card.book}: {error}") from error
    return Edition(annotated, book_spans, locate(annotated, book_spans))


def at_hand(books: Iterable[AnnotatedBook], folder: Path | None = None) -> Iterator[Edition]:
    """The annotated books that lie on this disk, each on its edition; the others are passed over.

    Args:
        books: annotated ones.
        folder: where a Gutenberg number is looked up first; then the cache is.

    Raises:
        ValueError: if `folder` is no folder, a file cannot be parsed, or lacks too many annotated
            spans of a chapter; names the book.
        OSError: if a file cannot be read.
    """
    of_id = {book.card.book: book for book in books}
    sources, _ = find_sources(of_id, folder)
    for source in sources:
        if source.path is not None:
            edition = open_edition(of_id[source.word], source.path.read_bytes())
            refuse_losses(edition.located)
            yield edition
