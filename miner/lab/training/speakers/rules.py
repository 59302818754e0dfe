"""The simple rules that every attributor must beat, as a scorer of candidates.

A verb of saying beside the utterance names the speaker: "said Mara", "said the waiter". Else the
last speaker of the paragraph goes on, else two people speak in turn, else the last speaker goes on.
A pronoun names nobody.
"""

from __future__ import annotations

import numpy as np

from miner.people.attributor import Scores, SpeakerAttributor
from miner.people.clues import Cue
from miner.people.features import FEATURES, HISTORY, CandidateChapter

_SAYS = (Cue.SAYS_AFTER, Cue.SAYS_BEFORE, Cue.SAYS_BESIDE)
_SAID = [FEATURES.index(f"{cue.value}: is it") for cue in _SAYS]
# The first rule that holds for any candidate decides.
_WEIGHTS_OF_SAID = np.array((160.0, 80.0, 40.0), dtype=np.float32)
_WEIGHTS_OF_HISTORY = {
    "spoke last, in this paragraph": 20.0,
    "spoke before the last": 10.0,
    "spoke last": 5.0,
}
_UNKNOWN, _WEIGHT_OF_UNKNOWN = FEATURES.index("unknown"), 1.0  # where nobody has spoken yet


class RuleScorer:
    """Scores candidates by the rules."""

    def __init__(self) -> None:
        self._of_history = np.zeros(len(HISTORY), dtype=np.float32)
        for name, weight in _WEIGHTS_OF_HISTORY.items():
            self._of_history[HISTORY.index(name)] = weight

    def read(self, chapter: CandidateChapter) -> list[Scores]:
        """Returns the score that attribution gives to each candidate: (candidates, 1)."""
        said = (rows[:, _SAID] @ _WEIGHTS_OF_SAID for rows in chapter.features)
        unknown = (rows[:, _UNKNOWN] * _WEIGHT_OF_UNKNOWN for rows in chapter.features)
        return [
            (one + other)[:, None].astype(np.float32)
            for one, other in zip(said, unknown, strict=True)
        ]

    def score(self, read: Scores, history: Scores) -> Scores:
        """Returns the score of each row: (rows,)."""
        return (read[:, 0] + history @ self._of_history).astype(np.float32)


def rule_attributor() -> SpeakerAttributor:
    """Returns the attributor of the rules. It decides one utterance at a time, without the tags."""
    return SpeakerAttributor(RuleScorer(), beam=1, tag_share=0.0)
