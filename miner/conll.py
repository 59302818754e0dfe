"""Tagged books -> CoNLL columns (IOB2), a word a line, for the tools of sequence labelling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from miner.tags import Tag, TaggedBook, TaggedSpan

_GOES_ON = {
    Tag.B_START: Tag.I_START,
    Tag.I_START: Tag.I_START,
    Tag.B_OTHER: Tag.I_OTHER,
    Tag.I_OTHER: Tag.I_OTHER,
}


def conll_lines(books: Iterable[TaggedBook]) -> Iterator[str]:
    """The lines of a CoNLL file: word, kind of span, number of the span, tag, with blanks between.

    A book begins with `-DOCSTART-`, a chapter with its number in a comment, and a paragraph ends
    with an empty line. The first word of a B- span has its tag, all other words of the turn have
    I-, and so does narration inside the turn ("said he"): IOB2 has no other way to go on with a
    turn, and a reader in strict mode would drop what follows. The second column tells it from
    speech: "n" against "u", and "q" for narration in quotation marks. Other narration is O.
    """
    for book in books:
        yield "-DOCSTART- -X- -X- O"
        yield ""
        chapter: int | None = None
        spans = list(zip(book.spans, _bridged(book.spans), strict=True))
        number = 0
        for (_, paragraph), group in groupby(spans, key=_place):
            del paragraph
            lines: list[str] = []
            for item, tag in group:
                if item.span.chapter != chapter:
                    chapter = item.span.chapter
                    yield f"# book {book.book} chapter {chapter}"
                kind = "u" if item.span.is_utterance else "q" if item.span.quoted else "n"
                for word in item.span.text.split():
                    lines.append(f"{word} {kind} {number} {tag}")
                    tag = _GOES_ON.get(tag, tag)
                number += 1
            yield from lines
            if lines:
                yield ""


def _place(pair: tuple[TaggedSpan, Tag]) -> tuple[int, int]:
    return pair[0].span.chapter, pair[0].span.paragraph


def _bridged(spans: Iterable[TaggedSpan]) -> list[Tag]:
    """The tags with narration between two spans of one turn made part of the turn."""
    spans = list(spans)
    tags = [item.tag for item in spans]
    last: int | None = None
    for n, item in enumerate(spans):
        if item.tag is Tag.O:
            continue
        if last is not None and item.tag in (Tag.I_START, Tag.I_OTHER):
            tags[last + 1 : n] = [item.tag] * (n - last - 1)
        last = n
    return tags
