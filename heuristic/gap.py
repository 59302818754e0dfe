"""The gap heuristic: much narration between two paragraphs of speech begins a conversation."""

from __future__ import annotations

from dataclasses import dataclass

from heuristic.paragraphs import tag_by_paragraph
from miner.spans import BookSpans, Span
from miner.tags import TaggedSpan

# Characters; "The Gutenberg Dialogue Dataset", section 3.2 (Extracting): "is high (above 150)".
DEFAULT_GAP = 150
# Characters; the best B-START F1 on train and dev of `annotations/` (`miner gold sweep`).
TUNED_GAP = 300


@dataclass(frozen=True, slots=True)
class GapTagger:
    """Begins a conversation after more than `gap` characters of narration, or in a new chapter.

    After "The Gutenberg Dialogue Dataset", section 3.2. The gap is counted from the last utterance
    of one paragraph to the first of the next; as there, a paragraph is never broken in two.
    """

    gap: int = DEFAULT_GAP

    def __post_init__(self) -> None:
        """Refuses a negative gap."""
        if self.gap < 0:
            raise ValueError(f"found a gap of {self.gap} characters, expected 0 or more")

    def tag(self, book_spans: BookSpans) -> list[TaggedSpan]:
        """One tagged span per span; no confidence, since a rule has none to give."""
        return tag_by_paragraph(book_spans, self._begins)

    def _begins(self, narration: list[Span]) -> bool:
        return sum(len(span.text.strip()) for span in narration) > self.gap
