"""The passages of a book -> the same passages, judged by one model of several languages.

It does for other languages what `speech_judge` does for English, and judges what a dash opens, too.
A thought behind a dash is rare, so the model must be surer there. It is a logistic regression that
`models.speech_training` fits. The rules judge first; their answer is a fact among the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from miner.speech.quotations import (
    Passage,
    find_passages,
    is_in_marks,
    read_passage_facts,
    weigh_marks,
)
from miner.speech.spans import BookSpans
from miner.speech.speech_features import Array

# The probability of no speech from which on the rules are overruled; fitted on books that were held
# out, most of them of the split train.
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
        """Returns the book with the passages that nobody says as quoted narration.

        A passage that continues from the paragraph before is what that one is. What the rules take
        for no speech, such as a letter, stays none.
        """
        spans = list(book_spans.spans)
        for position in self._unsaid(book_spans):
            spans[position] = replace(
                spans[position], is_utterance=False, quoted=True, continues=False
            )
        return replace(book_spans, spans=tuple(spans))

    def _unsaid(self, book_spans: BookSpans) -> Iterator[int]:
        """Yields the position of each utterance that is no speech."""
        spans = book_spans.spans
        weight_of_marks = weigh_marks(spans)
        is_unsaid = False  # whether the passage before was
        for passage in find_passages(spans):
            first = spans[passage[0]]
            if not first.continues:
                sure = OVERRULES if is_in_marks(first) else OVERRULES_DASH
                is_unsaid = (
                    first.is_utterance
                    and self._probability(book_spans, passage, weight_of_marks) > sure
                )
            if is_unsaid:
                yield from passage

    def _probability(self, book_spans: BookSpans, passage: Passage, weight_of_marks: int) -> float:
        numbers, values = read_passage_facts(
            book_spans.spans, passage, book_spans.language, weight_of_marks
        )
        score = float(self.weights[numbers] @ values) + self.bias
        return float(1 / (1 + np.exp(-score)))
