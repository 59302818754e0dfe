"""Tagged books -> CoNLL columns (IOB2), a word a line, for the tools of sequence labelling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from miner.dialogue.tags import CONTINUATION, Tag, TaggedBook, TaggedSpan


def conll_lines(books: Iterable[TaggedBook]) -> Iterator[str]:
    """The lines of a CoNLL file: word, kind of span, number of the span, tag, with blanks between.

    A book begins with `-DOCSTART-` and a chapter ends with an empty line; no line is a comment. The
    first word of a B- span has its tag, all other words of the turn have I-, and so does narration
    inside the turn ("said he"): IOB2 has no other way to go on with a turn, and a reader in strict
    mode would drop what follows. So no empty line divides a turn, either: it may run through
    paragraphs, and through a chapter's end in an edition that divides the book in other ways. The
    second column tells narration from speech: "n" against "u", and "q" for narration in quotation
    marks. Other narration is O.
    """
    for book in books:
        yield "-DOCSTART- -X- -X- O"
        yield ""
        chapter: int | None = None
        is_open = False  # whether a word came after the last empty line
        spans = zip(book.spans, _bridged(book.spans), strict=True)
        for number, (item, tag) in enumerate(spans):
            span = item.span
            if is_open and span.chapter != chapter and tag not in (Tag.I_START, Tag.I_OTHER):
                yield ""
                is_open = False
            chapter = span.chapter
            kind = "u" if span.is_utterance else "q" if span.quoted else "n"
            for word in span.text.split():
                yield f"{word} {kind} {number} {tag}"
                tag = CONTINUATION.get(tag, tag)
                is_open = True
        if is_open:
            yield ""


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
