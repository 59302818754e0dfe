"""A book and its cast -> the people of each chapter, and every place that mentions one of them.

A person of a chapter is a character of the cast, somebody whom a noun names ("the waiter"), the
narrator ("I"), who may be a character, too, or an unknown one. A noun is the character who has its
title ("the captain" is Captain Good) where the chapter, or else the book, has one such character,
or of whom the book says it (`miner.people.appositions`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import attrgetter
from typing import NamedTuple

from miner.people.appositions import Roles, find_roles
from miner.people.cast import Cast, Character, Kind, find_mentions
from miner.people.characters import find_characters
from miner.people.given_cast import cast_from_characters, find_unlisted
from miner.people.kinship import Kinship, find_kinship
from miner.people.names import (
    INTRODUCING,
    KINSHIP,
    NARRATOR,
    NOUNS,
    OWNING,
    PARTS,
    PERSONAL,
    SUBJECTS,
    TITLES_OF_NOUNS,
    Name,
    Paragraph,
    find_names,
    join_spans,
)
from miner.people.narrators import Narration, find_narrators
from miner.people.nouns import NounPhrase, find_nouns
from miner.speech.spans import BookSpans

# A title without a name is the character who has it so many times as often as the next one.
_MAIN_BEARER = 5
_OFTEN = 0.03  # the share of a character's mentions with a title from which on it is its title
_NOBODY_AT_HAND = 2  # people of every chapter: the narrator and the unknown one

_GAP = re.compile(r"\s+")
_PRONOUNS = sorted({*SUBJECTS, *PERSONAL, *NARRATOR})
_PRONOUN = re.compile(rf"(?<![\w’'-])(?i:{'|'.join(_PRONOUNS) or '(?!)'})(?![\w-])(?!’[dl])")


class MentionKind(StrEnum):
    """How a place mentions a person."""

    NAME = "name"
    NOUN = "noun"
    PRONOUN = "pronoun"


class Mention(NamedTuple):
    """A place that mentions a person."""

    start: int  # the first character in the text of its paragraph
    end: int  # the character after the last
    kind: MentionKind  # how it mentions the person
    person: int | None  # the number of the person in the chapter; None for a pronoun
    gender: str  # "m", "f", "t" for they, "i" for the narrator, "" if it is not known
    # whether it stands in an utterance. Nouns and pronouns there are not mentions.
    in_speech: bool = False
    may_act: bool = True  # whether it can be a subject; "him" cannot
    determiner: str = ""  # the word before a noun, in small letters; "" for other mentions
    noun: str = ""  # a noun of which the chapter does not know yet that it is a person; else ""


@dataclass(frozen=True, slots=True)
class Person:
    """A person of a chapter."""

    kind: Kind | None  # how the person is known; None for the unknown one
    character: int | None = None  # the position in the cast; None for somebody who is not there
    noun: str = ""  # the noun of an unnamed person, after a word that numbers it: "second man"
    gender: str = ""  # "m", "f", "i" for the narrator, or ""

    @property
    def head(self) -> str:
        """The noun without the word that numbers it."""
        return self.noun.rpartition(" ")[2]


NARRATOR_NUMBER, UNKNOWN_NUMBER = 0, 1  # of the narrator and the unknown person in every chapter


@dataclass(frozen=True, slots=True)
class ChapterPeople:
    """A chapter with its people."""

    number: int  # the number of the chapter
    paragraphs: tuple[Paragraph, ...]
    # its people: the narrator, the unknown one, and the others as they appear
    people: tuple[Person, ...]
    mentions: tuple[tuple[Mention, ...], ...]  # the mentions in each paragraph, in order
    first_person: bool  # whether the narrator of most of it is part of the story
    cast: Cast  # the characters of the book
    kinship: Kinship  # who is whose kin in the book
    roles: Mapping[str, int]  # the characters whom the book says nouns to mean in the chapter


def mentions_between(mentions: Sequence[Mention], start: int, end: int) -> Sequence[Mention]:
    """Returns the mentions of a paragraph, which are in order, that begin in a stretch of it."""
    first = bisect_left(mentions, start, key=_start_of)
    return mentions[first : bisect_left(mentions, end, first, key=_start_of)]


_start_of = attrgetter("start")


_Bearers = dict[str, Counter[int]]  # the characters who have each title, with their mentions


class _NamedPlace(NamedTuple):
    start: int
    end: int
    character: int
    in_speech: bool


@dataclass(frozen=True, slots=True)
class BookPeople:
    """A book with its cast."""

    paragraphs: tuple[Paragraph, ...]  # the paragraphs of the book
    cast: Cast  # its characters
    narration: Narration  # who tells it, and what each of its characters is seen to do
    _named: tuple[tuple[_NamedPlace, ...], ...]
    _bearers: _Bearers
    _roles: Roles
    _kinship: Kinship
    unlisted: tuple[str, ...] = ()  # the names of those who often speak and a given list lacks

    def chapters(self) -> Iterator[ChapterPeople]:
        """Yields the chapters that hold an utterance to be tagged, in order."""
        positions: defaultdict[int, list[int]] = defaultdict(list)
        for position, paragraph in enumerate(self.paragraphs):
            positions[paragraph.chapter].append(position)
        for number in sorted(positions):
            if any(self.paragraphs[position].spans for position in positions[number]):
                yield self._read_chapter(number, positions[number])

    def _read_chapter(self, number: int, positions: Sequence[int]) -> ChapterPeople:
        narrator, first_person = self.narration.of_chapter(positions)
        named = {place.character for position in positions for place in self._named[position]}
        roles = self._roles.of_chapter(number, named)
        people = _PeopleOfChapter(self.cast, narrator, roles)
        found: list[tuple[Mention, ...]] = []
        for position in positions:
            narration = self.paragraphs[position].narration
            mentions = [
                Mention(
                    place.start,
                    place.end,
                    MentionKind.NAME,
                    people.number_of(place.character),
                    self.cast.characters[place.character].gender,
                    place.in_speech,
                )
                for place in self._named[position]
            ]
            is_free = _free_places(mentions)
            named_at = {
                mention.start: mention.person for mention in mentions if not mention.in_speech
            }
            for phrase in find_nouns(narration):
                is_part = phrase.noun in PARTS and phrase.determiner in OWNING
                if is_free(phrase.start, phrase.end) and not is_part:
                    gap = _GAP.match(narration, phrase.end)
                    person = named_at.get(gap.end()) if gap else None  # "the poet Bell"
                    if person is None:
                        person = people.of_noun(phrase, self._bearers, named)
                    mentions.append(_noun_mention(phrase, person))
            is_free = _free_places(mentions)
            teller = self.narration.narrators[position]
            i = NARRATOR_NUMBER if teller is None else people.number_of(teller)
            mentions += [m for m in _find_pronouns(narration, i) if is_free(m.start, m.end)]
            found.append(tuple(sorted(mentions, key=lambda mention: mention.start)))
        return ChapterPeople(
            number,
            tuple(self.paragraphs[position] for position in positions),
            tuple(people.people),
            tuple(found),
            first_person,
            self.cast,
            self._kinship,
            roles,
        )


def read_people(book_spans: BookSpans, characters: Sequence[Character] | None = None) -> BookPeople:
    """Returns a book with its cast."""
    return people_from_paragraphs(join_spans(book_spans), characters)


def people_from_paragraphs(
    paragraphs: tuple[Paragraph, ...], characters: Sequence[Character] | None = None
) -> BookPeople:
    """Returns the book of these paragraphs with its cast, as `read_people` does."""
    names = find_names(paragraphs)
    cast = find_characters(paragraphs, names)
    cast, narration = find_narrators(paragraphs, names, cast, joins=True)
    unlisted: tuple[str, ...] = ()
    if characters is not None:
        found, cast = cast, cast_from_characters(characters, names, cast)
        unlisted = find_unlisted(cast, names, found)
        cast, narration = find_narrators(paragraphs, names, cast, joins=False)
    named: list[list[_NamedPlace]] = [[] for _ in paragraphs]
    mentioned = find_mentions(cast.forms, names, paragraphs)
    counts = Counter(mentioned)
    counted = (
        replace(character, n_mentions=counts[position])
        for position, character in enumerate(cast.characters)
    )
    cast = replace(cast, characters=tuple(counted))  # a given list does not count them
    for name, meant in zip(names, mentioned, strict=True):
        if meant is not None:
            named[name.paragraph].append(_NamedPlace(name.start, name.end, meant, name.in_speech))
    bearers = _bearers_of_titles(cast, names, mentioned)
    roles = find_roles(paragraphs, names, mentioned)
    kinship = find_kinship(paragraphs, names, mentioned, cast)
    places = tuple(map(tuple, named))
    return BookPeople(paragraphs, cast, narration, places, bearers, roles, kinship, unlisted)


def _bearers_of_titles(
    cast: Cast, names: Sequence[Name], mentioned: Sequence[int | None]
) -> _Bearers:
    """Returns the characters whom the book often names with each title."""
    titled: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for name, meant in zip(names, mentioned, strict=True):
        if meant is not None and name.form.words:
            for title in name.form.titles:
                titled[title][meant] += 1
    return {
        title: Counter(
            {
                meant: cast.characters[meant].n_mentions
                for meant, n in counts.items()
                if n >= _OFTEN * cast.characters[meant].n_mentions
            }
        )
        for title, counts in titled.items()
    }


class _PeopleOfChapter:
    """The people of a chapter, numbered as they appear."""

    def __init__(self, cast: Cast, narrator: int | None, roles: Mapping[str, int]) -> None:
        self._cast = cast
        self._roles = roles
        self._numbers: dict[int | str, int] = {}
        if narrator is not None:
            self._numbers[narrator] = NARRATOR_NUMBER
        self.people = [Person(Kind.NARRATOR, narrator, gender="i"), Person(None)]
        assert len(self.people) == _NOBODY_AT_HAND

    def number_of(self, key: int | str) -> int:
        """The number of a character (by its position in the cast), or of a noun."""
        if key not in self._numbers:
            self._numbers[key] = len(self.people)
            if isinstance(key, int):
                character = self._cast.characters[key]
                self.people.append(Person(character.kind, key, "", character.gender))
            else:
                gender = NOUNS.get(key.rpartition(" ")[2], "")
                self.people.append(Person(Kind.UNNAMED, None, key, gender))
        return self._numbers[key]

    def of_noun(self, phrase: NounPhrase, bearers: _Bearers, named: set[int]) -> int:
        """The number of the person whom a noun means."""
        noun = phrase.noun
        if given := self._cast.nouns.get(noun):
            return self.number_of(next((one for one in given if one in named), given[0]))
        # Whose father "the father" is, is told by others; a priest has a title and a name.
        titles = frozenset() if noun in KINSHIP else TITLES_OF_NOUNS.get(noun, frozenset())
        counts = sum((bearers.get(title, Counter()) for title in sorted(titles)), Counter())
        here = [character for character in counts if character in named]
        if len(here) == 1:
            return self.number_of(here[0])
        if not here and counts:
            (main, most), *others = counts.most_common(2)
            if not others or most > _MAIN_BEARER * others[0][1]:
                return self.number_of(main)
        is_role = not phrase.number and phrase.determiner not in INTRODUCING
        if not counts and is_role and noun in self._roles:
            return self.number_of(self._roles[noun])
        return self.number_of(phrase.name)


def _noun_mention(phrase: NounPhrase, person: int) -> Mention:
    place = phrase.start, phrase.end
    gender = NOUNS[phrase.noun]
    return Mention(*place, MentionKind.NOUN, person, gender, determiner=phrase.determiner)


def _find_pronouns(narration: str, narrator: int) -> Iterator[Mention]:
    for match in _PRONOUN.finditer(narration):
        word = match[0].lower()
        gender = "i" if word in NARRATOR else SUBJECTS.get(word) or PERSONAL[word]
        person = narrator if gender == "i" else None
        yield Mention(*match.span(), MentionKind.PRONOUN, person, gender, may_act=word in SUBJECTS)


def _free_places(mentions: Sequence[Mention]) -> Callable[[int, int], bool]:
    """Returns a function that says whether a place touches none of the mentions."""
    taken = sorted((mention.start, mention.end) for mention in mentions)

    def is_free(start: int, end: int) -> bool:
        before = bisect_left(taken, (end,))
        return not before or taken[before - 1][1] <= start

    return is_free
