"""A sheet <-> the file of annotations in which it is saved, beside the rows of other chapters.

The file is read again before each write, so that changes from another window or from an editor are
never overwritten.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import TypeVar

from filelock import FileLock

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import Annotation, parse_annotations, row_from_annotation
from miner.app.annotator.guesses import Entry, find_guesses, find_names, resolve_guesses
from miner.app.annotator.placement import Placement, place_rows
from miner.app.annotator.sheet import Sheet, apply_action
from miner.errors import InputError
from miner.files import decode_text, json_line, remove_unfinished, whole_file
from miner.people.character_files import SpokenBook
from miner.speech.spans import BookSpans, Span, chapter_in_marks

NOTHING_TAGGED = SpokenBook(())
_LOCK_TIMEOUT = 10  # seconds to wait while another process writes the file
_BOM = b"\xef\xbb\xbf"
_OTHER_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def refuse_no_file(path: Path) -> None:
    """Raises an error if annotations cannot be saved at `path` because it is no ordinary file."""
    if not path.exists():
        return
    mode = path.stat().st_mode
    for is_kind, kind in _OTHER_KINDS:
        if is_kind(mode):
            raise InputError(f"{path}: found {kind}, expected an ordinary file or a new name")


def prepare_file(path: Path) -> None:
    """Makes the file if there is none, and removes what a killed process left beside it."""
    refuse_no_file(path)
    if not path.exists():
        with whole_file(path):
            pass
    with locked(path):  # fails if the folder is not writable
        remove_unfinished(path)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keeps other processes that annotate the same file from writing in the meantime."""
    lock = path.with_name(f".{path.name}.lock")
    with FileLock(lock, timeout=_LOCK_TIMEOUT):
        try:
            yield
        finally:
            with suppress(OSError):  # some systems cannot remove a file in use
                lock.unlink()


class StaleEdit(Exception):
    """An edit of an outdated sheet; the message is one line."""


@dataclass(frozen=True, slots=True)
class Version:
    """The sheet of a chapter at one state of its file."""

    sheet: Sheet
    revision: str  # SHA-256 of the lines of this chapter, in hexadecimal digits
    digest: str  # SHA-256 of the whole file
    # all spans of the chapter, narration included. Where the file and the miner split a paragraph
    # differently, the file decides
    spans: tuple[Span, ...]
    head: bytes = b""  # lines of the chapters before this one
    tail: bytes = b""  # lines of the chapters after this one


