"""The speakers of a chapter and what the page tells of the listeners -> to whom each one speaks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

_LISTENS = 4  # turns before the first turn of a speaker, and after the last, in which one listens


@dataclass(frozen=True, slots=True)
class Said:
    """An utterance with its speaker. People are told by their ids."""

    opens: bool  # whether it opens a conversation
    speaker: str | None  # who speaks; None if nobody is known
    called: tuple[str, ...] = ()  # whom it calls by name
    told: str | None = None  # to whom the narration beside it says that it is said


def find_addressees(said: Sequence[Said]) -> list[tuple[str, ...]]:
    """Returns the people to whom each utterance of a chapter is said, those whom it calls first.

    They are those whom the turn calls by name and the one whom the narration names ("said she to
    Mara"), or else all who take part in the conversation at that place: as annotators of novels
    have it, who calls or answers one of several people speaks to all of them. Whoever speaks alone
    and calls nobody speaks to nobody.
    """
    found: list[tuple[str, ...]] = []
    speaking = {item.speaker for item in said}
    for conversation in _conversations(said):
        turns = [list(turn) for _, turn in groupby(conversation, key=lambda item: item.speaker)]
        speakers = [turn[0].speaker for turn in turns]
        stays = _stays(speakers)
        for number, turn in enumerate(turns):
            speaker = speakers[number]
            called = _others((one for item in turn for one in item.called), speaker)
            told = _others((item.told for item in turn), speaker)
            near: tuple[str, ...] = ()
            if speaker is not None:
                near = _others((one for one, stay in stays.items() if number in stay), speaker)
                near = near or _others((*reversed(speakers[:number]), *speakers), speaker)[:1]
            if near:  # whoever is silent all through the chapter is rather spoken of
                called = tuple(one for one in called if one in speaking)
                told = tuple(one for one in told if one in speaking)
            found += [_others((*called, *(told[:1] or near)), speaker)] * len(turn)
    return found


def _stays(speakers: Sequence[str | None]) -> dict[str, range]:
    """Returns the turns of a conversation in which each of its speakers takes part."""
    stays: dict[str, range] = {}
    for number, one in enumerate(speakers):
        if one is not None:
            first = stays[one].start if one in stays else number - _LISTENS
            stays[one] = range(first, number + _LISTENS + 1)
    return stays


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
