"""Spans of a book -> chapters as the tagger reads them: utterances, the text around, structure.

A chapter is a sequence of utterances. Between two of them lies narration, and what it looks like
(how long, over how many paragraphs) says much about whether the talk goes on; so does whether an
utterance begins a paragraph and how the one before ended.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from miner.dialogues import words_of
from miner.spans import BookSpans, Span

# One column each, in this order; lengths are log(1 + characters) / 5, to be near 0..1.
FEATURES = (
    "first of the chapter",
    "first of its paragraph",
    "runs on from the paragraph before",
    "length of the utterance",
    "length of the narration since the last utterance",
    "paragraphs of narration since the last utterance",
    "paragraphs since the last utterance",
    "length of the narration before it in its paragraph",
    "length of the narration after the last utterance in that one's paragraph",
    "length of the narration after it up to the next utterance or paragraph",
    "quoted narration since the last utterance",
    "begins in lower case",
    "asks",
    "the last one asks",
    "the last one ends in a comma",
    "the last one ends without a closing mark",
    "short narration before ends in a comma or colon",
)
_CLOSED = re.compile("[\"”’»'“]\\s*$")
_COMMA = re.compile("[,—–-][\"”’»'“]?\\s*$")
_ASKS = re.compile("\\?[\"”’»'“]?\\s*$")
_LEADS_IN = re.compile("[,:]\\s*$")
_FIRST_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A block of a chapter as the encoder reads it; `utterances` are (start, end) in `text`.

    Books mark speech in many ways; here every utterance stands in “ ”, whatever the page has.
    """

    text: str
    utterances: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """The utterances of a chapter, the text they stand in, and their features.

    `places` has the index of each utterance among the spans of the book; `features` is
    (utterances, len(FEATURES)), float32.
    """

    book: str
    number: int
    paragraphs: tuple[Paragraph, ...]
    places: tuple[int, ...]
    features: NDArray[np.float32]


def chapters(book_spans: BookSpans) -> Iterator[Chapter]:
    """The chapters that hold an utterance, in order."""
    numbered = enumerate(book_spans.spans)
    for number, group in groupby(numbered, key=lambda item: item[1].chapter):
        spans = list(group)
        places = tuple(n for n, span in spans if span.is_utterance)
        if places:
            plain = [span for _, span in spans]
            paragraphs = tuple(_paragraphs(plain))
            features = _features(plain)
            yield Chapter(book_spans.book.id, number, paragraphs, places, features)


def _paragraphs(spans: list[Span]) -> Iterator[Paragraph]:
    for _, group in groupby(spans, key=lambda span: span.paragraph):
        text = ""
        utterances: list[tuple[int, int]] = []
        for span in group:
            piece = f"“{words_of(span.text)}”" if span.is_utterance else span.text
            if span.is_utterance:
                utterances.append((len(text), len(text) + len(piece)))
            text += piece
        yield Paragraph(text, tuple(utterances))


def _features(spans: list[Span]) -> NDArray[np.float32]:
    rows: list[list[float]] = []
    last: Span | None = None
    between: list[Span] = []
    for n, span in enumerate(spans):
        if not span.is_utterance:
            between.append(span)
            continue
        rows.append(_row(span, last, between, spans, n))
        last, between = span, []
    return np.array(rows, dtype=np.float32)


def _row(
    span: Span, last: Span | None, between: list[Span], spans: list[Span], n: int
) -> list[float]:
    here = [item for item in between if item.paragraph == span.paragraph]
    there = [item for item in between if last and item.paragraph == last.paragraph]
    own = {span.paragraph, last.paragraph if last else -1}
    apart = {item.paragraph for item in between if item.text.strip()} - own
    after = spans[n + 1] if n + 1 < len(spans) else None
    tag = after.text if after and not after.is_utterance else ""
    tag = tag if after and after.paragraph == span.paragraph else ""
    first_letter = _FIRST_LETTER.search(span.text)
    lead_in = "".join(item.text for item in here)
    return [
        last is None,
        last is None or span.paragraph != last.paragraph,
        span.continues,
        _size(span.text),
        _size("".join(item.text.strip() for item in between)),
        math.log1p(len(apart)),
        math.log1p(span.paragraph - last.paragraph) if last else 0.0,
        _size(lead_in.strip()),
        _size("".join(item.text for item in there).strip()) if last and here != there else 0.0,
        _size(tag.strip()),
        any(item.quoted for item in between),
        first_letter is not None and first_letter[0].islower(),
        bool(_ASKS.search(span.text)),
        bool(last and _ASKS.search(last.text)),
        bool(last and _COMMA.search(last.text)),
        bool(last and not _CLOSED.search(last.text)),
        bool(_LEADS_IN.search(lead_in)),
    ]


def _size(text: str) -> float:
    return math.log1p(len(text)) / 5
