"""Scores of tags -> the best legal sequence, and how sure each of its tags is.

The table of allowed successors is `tags.SUCCESSORS`; a sequence that breaks it has no probability.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from miner.dialogue.tags import SUCCESSORS, TAGS, Tag

ALLOWED = np.array([[after in SUCCESSORS[tag] for after in TAGS] for tag in TAGS])
_IS_START = np.array([tag is Tag.B_START for tag in TAGS])
FIRST = np.array([tag in SUCCESSORS[None] for tag in TAGS])

TagScores = NDArray[np.floating]


def viterbi(scores: TagScores, start_offset: float = 0.0) -> list[Tag]:
    """The legal sequence with the greatest sum of scores.

    Args:
        scores: (utterances, 4), of `TAGS`; larger is better.
        start_offset: added to the scores of B-START.
    """
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
    """The probability of each tag at each utterance, over all legal sequences.

    A sequence is as probable as the exponential of its sum of scores says (forward-backward).

    Args:
        scores: (utterances, 4), of `TAGS`.

    Returns:
        (utterances, 4); rows sum to 1.
    """
    if not len(scores):
        return np.zeros((0, len(TAGS)))
    steps = np.where(ALLOWED, 0.0, -np.inf)
    forward = np.empty((len(scores), len(TAGS)))
    forward[0] = np.where(FIRST, scores[0], -np.inf)
    for n in range(1, len(scores)):
        forward[n] = _log_sum(forward[n - 1][:, None] + steps, 0) + scores[n]
    backward = np.zeros_like(forward)
    for n in range(len(scores) - 2, -1, -1):
        backward[n] = _log_sum(steps + (scores[n + 1] + backward[n + 1])[None, :], 1)
    both = forward + backward
    return np.exp(both - _log_sum(both, 1)[:, None])


def _log_sum(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    top = values.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(values - top).sum(axis=axis)) + np.squeeze(top, axis)
