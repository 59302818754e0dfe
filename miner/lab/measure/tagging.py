"""A tagger and annotated editions -> the tags it gives, on the gold spans or on the found spans."""

from __future__ import annotations

from dataclasses import replace

from miner.books.book import Block, BlockKind, Book
from miner.lab.gold.editions import Edition
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import TaggedBook, Tagger


def tag_gold_spans(edition: Edition, tagger: Tagger, name: str = "") -> TaggedBook:
    """Tags the annotated spans of an edition; `name` is the source of the tags."""
    book = edition.annotated.card.book
    return TaggedBook(book, tuple(tagger.tag(edition.located.book_spans)), name)


def tag_found_spans(edition: Edition, tagger: Tagger, name: str = "") -> TaggedBook:
    """Tags the spans that the miner finds in the annotated chapters; `name` is their source.

    The other chapters are not judged, and so not tagged.
    """
    located = edition.located.book_spans
    judged = {span.chapter for span in located.spans}
    spans = tuple(span for span in edition.book_spans.spans if span.chapter in judged)
    tagged = tagger.tag(replace(located, spans=spans))
    return TaggedBook(edition.annotated.card.book, tuple(tagged), name)


def strip_tags(tagged: TaggedBook) -> BookSpans:
    """Returns the spans of a tagged book without their tags, for another tagger.

    The blocks are put together from the spans. Chapters are kept, but headings are not known.
    """
    spans_of: dict[int, list[Span]] = {}
    for item in tagged.spans:
        spans_of.setdefault(item.span.paragraph, []).append(item.span)
    blocks = tuple(
        Block(
            paragraph, spans[0].chapter, BlockKind.PARAGRAPH, "".join(span.text for span in spans)
        )
        for paragraph, spans in spans_of.items()
    )
    book = Book(tagged.book, "", "", "", blocks, (), "")
    return BookSpans(book, tuple(item.span for item in tagged.spans))
