"""CoNLL columns in IOB2.

The columns are word, kind of span, number of span and tag, for the tools of sequence labelling.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from miner.files import whole_file
from miner.lab.gold.editions import Edition
from miner.speech.tags import CONTINUATION, Tag, TaggedBook, TaggedSpan


def write_editions(found: Iterable[Edition], out: Path, force: bool) -> None:
    """Writes the lines of all books to the file `out`."""
    with whole_file(out, force) as file:
        for line in conll_lines(edition.located.tagged() for edition in found):
            file.write(line.encode() + b"\n")


def conll_lines(books: Iterable[TaggedBook]) -> Iterator[str]:
    """Yields the lines of a CoNLL file, with a word and its columns each, separated by spaces.

    A book begins with `-DOCSTART-`, and a chapter ends with an empty line. No line is a comment.

    A turn is one entity. The first word of a B- span has the B- tag. All other words of the turn
    have the I- tag, also those of narration inside the turn ("said he"), because in strict IOB2
    an entity has no gaps. For the same reason no empty line divides a turn, which may continue over
    the end of a chapter if the edition divides the book in other ways. Other narration is O.

    The kind of a span is "u" for an utterance, "n" for narration and "q" for narration in quotation
    marks. Spans are numbered from 0 in each book.
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
    """Returns the tags with narration between two spans of one turn as part of the turn."""
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