class SheetFile:
    """One chapter of a file of annotations while it is edited; several threads may use it.

    A new file is created at once, so that a path that cannot be written fails before any work is
    done.
    """

    def __init__(
        self, path: Path, book_spans: BookSpans, chapter: int, spoken: SpokenBook = NOTHING_TAGGED
    ) -> None:
        # Resolved, so that a link stays a link and its target is replaced.
        self.path = path.resolve()
        self.book_spans = book_spans
        self.chapter = chapter
        self._shown_path = path
        self._spans = chapter_in_marks(book_spans, chapter)
        self._guesses = find_guesses(spoken, chapter)
        self._names = tuple(find_names(spoken.characters, chapter).values())
        self._threads = Lock()
        prepare_file(self.path)
        self._version = self._read(self.path.read_bytes())

    def suggest_names(self, sheet: Sheet) -> list[str]:
        """Returns the names of characters whom the chapter may have, and nobody has named yet."""
        return [names[0] for names in self._names if not set(names).intersection(sheet.speakers)]

    def current(self) -> Version:
        """Returns the newest version, read again if the file changed; errors as on opening."""
        with self._threads:
            self._refresh()
            return self._version

    def edit(
        self,
        revision: str,
        action: str,
        place: int | None = None,
        speaker: str | None = None,
        conversation: int | None = None,
    ) -> Version:
        """Applies an action, saves the sheet and returns the new version."""
        with self._threads, locked(self.path):
            if self._refresh():
                raise StaleEdit(
                    f"{self._shown_path}: found it changed on disk, expected it as it was read"
                )
            version = self._version
            if revision != version.revision:
                raise StaleEdit(
                    f"{self._shown_path}: found an edit of an older state, expected the newest"
                )
            sheet = apply_action(version.sheet, action, place, speaker, conversation)
            if sheet is not version.sheet:
                self._version = self._write(version, sheet)
            return self._version

    def _write(self, version: Version, sheet: Sheet) -> Version:
        rows = b"".join(
            json_line(row_from_annotation(self.book_spans.book.id, row)) for row in sheet.rows()
        )
        content = version.head + rows + version.tail
        with whole_file(self.path, force=True) as file:
            file.write(content)
        return replace(version, sheet=sheet, revision=_digest(rows), digest=_digest(content))

    def _refresh(self) -> bool:
        """Reads the file again if it was changed elsewhere.

        Returns whether this chapter was. If only other chapters were, its answers can still be
        undone.
        """
        content = self.path.read_bytes() if self.path.exists() else b""
        if _digest(content) == self._version.digest:
            return False
        known, self._version = self._version, self._read(content)
        if self._version.revision != known.revision:
            return True
        self._version = replace(self._version, sheet=known.sheet)
        return False

    def _read(self, content: bytes) -> Version:
        book = self.book_spans.book
        text = decode_text(content, self._shown_path)
        facts = parse_annotations(text, book.id, self._shown_path)
        lines = (line + "\n" for line in text.split("\n") if line.strip())
        parts = {-1: "", 0: "", 1: ""}
        for line, fact in zip(lines, facts, strict=True):
            parts[(fact.chapter > self.chapter) - (fact.chapter < self.chapter)] += line
        rows = [fact for fact in facts if fact.chapter == self.chapter]
        placement = place_rows(self.book_spans, self._spans, rows)
        entries = self._build_entries(placement, rows)
        self._refuse_other_numbering(facts, [entry.row.paragraph for entry in entries])
        mark = _BOM if content.startswith(_BOM) else b""
        return Version(
            Sheet(resolve_guesses(entries)),
            _digest(parts[0].encode()),
            _digest(content),
            placement.spans,
            head=mark + parts[-1].encode(),
            tail=parts[1].encode(),
        )

    def _build_entries(self, placement: Placement, rows: Sequence[Annotation]) -> list[Entry]:
        """The quoted spans in order, and each lost row in its paragraph after the row before it."""
        entries: list[Entry] = []
        lost = list(placement.lost)
        for span in placement.spans:
            n = placement.numbers.get(span)
            if n is None and not span.in_marks:
                continue
            while lost and (
                rows[lost[0]].paragraph < span.paragraph
                or (rows[lost[0]].paragraph == span.paragraph and n is not None and lost[0] < n)
            ):
                entries.append(Entry(None, rows[lost.pop(0)], is_decided=True))
            guess = self._guesses.get((span.paragraph, span.start, span.end))
            row = Annotation(span.chapter, span.paragraph, fingerprint(span.text), "", 0)
            if n is not None:
                fact = rows[n]
                row = replace(
                    row, speaker=fact.speaker, conversation=fact.conversation, remark=fact.remark
                )
            entries.append(Entry(span, row, n is not None, guess=guess))
        return entries + [Entry(None, rows[n], is_decided=True) for n in lost]

    def _refuse_other_numbering(self, facts: Sequence[Annotation], own: Sequence[int]) -> None:
        """Refuses a file if the rows of this chapter do not fit between the other chapters."""
        for fact in facts:
            is_before = fact.chapter < self.chapter and fact.paragraph > min(own)
            is_after = fact.chapter > self.chapter and fact.paragraph < max(own)
            if is_before or is_after:
                raise InputError(
                    f"{self._shown_path}: found chapter {fact.chapter} in paragraph "
                    f"{fact.paragraph}, expected it "
                    f"{'before' if is_before else 'after'} chapter {self.chapter}, "
                    f"which has paragraphs {min(own)} to {max(own)} in this edition"
                )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


_Item = TypeVar("_Item", Span, Annotation)


@dataclass(frozen=True, slots=True)
class ChapterProgress:
    """How far a chapter is annotated."""

    chapter: int
    n_spans: int  # the spans to decide; 0 if nothing is quoted in the chapter
    n_decided: int  # those that are decided
    n_lost: int = 0  # rows of the file that were found on no span of the chapter


@dataclass(frozen=True, slots=True)
class BookProgress:
    """How far a book is annotated."""

    chapters: tuple[ChapterProgress, ...]  # all chapters of the book, in order
    n_foreign: int = 0  # rows of the file whose chapter this edition of the book lacks

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
