"""Annotated books -> their editions: the miner's own spans, and the gold spans and tags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from miner.annotation.annotations import AnnotatedBook
from miner.annotation.locate import Located, find_losses, locate, refuse_losses
from miner.books.book_file import read_book_file
from miner.books.sources import find_sources
from miner.errors import InputError
from miner.lab.gold.coverage import Coverage, LeftOutBook, read_or_leave_out, refuse_nothing
from miner.speech.read import parse_spans
from miner.speech.spans import BookSpans

# Returns the bytes of a book by its id.
BookReader = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class Edition:
    """An annotated book and one edition of it.

    Attributes:
        annotated: the annotations.
        book_spans: the spans of the whole book as the miner finds them.
        located: the annotated spans.
    """

    annotated: AnnotatedBook
    book_spans: BookSpans
    located: Located

    @property
    def is_annotated_one(self) -> bool:
        """Whether the edition is the file that was annotated."""
        return self.located.is_own


def read_editions(
    books: Iterable[AnnotatedBook],
    read: BookReader,
    leave_out: Callable[[str], object] | None = None,
    on_missing: Callable[[LeftOutBook], object] | None = None,
    *,
    judged: bool = True,
) -> Iterator[Edition]:
    """Yields the edition of each annotated book."""
    missing: list[LeftOutBook] = []
    n_books = 0
    for annotated in books:
        n_books += 1
        book, n_chapters = annotated.card.book, len(annotated.chapters)
        content = read_or_leave_out(read, book, n_chapters) if on_missing else read(book)
        if isinstance(content, LeftOutBook):
            assert on_missing is not None
            on_missing(content)
            missing.append(content)
            continue
        edition = open_edition(annotated, content, judged=judged)
        if leave_out is None:
            refuse_losses(edition.located)
        while leave_out and (poor := find_losses(edition.located)):
            for line in poor.values():
                leave_out(line)
            kept = [fact for fact in edition.annotated.annotations if fact.chapter not in poor]
            fewer = replace(annotated, annotations=tuple(kept))
            edition = Edition(fewer, edition.book_spans, locate(fewer, edition.book_spans))
        if edition.annotated.annotations or not annotated.annotations:
            yield edition
    refuse_nothing(missing, n_books)


def read_editions_at_hand(
    books: Iterable[AnnotatedBook], read: BookReader
) -> tuple[list[Edition], Coverage]:
    """Returns the editions of the annotated books that `read` can give, and what they cover."""
    books, missing = list(books), []
    editions = list(read_editions(books, read, on_missing=missing.append))
    return editions, coverage_of(books, missing)


def coverage_of(books: Iterable[AnnotatedBook], missing: Iterable[LeftOutBook]) -> Coverage:
    """Returns what the figures are of if some of the annotated books are missing."""
    return Coverage("chapters", sum(len(book.chapters) for book in books), tuple(missing))


def open_edition(annotated: AnnotatedBook, data: bytes, *, judged: bool = True) -> Edition:
    """Returns the edition of an annotated book, even if few of its spans are found."""
    card = annotated.card
    try:
        book_spans = parse_spans(data, card.book, judged=judged)
    except InputError as error:
        raise InputError(f"{card.book}: {error}") from error
    return Edition(annotated, book_spans, locate(annotated, book_spans))


def read_local_editions(
    books: Iterable[AnnotatedBook], folder: Path | None = None
) -> Iterator[Edition]:
    """Yields the editions of the annotated books that are on this disk. Skips the others."""
    of_id = {book.card.book: book for book in books}
    sources, _ = find_sources(of_id, folder)
    for source in sources:
        if source.path is not None:
            edition = open_edition(of_id[source.word], read_book_file(source.path))
            refuse_losses(edition.located)
            yield edition
