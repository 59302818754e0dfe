"""The spans of a book -> its paragraphs, each with the places of its utterances."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from miner.dialogue.spans import Span


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A block of the story with its speech.

    Attributes:
        index: the index of the block in the book.
        chapter: the number of the chapter.
        text: the text as printed, all its spans joined.
        utterances: (start, end) of each utterance in the text, in order.
        spans: the position of each utterance in the list of spans that the paragraphs came from.
    """

    index: int
    chapter: int
    text: str
    utterances: tuple[tuple[int, int], ...]
    spans: tuple[int, ...]

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


def join_spans(spans: Iterable[Span]) -> tuple[Paragraph, ...]:
    """Returns the paragraphs of spans in reading order.

    Spans may be missing, as long as those of one paragraph join without a gap. Places count from
    the first span of the paragraph.
    """
    found: list[Paragraph] = []
    for index, group in groupby(enumerate(spans), key=lambda item: item[1].paragraph):
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
            )
        )
    return tuple(found)
