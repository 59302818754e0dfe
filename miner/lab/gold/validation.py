"""A folder of annotations -> the problems found in it, against its books and within itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from miner.annotation.annotations import (
    ENGLISH,
    AnnotatedBook,
    Annotations,
    BookCard,
)
from miner.annotation.locate import refuse_losses
from miner.errors import InputError
from miner.lab.gold.editions import BookReader, open_edition
from miner.speech.dialogues import decode_dialogues

# Two books are editions of one work if they share more than this part of the long spans of the
# book that has fewer of them.
_SAME_WORK = 0.5
_LONG = 8  # a span of this many words does not occur in two works by chance


@dataclass(frozen=True, slots=True)
class CheckedBook:
    """How many annotations of one book are found in an edition.

    Attributes:
        card: the row of the book.
        n_chapters: the number of annotated chapters.
        n_all: the number of annotations.
        n_found: the number of annotations that were found.
        least_coverage: the least share, 0..1, of a chapter's annotations that was found.
        is_annotated_one: whether the edition is the file that was annotated.
    """

    card: BookCard
    n_chapters: int
    n_all: int
    n_found: int
    least_coverage: float
    is_annotated_one: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """The books that were checked, and a line for each problem."""

    books: tuple[CheckedBook, ...]
    problems: tuple[str, ...]


def check_annotations(
    annotations: Annotations, split: str, read: BookReader, language: str = ENGLISH
) -> Checked:
    """Checks the annotations against their books and against one another.

    `read_annotations` has checked the form of the files. This checks that each book has
    annotations, that each chapter is found (see `locate.find_losses`), that the derived tags are
    legal, that the two readings cover the same chapters and that no two books are editions of one
    work.
    """
    checked: list[CheckedBook] = []
    problems: list[str] = []
    for annotated in annotations.of_split(split, language):
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
            decode_dialogues(located.tagged())
        except (InputError, OSError) as error:
            problems.append(str(error))
    problems += _copies(annotations.gold)
    first, second = (
        {book.card.book: book.chapters for book in reading}
        for reading in (annotations.first, annotations.second)
    )
    if first != second:
        problems.append("first, second: found different chapters, expected the same")
    gold = {book.card.book: set(book.chapters) for book in annotations.gold}
    problems += [
        f"first/{book}: found chapter {chapter}, expected a chapter of the gold"
        for book, chapters in first.items()
        for chapter in chapters
        if chapter not in gold[book]
    ]
    return Checked(tuple(checked), tuple(problems))


def _copies(books: Sequence[AnnotatedBook]) -> list[str]:
    """Returns a problem for each two books that share too many long spans."""
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
