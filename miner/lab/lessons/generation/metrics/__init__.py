"""The seventeen metrics of GD, one module for each family.

GD computes them with dialog-eval (github.com/ricsinaruto/dialog-eval). What each metric is and what
it skips is taken from there; the tests hold examples worked by hand. All but two are the mean over
answers of a number that each answer has for itself; an answer that a metric skips has none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from miner.lab.lessons.generation.answers import Answer
from miner.lab.lessons.generation.words import split_words

# The number of each answer by one metric, [answers]; NaN where the metric skips the answer.
Values = NDArray[np.float64]
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """The words of an answer.

    Attributes:
        context: those of the last turn of the context, which the response answers.
        response: those of the true response.
        predicted: those of the model's response.
    """

    context: Words
    response: Words
    predicted: Words


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as tables show it.

    Attributes:
        name: its head.
        about: what it is, for the legend.
        digits: behind the decimal point.
        less_is_better: whether GD takes the smallest value for the best one. For all others it is
            the largest, also for the length and the entropies: GD reads short and frequent words as
            a sign of generic answers.
        needs_vectors: whether it is computed of word vectors.
    """

    name: str
    about: str
    digits: int
    less_is_better: bool = False
    needs_vectors: bool = False


# In the order of GD's tables.
METRICS = (
    Metric("|U|", "words of an answer", 1),
    Metric("Hwu", "entropy of its words, mean over words, in bits", 2),
    Metric("Hwb", "the same of bigrams", 2),
    Metric("Huu", "entropy of its words, summed over the answer, in bits", 1),
    Metric("Hub", "the same of bigrams", 1),
    Metric("KLu", "divergence of words from those of the true responses, in bits", 2, True),
    Metric("KLb", "the same of bigrams", 2, True),
    Metric("AVG", "cosine of the mean vectors of answer and true response", 3, False, True),
    Metric("EXT", "cosine of their extreme vectors", 3, False, True),
    Metric("GRE", "mean cosine of each word and the most similar one", 3, False, True),
    Metric("COH", "cosine of the mean vectors of answer and context", 3, False, True),
    Metric("d1", "different words by all words of all answers", 4),
    Metric("d2", "different bigrams by all bigrams", 3),
    Metric("b1", "BLEU of words", 3),
    Metric("b2", "BLEU of up to 2 words", 3),
    Metric("b3", "BLEU of up to 3 words", 3),
    Metric("b4", "BLEU of up to 4 words", 3),
)


def split_answers(
    answers: Sequence[Answer],
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> list[AnswerWords]:
    """Returns the words of answers.

    Args:
        answers: of one model.
        progress: called with the number of answers that are done and of all.

    Raises:
        MissingExtraError: if NLTK is not installed.
    """
    found: list[AnswerWords] = []
    for answer in answers:
        texts = (answer.context[-1], answer.response, answer.predicted)
        found.append(AnswerWords(*(tuple(split_words(text)) for text in texts)))
        progress(len(found), len(answers))
    return found


def mean_of(values: Values) -> float:
    """Returns the mean over the answers that a metric does not skip; NaN if it skips all."""
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if kept.size else float("nan")


MetricValues = Mapping[str, Values]  # by the name of the metric
