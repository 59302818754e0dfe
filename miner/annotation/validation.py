"""The annotations as a whole: checked against their books, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from miner.annotation.annotations import (
    AnnotatedBook,
    Annotations,
    BookCard,
)
from miner.annotation.editions import BookReader, open_edition
from miner.annotation.locate import refuse_losses
from miner.dialogue.dialogues import dialogues

_SAME_WORK = 0.5  # share of a book's long annotated spans found in another book that make it a copy
_LONG = 8  # words of a span that is not found in two works by chance


@dataclass(frozen=True, slots=True)
class CheckedBook:
    """How the annotations of one book fit the edition at hand."""

    card: BookCard
    n_chapters: int
    n_all: int
    n_found: int
    least_coverage: float
    is_annotated_one: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """What `check` looked at, and what is wrong, a line each; none where all is well."""

    books: tuple[CheckedBook, ...]
    problems: tuple[str, ...]


def check(annotations: Annotations, split: str, read: BookReader) -> Checked:
    """Every span of the annotations against the edition at hand, and the annotations as a whole.

    Reading them has checked their form, and that no author is in two splits. Here: each book has
    annotations, each chapter is found (`locate.refuse_losses`), the derived tags are legal, the two
    readings cover the same chapters, and no two books are editions of one work.

    Args:
        annotations: all of them.
        split: which books to hold against their editions.
        read: gives the bytes of a book by its id.
    """
    checked: list[CheckedBook] = []
    problems: list[str] = []
    for annotated in annotations.of_split(split):
        if not annotated.annotations:
            book = annotated.card.book
            problems.append(f"gold/{book}: found no annotation, expected at least one chapter")
            continue
        try:
            edition = open_edition(annotated, read(annotated.card.book))
            located = edition.located
            shares = [located.n_found[n] / located.n_all[n] for n in located.n_all]
            checked.append(
                CheckedBook(
                    annotated.card,
                    len(shares),
                    sum(located.n_all.values()),
                    sum(located.n_found.values()),
                    min(shares),
                    edition.is_annotated_one,
                )
            )
            refuse_losses(located)
            dialogues(located.tagged())
        except (ValueError, OSError) as error:
            problems.append(str(error))
    problems += _copies(annotations.gold)
    first, second = (
        {book.card.book: book.chapters for book in reading}
        for reading in (annotations.first, annotations.second)
    )
    if first != second:
        problems.append("first, second: found other chapters in the one than in the other")
    gold = {book.card.book: set(book.chapters) for book in annotations.gold}
    problems += [
        f"first/{book}: found chapter {chapter}, which gold has not"
        for book, chapters in first.items()
        for chapter in chapters
        if chapter not in gold[book]
    ]
    return Checked(tuple(checked), tuple(problems))


def _copies(books: Sequence[AnnotatedBook]) -> list[str]:
    """Pairs of books that share too many long spans to be two works."""
    long_spans = {
        book.card.book: {
            fact.fingerprint for fact in book.annotations if len(fact.fingerprint.initials) >= _LONG
        }
        for book in books
    }
    found = []
    for n, (one, ours) in enumerate(long_spans.items()):
        for other, theirs in list(long_spans.items())[n + 1 :]:
            if len(ours & theirs) > _SAME_WORK * min(len(ours), len(theirs)):
                found.append(f"{one}, {other}: found the same spans, expected different works")
    return found
