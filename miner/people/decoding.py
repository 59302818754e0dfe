"""Scores of candidates -> the most probable sequence of speakers of a chapter, by beam search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from miner.people.features import CandidateChapter
from miner.people.history import History, history_features

BEAM = 8  # histories that are followed at once

Scores = NDArray[np.float32]


class Scorer(Protocol):
    """Scores candidates. What the history does not change is computed once for a chapter."""

    def read(self, chapter: CandidateChapter) -> list[Scores]:
        """Returns what `score` needs of each utterance: a row for each candidate."""
        ...

    def score(self, read: Scores, history: Scores) -> Scores:
        """Returns the score of each row: (rows,).

        Args:
            read: rows of `read`.
            history: the features of the history: (rows, len(HISTORY)).
        """
        ...


class Decoded(NamedTuple):
    """The speakers of a chapter.

    Attributes:
        speakers: the number of the speaker of each utterance in the chapter.
        confidence: the probability of each speaker over all histories that were followed, so an
            unsure speaker makes those who are inferred from it unsure.
        goes_on: the probability that the last speaker goes on, over the same histories.
    """

    speakers: tuple[int, ...]
    confidence: tuple[float, ...]
    goes_on: tuple[float, ...]


class _Step(NamedTuple):
    """A speaker, and the step before it, so that paths share what they have in common."""

    speaker: int
    confidence: float
    goes_on: float
    before: _Step | None


class _Path(NamedTuple):
    score: float
    history: History
    last: _Step | None


def _decoded(path: _Path) -> Decoded:
    steps: list[_Step] = []
    step = path.last
    while step is not None:
        steps.append(step)
        step = step.before
    steps.reverse()
    return Decoded(
        tuple(step.speaker for step in steps),
        tuple(step.confidence for step in steps),
        tuple(step.goes_on for step in steps),
    )


def decode_speakers(
    chapter: CandidateChapter,
    scorer: Scorer,
    continues: Sequence[float] | None = None,
    beam: int = BEAM,
) -> Decoded:
    """Returns the best sequence of speakers that the search finds."""
    paths = [_Path(0.0, History(), None)]
    utterances = zip(
        scorer.read(chapter), chapter.places, chapter.candidates, chapter.features, strict=True
    )
    for n, (read, place, candidates, features) in enumerate(utterances):
        history = np.concatenate(
            [history_features(path.history, place, candidates, features) for path in paths]
        )
        scores = scorer.score(np.tile(read, (len(paths), 1)), history).reshape(len(paths), -1)
        logs = scores.astype(np.float64)
        if continues is not None:
            for row, path in zip(logs, paths, strict=True):
                if path.history.last in candidates:
                    row[candidates.index(path.history.last)] += continues[n]
        logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
        found = [
            (path.score + float(row[choice]), number, int(choice))
            for number, (path, row) in enumerate(zip(paths, logs, strict=True))
            for choice in np.argsort(-row, kind="stable")[:beam]
        ]
        found.sort(key=lambda item: (-item[0], item[1:]))
        scores_found = [score for score, *_ in found]
        shares = _shares(scores_found, [candidates[item[2]] for item in found])
        last = [candidates[choice] == paths[number].history.last for _, number, choice in found]
        goes_on = _shares(scores_found, last).get(True, 0.0)
        kept: dict[tuple[int, int, int], _Path] = {}
        for score, number, choice in found:
            path, speaker = paths[number], candidates[choice]
            after = path.history.after(speaker, place.paragraph)
            if after.key in kept:
                continue
            step = _Step(speaker, shares[speaker], goes_on, path.last)
            kept[after.key] = _Path(score, after, step)
            if len(kept) == beam:
                break
        paths = list(kept.values())
    return _decoded(paths[0])


def _shares(scores: Sequence[float], answers: Sequence[int]) -> dict[int, float]:
    """Returns the probability of each answer, from the scores of the histories that give it."""
    shares: dict[int, float] = {}
    for score, answer in zip(scores, answers, strict=True):
        shares[answer] = shares.get(answer, 0.0) + math.exp(score - scores[0])
    total = sum(shares.values())
    return {answer: share / total for answer, share in shares.items()}
