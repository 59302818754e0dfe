"""The spans of a book -> where they stand on the page, and its set pieces.

A set piece is quoted text that fills whole blocks: a letter, a poem, a motto at the head of a
chapter. Its paragraphs or stanzas are of one kind. What stands above and below tells which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from miner.books.book import BlockKind
from miner.speech.kinds import SpanKind
from miner.speech.spans import BookSpans, Span
from miner.speech.speech import (
    announced_message,
    is_cited,
    is_whole_letter,
    tells_of_performance,
    tells_of_reading_aloud,
)

PIECES = (SpanKind.LETTER, SpanKind.VERSE)
_DASH = "(?:[\u2014\u2013]|--?)"
# The source of a motto, behind its dash ("--Othello.") or in a block of its own, where it is one
# in capitals, a title of two words or more ("Old Play.", "The Merchant of Venice, Act II"), or one
# that the page sets apart.
_SOURCE = re.compile(rf"[.,]?\s*{_DASH}\s*\S.{{1,80}}", re.DOTALL)
_LONGEST_SOURCE = 80  # characters
_SMALL_WORD = 3  # letters of a word that is small in titles, at most


@dataclass(frozen=True, slots=True)
class Paragraph:
    """The spans of one block, and where it stands."""

    kind: BlockKind  # the kind of the block
    is_set_apart: bool  # whether all of it is in italics, small capitals or the like
    first: int  # the position of its first span
    end: int  # the position after its last span
    since_heading: int  # how many blocks further than the last heading: 1 right below it
    quoted: int | None  # the position of the span in marks that fills the block; None if none does
    piece: int  # the number of the first paragraph of its set piece; its own if it is in none


def read_paragraphs(book_spans: BookSpans) -> list[Paragraph]:
    """Returns the paragraphs of a book in reading order."""
    blocks, spans = book_spans.book.blocks, book_spans.spans
    found: list[Paragraph] = []
    since, end = 0, 0
    for number, group in groupby(spans, key=lambda span: span.paragraph):
        first, end = end, end + sum(1 for _ in group)
        block = blocks[number]
        kind, is_set_apart = block.kind, bool(block.lead) and block.lead == block.text
        since = 0 if kind is BlockKind.HEADING else since + 1
        quoted, piece = _filling_span(spans, first, end), len(found)
        if quoted is not None and spans[quoted].kind in PIECES and found:
            before = found[-1].quoted
            if before is not None and spans[before].kind is spans[quoted].kind:
                piece = found[-1].piece
        found.append(Paragraph(kind, is_set_apart, first, end, since, quoted, piece))
    return found


@dataclass(frozen=True, slots=True)
class Layout:
    """The spans of a book and the paragraphs in which they stand."""

    spans: Sequence[Span]
    paragraphs: Sequence[Paragraph]  # in reading order
    number: Sequence[int]  # of each span, the number of its paragraph


def lay_out(book_spans: BookSpans) -> Layout:
    """Returns the spans of a book with their paragraphs."""
    paragraphs = read_paragraphs(book_spans)
    number = [n for n, one in enumerate(paragraphs) for _ in range(one.first, one.end)]
    return Layout(book_spans.spans, paragraphs, number)


def is_set_piece(layout: Layout, position: int) -> bool:
    """Whether a span is of a letter or a poem that fills its blocks."""
    paragraph = layout.paragraphs[layout.number[position]]
    return paragraph.quoted == position and layout.spans[position].kind in PIECES


def is_sure(layout: Layout, piece: Sequence[int]) -> bool:
    """Whether the rules tell for certain what a quotation is.

    It is a motto, verse, sung or not, a whole letter, or cited.
    """
    spans, first = layout.spans, piece[0]
    span = spans[first]
    if layout.paragraphs[layout.number[first]].kind is BlockKind.VERSE:
        return True
    if span.kind is SpanKind.MOTTO or span.is_utterance:
        return span.kind is SpanKind.MOTTO
    if is_set_piece(layout, first):
        return is_whole_letter([spans[position].text for position in piece])
    return is_cited(
        narration_beside(spans, first - 1, span), narration_beside(spans, first + 1, span)
    )


def find_pieces(layout: Layout) -> Iterator[list[int]]:
    """Yields the positions of the spans of each set piece, and of each other quotation.

    An utterance that continues from the paragraph before belongs to the quotation there.
    """
    piece: list[int] = []
    for position, span in enumerate(layout.spans):
        if not span.in_marks:
            continue
        if piece and (span.continues or _goes_on(layout, piece[-1], position)):
            piece.append(position)
            continue
        if piece:
            yield piece
        piece = [position]
    if piece:
        yield piece


def _goes_on(layout: Layout, last: int, position: int) -> bool:
    """Whether a span is of the set piece of the last one."""
    pieces = [layout.paragraphs[layout.number[one]].piece for one in (last, position)]
    return pieces[0] == pieces[1] and is_set_piece(layout, position)


def narration_beside(spans: Sequence[Span], position: int, span: Span) -> str:
    """Returns the text of a neighbour in the same paragraph, or ""."""
    if 0 <= position < len(spans) and spans[position].paragraph == span.paragraph:
        return spans[position].text
    return ""


def narration_above(layout: Layout, paragraph: Paragraph) -> str:
    """Returns the narration right above the set piece of a paragraph, or ""."""
    number = paragraph.piece - 1
    if number < 0 or layout.paragraphs[number].kind is BlockKind.HEADING:
        return ""
    last = layout.spans[layout.paragraphs[number].end - 1]
    return "" if last.in_marks else last.text


def narration_below(layout: Layout, paragraph: Paragraph) -> str:
    """Returns the narration right below the set piece of a paragraph, or ""."""
    number = layout.number[paragraph.first] + 1
    while number < len(layout.paragraphs) and layout.paragraphs[number].piece == paragraph.piece:
        number += 1
    if number == len(layout.paragraphs) or layout.paragraphs[number].kind is BlockKind.HEADING:
        return ""
    first = layout.spans[layout.paragraphs[number].first]
    return "" if first.in_marks else first.text


def _filling_span(spans: Sequence[Span], first: int, end: int) -> int | None:
    """Returns the position of the one span in marks of a block if no word stands beside it."""
    quoted: int | None = None
    for position in range(first, end):
        span = spans[position]
        if span.in_marks:
            if quoted is not None:
                return None
            quoted = position
        elif any(map(str.isalnum, span.text)):
            return None
    return quoted


def mark_set_pieces(book_spans: BookSpans) -> BookSpans:
    """Returns the book with its mottoes and messages; what is sung or read aloud is speech."""
    layout = lay_out(book_spans)
    spans = list(book_spans.spans)
    for position in _find_mottoes(layout):
        spans[position] = replace(spans[position], kind=SpanKind.MOTTO, continues=False)
    for piece in find_pieces(layout):
        if is_set_piece(layout, piece[0]):
            if _is_performed(layout, piece):
                for position in piece:
                    spans[position] = replace(
                        spans[position], kind=SpanKind.UTTERANCE, continues=position > piece[0]
                    )
        elif kind := _kind_announced(layout, piece[0]):
            for position in piece:
                spans[position] = replace(spans[position], kind=kind, continues=False)
    return replace(book_spans, spans=tuple(spans))


def _is_performed(layout: Layout, piece: Sequence[int]) -> bool:
    """Whether somebody sings the poem or reads the letter of a set piece aloud."""
    first, last = (layout.paragraphs[layout.number[position]] for position in (piece[0], piece[-1]))
    above = narration_above(layout, first)
    if layout.spans[piece[0]].kind is SpanKind.VERSE:
        return tells_of_performance(above, narration_below(layout, last))
    return tells_of_reading_aloud(above)


def _kind_announced(layout: Layout, position: int) -> SpanKind | None:
    """Returns the kind of speech in a block of its own that is announced as a message, or None."""
    paragraph = layout.paragraphs[layout.number[position]]
    if paragraph.quoted != position or not layout.spans[position].is_utterance:
        return None
    return announced_message(narration_above(layout, paragraph))


def _find_mottoes(layout: Layout) -> Iterator[int]:
    """Yields the positions of the spans in marks of mottoes.

    A motto stands right below a heading or another motto, in marks. It is verse, or its source
    stands behind it or in the next block.
    """
    spans, paragraphs = layout.spans, layout.paragraphs
    may_follow = False  # whether a motto may stand here
    for paragraph, below in zip(paragraphs, [*paragraphs[1:], None], strict=True):
        if paragraph.kind is BlockKind.HEADING:
            may_follow = True
        elif may_follow:
            quoted = [n for n in range(paragraph.first, paragraph.end) if spans[n].in_marks]
            is_motto = bool(quoted) and _is_motto(spans, paragraph, below, quoted)
            if is_motto:
                yield from quoted
            may_follow = is_motto or (paragraph.since_heading > 1 and _is_source(spans, paragraph))


def _is_motto(
    spans: Sequence[Span], paragraph: Paragraph, below: Paragraph | None, quoted: Sequence[int]
) -> bool:
    """Whether a block below a heading is a motto, which its first mark opens."""
    if spans[quoted[0]].start:
        return False
    behind = _text(spans, paragraph)[spans[quoted[-1]].end :]
    return (
        paragraph.kind is BlockKind.VERSE
        or (len(quoted) == 1 and _SOURCE.fullmatch(behind) is not None)
        or (paragraph.quoted is not None and below is not None and _is_source(spans, below))
    )


def _text(spans: Sequence[Span], paragraph: Paragraph) -> str:
    return "".join(span.text for span in spans[paragraph.first : paragraph.end])


def _is_source(spans: Sequence[Span], paragraph: Paragraph) -> bool:
    """Whether a block is the source of a motto and nothing else."""
    text = _text(spans, paragraph)
    if len(text) > _LONGEST_SOURCE:
        return False
    if re.match(rf"{_DASH}\s*[A-Z]", text) or (text.isupper() and text.endswith(".")):
        return True
    words = re.findall(r"[^\W\d_]+", text)
    is_title = len(words) > 1 or (len(words) == 1 and paragraph.is_set_apart)
    return is_title and all(word[0].isupper() or len(word) <= _SMALL_WORD for word in words)
