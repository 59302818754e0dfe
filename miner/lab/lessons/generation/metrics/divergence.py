"""Divergence: how far the words of all answers are from those of all true responses."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, nan

import numpy as np

from miner.lab.lessons.generation.metrics import AnswerWords, MetricValues, Values
from miner.lab.lessons.generation.n_grams import count_n_grams, n_grams, share_counts
from miner.lab.lessons.generation.reference import UNKNOWN, Reference


def divergences(rows: Sequence[AnswerWords], reference: Reference) -> MetricValues:
    """Returns the divergence of each true response by its words (u) and its bigrams (b).

    KL = 1/|R| sum of log2(p(w) / q(w)) over the words w of the true response R (Csáky et al. 2019;
    GD, 5.1). p is the probability of a word in all true responses, q that in all answers, both
    among the words that both have, `UNKNOWN` with them. Other words are skipped, and so is a
    response without any other. So answers that share one word with the true responses have a
    divergence of 0, however far they are from them.

    As in dialog-eval, a word outside the vocabulary counts for the probabilities, but is skipped
    itself, and so is a pair that begins with it.
    """
    found: dict[str, Values] = {}
    true = [reference.known(row.response) for row in rows]
    predicted = [reference.known(row.predicted) for row in rows]
    for n, name in ((1, "KLu"), (2, "KLb")):
        of_true, of_predicted = count_n_grams(true, n), count_n_grams(predicted, n)
        both = of_true.keys() & of_predicted.keys()
        p = share_counts({one: of_true[one] for one in both})
        q = share_counts({one: of_predicted[one] for one in both})
        values = np.full(len(rows), nan)
        for number, words in enumerate(true):
            bits = [
                log2(p[one] / q[one])
                for one in n_grams(words, n)
                if one in both and one[0] != UNKNOWN
            ]
            if bits:
                values[number] = sum(bits) / len(bits)
        found[name] = values
    return found
