"""The gap heuristic: a conversation begins after much narration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heuristic.paragraphs import tag_by_paragraph
from miner.errors import InputError
from miner.files import whole_number
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import TaggedSpan

# Characters; "The Gutenberg Dialogue Dataset", section 3.2 (Extracting): "is high (above 150)".
DEFAULT_GAP = 150
# Characters; the best F1 of B-START on train and dev of `annotations/` (`miner gold sweep`).
TUNED_GAP = 300


@dataclass(frozen=True, slots=True)
class GapTagger:
    """Begins a conversation after more than `gap` characters of narration, or in a new scene.

    After "The Gutenberg Dialogue Dataset", section 3.2. The gap is the narration between the last
    utterance of one paragraph and the first utterance of the next. Narration inside a paragraph
    begins no conversation.

    Raises:
        InputError: if `gap` is negative.
    """

    gap: int = DEFAULT_GAP
    name: str = "gap"
    gives_confidence: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """The name and the gap, for tables."""
        return f"{self.name} {self.gap}"

    def __post_init__(self) -> None:
        """Checks the gap."""
        if self.gap < 0:
            raise InputError(f"found a gap of {self.gap} characters, expected 0 or more")

    def tag(self, book_spans: BookSpans) -> list[TaggedSpan]:
        """Returns one tagged span per span, without confidence."""
        return tag_by_paragraph(book_spans, self._begins)

    def _begins(self, narration: list[Span]) -> bool:
        """Whether this narration is longer than the gap."""
        return sum(len(span.text.strip()) for span in narration) > self.gap


def gap_tagger(gap: str = "") -> GapTagger:
    """Returns the gap heuristic of `--tagger gap` or `--tagger gap:300`.

    Args:
        gap: the number of characters. If empty it is the published one.

    Raises:
        InputError: if `gap` is not a whole number from 0.
    """
    size = whole_number(gap) if gap else DEFAULT_GAP
    if size is None:
        raise InputError(
            f"found a gap of {gap!r:.60}, expected a number of characters, as in gap:300"
        )
    return GapTagger(size)


def tuned_gap_tagger() -> GapTagger:
    """Returns the gap heuristic with the gap that was tuned on the annotations."""
    return GapTagger(TUNED_GAP, "tuned-gap")
