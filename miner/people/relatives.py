"""A chapter and the kinship of its book -> the characters whom words for kin mean.

"Said her mother" means the mother of whoever is nearest and may be "her": a person whom the speech
calls, or whom narration names before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from miner.people.calls import find_called
from miner.people.kinship import Relation, fits
from miner.people.mentions import (
    NARRATOR_NUMBER,
    ChapterPeople,
    Mention,
    MentionKind,
    Person,
)
from miner.people.names import GENERAL_NOUNS, KINSHIP, NARRATOR, OWNING, PERSONAL

_OWNERS = 5  # people at most who may be "her"
_REMEMBERED = 12  # people named last who may be meant
# Of these somebody has one, who need not be at hand.
_ONE_EACH = {Relation.SPOUSE, Relation.PARENT}
_ABSENT = 0.6  # the weight of such a one, beside that of somebody at hand
_LEAST, _TIMES = 0.4, 2  # how much the best one must weigh, and how many times the next one


def find_relatives(chapter: ChapterPeople) -> ChapterPeople:
    """Returns a chapter whose words for kin mean characters, where it tells who they are."""
    reader = _Reader(chapter)
    mentions = tuple(reader.read(position) for position in range(len(chapter.mentions)))
    return replace(chapter, people=tuple(reader.people), mentions=mentions)


class _Reader:
    def __init__(self, chapter: ChapterPeople) -> None:
        self._chapter = chapter
        self.people = list(chapter.people)
        self._kinship = chapter.kinship
        self._characters = chapter.cast.characters
        self._numbers = {
            person.character: number
            for number, person in enumerate(self.people)
            if person.character is not None
        }
        self._recent: dict[int, None] = {}  # people whom narration named, the last one at the end

    def read(self, position: int) -> tuple[Mention, ...]:
        """The mentions of a paragraph; paragraphs are read in order."""
        found: list[Mention] = []
        called: list[int] | None = None
        last: Mention | None = None
        for mention in self._chapter.mentions[position]:
            if mention.kind is MentionKind.NOUN and self._is_kin(mention):
                if called is None:
                    called = self._called(position)
                owner = last.person if last and last.end == mention.start else None
                if (person := self._find(mention, owner, called)) is not None:
                    mention = mention._replace(person=person)
            if mention.kind is not MentionKind.PRONOUN and not mention.in_speech:
                self._remember(mention.person)
            found.append(mention)
            last = mention
        return tuple(found)

    def _is_kin(self, mention: Mention) -> bool:
        noun = "" if mention.person is None else self.people[mention.person].head
        if noun in GENERAL_NOUNS:  # "his lady", but not "the lady"
            return noun in KINSHIP and mention.determiner in PERSONAL
        return noun in KINSHIP

    def _remember(self, person: int | None) -> None:
        if person is not None and self.people[person].character is not None:
            self._recent.pop(person, None)
            self._recent[person] = None

    def _called(self, position: int) -> list[int]:
        paragraph = self._chapter.paragraphs[position]
        mentions = self._chapter.mentions[position]
        found: dict[int, None] = {}
        for start, end in paragraph.utterances:
            called, _ = find_called(paragraph.text, start, end, mentions)
            found.update(dict.fromkeys(sorted(called)))
        return list(found)

    def _find(self, mention: Mention, owner: int | None, called: Sequence[int]) -> int | None:
        """The number of the character whom a word for kin means."""
        assert mention.person is not None
        noun = self.people[mention.person].head
        relation = Relation(KINSHIP[noun])
        near = {n: rank for rank, n in enumerate(islice(reversed(self._recent), _REMEMBERED))}
        is_alone = not any(self.people[n].gender == mention.gender for n in near)
        # "Her mother" need not be at hand, as "the mother" and "her sister" must.
        has_owner = owner is not None or mention.determiner in OWNING
        is_owned = relation in _ONE_EACH and has_owner
        weights: dict[int, float] = {}
        owners = self._owners(mention, owner, called)
        for rank, number in enumerate(owners):
            if rank and not weights and owners[0] in called:
                break  # of whoever is called, nobody is known
            for kin, weight in self._kinship.find(self._character(number), relation).items():
                kin_number = self._numbers.get(kin)
                if kin_number in called or kin_number == number:
                    continue
                if mention.gender not in ("", self._characters[kin].gender):
                    continue
                if kin_number in near:
                    here = 1.0 if is_owned else 1 / (1 + near[kin_number])
                else:
                    here = _ABSENT * (is_owned and (kin_number is not None or is_alone))
                weights[kin] = max(weights.get(kin, 0.0), weight * here / (1 + rank / 2))
        ranked = sorted(weights, key=lambda kin: (-weights[kin], kin))
        if not ranked or weights[ranked[0]] < _LEAST:
            return None
        if len(ranked) > 1 and weights[ranked[0]] < _TIMES * weights[ranked[1]]:
            return None
        return self._number_of(ranked[0])

    def _owners(self, mention: Mention, owner: int | None, called: Sequence[int]) -> list[int]:
        """The people whose kin may be meant, the likeliest first."""
        if owner is not None:
            is_known = owner == NARRATOR_NUMBER or self.people[owner].character is not None
            return [owner] if is_known else []
        if mention.determiner in NARRATOR:
            return [NARRATOR_NUMBER]
        gender = PERSONAL.get(mention.determiner, "")
        found = dict.fromkeys((*called, *reversed(self._recent)))
        fitting = (n for n in found if fits(gender, self.people[n].gender))
        return list(islice(fitting, _OWNERS))

    def _character(self, number: int) -> int | None:
        return None if number == NARRATOR_NUMBER else self.people[number].character

    def _number_of(self, character: int) -> int:
        if character not in self._numbers:
            self._numbers[character] = len(self.people)
            one = self._characters[character]
            self.people.append(Person(one.kind, character, gender=one.gender))
        return self._numbers[character]
