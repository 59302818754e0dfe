"""Paragraphs -> where speech begins and ends in them, by a model that is learned.

A dash may open speech, open and close "he said", or stand for a pause; "he said" may also stand
between commas. No single rule tells these apart. So a paragraph is divided into segments, and a
linear-chain model says which of them are speech. A segment may be narration, go on with the speech
before it, or begin another speech. `models.cut_training` fits the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from miner.dialogue.cut_facts import N_ARC_FACTS, N_STATE_FACTS, read_facts
from miner.dialogue.segments import Ints, Segments, edge_of, read_glue

Floats = NDArray[np.float32]
# The arcs from a segment to the next: narration goes on, speech begins, speech ends, speech goes
# on, one speech ends and another begins.
TOLD, BEGINS, ENDS, SAID, CHANGES = range(5)
N_ARCS = 5


@dataclass(frozen=True, slots=True)
class CutModel:
    """Says which segments are speech.

    Attributes:
        states: the weight of each fact for "this is speech": (N_STATE_FACTS,).
        arcs: the weight of each fact for each arc to the segment: (N_ARC_FACTS, N_ARCS).
        languages: the languages that have facts of their own.
    """

    states: Floats
    arcs: Floats
    languages: frozenset[str]

    def score(self, states: NDArray, arcs: NDArray) -> tuple[Floats, Floats]:
        return self.states[states].sum(axis=1), self.arcs[arcs].sum(axis=1)


def decode(said: Floats, arcs: Floats, starts: NDArray[np.bool_], allowed: Ints) -> Ints:
    """Returns the best arc to each segment.

    Args:
        said: the score of each segment for speech.
        arcs: the score of each arc to it.
        starts: whether a segment is the first of its paragraph.
        allowed: 0 where a segment must be narration, 2 where it must be speech, else 1.
    """
    n = len(said)
    bad = -1e9
    arcs = arcs + 0.0
    arcs[:, BEGINS] += said
    arcs[:, SAID] += said
    arcs[:, CHANGES] += said
    arcs[allowed == 0, BEGINS] = arcs[allowed == 0, SAID] = arcs[allowed == 0, CHANGES] = bad
    arcs[allowed == 2, TOLD] = arcs[allowed == 2, ENDS] = bad
    back: list[tuple[int, int]] = []  # the best arcs to narration and to speech
    ends_in_speech: list[bool] = []  # whether the paragraph before each first segment does
    told = speech = 0.0
    for is_start, (tells, begins, ends, goes_on, changes) in zip(
        starts.tolist(), arcs.tolist(), strict=True
    ):
        if is_start:
            ends_in_speech.append(speech > told)
            told, speech = tells, begins
            back.append((TOLD, BEGINS))
            continue
        to_told = TOLD if told + tells >= speech + ends else ENDS
        to_said = BEGINS
        best = told + begins
        if speech + goes_on > best:
            best, to_said = speech + goes_on, SAID
        if speech + changes > best:
            best, to_said = speech + changes, CHANGES
        told = told + tells if to_told == TOLD else speech + ends
        speech = best
        back.append((to_told, to_said))
    found = np.zeros(n, np.int32)
    is_said = speech > told
    for place in range(n - 1, -1, -1):
        arc = back[place][is_said]
        found[place] = arc
        is_said = ends_in_speech.pop() if starts[place] else arc in (ENDS, SAID, CHANGES)
    return found
