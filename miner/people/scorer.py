"""The network that scores candidates, in NumPy: two hidden layers over the features of each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from miner.errors import InputError
from miner.people.decoding import Scores
from miner.people.features import FEATURES, Array, CandidateChapter
from miner.people.history import HISTORY

N_INPUTS = len(FEATURES) + len(HISTORY)


class NetworkScorer:
    """Scores candidates with trained weights."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        """Takes the weights by name; see `weight_shapes`.

        Raises:
            InputError: if a weight is missing, is too many or has another shape.
        """
        for name in sorted(weights.keys() ^ weight_shapes(0, 0).keys()):
            kind = "a weight" if name in weights else "no"
            raise InputError(f"found {kind} {name}, expected those of a network of speakers")
        expected = weight_shapes(weights["first.bias"].size, weights["second.bias"].size)
        for name, shape in expected.items():
            if weights[name].shape != shape:
                raise InputError(f"found {name} of shape {weights[name].shape}, expected {shape}")
        first = weights["first.weight"].astype(np.float32).T
        self._of_page = np.ascontiguousarray(first[: len(FEATURES)])
        self._of_history = np.ascontiguousarray(first[len(FEATURES) :])
        self._weights = {name: weight.astype(np.float32) for name, weight in weights.items()}

    def read(self, chapter: CandidateChapter) -> list[Scores]:
        """Returns the part of the first layer that the history does not change."""
        if not chapter.features:
            return []
        rows = np.concatenate(chapter.features).astype(np.float32, copy=False)
        hidden = rows @ self._of_page + self._weights["first.bias"]
        ends = np.cumsum([len(rows) for rows in chapter.features])
        return np.split(hidden, ends[:-1])

    def score(self, read: Scores, history: Scores) -> Scores:
        """Returns the score of each row: (rows,)."""
        hidden = np.maximum(read + history @ self._of_history, 0)
        weights = self._weights
        hidden = np.maximum(hidden @ weights["second.weight"].T + weights["second.bias"], 0)
        return (hidden @ weights["score.weight"].T + weights["score.bias"])[:, 0]


def weight_shapes(first: int, second: int) -> dict[str, tuple[int, ...]]:
    """Returns the shape of each weight of a network with two hidden layers of these sizes."""
    return {
        "first.weight": (first, N_INPUTS),
        "first.bias": (first,),
        "second.weight": (second, first),
        "second.bias": (second,),
        "score.weight": (1, second),
        "score.bias": (1,),
    }
