"""A sheet <-> the file of annotations that it is saved in, among the rows of other chapters.

The file is read before each write: whoever else changed it, in another window or by hand, is not
written over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from filelock import FileLock

from miner.annotation.annotations import Annotation, annotations_in, row_of
from miner.annotation.fingerprints import fingerprint
from miner.app.annotator.guesses import Entry, guesses, settled
from miner.app.annotator.placing import Placed, place_rows
from miner.app.annotator.sheet import Sheet, act
from miner.dialogue.spans import BookSpans, Span, chapter_in_marks
from miner.dialogue.tags import TaggedSpan
from miner.files import decode_text, json_line, whole_file

_LONGEST_WAIT = 10  # seconds for another process to write the file
_BOM = b"\xef\xbb\xbf"


class StaleEdit(Exception):
    """An edit of a sheet that is not the newest; the text says why, in one line."""


@dataclass(frozen=True, slots=True)
class Version:
    """The sheet of a chapter as its file has it.

    `revision` is the SHA-256 of the file's bytes, in hexadecimal digits. `spans` are all spans of
    the chapter, narration included, cut as the file says where it differs from the miner. `head`
    and `tail` are the lines of the chapters before and after.
    """

    sheet: Sheet
    revision: str
    spans: tuple[Span, ...]
    head: bytes = b""
    tail: bytes = b""


class SheetFile:
    """One chapter of a file of annotations, under annotation; may be used by several threads.

    A new file is made at once, so that what cannot be written is known before any work is done.

    Args:
        path: the file; its rows of this chapter are continued, those of others are kept.
        book_spans: the book, as the miner splits it.
        chapter: the number of the chapter.
        tagged: the book's spans with a tagger's tags, to guess from; none without a tagger.

    Raises:
        ValueError: if the chapter has nothing quoted, or the file is no file of annotations, is of
            another book, or has its chapters in other paragraphs than this edition of the book.
        OSError: if the file cannot be read or written.
    """

    def __init__(
        self,
        path: Path,
        book_spans: BookSpans,
        chapter: int,
        tagged: Iterable[TaggedSpan] = (),
    ) -> None:
        # A link stays one: what it leads to is replaced.
        self.path = path.resolve()
        self.book_spans = book_spans
        self.chapter = chapter
        self._named = path
        self._spans = chapter_in_marks(book_spans, chapter)
        self._guesses = guesses(tagged, chapter)
        self._threads = Lock()
        if not self.path.exists():
            with whole_file(self.path):
                pass
        with self._processes():  # also shows that the folder can be written to
            self._version = self._read(self.path.read_bytes())

    def current(self) -> Version:
        """The newest version, read anew if somebody else changed the file; errors as on opening."""
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
        """The version after an action of `sheet.act`, saved.

        Args:
            revision: of the version that the annotator saw.
            action: its name.
            place: the span, by place.
            speaker: a name, where the action takes one.
            conversation: a number, where the action takes one.

        Raises:
            StaleEdit: if the file was changed since that version; nothing is written, and `current`
                is what it holds now.
            ValueError: as `sheet.act` does, or if the file is no longer one of annotations.
            OSError: if it cannot be written; the version stays what it was.
        """
        with self._threads, self._processes():
            if self._refresh():
                raise StaleEdit(f"{self._named}: found it changed on disk, expected it as it was")
            version = self._version
            if revision != version.revision:
                raise StaleEdit(f"{self._named}: found an edit of an older state, expected the new")
            sheet = act(version.sheet, action, place, speaker, conversation)
            if sheet is not version.sheet:
                self._version = self._written(version, sheet)
            return self._version

    def _written(self, version: Version, sheet: Sheet) -> Version:
        rows = b"".join(json_line(row_of(self.book_spans.book.id, row)) for row in sheet.rows())
        content = version.head + rows + version.tail
        with whole_file(self.path, force=True) as file:
            file.write(content)
        return Version(sheet, _digest(content), version.spans, version.head, version.tail)

    def _refresh(self) -> bool:
        """Whether the file was changed by somebody else; then it is read anew."""
        content = self.path.read_bytes() if self.path.exists() else b""
        if _digest(content) == self._version.revision:
            return False
        self._version = self._read(content)
        return True

    @contextmanager
    def _processes(self) -> Iterator[None]:
        """Keeps other processes that annotate the same file from writing meanwhile."""
        lock = self.path.with_name(f".{self.path.name}.lock")
        with FileLock(lock, timeout=_LONGEST_WAIT):
            try:
                yield
            finally:
                with suppress(OSError):  # where a file in use cannot be removed, it stays
                    lock.unlink()

    def _read(self, content: bytes) -> Version:
        book = self.book_spans.book
        text = decode_text(content, self._named)
        facts = annotations_in(text, book.id, self._named)
        lines = (line + "\n" for line in text.split("\n") if line.strip())
        parts = {-1: "", 0: "", 1: ""}
        for line, fact in zip(lines, facts, strict=True):
            parts[(fact.chapter > self.chapter) - (fact.chapter < self.chapter)] += line
        rows = [fact for fact in facts if fact.chapter == self.chapter]
        placed = place_rows(self.book_spans, self._spans, rows)
        entries = self._entries(placed, rows)
        self._refuse_other_paragraphs(facts, [entry.row.paragraph for entry in entries])
        mark = _BOM if content.startswith(_BOM) else b""
        head, tail = mark + parts[-1].encode(), parts[1].encode()
        return Version(Sheet(settled(entries)), _digest(content), placed.spans, head, tail)

    def _entries(self, placed: Placed, rows: Sequence[Annotation]) -> list[Entry]:
        """The quoted spans, and the lost rows: by paragraph, in it after the row before them."""
        entries: list[Entry] = []
        lost = list(placed.lost)
        for span in placed.spans:
            n = placed.numbers.get(span)
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
                    row,
                    speaker=fact.speaker,
                    conversation=fact.conversation,
                    remark=fact.remark,
                )
            entries.append(Entry(span, row, n is not None, guess=guess))
        return entries + [Entry(None, rows[n], is_decided=True) for n in lost]

    def _refuse_other_paragraphs(self, facts: Sequence[Annotation], own: Sequence[int]) -> None:
        """The rows of a file are in reading order; those of this chapter must fit among them."""
        for fact in facts:
            is_before = fact.chapter < self.chapter and fact.paragraph > min(own)
            is_after = fact.chapter > self.chapter and fact.paragraph < max(own)
            if is_before or is_after:
                raise ValueError(
                    f"{self._named}: found chapter {fact.chapter} in paragraph {fact.paragraph}, "
                    f"expected it {'before' if is_before else 'after'} chapter {self.chapter}, "
                    f"which has paragraphs {min(own)} to {max(own)} in this edition"
                )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
