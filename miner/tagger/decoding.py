"""Scores of tags -> the best allowed sequence of tags, and the probability of each tag.

The table of allowed successors is `tags.SUCCESSORS`. A sequence that breaks it has probability 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from miner.speech.tags import SUCCESSORS, TAGS, Tag

ALLOWED = np.array([[after in SUCCESSORS[tag] for after in TAGS] for tag in TAGS])
_IS_START = np.array([tag is Tag.B_START for tag in TAGS])
FIRST = np.array([tag in SUCCESSORS[None] for tag in TAGS])

TagScores = NDArray[np.floating]


def viterbi(scores: TagScores, start_offset: float = 0.0) -> list[Tag]:
    """Returns the allowed sequence of tags with the highest sum of scores (n, 4) (Viterbi)."""
    if not len(scores):
        return []
    scores = scores + start_offset * _IS_START
    best = np.where(FIRST, scores[0], -np.inf)
    back: list[NDArray[np.intp]] = []
    steps = np.where(ALLOWED, 0.0, -np.inf)
    for row in scores[1:]:
        total = best[:, None] + steps
        back.append(total.argmax(axis=0))
        best = total.max(axis=0) + row
    path = [int(best.argmax())]
    for choices in reversed(back):
        path.append(int(choices[path[-1]]))
    return [TAGS[n] for n in reversed(path)]


def marginals(scores: TagScores) -> NDArray[np.float64]:
    """Returns the probability of each tag of each utterance over all allowed sequences: (n, 4).

    The probability of a sequence is proportional to the exponential of its sum of scores. The sums
    are computed with the forward-backward algorithm.
    """
    if not len(scores):
        return np.zeros((0, len(TAGS)))
    steps = np.where(ALLOWED, 0.0, -np.inf)
    forward = np.empty((len(scores), len(TAGS)))
    forward[0] = np.where(FIRST, scores[0], -np.inf)
    for n in range(1, len(scores)):
        forward[n] = np.logaddexp.reduce(forward[n - 1][:, None] + steps, axis=0) + scores[n]
    backward = np.zeros_like(forward)
    for n in range(len(scores) - 2, -1, -1):
        backward[n] = np.logaddexp.reduce(
            steps + (scores[n + 1] + backward[n + 1])[None, :], axis=1
        )
    both = forward + backward
    return np.exp(both - np.logaddexp.reduce(both, axis=1, keepdims=True))
