"""BLEU: which runs of words an answer shares with the true response."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miner.extras import import_extra
from miner.lab.lessons.generation.metrics import AnswerWords, MetricValues
from miner.lab.lessons.generation.words import EXTRA

SMOOTHING = 4  # of the methods of NLTK, after Chen and Cherry (2014); the default of dialog-eval
# As in dialog-eval: three times 0.33, so that b3 is a little above the BLEU of thirds.
_WEIGHTS = ((1, 0, 0, 0), (0.5, 0.5, 0, 0), (0.33, 0.33, 0.33, 0), (0.25, 0.25, 0.25, 0.25))


def bleus(rows: Sequence[AnswerWords]) -> MetricValues:
    """Returns b1 to b4 of each answer, the sentence BLEU of NLTK, 0..1.

    bn = BP exp(sum of w log p over 1..n), where p is the share of the i-grams of the answer that
    the true response has, too, w the weight of each i, and BP = exp(1 - |R| / |U|) for an answer
    shorter than the true response, else 1 (Papineni et al. 2002; GD, 5.1). Method 4 of Chen and
    Cherry puts a small number for a share of 0, if the answer has two words or more. So b3 and b4
    of an answer of two words are below 1 even if it is the true response, and b4 of one of three.
    Without a shared word all are 0.
    """
    library = import_extra("nltk.translate.bleu_score", EXTRA)
    smoothing = library.SmoothingFunction().method4
    values = [
        library.sentence_bleu([row.response], row.predicted, _WEIGHTS, smoothing) for row in rows
    ]
    columns = np.array(values, np.float64).reshape(len(rows), len(_WEIGHTS)).T
    return {f"b{n}": column for n, column in enumerate(columns, 1)}
