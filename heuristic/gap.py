"""The gap heuristic: much narration between two paragraphs of speech begins a conversation."""

from __future__ import annotations

from dataclasses import dataclass

from heuristic.paragraphs import tag_by_paragraph
from miner.dialogue.spans import BookSpans, Span
from miner.dialogue.tags import TaggedSpan

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
    name: str = "gap"

    @property
    def label(self) -> str:
        """The name with the gap, for tables."""
        return f"{self.name} {self.gap}"

    def __post_init__(self) -> None:
        """Refuses a negative gap."""
        if self.gap < 0:
            raise ValueError(f"found a gap of {self.gap} characters, expected 0 or more")

    def tag(self, book_spans: BookSpans) -> list[TaggedSpan]:
        """One tagged span per span; no confidence, since a rule has none to give."""
        return tag_by_paragraph(book_spans, self._begins)

    def _begins(self, narration: list[Span]) -> bool:
        return sum(len(span.text.strip()) for span in narration) > self.gap


def gap_tagger(gap: str = "") -> GapTagger:
    """The gap heuristic, with a gap in characters; the published one where none is given.

    Raises:
        ValueError: if `gap` is no whole number from 0.
    """
    if gap and not gap.isdecimal():
        raise ValueError(f"found a gap of {gap!r}, expected a number of characters, as in gap:300")
    return GapTagger(int(gap) if gap else DEFAULT_GAP)


def tuned_gap_tagger() -> GapTagger:
    """The gap heuristic with the gap that was tuned on our annotations."""
    return GapTagger(TUNED_GAP, "tuned-gap")
