"""The spans of a book -> the same spans, judged by a model to be speech or not.

The model of English is a logistic regression over the words around, which `models.speech_training`
fits. The rules of `dialogue.speech` judge first; their answer is a fact among the others. The model
overrules them where it is surer of the contrary than a threshold. Speech that a dash opens, and
speech that continues from the paragraph before, is left as it is. Other languages share a judge of
`passage_judge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from miner.errors import InputError
from miner.files import printable
from miner.speech.quotation_classifier import PassageJudge
from miner.speech.quotations import N_PASSAGE_FACTS
from miner.speech.spans import BookSpans, Span
from miner.speech.speech_features import N_FACTS, Array, read_facts
from miner.speech.weight_file import find_weights, read_weights

# The probability from which on the rules are overruled; fitted on dev.
OVERRULES = 0.5
WEIGHTS = Path(__file__).parent / "weights"
_MARKS = "\"'“”‘’«»„‚›‹"


@dataclass(frozen=True, slots=True)
class SpeechJudge:
    """Judges words in quotation marks.

    Attributes:
        weights: the weight of each fact for "it is no speech": (N_FACTS,).
        bias: the bias.
        overrules: the probability from which on the rules are overruled.
    """

    weights: Array
    bias: float
    overrules: float = OVERRULES

    def probability(self, spans: Sequence[Span], position: int) -> float:
        """Returns the probability that a span in quotation marks is no speech."""
        numbers, values = read_facts(spans, position)
        score = float(self.weights[numbers] @ values) + self.bias
        return float(1 / (1 + np.exp(-score)))

    def judge(self, book_spans: BookSpans) -> BookSpans:
        """Returns the book with each span in quotation marks judged."""
        spans = book_spans.spans
        judged = [
            self._judge(spans, position) if is_judged(span) else span
            for position, span in enumerate(spans)
        ]
        return replace(book_spans, spans=tuple(judged))

    def _judge(self, spans: Sequence[Span], position: int) -> Span:
        span = spans[position]
        unsaid = self.probability(spans, position)
        if span.is_utterance and unsaid > self.overrules:
            return replace(span, is_utterance=False, quoted=True)
        if span.quoted and 1 - unsaid > self.overrules:
            return replace(span, is_utterance=True, quoted=False)
        return span


def is_judged(span: Span) -> bool:
    """Whether the model judges a span: words that quotation marks of their own open."""
    return span.in_marks and not span.continues and span.text.lstrip()[:1] in _MARKS


@cache
def judge_of(language: str) -> SpeechJudge | PassageJudge | None:
    """Returns the judge of a language that comes with the package; None where there is none."""
    path = find_weights(WEIGHTS, language)
    return load_judge(path) if path else None


def load_judge(path: Path) -> SpeechJudge | PassageJudge:
    """Returns the judge whose weights are in a file; their number tells which judge it is."""
    weights = read_weights(path)
    shapes = {name: weight.shape for name, weight in weights.items()}
    for judge, n_facts in ((SpeechJudge, N_FACTS), (PassageJudge, N_PASSAGE_FACTS)):
        if shapes == {"weights": (n_facts,), "bias": (1,)}:
            return judge(weights["weights"], float(weights["bias"][0]))
    raise InputError(
        f"{printable(path)}: found weights of shapes {shapes}, "
        f"expected weights ({N_FACTS},) or ({N_PASSAGE_FACTS},) and bias (1,)"
    )
