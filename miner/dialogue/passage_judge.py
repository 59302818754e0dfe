"""The passages of a book -> the same passages, judged by one model of several languages.

It does for other languages what `speech_judge` does for English, and judges what a dash opens, too.
A thought behind a dash is rare, so the model must be surer there. It is a logistic regression that
`models.speech_training` fits. The rules judge first; their answer is a fact among the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from miner.dialogue.passages import (
    Passage,
    find_passages,
    is_in_marks,
    read_passage_facts,
    weigh_marks,
)
from miner.dialogue.spans import BookSpans, Span
from miner.dialogue.speech_facts import Array

# The probability of speech or of none from which on the rules are overruled; fitted on books that
# were held out, most of them of the split train.
OVERRULES = 0.6
OVERRULES_DASH = 0.8


@dataclass(frozen=True, slots=True)
class PassageJudge:
    """Judges what quotation marks or dashes open.

    Attributes:
        weights: the weight of each fact for "it is no speech": (N_PASSAGE_FACTS,).
        bias: the bias.
    """

    weights: Array
    bias: float

    def probability(self, book_spans: BookSpans, passage: Passage) -> float:
        """Returns the probability that a passage of a book is no speech."""
        return self._probability(book_spans, passage, weigh_marks(book_spans.spans))

    def judge(self, book_spans: BookSpans) -> BookSpans:
        """Returns the book with each passage judged.

        A passage that continues from the paragraph before is what that one is.
        """
        spans = list(book_spans.spans)
        for position, is_utterance in self._overruled(book_spans):
            span = spans[position]
            continues = span.continues and is_utterance
            spans[position] = replace(
                span, is_utterance=is_utterance, quoted=not is_utterance, continues=continues
            )
        return replace(book_spans, spans=tuple(spans))

    def _overruled(self, book_spans: BookSpans) -> Iterator[tuple[int, bool]]:
        """Yields the position of each span that is overruled, and whether it is speech."""
        spans = book_spans.spans
        weight_of_marks = weigh_marks(spans)
        overruled = False  # whether the passage before was
        for passage in find_passages(spans):
            first = spans[passage[0]]
            if not first.continues:
                unsaid = self._probability(book_spans, passage, weight_of_marks)
                overruled = _overrules(first, unsaid)
            if overruled:
                yield from ((position, not first.is_utterance) for position in passage)

    def _probability(self, book_spans: BookSpans, passage: Passage, weight_of_marks: int) -> float:
        numbers, values = read_passage_facts(
            book_spans.spans, passage, book_spans.language, weight_of_marks
        )
        score = float(self.weights[numbers] @ values) + self.bias
        return float(1 / (1 + np.exp(-score)))


def _overrules(span: Span, unsaid: float) -> bool:
    """Whether the probability of no speech is enough to overrule the rules in a passage."""
    sure = OVERRULES if is_in_marks(span) else OVERRULES_DASH
    return (unsaid if span.is_utterance else 1 - unsaid) > sure
