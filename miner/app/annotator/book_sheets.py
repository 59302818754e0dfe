"""The chapters of a book under annotation, all in one file, and how far each of them is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import TypeVar

from miner.annotation.annotations import Annotation, parse_annotations
from miner.app.annotator.placement import place_rows
from miner.app.annotator.sheet_file import (
    NOTHING_TAGGED,
    SheetFile,
    prepare_file,
    refuse_no_file,
)
from miner.errors import InputError
from miner.files import decode_text
from miner.people.spoken_book import SpokenBook
from miner.speech.spans import BookSpans, Span

_Item = TypeVar("_Item", Span, Annotation)


@dataclass(frozen=True, slots=True)
class ChapterProgress:
    """How far a chapter is annotated.

    Attributes:
        chapter: the number of the chapter.
        n_spans: the spans to decide; 0 if nothing is quoted in the chapter.
        n_decided: those that are decided.
        n_lost: rows of the file that were found on no span of the chapter.
    """

    chapter: int
    n_spans: int
    n_decided: int
    n_lost: int = 0


@dataclass(frozen=True, slots=True)
class BookProgress:
    """How far a book is annotated.

    Attributes:
        chapters: all chapters of the book, in order.
        n_foreign: rows of the file whose chapter this edition of the book lacks.
    """

    chapters: tuple[ChapterProgress, ...]
    n_foreign: int = 0

    @property
    def n_spans(self) -> int:
        """The spans of the book to decide."""
        return sum(item.n_spans for item in self.chapters)

    @property
    def n_decided(self) -> int:
        """The spans of the book that are decided."""
        return sum(item.n_decided for item in self.chapters)


class BookSheets:
    """The chapters of a book, each with its sheet; several threads may use it.

    The file is not touched before `prepare` or `open`.

    Args:
        path: the file of annotations.
        book_spans: the book, as the miner splits it.
        spoken: the spans of the book with a tagger's tags, for guesses; empty without a tagger.
    """

    def __init__(
        self, path: Path, book_spans: BookSpans, spoken: SpokenBook = NOTHING_TAGGED
    ) -> None:
        self.path = path
        self.book_spans = book_spans
        self._spoken = spoken
        self._opened: dict[int, SheetFile] = {}
        self._threads = Lock()

    @property
    def numbers(self) -> set[int]:
        """The chapters in which something is quoted."""
        return {span.chapter for span in self.book_spans.spans if span.in_marks}

    def open(self, chapter: int) -> SheetFile:
        """Returns the sheet file of a chapter, the same one each time; errors as in `SheetFile`."""
        with self._threads:
            if chapter not in self._opened:
                self._opened[chapter] = SheetFile(self.path, self.book_spans, chapter, self._spoken)
            return self._opened[chapter]

    def prepare(self) -> None:
        """Makes the file if there is none, and checks it as `find_progress` does."""
        self.find_progress()
        prepare_file(self.path.resolve())

    def find_progress(self) -> BookProgress:
        """Returns how far each chapter is annotated in the file, as it is now."""
        book = self.book_spans.book
        if not self.numbers:
            raise InputError(f"{book.id}: found nothing quoted in the book, expected speech")
        refuse_no_file(self.path)
        content = self.path.read_bytes() if self.path.exists() else b""
        text = decode_text(content, self.path)
        rows = _by_chapter(parse_annotations(text, book.id, self.path))
        spans = _by_chapter(self.book_spans.spans)
        numbers = dict.fromkeys(block.chapter for block in book.blocks)
        return BookProgress(
            tuple(
                self._find_chapter(number, spans.get(number, []), rows.pop(number, []))
                for number in numbers
            ),
            n_foreign=sum(map(len, rows.values())),
        )

    def _find_chapter(
        self, number: int, spans: Sequence[Span], rows: Sequence[Annotation]
    ) -> ChapterProgress:
        if not rows:
            return ChapterProgress(number, sum(span.in_marks for span in spans), 0)
        placement = place_rows(self.book_spans, spans, rows)
        places = [s for s in placement.spans if s.in_marks or s in placement.numbers]
        return ChapterProgress(
            number, len(places), len(placement.numbers), n_lost=len(placement.lost)
        )


def _by_chapter(items: Sequence[_Item]) -> dict[int, list[_Item]]:
    return {number: list(group) for number, group in groupby(items, lambda item: item.chapter)}
