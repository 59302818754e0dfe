"""The heuristic of MCN: a conversation begins after three spans of narration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heuristic.paragraphs import tag_by_paragraph
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import TaggedSpan

N_NARRATION_SPANS = 3


@dataclass(frozen=True, slots=True)
class NarrationTagger:
    """Begins a conversation after three spans of narration, or in a new scene.

    This is the rule in the text of "Mining Conversations from Novels" (MCN), section Identifying
    Conversations: "3 sentences of narrative-type between previous utterance and the candidate
    utterance", or "the first utterance of a chapter". The code of MCN differs: there an utterance
    after narration in its own paragraph always has an I- tag.
    """

    gives_confidence: ClassVar[bool] = False

    def tag(self, book_spans: BookSpans) -> list[TaggedSpan]:
        """Returns one tagged span per span, without confidence."""
        return tag_by_paragraph(book_spans, _begins)


def _begins(narration: list[Span]) -> bool:
    return len(narration) >= N_NARRATION_SPANS
