"""The clues of a chapter -> how present each of its people is at each utterance, in numbers.

Whoever speaks is tagged, named in narration, or called near by, and on either side: a tag that
comes later tells of the speech before it. A person of whom the chapter only talks is named in
speech alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from miner.people.clues import ChapterClues
from miner.people.narrators import Doings

PRESENCE = (
    "says in the book",
    "acts in the book",
    "called in the book",
    "tags in the chapter",
    "share of the tags in the chapter",
    "utterances since the last tag",
    "utterances to the next tag",
    "named shortly before",
    "named shortly after",
    "named before",
    "named after",
    "paragraphs to the next mention",
    "share of the mentions in speech",
    "calls in the chapter",
    "called shortly before",
    "called shortly after",
)
_SHORTLY, _NEAR = 5, 25  # paragraphs


def find_presence(found: ChapterClues, doings: Sequence[Doings]) -> NDArray[np.float32]:
    """Returns the presence of people: (utterances, people, len(PRESENCE)).

    `doings` has what each person of the chapter is seen to do in the book.
    """
    n_people, clues = len(found.chapter.people), found.clues
    place = np.array([clue.paragraph for clue in clues], dtype=np.int64)
    rows = np.zeros((len(clues), n_people, len(PRESENCE)), dtype=np.float32)
    told: list[list[int]] = [[] for _ in range(n_people)]
    spoken: list[list[int]] = [[] for _ in range(n_people)]
    for position, mentions in enumerate(found.chapter.mentions):
        for mention in mentions:
            if mention.person is not None:
                (spoken if mention.in_speech else told)[mention.person].append(position)
    tags: list[list[int]] = [[] for _ in range(n_people)]
    calls: list[list[int]] = [[] for _ in range(n_people)]
    for n, clue in enumerate(clues):
        if clue.tag is not None and clue.tag.person is not None:
            tags[clue.tag.person].append(n)
        for person in clue.calls.called:
            calls[person].append(clue.paragraph)
    n_tags = sum(map(len, tags)) or 1
    numbers = np.arange(len(clues))
    for person in range(n_people):
        of_person = rows[:, person]
        own, named = np.array(tags[person], dtype=np.int64), np.array(told[person], dtype=np.int64)
        called = np.array(calls[person], dtype=np.int64)
        of_book = doings[person]
        of_person[:, :3] = np.log1p([of_book.says, of_book.acts, of_book.called]) / 5
        if len(own):
            of_person[:, 3] = np.log1p(len(own)) / 4
            of_person[:, 4] = len(own) / n_tags
            of_person[:, 5] = _inverse_before(own, numbers)
            of_person[:, 6] = _inverse_after(own, numbers)
        if len(named):
            of_person[:, 7] = _count(named, place - _SHORTLY, place)
            of_person[:, 8] = _count(named, place + 1, place + _SHORTLY)
            of_person[:, 9] = _count(named, place - _NEAR, place)
            of_person[:, 10] = _count(named, place + 1, place + _NEAR)
            of_person[:, 11] = _inverse_after(named, place)
        if n_spoken := len(spoken[person]):
            of_person[:, 12] = n_spoken / (n_spoken + len(named))
        if len(called):
            of_person[:, 13] = np.log1p(len(called)) / 3
            of_person[:, 14] = _count(called, place - _SHORTLY, place - 1)
            of_person[:, 15] = _count(called, place + 1, place + _SHORTLY)
    return rows


def _count(
    places: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The logarithm of the number of places in each stretch, its ends included."""
    n = np.searchsorted(places, last, "right") - np.searchsorted(places, first, "left")
    return np.log1p(n) / 3


def _inverse_before(places: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 over the distance to the last place before; 0 without one."""
    n = np.searchsorted(places, at, "left")
    return np.where(n > 0, 1 / np.maximum(at - places[n - 1], 1), 0.0)


def _inverse_after(places: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 over the distance to the next place after; 0 without one."""
    n = np.searchsorted(places, at, "right")
    following = places[np.minimum(n, len(places) - 1)]
    return np.where(n < len(places), 1 / np.maximum(following - at, 1), 0.0)
