"""The names of a book and the words around them -> who is whose kin.

A book tells it beside a name ("his niece Dorothy", "Frank, the son of Mr. Dale"), and by its titles
and surnames: Mr. and Mrs. Dale are husband and wife, and Frank Dale is their child or a brother.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations, permutations
from typing import NamedTuple

from miner.people.cast import Cast
from miner.people.names import (
    DETERMINERS,
    GENERAL_NOUNS,
    KINSHIP,
    MEMBERS_OF,
    NARRATOR,
    NOUNS,
    OWNING,
    OWNING_ENDING,
    PERSONAL,
    SURNAME_TITLES,
    TITLES,
    WIVES,
    Name,
    Paragraph,
)
from miner.speech.narration import SENTENCE_END

_BESIDE = 50  # characters beside a name in which a word for kin is looked for
_TOLD = 2.0  # the weight of what a book says beside a name ("Mr. Dale’s niece")
# The same if a pronoun says whose kin it is, after a name in its sentence, or before it.
_TOLD_IN_SENTENCE, _TOLD_BEFORE = 1.0, 0.4
_SPOUSES, _FAMILY, _PERHAPS = 2.0, 1.0, 0.3  # the weight of titles and surnames
_DERIVED = 0.5  # the share of the weight that goes on to kin of kin
_LARGEST_FAMILY = 12  # people of one surname; more of them are a clan

_WORDS = sorted(KINSHIP.keys() - GENERAL_NOUNS, key=lambda word: (-len(word), word))
_ANY_KIN = f"(?:{'|'.join(_WORDS) or '(?!)'})"
_ADJECTIVES = r"(?:[a-zà-ÿ-]+\s+){0,2}?"
# "his niece" and "Mr. Dale’s niece" before a name; "his niece" and "the niece of" after it
_BEFORE = re.compile(
    rf"(?:\b(?P<owner>{DETERMINERS})|(?:{OWNING_ENDING}))\s+{_ADJECTIVES}(?P<kin>{_ANY_KIN})(?P<comma>,?)\s+$"
)
_CLOSED = re.compile(r"[,.;)—](?!\s+(?:and|or)\b)")
_AFTER = re.compile(
    rf",?\s+(?P<owner>{DETERMINERS})\s+{_ADJECTIVES}(?P<kin>{_ANY_KIN})"
    rf"(?:(?=[,;.)—])|\s+(?P<of>{MEMBERS_OF})\s+$)"
)

Weights = Mapping[int, float]  # of people, who are positions in the cast
NOBODY: Weights = {}


class Relation(StrEnum):
    """What somebody is to another one, of any gender."""

    SPOUSE = "spouse"
    PARENT = "parent"
    CHILD = "child"
    SIBLING = "sibling"
    AUNT = "aunt"
    NIECE = "niece"
    GRANDPARENT = "grandparent"
    GRANDCHILD = "grandchild"
    MASTER = "master"
    SERVANT = "servant"

    @property
    def inverse(self) -> Relation:
        """What the other one is to somebody."""
        return _INVERSE.get(self, self)


_PAIRS = (
    (Relation.PARENT, Relation.CHILD),
    (Relation.AUNT, Relation.NIECE),
    (Relation.GRANDPARENT, Relation.GRANDCHILD),
    (Relation.MASTER, Relation.SERVANT),
)
_INVERSE = {one: other for pair in _PAIRS for one, other in permutations(pair)}
# The kin of kin: a sibling's parent is a parent, too.
_OF_KIN = (
    (Relation.SIBLING, Relation.PARENT, Relation.PARENT),
    (Relation.PARENT, Relation.SPOUSE, Relation.PARENT),
    (Relation.SIBLING, Relation.SIBLING, Relation.SIBLING),
    (Relation.PARENT, Relation.CHILD, Relation.SIBLING),
    (Relation.AUNT, Relation.SPOUSE, Relation.AUNT),
    (Relation.PARENT, Relation.SIBLING, Relation.AUNT),
    (Relation.SIBLING, Relation.AUNT, Relation.AUNT),
)
_THE_NARRATOR = -1


@dataclass(frozen=True, slots=True)
class Kinship:
    """Who is whose kin in a book."""

    _of: Mapping[tuple[int, Relation], Weights] = field(default_factory=dict, repr=False)

    def find(self, owner: int | None, relation: Relation) -> Weights:
        """Returns the weight of each person who may be that to somebody; None is the narrator."""
        return self._of.get((_THE_NARRATOR if owner is None else owner, relation), NOBODY)


def find_kinship(
    paragraphs: Sequence[Paragraph],
    names: Sequence[Name],
    mentioned: Sequence[int | None],
    cast: Cast,
) -> Kinship:
    """Returns who is whose kin in a book; `mentioned` is whom each name means."""
    table = _Table(cast)
    table.read_surnames()
    places = [
        _Place(name, meant)
        for name, meant in zip(names, mentioned, strict=True)
        if meant is not None
    ]
    for n, place in enumerate(places):
        table.read_place(places, n, paragraphs[place.name.paragraph].text)
    return table.kinship()


class _Place(NamedTuple):
    name: Name
    person: int


class _Table:
    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._weights: defaultdict[tuple[int, Relation], dict[int, float]] = defaultdict(dict)

    def kinship(self) -> Kinship:
        """What was read, with the kin of kin."""
        direct = {key: dict(weights) for key, weights in self._weights.items()}
        for (owner, relation), weights in direct.items():
            for first, second, derived in _OF_KIN:
                if relation is first:
                    for kin, weight in weights.items():
                        for other, next_weight in direct.get((kin, second), {}).items():
                            if other != owner:
                                strength = _DERIVED * min(weight, next_weight)
                                self._raise(owner, derived, other, strength)
        return Kinship(self._weights)

    def _raise(self, owner: int, relation: Relation, person: int, weight: float) -> None:
        known = self._weights[owner, relation]
        known[person] = max(known.get(person, 0.0), weight)

    def _add(self, owner: int, relation: Relation, person: int, weight: float) -> None:
        if owner != person:
            both = (owner, relation, person), (person, relation.inverse, owner)
            for one, its, other in both:
                known = self._weights[one, its]
                known[other] = known.get(other, 0.0) + weight

    def read_place(self, places: Sequence[_Place], n: int, text: str) -> None:
        """Reads the words for kin beside a name."""
        name, person = places[n]
        gender = self._cast.characters[person].gender
        before = text[max(0, name.start - _BESIDE) : name.start]
        match = _BEFORE.search(before)
        # "His sister, Kate, sat" is no list.
        is_one = match and (not match["comma"] or _CLOSED.match(text, name.end))
        if match and is_one and fits(NOUNS.get(match["kin"], ""), gender):
            start = name.start - len(before) + match.start()
            self._tell(places, n, start, match, person, text)
        following = places[n + 1] if n + 1 < len(places) else None
        is_near = following is not None and following.name.paragraph == name.paragraph
        end = following.name.start if following and is_near else len(text)
        match = _AFTER.match(text, name.end, min(end, name.end + _BESIDE))
        if match and fits(NOUNS.get(match["kin"], ""), gender):
            relation = Relation(KINSHIP[match["kin"]])
            if match["of"]:
                if following and is_near:
                    self._add(following.person, relation, person, _TOLD)
            elif match["owner"].lower() in OWNING:
                self._tell(places, n, name.start, match, person, text)

    def _tell(
        self,
        places: Sequence[_Place],
        n: int,
        start: int,
        match: re.Match[str],
        person: int,
        text: str,
    ) -> None:
        """Adds that somebody named before a place has a person as kin."""
        relation = Relation(KINSHIP[match["kin"]])
        owner = (match["owner"] or "").lower()
        name = places[n].name
        before = places[n - 1] if n and places[n - 1].name.paragraph == name.paragraph else None
        if not owner:  # "Mr. Dale’s niece Dorothy"
            if before and before.name.end == start:
                self._add(before.person, relation, person, _TOLD)
        elif owner in NARRATOR:
            if not name.in_speech:
                self._add(_THE_NARRATOR, relation, person, _TOLD)
        elif owner in PERSONAL and before and before.name.in_speech == name.in_speech:
            gender = self._cast.characters[before.person].gender
            is_same = not SENTENCE_END.search(text, before.name.end, start)
            if fits(PERSONAL[owner], gender):
                weight = _TOLD_IN_SENTENCE if is_same else _TOLD_BEFORE
                self._add(before.person, relation, person, weight)

    def read_surnames(self) -> None:
        """Reads the titles and the surnames of the characters."""
        families: defaultdict[str, dict[int, set[str]]] = defaultdict(dict)
        for form, meant in self._cast.forms.items():
            titles = set(form.titles)
            for surname in form.words[-1:]:
                if surname != form.words[0] or titles & SURNAME_TITLES:
                    families[surname].setdefault(meant[0], set()).update(titles)
        for surname in sorted(families):
            if 1 < len(families[surname]) <= _LARGEST_FAMILY:
                self._read_family(families[surname])

    def _read_family(self, family: Mapping[int, set[str]]) -> None:
        people = sorted(family)
        wives = [one for one in people if family[one] & WIVES]
        heads = [
            one
            for one in people
            if self._cast.characters[one].gender == "m"
            and any(TITLES.get(title) == "m" for title in family[one])
        ]
        if len(wives) == 1 and len(heads) == 1:
            self._add(wives[0], Relation.SPOUSE, heads[0], _SPOUSES)
        parents = [*wives, *heads] if len(wives) <= 1 and len(heads) <= 1 else []
        others = [one for one in people if one not in wives and one not in heads]
        sure = _FAMILY if len(parents) > 1 else _PERHAPS
        for one in others:
            for parent in parents:
                self._add(one, Relation.PARENT, parent, sure)
                if sure == _PERHAPS:
                    self._add(one, Relation.SIBLING, parent, _PERHAPS)
        for one, other in combinations(others, 2):
            self._add(one, Relation.SIBLING, other, sure)


def fits(noun: str, gender: str) -> bool:
    """Whether somebody of a gender may have a noun of a gender; "" may be either."""
    return not noun or not gender or noun == gender
