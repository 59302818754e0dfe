"""The words for people of all languages together, since a file may declare the wrong language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from miner.languages.registry import LANGUAGES, any_of


def _merged(tables: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {word: value for table in tables for word, value in table.items()}


_PEOPLE = tuple(language.people for language in LANGUAGES.values())
# People are named only in languages whose verbs of saying are known.
_ATTRIBUTION = tuple(
    language.attribution for language in LANGUAGES.values() if language.attribution.say
)

TITLES = _merged(words.titles for words in _PEOPLE)
TITLE_SPELLINGS = _merged(words.title_spellings for words in _PEOPLE)
QUALITIES = frozenset().union(*(words.qualities for words in _PEOPLE))
GENERATIONS = frozenset().union(*(words.generations for words in _PEOPLE))
ADDRESS = frozenset().union(*(words.address for words in _PEOPLE))
NOBLE = frozenset().union(*(words.noble for words in _PEOPLE))
KIN = frozenset().union(*(words.kin_nouns for words in _PEOPLE)) & TITLES.keys()
WIVES = frozenset().union(*(words.wives for words in _PEOPLE))
DAUGHTERS = frozenset().union(*(words.daughters for words in _PEOPLE))
SURNAME_TITLES = frozenset().union(*(words.surname_titles for words in _PEOPLE))
FEMALE_NAMES = frozenset().union(*(words.female_names for words in _PEOPLE))
MALE_NAMES = frozenset().union(*(words.male_names for words in _PEOPLE))
NICKNAMES = {short: names for words in _PEOPLE for short, names in words.nicknames.items()}
SURNAME_ENDINGS = _merged(words.surname_endings for words in _PEOPLE)
NO_NAMES = frozenset().union(*(words.no_names for words in _PEOPLE))
NEVER_NAMES = frozenset().union(*(words.never_names for words in _PEOPLE))
SAINTS = frozenset().union(*(words.saints for words in _PEOPLE))
TITLES_OF_NOUNS = {
    noun: titles for words in _PEOPLE for noun, titles in words.titles_of_nouns.items()
}

ARTICLES = f"(?:{'|'.join(words.determiners for words in _ATTRIBUTION)})"
PARTICLES = any_of(lambda language: language.people.particles)
OF_PLACE = any_of(lambda language: language.people.of_place)
ABBREVIATIONS = any_of(lambda language: language.people.abbreviations)
CLITICS = any_of(lambda language: language.people.clitics)
ACTS = any_of(lambda language: language.people.acts)
BEFORE_PLACE = any_of(lambda language: language.people.before_place)
BEFORE_VOCATIVE = any_of(lambda language: language.people.before_vocative)

SAY = frozenset().union(*(words.say for words in _ATTRIBUTION))
_SAYS = re.compile(any_of(lambda language: language.people.says))
GENDERED = _merged((*(w.personal for w in _ATTRIBUTION), *(w.reflexive for w in _ATTRIBUTION)))


def is_say(word: str) -> bool:
    """Whether a word in small letters is a verb of saying."""
    return word in SAY or bool(_SAYS.fullmatch(word))


_ENDS = "".join(
    rf"(?<!\b{re.escape(short)}\.)" for w in _ATTRIBUTION for short in w.sentence_abbreviations
)
SENTENCE_END = re.compile(rf"(?<=[.!?;]){_ENDS}\s")


def gender_of_titles(titles: Iterable[str]) -> str:
    """Returns the gender that titles tell, or ""."""
    titles = list(titles)
    if any(title in WIVES for title in titles):
        return "f"  # "Mrs. Captain Otway"
    genders = {TITLES.get(title, "") for title in titles} - {""}
    return genders.pop() if len(genders) == 1 else ""


NOUNS = _merged(words.nouns for words in _PEOPLE)
KIN_NOUNS = frozenset().union(*(words.kin_nouns for words in _PEOPLE))
GENERAL_NOUNS = frozenset().union(*(words.general_nouns for words in _PEOPLE))
NUMBERED = frozenset().union(*(words.numbered for words in _PEOPLE))
CALLS_MAN = any_of(lambda language: language.people.calls_man)
CALLS_WOMAN = any_of(lambda language: language.people.calls_woman)
TOWARDS = any_of(lambda language: language.people.towards)
DETERMINERS = any_of(lambda language: language.people.determiners)
INTRODUCING = frozenset().union(*(words.introducing for words in _PEOPLE))
OWNING = frozenset().union(*(words.owning for words in _PEOPLE))
OTHERS = frozenset().union(*(words.others for words in _PEOPLE))
SUBJECTS = _merged(words.subjects for words in _ATTRIBUTION)
PERSONAL = _merged(words.personal for words in _ATTRIBUTION)
NARRATOR = frozenset().union(*(words.narrator for words in _ATTRIBUTION))
GOES_ON = frozenset().union(*(words.continue_verbs for words in _ATTRIBUTION))
ANSWERS = frozenset().union(*(words.answer_verbs for words in _ATTRIBUTION))
SAY_WITH_PARTICLE = _merged(words.say_with_particle for words in _ATTRIBUTION)
NO_NOUNS = frozenset().union(*(words.no_nouns for words in _ATTRIBUTION))
ADVERB_ENDINGS = tuple(ending for words in _ATTRIBUTION for ending in words.adverb_endings)
_SHORT = [re.escape(short) for words in _ATTRIBUTION for short in words.abbreviations]
LEAD_IN_ABBREVIATIONS = rf"\b(?:{'|'.join(_SHORT) or '(?!)'})"
PARTS = frozenset().union(*(words.parts for words in _PEOPLE))
MEMBERS = any_of(lambda language: language.people.members)
PLACE_OF_NOUN = any_of(lambda language: language.people.place_of_noun)
OWNING_ENDING = (
    "|".join(re.escape(ending) for words in _ATTRIBUTION for ending in words.possessive_endings)
    or "(?!)"
)
