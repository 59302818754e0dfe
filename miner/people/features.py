"""The clues of a chapter -> the candidates for the speaker of each utterance, and their features.

A feature compares one candidate with the clues of one utterance: is it the subject of "said"? Does
"she" fit it, and how many others that fit were mentioned since? The unknown person is always a
candidate. Who spoke before is no feature: see `chain`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from miner.people.cast import Character, Kind
from miner.people.clues import ChapterClues, Clues, Cue, NounUse
from miner.people.exchanges import Speech, count_exchanges
from miner.people.kinship import Relation
from miner.people.mentions import (
    NARRATOR_NUMBER,
    UNKNOWN_NUMBER,
    BookPeople,
    Mention,
    MentionKind,
    Person,
)
from miner.people.names import GENERAL_NOUNS, KIN_NOUNS, KINSHIP, OTHERS
from miner.people.narrators import Doings
from miner.people.nouns import is_group
from miner.people.presence import PRESENCE, find_presence
from miner.speech.narration import SENTENCE_END

MOST_CANDIDATES = 24  # for one utterance; the least likely others are left out
_RECENT_UTTERANCES = 15  # whose candidates stay at hand
_MAIN_PEOPLE = 10  # of a chapter, who stay at hand from their first mention on
_ALWAYS = 4  # of a chapter, who are at hand everywhere in it; some are named late
_SOON = 3  # paragraphs before its first mention in which a main person may speak already
_TAGS = 2  # the first cues, which are attributions of the utterance itself
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
    "one of few who fit the pronoun",
    "takes the turns of the one who is said to speak",
    "takes turns with the one who is said to speak",
    "in one sentence with the one who is said to speak",
    "in one sentence with it: share",
    "called by the other speech of its paragraph",
    "told by the narration of its paragraph",
    "kin of the kind that it calls is at hand",
    "kin of the kind that the last calls",
    "kin of the kind that the next calls",
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
    "cue is a group",
    "cue of another utterance of its paragraph comes before",
)
FEATURES = (
    *(f"{cue.value}: {kind}" for cue in Cue for kind in _OF_CUE),
    *_OF_CANDIDATE,
    *PRESENCE,
    *_OF_UTTERANCE,
)
_NO_DOINGS = Doings(0, 0, 0, 0)
_QUESTIONS = ("?", "?”", "?’", '?"', "?'", "?»")
Array = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class CandidateChapter:
    """A chapter as the model of the speakers reads it."""

    people: tuple[Person, ...]  # the people of the chapter
    spans: tuple[int, ...]  # the position of each utterance in the spans of the book
    candidates: tuple[tuple[int, ...], ...]  # the numbers of the candidates of each utterance
    # the candidate whom a name beside a verb of saying says to speak each utterance; None without
    facts: tuple[int | None, ...]
    # of each utterance, (candidates, len(FEATURES)); float32, or float16 in examples
    features: tuple[Array, ...]


def read_candidates(
    found: ChapterClues, book: BookPeople, continuing: frozenset[int] | set[int]
) -> CandidateChapter:
    """Returns the candidates of a chapter."""
    reader = _Reader(found, book)
    candidates = reader.candidates()
    features = tuple(
        reader.features(n, people, clues.span in continuing)
        for n, (clues, people) in enumerate(zip(found.clues, candidates, strict=True))
    )
    return CandidateChapter(
        found.chapter.people,
        tuple(clues.span for clues in found.clues),
        tuple(map(tuple, candidates)),
        tuple(map(_fact, found.clues, candidates)),
        features,
    )


def _fact(clues: Clues, candidates: Sequence[int]) -> int | None:
    """Returns the candidate whom a name beside a verb of saying says to speak an utterance.

    One whom the utterance calls does not speak it. Whoever heads it may be a noun: "2ND SAILOR."
    """
    tag = clues.tag
    if tag is None or tag.person in clues.calls.called:
        return None
    if tag.kind is not MentionKind.NAME and not clues.is_headed:
        return None
    return tag.person if tag.person in candidates else None


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
        self._genders = [self._gender(person, characters) for person in self._people]
        self._of_chapter = found.n_mentions
        doings = [
            _NO_DOINGS if person.character is None else book.narration.doings[person.character]
            for person in self._people
        ]
        self._presence = find_presence(found, doings)
        self._exchanges = count_exchanges(list(_speeches(found)))
        self._sentences = _sentences(found)
        self._all = sum(self._of_chapter) or 1

    @staticmethod
    def _gender(person: Person, characters: Sequence[Character]) -> str:
        """The gender of a person; that of a nameless narrator is not known."""
        if person.character is not None:
            return characters[person.character].gender
        return "" if person.kind is Kind.NARRATOR else person.gender

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

    def features(self, n: int, candidates: Sequence[int], continues: bool) -> Array:
        """The features of the candidates of an utterance: (candidates, len(FEATURES))."""
        clues, presence = self._found.clues[n], self._presence[n]
        fitting = self._fitting(clues.said, clues, candidates)
        kin = self._of_kin(clues, candidates)
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
            at += len(values)
            values = (
                *self._of_tag(clues.said, number, fitting),
                number in clues.beside.called,
                number == clues.told,
                *kin.get(number, (0.0, 0.0, 0.0)),
            )
            row[at : at + len(values)] = values
            at += len(values)
            row[at : at + len(PRESENCE)] = presence[number]
            row[at + len(PRESENCE) :] = of_utterance
        return rows

    def _fitting(self, said: Mention | None, clues: Clues, candidates: Sequence[int]) -> set[int]:
        """The people at hand who have the gender of the pronoun that is said to speak."""
        if said is None or said.person is not None or said.gender not in ("m", "f"):
            return set()
        near = clues.at_hand.union(clues.recent)
        return {n for n in candidates if n in near and self._people[n].gender == said.gender}

    def _of_tag(self, said: Mention | None, number: int, fitting: set[int]) -> tuple[float, ...]:
        """The features that compare a candidate with the subject of the verb of saying."""
        if said is None or said.person is None or said.person == number:
            return (1 / len(fitting) if number in fitting else 0.0, 0.0, 0.0, 0.0, 0.0)
        own, other = self._sentences[number], self._sentences[said.person]
        together = len(own & other)
        return (
            0.0,
            math.log1p(self._exchanges.alike[said.person][number]),
            math.log1p(self._exchanges.apart[said.person][number]),
            math.log1p(together),
            together / min(len(own), len(other)) if together else 0.0,
        )

    def _of_kin(
        self, clues: Clues, candidates: Sequence[int]
    ) -> dict[int, tuple[float, float, float]]:
        """The features of the words for kin by which speech calls somebody ("Yes, aunt").

        They are those of each candidate; where no such word stands, there are none.
        """
        called, by_last, by_next = (
            [Relation(KINSHIP[title]) for title in titles if title in KINSHIP]
            for titles in (
                clues.calls.titles | clues.beside.titles,
                clues.last.titles,
                clues.next.titles,
            )
        )
        if not (called or by_last or by_next):
            return {}
        characters = {n: one for n in candidates if (one := self._people[n].character) is not None}
        find = self._found.chapter.kinship.find

        def most(number: int, relations: Iterable[Relation], *, own: bool) -> float:
            """The greatest weight with which others are kin of one, or one of others, 0 to 1."""
            one = characters[number]
            weights = (
                find(one, relation).get(other, 0.0) if own else find(other, relation).get(one, 0.0)
                for relation in relations
                for other in characters.values()
                if other != one
            )
            weight = max(weights, default=0.0)
            return weight / (1 + weight)

        return {
            number: (
                most(number, called, own=True),
                most(number, by_last, own=False),
                most(number, by_next, own=False),
            )
            for number in characters
        }

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
        # A narrator is no "he" or "she", but may be called "sir" or "madam".
        gender = self._genders[number]
        is_man, is_woman = gender == "m", gender == "f"
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
            not gender,
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
            any(map(is_group, filter(None, nouns))),
            clues.beside_before,
        ]

    def _noun(self, mention: Mention | None) -> str:
        """The noun by which a mention names somebody who has no name; else ""."""
        if mention is None or mention.person is None:
            return ""
        return self._people[mention.person].head


def _sentences(found: ChapterClues) -> list[set[tuple[int, int]]]:
    """Returns the sentences of narration that mention each person of a chapter.

    A sentence is the position of its paragraph, and its number there.
    """
    sentences: list[set[tuple[int, int]]] = [set() for _ in found.chapter.people]
    chapter = found.chapter
    for position, (paragraph, mentions) in enumerate(
        zip(chapter.paragraphs, chapter.mentions, strict=True)
    ):
        told = [m for m in mentions if m.person is not None and not m.in_speech]
        if told:
            ends = [match.end() for match in SENTENCE_END.finditer(paragraph.narration)]
            for mention in told:
                assert mention.person is not None
                sentences[mention.person].add((position, bisect_right(ends, mention.start)))
    return sentences


def _speeches(found: ChapterClues) -> Iterator[Speech[int]]:
    """Yields who is said to speak in each paragraph of speech, and whom it calls."""
    for paragraph, group in groupby(found.clues, key=lambda clues: clues.paragraph):
        of_paragraph = list(group)
        tags = (tag for clues in of_paragraph for tag in clues.cues[:_TAGS] if tag is not None)
        speakers = {tag.person for tag in tags if tag.person is not None}
        only = next(iter(speakers)) if len(speakers) == 1 else None
        called = frozenset().union(*(clues.calls.called for clues in of_paragraph))
        yield Speech(paragraph, only, tuple(sorted(called)))


def _inverse(rank: int | None) -> float:
    """Returns 1 for the first, 1/2 for the second ..., 0 for none."""
    return 0.0 if rank is None else 1 / (1 + rank)
