"""Scores of candidates -> the most probable sequence of speakers of a chapter, by beam search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from miner.models.speakers.features import CandidateChapter
from miner.models.speakers.history import History, history_features

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
        confidence: the probability of each speaker, given those before it.
    """

    speakers: tuple[int, ...]
    confidence: tuple[float, ...]


class _Step(NamedTuple):
    """A speaker, and the step before it, so that paths share what they have in common."""

    speaker: int
    confidence: float
    before: _Step | None


class _Path(NamedTuple):
    score: float
    history: History
    last: _Step | None


def _decoded(path: _Path) -> Decoded:
    steps: list[tuple[int, float]] = []
    step = path.last
    while step is not None:
        steps.append((step.speaker, step.confidence))
        step = step.before
    steps.reverse()
    return Decoded(tuple(speaker for speaker, _ in steps), tuple(sure for _, sure in steps))


def decode_speakers(
    chapter: CandidateChapter,
    scorer: Scorer,
    continues: Sequence[float] | None = None,
    beam: int = BEAM,
) -> Decoded:
    """Returns the best sequence of speakers that the search finds.

    Args:
        chapter: the chapter.
        scorer: scores the candidates.
        continues: for each utterance, log-odds from elsewhere that its speaker is the last one.
        beam: the number of histories that are followed at once. Of histories with the same last
            three speakers only the most probable one is followed.
    """
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
        kept: dict[tuple[int, int, int], _Path] = {}
        for score, number, choice in found:
            path, speaker = paths[number], candidates[choice]
            after = path.history.after(speaker, place.paragraph)
            if after.key in kept:
                continue
            sure = math.exp(logs[number, choice])
            kept[after.key] = _Path(score, after, _Step(speaker, sure, path.last))
            if len(kept) == beam:
                break
        paths = list(kept.values())
    return _decoded(paths[0])
