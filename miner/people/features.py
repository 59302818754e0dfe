"""The clues of a chapter -> the candidates for the speaker of each utterance, and their features.

A feature compares one candidate with the clues of one utterance: is it the subject of "said"? Does
"she" fit it, and how many others that fit were mentioned since? The unknown person is always a
candidate. The features of the history depend on who spoke before: where nothing between two
paragraphs of speech says otherwise, two people speak in turn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from miner.people.cast import Kind
from miner.people.clues import ChapterClues, Clues, Cue, NounUse
from miner.people.mentions import (
    NARRATOR_NUMBER,
    UNKNOWN_NUMBER,
    BookPeople,
    Mention,
    MentionKind,
    Person,
)
from miner.people.names import GENERAL_NOUNS, KIN_NOUNS, OTHERS

MOST_CANDIDATES = 24  # for one utterance; the least likely others are left out
_RECENT_UTTERANCES = 15  # whose candidates stay at hand
_MAIN_PEOPLE = 10  # of a chapter, who stay at hand from their first mention on
_ALWAYS = 4  # of a chapter, who are at hand everywhere in it; some are named late
_SOON = 3  # paragraphs before its first mention in which a main person may speak already
_OWN_CUES = 6  # the first cues, which name the speaker itself

_OF_CUE = (
    "is it",
    "is another",
    "fits its gender",
    "fits its gender: recency",
    "does not fit",
    "has the gender of its noun",
)
_OF_CANDIDATE = (
    "unknown",
    "narrator",
    "unnamed",
    "man",
    "woman",
    "of no known gender",
    "mentions in the book",
    "mentions in the chapter",
    "share of the mentions in the chapter",
    "recency before: people",
    "recency before: paragraphs",
    "recency after: people",
    "not mentioned lately",
    "in the narration of the paragraph",
    "in the narration between",
    "alone in the narration between",
    "alone in the narration of the paragraph",
    "mentioned soon",
    "called by it",
    "named in it",
    "called by the last",
    "named in the last",
    "called by the next",
    "named in the next",
    "called by the last but one",
    "called by the next but one",
    "the last calls a man: man",
    "the last calls a man: woman",
    "the last calls a woman: woman",
    "the last calls a woman: man",
    "the next calls a man: man",
    "the next calls a man: woman",
    "the next calls a woman: woman",
    "the next calls a woman: man",
    "noun was introduced",
    "uses of the noun",
    "noun is owned",
    "general noun",
    "noun of kin",
    "noun of a role",
)
_OF_UTTERANCE = (
    "calls a man",
    "calls a woman",
    "candidates",
    "the last calls somebody",
    "the next calls somebody",
    "first of its paragraph",
    "continues from the paragraph before",
    "right after the last paragraph of speech",
    "length of narration before",
    "paragraphs between",
    "length of narration after",
    "nothing between",
    "has an attribution",
    "has one beside",
    "length",
    "asks",
    "goes on",
    "answers",
    "the last asks",
    "cue is the other one",
    "cue is a noun of kin",
)
FEATURES = (
    *(f"{cue.value}: {kind}" for cue in Cue for kind in _OF_CUE),
    *_OF_CANDIDATE,
    *_OF_UTTERANCE,
)
CALLED_BY_LAST = FEATURES.index("called by the last")
_QUESTIONS = ("?", "?”", "?’", '?"', "?'", "?»")
Array = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an utterance stands, as its history is read."""

    paragraph: int  # the position of its paragraph in the chapter
    is_first: bool  # whether it is the first utterance of its paragraph
    continues: bool  # whether it continues the speech of the paragraph before
    has_lead_in: bool  # whether narration stands before it in its paragraph
    is_apart: bool  # whether paragraphs of narration stand between it and the last speech


@dataclass(frozen=True, slots=True)
class CandidateChapter:
    """A chapter as the model of the speakers reads it."""

    people: tuple[Person, ...]  # the people of the chapter
    spans: tuple[int, ...]  # the position of each utterance in the spans of the book
    places: tuple[Place, ...]  # where each utterance stands
    candidates: tuple[tuple[int, ...], ...]  # the numbers of the candidates of each utterance
    # of each utterance, (candidates, len(FEATURES)); float32, or float16 in examples
    features: tuple[Array, ...]


def read_candidates(
    found: ChapterClues, book: BookPeople, continuing: frozenset[int] | set[int]
) -> CandidateChapter:
    """Returns the candidates of a chapter."""
    reader = _Reader(found, book)
    candidates = reader.candidates()
    features = tuple(
        reader.features(clues, people, clues.span in continuing)
        for clues, people in zip(found.clues, candidates, strict=True)
    )
    return CandidateChapter(
        found.chapter.people,
        tuple(clues.span for clues in found.clues),
        tuple(_place(clues, clues.span in continuing) for clues in found.clues),
        tuple(map(tuple, candidates)),
        features,
    )


