"""Entropy: how unusual the words of answers are by the probabilities of the training texts."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, nan

import numpy as np

from miner.lab.lessons.generation.metrics import AnswerWords, MetricValues, Values
from miner.lab.lessons.generation.n_grams import n_grams
from miner.lab.lessons.generation.reference import Reference


def entropies(rows: Sequence[AnswerWords], reference: Reference) -> MetricValues:
    """Returns the entropies of each answer by its words (u) and its bigrams (b).

    Hw = -1/|U| sum of log2 p(w) over the words w, or the bigrams w, of the answer U, and
    Hu = -sum of log2 p(w) (Serban et al. 2017; GD, 5.1). p is the probability in the training
    texts. As in dialog-eval, a word outside the vocabulary is `UNKNOWN`
    and a word of probability 0 is skipped, which |U| does not count either; an answer without any
    other word is skipped.
    """
    found: dict[str, Values] = {}
    for n, letter in ((1, "u"), (2, "b")):
        probabilities = reference.probabilities[n]
        sums, means = np.full(len(rows), nan), np.full(len(rows), nan)
        for number, row in enumerate(rows):
            bits = [
                -log2(probabilities[one])
                for one in n_grams(reference.known(row.predicted), n)
                if one in probabilities
            ]
            if bits:
                sums[number] = sum(bits)
                means[number] = sum(bits) / len(bits)
        found |= {f"Hw{letter}": means, f"Hu{letter}": sums}
    return found
