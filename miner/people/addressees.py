"""The speakers of a chapter and what the page tells of the listeners -> to whom each one speaks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

_TWO = 2  # speakers of a conversation, of whom each speaks to the other


@dataclass(frozen=True, slots=True)
class Said:
    """An utterance with its speaker. People are told by their ids."""

    opens: bool  # whether it opens a conversation
    speaker: str | None  # who speaks; None if nobody is known
    called: tuple[str, ...] = ()  # whom it calls by name
    told: str | None = None  # to whom the narration beside it says that it is said


def find_addressees(said: Sequence[Said]) -> list[tuple[str, ...]]:
    """Returns the people to whom each utterance of a chapter is said.

    They are those whom the turn calls by name, or else the one whom the narration names ("said she
    to Mara"), the other one of two who talk, the last other speaker of the conversation, or the
    next one. Whoever speaks alone and calls nobody speaks to nobody.
    """
    found: list[tuple[str, ...]] = []
    for conversation in _conversations(said):
        turns = [list(turn) for _, turn in groupby(conversation, key=lambda item: item.speaker)]
        speakers = [turn[0].speaker for turn in turns]
        people = dict.fromkeys(one for one in speakers if one is not None)
        for number, turn in enumerate(turns):
            speaker = speakers[number]
            called = _others((one for item in turn for one in item.called), speaker)
            told = _others((item.told for item in turn), speaker)
            known = called or told[:1]
            if not known and speaker is not None:
                if len(people) == _TWO:
                    near: Iterable[str | None] = people
                else:
                    near = (*reversed(speakers[:number]), *speakers[number + 1 :])
                known = _others(near, speaker)[:1]
            found += [known] * len(turn)
    return found


def _conversations(said: Sequence[Said]) -> list[list[Said]]:
    conversations: list[list[Said]] = []
    for item in said:
        if item.opens or not conversations:
            conversations.append([])
        conversations[-1].append(item)
    return conversations


def _others(people: Iterable[str | None], speaker: str | None) -> tuple[str, ...]:
    """Returns the known ones among people who are not the speaker, each once."""
    return tuple(dict.fromkeys(one for one in people if one is not None and one != speaker))