def _place(clues: Clues, continues: bool) -> Place:
    return Place(
        clues.paragraph, clues.is_first, continues, clues.n_before > 0, clues.n_between > 0
    )


class _Reader:
    def __init__(self, found: ChapterClues, book: BookPeople) -> None:
        self._found = found
        self._people = found.chapter.people
        self._first_person = found.chapter.first_person
        characters = book.cast.characters
        self._of_book = [
            characters[person.character].n_mentions if person.character is not None else 0
            for person in self._people
        ]
        self._of_chapter = found.n_mentions
        self._all = sum(self._of_chapter) or 1

    def candidates(self) -> list[list[int]]:
        """The candidates of each utterance; the unknown person is the last one."""
        named = Counter(
            {
                number: self._of_chapter[number]
                for number in range(len(self._people))
                if self._is_told_by_name(number)
            }
        )
        main = [number for number, _ in named.most_common(_MAIN_PEOPLE)]
        seen = self._found.first_seen
        near = [clues.at_hand for clues in self._found.clues]
        chosen: list[list[int]] = []
        for n, clues in enumerate(self._found.clues):
            at_hand = set().union(*near[max(0, n - _RECENT_UTTERANCES + 1) : n + 1])
            for rank, number in enumerate(main):
                if rank < _ALWAYS or seen[number] <= clues.paragraph + _SOON:
                    at_hand.add(number)
            at_hand -= {NARRATOR_NUMBER, UNKNOWN_NUMBER}
            prior = {number: self._prior(clues, number) for number in at_hand}
            best = sorted(prior, key=lambda number: (-prior[number], number))
            best = best[: MOST_CANDIDATES - 2]
            if self._first_person:
                best.append(NARRATOR_NUMBER)
            chosen.append([*best, UNKNOWN_NUMBER])
        return chosen

    def _prior(self, clues: Clues, number: int) -> float:
        """How likely a candidate is before anything is compared; only the order counts."""
        if any(m is not None and m.person == number for m in clues.cues[:_OWN_CUES]):
            return 9.0
        if number in clues.recent_after:
            return 3.0 * (number in clues.own) + 2 / (1 + clues.recent_after[number].rank)
        ahead = number in clues.soon or number in clues.last.called or number in clues.next.called
        return ahead + 0.2

    def features(self, clues: Clues, candidates: Sequence[int], continues: bool) -> Array:
        """The features of the candidates of an utterance: (candidates, len(FEATURES))."""
        ranks = {gender: self._ranks(clues, gender) for gender in "mf"}
        of_utterance = self._of_utterance(clues, len(candidates), continues)
        rows = np.zeros((len(candidates), len(FEATURES)), dtype=np.float32)
        for row, number in zip(rows, candidates, strict=True):
            at = 0
            for mention in clues.cues:
                if mention is not None:
                    row[at : at + len(_OF_CUE)] = self._compare(mention, number, clues, ranks)
                at += len(_OF_CUE)
            values = self._of_candidate(clues, number)
            row[at : at + len(values)] = values
            row[at + len(values) :] = of_utterance
        return rows

    def _ranks(self, clues: Clues, gender: str) -> dict[int, int]:
        """The number of people who fit a gender and were mentioned since each of them."""
        fitting = [
            number
            for number in clues.recent
            if self._people[number].gender == gender
            or (not self._people[number].gender and self._is_told_by_name(number))
        ]
        return {number: rank for rank, number in enumerate(fitting)}

    def _is_told_by_name(self, number: int) -> bool:
        """Whether a person is a character, other than the narrator, who may have names, too."""
        return self._people[number].character is not None and number != NARRATOR_NUMBER

    def _compare(
        self, mention: Mention, number: int, clues: Clues, ranks: dict[str, dict[int, int]]
    ) -> tuple[float, ...]:
        """The features of a cue for a candidate, in the order of `_OF_CUE`."""
        person = self._people[number]
        if mention.person is not None:
            if mention.person == number:
                return (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            if mention.kind is not MentionKind.NOUN or not self._is_told_by_name(number):
                return (0.0, 1.0, 0.0, 0.0, 1.0, 0.0)
            # The noun may mean a character whose title or kinship the book does not tell.
            known = bool(mention.gender and person.gender)
            if mention.gender in ranks:
                rank = ranks[mention.gender].get(number)
            else:
                recency = clues.recent.get(number)
                rank = recency.rank if recency else None
            differs = known and mention.gender != person.gender
            return (0.0, 1.0, 0.0, _inverse(rank), float(differs), float(known and not differs))
        if mention.gender not in ranks:
            return (0.0, 0.0, 0.0, 0.0, 0.5, 0.0)
        if person.gender not in ("", mention.gender):
            return (0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
        fits = 1.0 if person.gender else 0.5
        return (0.0, 0.0, fits, _inverse(ranks[mention.gender].get(number)), 0.0, 0.0)

    def _of_candidate(self, clues: Clues, number: int) -> list[float]:
        """The features of `_OF_CANDIDATE`."""
        person = self._people[number]
        is_man, is_woman = person.gender == "m", person.gender == "f"
        before, after = clues.recent.get(number), clues.recent_after.get(number)
        use = self._found.nouns[number] if person.noun else NounUse()
        head = person.head
        in_own, in_between = number in clues.own, number in clues.between
        return [
            number == UNKNOWN_NUMBER,
            number == NARRATOR_NUMBER,
            person.kind is Kind.UNNAMED,
            is_man,
            is_woman,
            not person.gender,
            math.log1p(self._of_book[number]) / 5,
            math.log1p(self._of_chapter[number]) / 4,
            self._of_chapter[number] / self._all,
            _inverse(before and before.rank),
            _inverse(before and before.paragraphs),
            _inverse(after and after.rank),
            before is None,
            in_own,
            in_between,
            in_between and len(clues.between) == 1,
            in_own and len(clues.own) == 1,
            number in clues.soon,
            number in clues.calls.called,
            number in clues.calls.named,
            number in clues.last.called,
            number in clues.last.named,
            number in clues.next.called,
            number in clues.next.named,
            number in clues.last_but_one,
            number in clues.next_but_one,
            clues.last.calls_man and is_man,
            clues.last.calls_man and is_woman,
            clues.last.calls_woman and is_woman,
            clues.last.calls_woman and is_man,
            clues.next.calls_man and is_man,
            clues.next.calls_man and is_woman,
            clues.next.calls_woman and is_woman,
            clues.next.calls_woman and is_man,
            use.is_introduced,
            math.log1p(use.count) / 3,
            use.n_owned / use.count if use.count else 0.0,
            head in GENERAL_NOUNS,
            head in KIN_NOUNS,
            bool(head) and head not in GENERAL_NOUNS and head not in KIN_NOUNS,
        ]

    def _of_utterance(self, clues: Clues, n_candidates: int, continues: bool) -> list[float]:
        """The features of `_OF_UTTERANCE`, the same for all candidates."""
        said = [clues.cue(cue) for cue in (Cue.SAYS_AFTER, Cue.SAYS_BEFORE)]
        beside = clues.cue(Cue.SAYS_BESIDE)
        nouns = [self._noun(mention) for mention in (*said, beside)]
        leading = [clues.cue(cue) for cue in (Cue.LEADS_IN, Cue.BETWEEN_LAST)]
        others = [self._noun(mention) for mention in (*said, *leading)]
        nothing_between = clues.n_between == 0 and clues.n_before == 0
        return [
            clues.calls.calls_man,
            clues.calls.calls_woman,
            n_candidates / 20,
            bool(clues.last.called),
            bool(clues.next.called),
            clues.is_first,
            continues,
            clues.n_between == 0,
            math.log1p(clues.n_before) / 5,
            math.log1p(clues.n_between),
            math.log1p(clues.n_after) / 5,
            nothing_between,
            any(said),
            beside is not None,
            math.log1p(len(clues.text)) / 6,
            clues.text.rstrip().endswith(_QUESTIONS),
            clues.goes_on,
            clues.answers,
            clues.last_asks,
            any(noun in OTHERS for noun in others),
            any(noun in KIN_NOUNS for noun in nouns),
        ]

    def _noun(self, mention: Mention | None) -> str:
        """The noun by which a mention names somebody who has no name; else ""."""
        if mention is None or mention.person is None:
            return ""
        return self._people[mention.person].head


def _inverse(rank: int | None) -> float:
    """Returns 1 for the first, 1/2 for the second ..., 0 for none."""
    return 0.0 if rank is None else 1 / (1 + rank)


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
    """The speakers of the utterances so far. People are numbers in the chapter."""

    last: int = _NOBODY  # the last speaker; -1 for none
    before_last: int = _NOBODY  # the last one who is not `last`
    third: int = _NOBODY  # the last one who is neither
    # for each speaker, the number of the utterance and the paragraph of the last time
    spoke: dict[int, tuple[int, int]] | None = None
    turns: dict[int, int] | None = None  # the number of turns of each speaker
    recent: tuple[int, ...] = ()  # the speakers of the last utterances
    n_utterances: int = 0  # the number of utterances so far

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
    """Returns the features of the candidates of an utterance: (candidates, len(HISTORY))."""
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
