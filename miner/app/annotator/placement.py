"""The saved rows of an unfinished chapter -> the quoted spans that they describe.

`locate` expects a chapter that is annotated as a whole. In an unfinished chapter a row "Yes." may
fit five spans, and only its paragraph number tells which one is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from miner.annotation.alignment import Fingerprint, fingerprint
from miner.annotation.annotations import AnnotatedBook, Annotation, BookCard
from miner.annotation.locate import locate
from miner.speech.kinds import SpanKind
from miner.speech.spans import BookSpans, Span

_SAME_EDITION = 0.5  # least share of rows found in the paragraph that they name


@dataclass(frozen=True, slots=True)
class Placement:
    """The rows of a chapter and their spans."""

    # all spans of the chapter, narration included. Where a row and the miner split a paragraph
    # differently, the row decides
    spans: tuple[Span, ...]
    numbers: Mapping[Span, int]  # index of the row, for each span that has one
    lost: tuple[int, ...]  # indices of the rows that were found on no span, in order


def place_rows(
    book_spans: BookSpans, spans: Sequence[Span], rows: Sequence[Annotation]
) -> Placement:
    """Finds the span of each row by its fingerprint; a row without a certain place is lost.

    If at least half of the rows are found in the paragraph that they name, the file was made on
    this edition, and every row is sought only in its paragraph. Otherwise rows are found by their
    fingerprints and their order alone.
    """
    in_marks = [span for span in spans if span.in_marks]
    found = _find_in_paragraphs(in_marks, rows)
    is_same_edition = len(found) >= _SAME_EDITION * len(rows)
    if is_same_edition:
        for n, span in _locate_rows(book_spans, spans, rows, is_same_edition).items():
            taken = n in found or any(map(_overlap_test(span), found.values()))
            if not taken and span.paragraph == rows[n].paragraph:
                found[n] = span
    else:
        found = _drop_ambiguous(
            _locate_rows(book_spans, spans, rows, is_same_edition), in_marks, rows
        )
    split = _split_spans(spans, found, rows)
    numbers = {span: n for span, n in split if n is not None}
    lost = tuple(n for n in range(len(rows)) if n not in found)
    return Placement(tuple(span for span, _ in split), numbers, lost)


def _find_in_paragraphs(in_marks: Sequence[Span], rows: Sequence[Annotation]) -> dict[int, Span]:
    """Finds the rows that match a quoted span of the paragraph they name, in order.

    If several spans of a paragraph match, the first is taken, since the rows say no more.
    """
    by_paragraph = {
        paragraph: [(span, fingerprint(span.text)) for span in group]
        for paragraph, group in groupby(in_marks, key=lambda span: span.paragraph)
    }
    found: dict[int, Span] = {}
    for n, row in enumerate(rows):
        left = by_paragraph.get(row.paragraph, [])
        for k, (span, print_) in enumerate(left):
            if print_ == row.fingerprint:
                found[n] = span
                del left[: k + 1]
                break
    return found


def _locate_rows(
    book_spans: BookSpans, spans: Sequence[Span], rows: Sequence[Annotation], is_same_edition: bool
) -> dict[int, Span]:
    """Finds the spans of the rows with `locate`, by the index of the row."""
    book = book_spans.book
    sha256 = book.sha256 if is_same_edition else ""
    card = BookCard(book.id, book.title, book.author, "", 0, "", "", 3, "", "", sha256)
    located = locate(AnnotatedBook(card, tuple(rows)), BookSpans(book, tuple(spans)))
    number_of = {id(row): n for n, row in enumerate(rows)}
    miners = {_stripped(span): span for span in spans if span.in_marks}
    return {
        number_of[id(row)]: miners.get(_stripped(span), span)
        for span, row in zip(located.book_spans.spans, located.facts, strict=True)
        if row is not None
    }


def _drop_ambiguous(
    found: Mapping[int, Span], in_marks: Sequence[Span], rows: Sequence[Annotation]
) -> dict[int, Span]:
    """Drops the rows that could as well belong to another span with the same fingerprint."""
    quoted = [(span, fingerprint(span.text)) for span in in_marks]
    certain = dict(found)
    while ambiguous := [n for n in certain if _has_twin(n, certain, quoted, rows[n].fingerprint)]:
        # Without these rows as neighbours, others may become ambiguous.
        for n in ambiguous:
            del certain[n]
    return certain


def _has_twin(
    n: int,
    found: Mapping[int, Span],
    quoted: Sequence[tuple[Span, Fingerprint]],
    wanted: Fingerprint,
) -> bool:
    """Whether a free span between the neighbouring rows has the same fingerprint as a row."""
    low = max((_place(found[k]) for k in found if k < n), default=(-1, -1))
    high = min((_place(found[k]) for k in found if k > n), default=None)
    taken = set(found.values())
    return any(
        print_ == wanted
        and span not in taken
        and low < _place(span)
        and (high is None or _place(span) < high)
        for span, print_ in quoted
    )


def _split_spans(
    spans: Sequence[Span], found: Mapping[int, Span], rows: Sequence[Annotation]
) -> list[tuple[Span, int | None]]:
    """The spans of a chapter, split as the rows say, each with the index of its row."""
    miners = set(spans)
    by_paragraph: dict[int, dict[Span, int]] = {}
    for n, span in found.items():
        by_paragraph.setdefault(span.paragraph, {})[span] = n
    split: list[tuple[Span, int | None]] = []
    for paragraph, group in groupby(spans, key=lambda span: span.paragraph):
        here = by_paragraph.get(paragraph, {})
        if miners.issuperset(here):
            split += [(span, here.get(span)) for span in group]
        else:
            split += _split_block(list(group), here, rows)
    return split


def _split_block(
    block: Sequence[Span], here: Mapping[Span, int], rows: Sequence[Annotation]
) -> list[tuple[Span, int | None]]:
    """Splits a block into the spans of its rows, the miner's spans beside them, and narration."""
    wanted: list[tuple[Span, int | None]] = [
        (span, None) for span in block if span.in_marks and not any(map(_overlap_test(span), here))
    ]
    for span, n in here.items():
        wanted.append((replace(span, kind=rows[n].kind), n))
    wanted.sort(key=lambda item: item[0].start)
    text = "".join(span.text for span in block)
    chapter, paragraph = block[0].chapter, block[0].paragraph
    pieces: list[tuple[Span, int | None]] = []
    at = 0

    def add_narration(end: int) -> None:
        if at < end:
            place = (chapter, paragraph, len(pieces), at, end, text[at:end])
            pieces.append((Span(*place, SpanKind.NARRATION), None))

    for span, n in wanted:
        add_narration(span.start)
        pieces.append((replace(span, index=len(pieces)), n))
        at = span.end
    add_narration(len(text))
    return pieces


def _overlap_test(span: Span) -> Callable[[Span], bool]:
    """Returns a test whether another span shares a character with this one."""
    return lambda other: (
        span.paragraph == other.paragraph and span.start < other.end and other.start < span.end
    )


def _place(span: Span) -> tuple[int, int]:
    return span.paragraph, span.start


def _stripped(span: Span) -> tuple[int, int, int]:
    """The place of a span without the blanks at its ends."""
    start = span.start + len(span.text) - len(span.text.lstrip())
    return span.paragraph, start, start + len(span.text.strip())
