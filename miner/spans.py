"""Blocks + typography -> spans of utterance and narration, in reading order; loses no character."""

from __future__ import annotations

from dataclasses import dataclass

from miner.book import Book


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one block: `block.text[start:end] == text`.

    The spans of a block join back to its text. An utterance span includes its quotation marks.
    `quoted` marks narration that stands in quotation marks but was judged not to be speech.
    `continues` marks the first utterance of a paragraph whose speech runs on from the paragraph
    before (the closing mark was left out there): same speaker, same turn.
    """

    chapter: int
    paragraph: int
    index: int
    start: int
    end: int
    text: str
    is_utterance: bool
    quoted: bool = False
    continues: bool = False


@dataclass(frozen=True, slots=True)
class BookSpans:
    """A book and all its spans, narration included, in reading order."""

    book: Book
    spans: tuple[Span, ...]
