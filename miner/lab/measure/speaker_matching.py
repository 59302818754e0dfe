"""A speaker as an annotator writes it -> the person of a chapter who is meant.

Annotators give a speaker one name all through a chapter: "Mr Bennet", "waiter", "first voice". The
names of two people of a chapter never mean one person, so all names of a chapter are matched
together, the surest first.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from miner.people.cast import Cast
from miner.people.clues import Clues, Cue
from miner.people.given_names import may_be_one
from miner.people.mentions import NARRATOR_NUMBER, MentionKind, Person
from miner.people.names import (
    MEMBERS,
    OWNING_ENDING,
    PLACE_OF_NOUN,
    TITLES_OF_NOUNS,
    Form,
    gender_of_titles,
    parse_form,
)
from miner.people.nouns import singular_of

_SEVERAL = re.compile(r",| and | & ")
_OWNED = re.compile(rf"(?:{OWNING_ENDING})\s+(?=[a-zà-ÿ])")
_MEMBER = re.compile(rf"(?:{MEMBERS})\b.* (?:{PLACE_OF_NOUN}) ")
_PLACE = re.compile(rf"\b(?:{PLACE_OF_NOUN})\b")
_SAID = (Cue.SAYS_AFTER, Cue.SAYS_BEFORE, Cue.SAYS_BESIDE)
# How sure a match is; of two matches the surer one wins.
_WHOLE, _SAME_WORDS, _FIRST_WORD, _SOME_WORDS, _SHORT_NAME, _TITLE = 4.0, 3.0, 2.6, 2.0, 1.4, 0.9
_NOUN, _NUMBERED_NOUN = 2.0, 3.0
_NARRATOR, _LEFT_OVER = 9.0, 0.1
_TOLD, _OFTEN_TOLD = 5.5, 2  # if all the verbs of saying beside its words name the person
_AT_HAND, _BY_NAME = 0.8, 0.5  # what it adds if all its utterances have the person at hand, or said


def match_speakers(
    names: Sequence[str],
    clues: Sequence[Clues],
    people: Sequence[Person],
    cast: Cast,
    *,
    first_person: bool,
    unknown: str,
) -> dict[str, int]:
    """Returns the person of each name of a chapter; names that match nobody are left out."""
    forms: defaultdict[int, list[Form]] = defaultdict(list)
    for form, meant in cast.forms.items():
        forms[meant[0]].append(form)
    utterances: defaultdict[str, list[int]] = defaultdict(list)
    for n, name in enumerate(names):
        if name != unknown:
            utterances[name].append(n)
    matches: list[tuple[float, str, int]] = []
    for name, numbers in utterances.items():
        said = [m for n in numbers for cue in _SAID if (m := clues[n].cue(cue)) is not None]
        by_self = sum(mention.person == NARRATOR_NUMBER for mention in said)
        if first_person and by_self > len(said) - by_self:
            matches.append((_NARRATOR + by_self, name, NARRATOR_NUMBER))
            continue
        at_hand = Counter(person for n in numbers for person in clues[n].at_hand)
        told = Counter(
            m.person
            for n in numbers
            for cue in _SAID[:2]
            if (m := clues[n].cue(cue)) is not None and m.kind is not MentionKind.PRONOUN
        )
        wanted = _Wanted(name)
        for number, person in enumerate(people):
            score = wanted.score(person, forms, cast)
            if score:
                score += _AT_HAND * at_hand[number] / len(numbers)
                score += _BY_NAME * told[number] / len(numbers)
            if person.kind and told[number] >= _OFTEN_TOLD:
                score = max(score, _TOLD * told[number] / told.total())
            if score:
                matches.append((score, name, number))
        if first_person:
            matches.append((_LEFT_OVER * len(numbers) / len(names), name, NARRATOR_NUMBER))
    found: dict[str, int] = {}
    taken: set[int] = set()
    for _, name, number in sorted(matches, key=lambda item: (-item[0], *item[1:])):
        if name not in found and number not in taken:
            found[name] = number
            taken.add(number)
    return found


class _Wanted:
    """A name that is looked for."""

    def __init__(self, name: str) -> None:
        self._is_one = not _SEVERAL.search(name)
        name = _OWNED.split(name, maxsplit=1)[-1]  # "Tull's companion" is a companion
        self._member = ""  # "man" for "one of the men at the door"
        if _MEMBER.match(name):
            name, several, *_ = _PLACE.split(name)
            self._member = singular_of(several.split()[-1])
        self._form = parse_form(name)
        self._is_named = any(letter.isupper() for letter in name)
        self._words = [word.lower() for word in self._form.words]
        self._gender = gender_of_titles(self._form.titles)
        self._phrase = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", _PLACE.split(name.lower())[0])

    def score(self, person: Person, forms: Mapping[int, Sequence[Form]], cast: Cast) -> float:
        """How well the name fits a person; 0 where it does not."""
        if not self._is_one or person.kind is None:
            return 0.0
        if person.character is None:
            return self._score_noun(person)
        gender = cast.characters[person.character].gender
        if self._gender and gender and self._gender != gender:
            return 0.0
        own = forms.get(person.character, ())
        return max((self._score_form(form) for form in own), default=0.0)

    def _score_form(self, form: Form) -> float:
        plain = form.plain
        titles, words = set(plain.titles), [word.lower() for word in plain.words]
        mine = set(self._form.plain.titles)
        if not self._words:  # "the captain", "Mother"
            head = (*self._form.titles, "")[0] if self._form.titles else ""
            if not words and titles and head in titles:
                return _SAME_WORDS
            return _TITLE if titles & (TITLES_OF_NOUNS.get(head, frozenset((head,)))) else 0.0
        if not self._is_named:
            if [*plain.titles, *words] == self._phrase:
                return _SAME_WORDS  # "scarecrow" for "the Scarecrow"
            noun = self._phrase[-1] if self._phrase else ""
            return _TITLE if titles & TITLES_OF_NOUNS.get(noun, frozenset()) else 0.0
        if not words:
            return 0.0
        if words == self._words:
            if titles == mine:
                return _WHOLE
            return _SAME_WORDS if not (titles and mine) else _SAME_WORDS - 0.5
        if set(self._words) <= set(words) or set(words) <= set(self._words):
            is_first = self._words[0] == words[0]
            return _FIRST_WORD if is_first else _SOME_WORDS if mine or not titles else _SHORT_NAME
        if may_be_one(self._words[0], words[0]):
            if len(words) == 1 or len(self._words) == 1 or words[-1] == self._words[-1]:
                return _SHORT_NAME
        return 0.0

    def _score_noun(self, person: Person) -> float:
        heads = (*self._phrase[-1:], self._member)
        if not person.noun or person.head not in heads:
            return 0.0
        number = person.noun.rpartition(" ")[0]
        if number:
            return _NUMBERED_NOUN if number in self._phrase else _SHORT_NAME
        return _NOUN
