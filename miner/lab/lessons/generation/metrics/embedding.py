"""Likeness of answers to true responses and to contexts, by the vectors of their words."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import numpy as np
from numpy.typing import NDArray

from miner.lab.lessons.generation.metrics import AnswerWords, MetricValues
from miner.lab.lessons.generation.reference import Reference
from miner.lab.lessons.generation.word_vectors import WordVectors

_SMALL = 0.001  # the weight of a word is this over the sum of it and the word's probability

_Matrix = NDArray[np.float64]


def likenesses(
    rows: Sequence[AnswerWords], reference: Reference, vectors: WordVectors
) -> MetricValues:
    """Returns AVG, EXT, GRE and COH of each answer, cosines of -1..1.

    - AVG is the cosine of the mean vectors of the answer and of the true response: the mean of
      v(w) 0.001 / (0.001 + p(w)) over the words w, p(w) being their probability in the training
      texts, 0 outside the vocabulary (Liu et al. 2016, with the weights of Arora et al. 2017; GD,
      5.1).
    - COH is the same cosine of the answer and the last turn of the context (Xu et al. 2018; GD,
      5.1).
    - EXT is the cosine of the extreme vectors: in each dimension the number of the largest absolute
      value among the words (Liu et al. 2016; GD, 5.1).
    - GRE is the mean, over the words of the answer, of the largest cosine with a word of the true
      response, and the same from the true response to the answer; the mean of both (Liu et al.
      2016; GD, 5.1). As in dialog-eval a largest cosine below 0 counts as 0, and an answer is
      skipped if one of both means is 0.

    A word without a vector is skipped, and an answer if it, or what it is compared with, has no
    other word.
    """
    found = {name: np.full(len(rows), nan) for name in ("AVG", "EXT", "GRE", "COH")}
    for number, row in enumerate(rows):
        predicted = _Vectors(row.predicted, reference, vectors)
        true = _Vectors(row.response, reference, vectors)
        context = _Vectors(row.context, reference, vectors)
        if predicted.is_empty:
            continue
        if not context.is_empty:
            found["COH"][number] = _cosine(predicted.mean(), context.mean())
        if not true.is_empty:
            found["AVG"][number] = _cosine(predicted.mean(), true.mean())
            found["EXT"][number] = _cosine(predicted.extreme(), true.extreme())
            found["GRE"][number] = _greedy(predicted.vectors, true.vectors)
    return found


class _Vectors:
    """The vectors of the words of a text that have one, [words, d], and their weights, [words]."""

    def __init__(self, words: Sequence[str], reference: Reference, vectors: WordVectors) -> None:
        of_word = vectors.of_word
        found = [word for word in words if word in of_word]
        self.is_empty = not found
        self.vectors: _Matrix = np.array([of_word[word] for word in found], np.float64)
        self._weights = np.array(
            [_SMALL / (_SMALL + reference.probability(word)) for word in found], np.float64
        )

    def mean(self) -> _Matrix:
        return self._weights @ self.vectors / len(self.vectors)

    def extreme(self) -> _Matrix:
        largest = np.abs(self.vectors).argmax(axis=0)
        return self.vectors[largest, np.arange(self.vectors.shape[1])]


def _cosine(one: _Matrix, other: _Matrix) -> float:
    """The cosine of two vectors; NaN if one of them is 0."""
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    return float(one @ other / lengths) if lengths else nan


def _greedy(one: _Matrix, other: _Matrix) -> float:
    cosines = _unit(one) @ _unit(other).T
    sides = [cosines.max(axis=axis).clip(min=0).mean() for axis in (1, 0)]
    return float(np.mean(sides)) if all(sides) else nan


def _unit(vectors: _Matrix) -> _Matrix:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
