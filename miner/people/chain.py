"""Scores of the candidates of chapters -> how probable it is that each speaks each utterance.

A conditional random field (Lafferty, McCallum and Pereira, ICML 2001) over the utterances of a
chapter. What it remembers is the last speaker and the one before. A candidate has a score for each
way in which it may speak: as the last speaker, who goes on; as the one before the last, in turn;
or as another one. The score of a sequence of speakers is the sum of its scores. The probabilities
are those of all sequences of the chapter, so that a verb of saying tells of the turns before it as
well as of those after it. They are exact, and take a time that grows with the square of the number
of people: no sum needs three of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]
NOBODY = -1  # a speaker where nobody has spoken yet
_LEAST = 1e-9  # the least probability whose logarithm is taken


class Way(IntEnum):
    """How a candidate may speak, seen from who spoke before."""

    OTHER = 0  # it is neither the last speaker nor the one before
    LAST = 1  # it is the last speaker, who goes on
    BEFORE_LAST = 2  # it is the last one who is not the last speaker


def ways_of(speakers: Sequence[int], start: tuple[int, int] = (NOBODY, NOBODY)) -> list[Way]:
    """Returns how each of a sequence of speakers speaks, after a last speaker and one before."""
    last, before = start
    ways: list[Way] = []
    for speaker in speakers:
        if speaker == last:
            ways.append(Way.LAST)
            continue
        ways.append(Way.BEFORE_LAST if speaker == before else Way.OTHER)
        last, before = speaker, last
    return ways


class Chain(NamedTuple):
    """All sequences of speakers of some chapters."""

    # the probability of each way to speak of each person: (ways, chapters, utterances, people)
    marginals: Scores
    log_total: Scores  # the logarithm of the sum of exp(score) of all sequences: (chapters,)


def sum_sequences(
    scores: Scores, lengths: Sequence[int], starts: Sequence[tuple[int, int]] | None = None
) -> Chain:
    """Returns the sums over all sequences of speakers, by the forward-backward algorithm.

    `scores` are (ways, chapters, utterances, people), with minus infinity for whoever is no
    candidate; each utterance has one. `lengths` are the numbers of utterances of the chapters, and
    `starts` the last speaker and the one before it when they begin.
    """
    _, n_chapters, length, n_people = scores.shape
    scores = np.pad(scores, [(0, 0)] * 3 + [(0, 1)], constant_values=-np.inf)  # nobody comes last
    highest = scores.max(axis=(0, 3), keepdims=True)
    odds = np.exp(scores - highest)
    others = 1 - np.eye(n_people + 1, dtype=scores.dtype)
    runs = np.arange(length)[:, None] < np.asarray(lengths)[None]

    # (chapters, last speaker, the one before): the probability of what is remembered
    state = np.zeros((n_chapters, n_people + 1, n_people + 1), dtype=scores.dtype)
    for chapter, (last, before) in enumerate(starts or [(NOBODY, NOBODY)] * n_chapters):
        state[chapter, last, before] = 1
    states, totals = [state], []
    for step in range(length):
        other, last, before = odds[:, :, step, :, None]
        turned = state.swapaxes(1, 2)
        following = other * _from_others(state, turned, others) + last * state + before * turned
        total = np.where(runs[step], following.sum(axis=(1, 2)), 1)[:, None, None]
        state = np.where(runs[step][:, None, None], following / total, state)
        states.append(state)
        totals.append(total)

    found = np.zeros_like(scores)
    ahead = np.ones_like(state)  # what follows, for each state
    for step in reversed(range(length)):
        other, last, before = odds[:, :, step, :, None]
        state = states[step]
        turned = state.swapaxes(1, 2)
        reached = ahead * others / totals[step]
        found[Way.OTHER, :, step] = (reached * _from_others(state, turned, others)).sum(axis=2)
        found[Way.LAST, :, step] = (reached * state).sum(axis=2)
        found[Way.BEFORE_LAST, :, step] = (reached * turned).sum(axis=2)
        by_other = other * reached
        behind = by_other.sum(axis=1)[:, :, None] - by_other.swapaxes(1, 2)
        behind = behind + last * reached + (before * reached).swapaxes(1, 2)
        ahead = np.where(runs[step][:, None, None], behind, ahead)
    found *= odds * runs.T[None, :, :, None]
    logs = np.log(np.array(totals)[:, :, 0, 0]) + highest[0, :, :, 0].T
    return Chain(found[..., :n_people], (logs * runs).sum(axis=0))


def best_sequence(shares: Scores, goes_on: Scores) -> NDArray[np.int64]:
    """Returns the speaker of each utterance, whose probabilities have the largest product.

    They are those of each person, (utterances, people), and those that the last speaker goes on or
    does not. Where each utterance had its most probable speaker alone, turns would be lost: in the
    annotated chapters of 19 books that were left out, 97.3% of the changes are right, not 96.9%.
    """
    logs = np.log(np.maximum(shares, _LEAST))
    stays = np.log(np.maximum(goes_on, _LEAST))
    changes = np.log(np.maximum(1 - goes_on, _LEAST))
    everybody = np.arange(shares.shape[1])
    best, before = logs[0], list[NDArray[np.int64]]()
    for step in range(1, len(logs)):
        first, second = (*np.argsort(-best, kind="stable")[:2], 0)[:2]
        others = np.where(everybody == first, second, first)  # the best one who is another one
        staying, changing = best + stays[step], best[others] + changes[step]
        keeps = (staying >= changing) | (others == everybody)
        before.append(np.where(keeps, everybody, others))
        best = np.where(keeps, staying, changing) + logs[step]
    speakers = [int(best.argmax())]
    for choice in reversed(before):
        speakers.append(int(choice[speakers[-1]]))
    return np.array(speakers[::-1])


def _from_others(state: Scores, turned: Scores, others: Scores) -> Scores:
    """The probability that each person is neither of the two, for each last speaker."""
    rest = state.sum(axis=2)[:, None, :] - turned
    return np.maximum(rest, 0) * others
