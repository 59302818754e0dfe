"""Who spoke before -> features of the candidates for the next utterance.

Where nothing between two paragraphs of speech says otherwise, two people speak in turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from miner.people.features import CALLED_BY_LAST, Array, Place

_REMEMBERED = 10  # utterances whose speakers take part in the conversation
_NOBODY = -1

HISTORY = (
    "spoke last",
    "spoke last, in this paragraph",
    "spoke last, nothing between",
    "spoke last, in another paragraph, narration before",
    "spoke last, paragraphs between",
    "spoke last, and the speech continues",
    "spoke before the last",
    "spoke before the last, in this paragraph",
    "spoke before the last, nothing between",
    "spoke before the last, narration before",
    "spoke before the last, paragraphs between",
    "spoke third to last",
    "utterances since it spoke",
    "turns it had",
    "has not spoken",
    "takes part",
    "paragraphs since it spoke",
    "nobody spoke yet",
    "speakers who take part",
    "called by the last speaker, and another one",
    "spoke last, in this paragraph, narration between",
    "spoke last, alone",
    "one of two who take part",
    "the other one of two who take part",
)


@dataclass(frozen=True, slots=True)
class History:
    """The speakers of the utterances so far. People are numbers in the chapter.

    Attributes:
        last: the last speaker; -1 for none.
        before_last: the last one who is not `last`.
        third: the last one who is neither.
        spoke: for each speaker, the number of the utterance and the paragraph of the last time.
        turns: the number of turns of each speaker.
        recent: the speakers of the last utterances.
        n_utterances: the number of utterances so far.
    """

    last: int = _NOBODY
    before_last: int = _NOBODY
    third: int = _NOBODY
    spoke: dict[int, tuple[int, int]] | None = None
    turns: dict[int, int] | None = None
    recent: tuple[int, ...] = ()
    n_utterances: int = 0

    @property
    def key(self) -> tuple[int, int, int]:
        """What tells it from other histories of the same length: the last three speakers."""
        return self.last, self.before_last, self.third

    def after(self, speaker: int, paragraph: int) -> History:
        """Returns the history with one more utterance."""
        last, before_last, third = self.key
        turns = dict(self.turns or {})
        if speaker != last:
            if last != _NOBODY:
                third = before_last if before_last != speaker else third
                before_last = last
            last = speaker
            turns[speaker] = turns.get(speaker, 0) + 1
        return History(
            last,
            before_last,
            third,
            {**(self.spoke or {}), speaker: (self.n_utterances, paragraph)},
            turns,
            (*self.recent, speaker)[-_REMEMBERED:],
            self.n_utterances + 1,
        )


def history_features(
    history: History, place: Place, candidates: Sequence[int], features: Array
) -> Array:
    """Returns the features of the candidates of an utterance: (candidates, len(HISTORY)).

    Args:
        history: the speakers before it.
        place: where it stands.
        candidates: its candidates.
        features: their other features: (candidates, len(FEATURES)).
    """
    rows = np.zeros((len(candidates), len(HISTORY)), dtype=np.float32)
    takes_part = set(history.recent)
    n_speakers = len(takes_part)
    is_next = place.is_first and not place.is_apart and not place.has_lead_in
    where = 0 if not place.is_first else 1 if is_next else 2 if not place.is_apart else 3
    rows[:, 17] = history.n_utterances == 0
    rows[:, 18] = n_speakers / 5
    for row, number, of_page in zip(rows, candidates, features, strict=True):
        is_last = number == history.last
        if is_last:
            row[0] = row[1 + where] = 1
            row[5] = place.continues
            row[20] = not place.is_first and place.has_lead_in
            row[21] = n_speakers <= 1
        elif number == history.before_last:
            row[6] = row[7 + where] = 1
        elif number == history.third:
            row[11] = 1
        if history.spoke and number in history.spoke:
            utterance, paragraph = history.spoke[number]
            row[12] = 1 / (history.n_utterances - utterance)
            row[13] = math.log1p((history.turns or {}).get(number, 0)) / 3
            row[15] = number in takes_part
            row[16] = math.log1p(place.paragraph - paragraph) / 4
        else:
            row[14] = 1
        row[19] = of_page[CALLED_BY_LAST] * (not is_last)
        if n_speakers == 2 and number in takes_part:
            row[22] = 1
            row[23] = not is_last
    return rows
