"""The rows of a chapter that is not done yet -> the quoted spans that they speak of.

`locate` takes a chapter for annotated as a whole. While it is not, one "Yes." of five says little
about which of them it is, and the number of its paragraph has to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from miner.annotation.annotations import AnnotatedBook, Annotation, BookCard
from miner.annotation.fingerprints import Fingerprint, fingerprint
from miner.annotation.locate import locate
from miner.dialogue.spans import BookSpans, Span

_SAME_EDITION = 0.5  # of the rows with their letters in their paragraph; then the numbers hold


@dataclass(frozen=True, slots=True)
class Placed:
    """The rows of a chapter on its spans.

    `spans` are those of the chapter, narration included, cut as the rows say where they differ from
    the miner. `numbers` has, per span that has a row, the number of the row; `lost` has the numbers
    of the rows that were found on no span, in order.
    """

    spans: tuple[Span, ...]
    numbers: Mapping[Span, int]
    lost: tuple[int, ...]


def place_rows(book_spans: BookSpans, spans: Sequence[Span], rows: Sequence[Annotation]) -> Placed:
    """Each row on its span, by its letters; one without a sure place is lost.

    Where most rows have their letters in the paragraph they name, the file was made on this edition
    and a row has its place in that paragraph. Else they are found by their letters and their order
    alone.

    Args:
        book_spans: the book, as the miner splits it.
        spans: all spans of the chapter.
        rows: of the chapter, in the order of the file.
    """
    in_marks = [span for span in spans if span.in_marks]
    found = _in_paragraphs(in_marks, rows)
    is_own = len(found) >= _SAME_EDITION * len(rows)
    if is_own:
        for n, span in _located(book_spans, spans, rows, is_own).items():
            taken = n in found or any(map(_overlapping(span), found.values()))
            if not taken and span.paragraph == rows[n].paragraph:
                found[n] = span
    else:
        found = _sure(_located(book_spans, spans, rows, is_own), in_marks, rows)
    cut = _cut(spans, found, rows)
    numbers = {span: n for span, n in cut if n is not None}
    lost = tuple(n for n in range(len(rows)) if n not in found)
    return Placed(tuple(span for span, _ in cut), numbers, lost)


def _in_paragraphs(in_marks: Sequence[Span], rows: Sequence[Annotation]) -> dict[int, Span]:
    """The rows whose letters are a quoted span of the paragraph they name, in order.

    Of several alike in a paragraph the first are taken: the rows tell no more.
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


def _located(
    book_spans: BookSpans, spans: Sequence[Span], rows: Sequence[Annotation], is_own: bool
) -> dict[int, Span]:
    """Where `locate` finds the rows in the chapter."""
    book = book_spans.book
    sha256 = book.sha256 if is_own else ""
    card = BookCard(book.id, book.title, book.author, 0, "", "", 3, "", "", sha256)
    located = locate(AnnotatedBook(card, tuple(rows)), BookSpans(book, tuple(spans)))
    number_of = {id(row): n for n, row in enumerate(rows)}
    miners = {_stripped(span): span for span in spans if span.in_marks}
    return {
        number_of[id(row)]: miners.get(_stripped(span), span)
        for span, row in zip(located.book_spans.spans, located.facts, strict=True)
        if row is not None
    }


def _sure(
    found: Mapping[int, Span], in_marks: Sequence[Span], rows: Sequence[Annotation]
) -> dict[int, Span]:
    """Without the rows that might as well stand on another span with the same letters."""
    quoted = [(span, fingerprint(span.text)) for span in in_marks]
    sure = dict(found)
    while unsure := [n for n in sure if _has_twin(n, sure, quoted, rows[n].fingerprint)]:
        # Where one of them may stand elsewhere, so may its neighbours.
        for n in unsure:
            del sure[n]
    return sure


def _has_twin(
    n: int,
    found: Mapping[int, Span],
    quoted: Sequence[tuple[Span, Fingerprint]],
    wanted: Fingerprint,
) -> bool:
    """Whether a span with the letters of a row is free between the rows before and after it."""
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


def _cut(
    spans: Sequence[Span], found: Mapping[int, Span], rows: Sequence[Annotation]
) -> list[tuple[Span, int | None]]:
    """The spans, cut as those that were found, each with the number of its row."""
    miners = set(spans)
    by_paragraph: dict[int, dict[Span, int]] = {}
    for n, span in found.items():
        by_paragraph.setdefault(span.paragraph, {})[span] = n
    cut: list[tuple[Span, int | None]] = []
    for paragraph, group in groupby(spans, key=lambda span: span.paragraph):
        here = by_paragraph.get(paragraph, {})
        if miners.issuperset(here):
            cut += [(span, here.get(span)) for span in group]
        else:
            cut += _cut_anew(list(group), here, rows)
    return cut


def _cut_anew(
    block: Sequence[Span], here: Mapping[Span, int], rows: Sequence[Annotation]
) -> list[tuple[Span, int | None]]:
    """The spans of a block: of its rows, of the miner where these leave room, narration between."""
    wanted: list[tuple[Span, int | None]] = [
        (span, None) for span in block if span.in_marks and not any(map(_overlapping(span), here))
    ]
    for span, n in here.items():
        spoken = rows[n].is_utterance
        wanted.append((replace(span, is_utterance=spoken, quoted=not spoken), n))
    wanted.sort(key=lambda item: item[0].start)
    text = "".join(span.text for span in block)
    chapter, paragraph = block[0].chapter, block[0].paragraph
    pieces: list[tuple[Span, int | None]] = []
    at = 0

    def narrate(end: int) -> None:
        if at < end:
            told = Span(chapter, paragraph, len(pieces), at, end, text[at:end], False)
            pieces.append((told, None))

    for span, n in wanted:
        narrate(span.start)
        pieces.append((replace(span, index=len(pieces)), n))
        at = span.end
    narrate(len(text))
    return pieces


def _overlapping(span: Span) -> Callable[[Span], bool]:
    """Whether another span shares a character with one."""
    return lambda other: (
        span.paragraph == other.paragraph and span.start < other.end and other.start < span.end
    )


def _place(span: Span) -> tuple[int, int]:
    return span.paragraph, span.start


def _stripped(span: Span) -> tuple[int, int, int]:
    """Where a span stands, the blanks at its ends left out."""
    start = span.start + len(span.text) - len(span.text.lstrip())
    return span.paragraph, start, start + len(span.text.strip())
