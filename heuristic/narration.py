"""The seed work's heuristic: three narration spans in a row begin a conversation."""

from __future__ import annotations

from dataclasses import dataclass

from heuristic.paragraphs import tag_by_paragraph
from miner.dialogue.spans import BookSpans, Span
from miner.dialogue.tags import TaggedSpan

N_NARRATION_SPANS = 3


@dataclass(frozen=True, slots=True)
class NarrationTagger:
    """Begins a conversation after three spans of narration, or in a new chapter.

    After "Mining Conversations from Novels", Identifying Conversations: "3 sentences of
    narrative-type between previous utterance and the candidate utterance", or "the first utterance
    of a chapter". The seed's code tags an utterance that follows narration inside its own paragraph
    I- in every case; this is the rule as its text states it.
    """

    def tag(self, book_spans: BookSpans) -> list[TaggedSpan]:
        """One tagged span per span; no confidence, since a rule has none to give."""
        return tag_by_paragraph(book_spans, _begins)


def _begins(narration: list[Span]) -> bool:
    return len(narration) >= N_NARRATION_SPANS
