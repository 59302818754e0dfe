"""The rules of "The Gutenberg Dialogue Dataset" (GD): which paragraphs speak, and what they say.

They find speech by themselves, and differ by language: section 3 of the paper, and the language
modules of its repository, ricsinaruto/gutenberg-dialog, in the version with the six languages other
than English. Conversations are parted by the gap. What is left out here are GD's filters of whole
books and of long utterances.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import ClassVar

from heuristic.gap import GapTagger
from miner.speech.kinds import SpanKind
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import TaggedSpan

# The languages in which a dash opens a paragraph of speech, with French, of which GD built no
# corpus. Its text files write the dash as two hyphens, and in Hungarian as an en dash.
_DASH_LANGUAGES = frozenset({"es", "fr", "hu", "it", "pt"})
_DASH = re.compile("--|[—–―]")
_WITHIN = 2  # the first characters of a paragraph in which its dash or its opening mark must be
_GERMAN = {'"': '"', "„": "“", "»": "«"}  # marks that close, by those that open
# All marks of a pair, by the one that opens. An apostrophe closes if white space follows.
_ENGLISH = {'"': '"', "“": "[“”]", "‘": r"‘|’(?=\s|$)"}

_Ranges = Iterator[tuple[int, int]]  # first character and the one after the last, without marks


@dataclass(frozen=True, slots=True)
class GutenbergDialogueTagger:
    """Cuts the text by GD's rules, instead of taking the spans of the book, and tags it by the gap.

    - Spanish, Italian, Portuguese, Hungarian, French: a paragraph that a dash opens is speech up to
      the next dash, narration up to the one after it, and so on.
    - German: a paragraph that a mark opens is speech from each opening mark to its closing one.
    - English, Dutch and others: a paragraph with an even number of marks, the first before a
      capital, is speech between the first two, the next two, and so on.

    The marks are those of which a book has most.
    """

    gap: GapTagger = GapTagger()
    gives_confidence: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """The name, for tables."""
        return "GD's own rules"

    def tag(self, book_spans: BookSpans) -> list[TaggedSpan]:
        """Returns the spans that GD's rules make of the same paragraphs, with their tags."""
        return self.gap.tag(replace(book_spans, spans=tuple(_cut_by_rules(book_spans))))


def _cut_by_rules(book_spans: BookSpans) -> Iterator[Span]:
    language = book_spans.language
    pairs = _GERMAN if language == "de" else _ENGLISH
    text_of_book = "\n".join(block.text for block in book_spans.book.blocks)
    # Straight marks are counted on both sides, the others only where they open.
    opens = max(pairs, key=lambda mark: text_of_book.count(mark) * (1 if mark == '"' else 2))
    for (chapter, paragraph), spans in groupby(
        book_spans.spans, key=lambda span: (span.chapter, span.paragraph)
    ):
        text = "".join(span.text for span in spans)
        if language in _DASH_LANGUAGES:
            said = _between_dashes(text)
        elif language == "de":
            said = _between_marks(text, opens, pairs[opens])
        else:
            said = _between_even_marks(text, pairs[opens])
        at = [0, *(place for ends in said for place in ends), len(text)]
        index = 0
        for n, (start, end) in enumerate(pairwise(at)):
            if start < end:
                kind = SpanKind.UTTERANCE if n % 2 else SpanKind.NARRATION
                yield Span(chapter, paragraph, index, start, end, text[start:end], kind)
                index += 1


def _between_dashes(text: str) -> _Ranges:
    """Yields every second part of a paragraph that a dash opens; other languages than German."""
    found = list(_DASH.finditer(text))
    if found and found[0].start() < _WITHIN:
        ends = [*(match.start() for match in found[1:]), len(text)]
        yield from [(match.end(), end) for match, end in zip(found, ends, strict=True)][::2]


def _between_marks(text: str, opens: str, closes: str) -> _Ranges:
    """Yields what stands between the marks of a paragraph that one of them opens; German."""
    at = text.find(opens, 0, _WITHIN)
    while at >= 0:
        end = next((n for n in range(at + 1, len(text)) if text[n] in opens + closes), len(text))
        yield at + 1, end
        at = text.find(opens, end + (text[end : end + 1] == closes))


def _between_even_marks(text: str, marks: str) -> _Ranges:
    """Yields what stands between the marks of a paragraph if their number is even; English."""
    found = [m.start() for m in re.finditer(marks, text)]
    if not found or len(found) % 2 or not text[found[0] + 1 :][:1].isupper():
        return
    yield from [(start + 1, end) for start, end in pairwise(found)][::2]
