"""The spans of a book -> its paragraphs, each with the places of its utterances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

from miner.books.book import BlockKind
from miner.speech.spans import BookSpans


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A block of the story with its speech.

    Attributes:
        index: the index of the block in the book.
        chapter: the number of the chapter.
        text: the text as printed, all its spans joined.
        utterances: (start, end) of each utterance in the text, in order.
        spans: the position of each utterance in the spans of the book; none of them in a chapter
            that is not to be tagged.
        is_heading: whether it is a heading.
    """

    index: int
    chapter: int
    text: str
    utterances: tuple[tuple[int, int], ...]
    spans: tuple[int, ...]
    is_heading: bool = False

    @property
    def narration(self) -> str:
        """The text with a space for each character of its speech, so that places stay the same."""
        if not self.utterances:
            return self.text
        parts, at = [], 0
        for start, end in self.utterances:
            parts += [self.text[at:start], " " * (end - start)]
            at = end
        return "".join([*parts, self.text[at:]])


def join_spans(book_spans: BookSpans) -> tuple[Paragraph, ...]:
    """Returns the paragraphs of a book in reading order.

    Those of other chapters (`BookSpans.elsewhere`) come last, without positions of their
    utterances. Paragraphs may be missing. Places count from the first span of a paragraph.
    """
    elsewhere = replace(book_spans, spans=book_spans.elsewhere)
    others = (replace(paragraph, spans=()) for paragraph in _join(elsewhere))
    return (*_join(book_spans), *others)


def _join(book_spans: BookSpans) -> list[Paragraph]:
    headings = {block.index for block in book_spans.book.blocks if block.kind is BlockKind.HEADING}
    found: list[Paragraph] = []
    for index, group in groupby(enumerate(book_spans.spans), key=lambda item: item[1].paragraph):
        items = list(group)
        first = items[0][1]
        said = [(number, span) for number, span in items if span.is_utterance]
        found.append(
            Paragraph(
                index,
                first.chapter,
                "".join(span.text for _, span in items),
                tuple((span.start - first.start, span.end - first.start) for _, span in said),
                tuple(number for number, _ in said),
                index in headings,
            )
        )
    return found
