"""The names of a book and the words beside them -> which character is "the bailiff".

A book tells it beside a name ("the bailiff, Job Tranter, came", "Mrs. Oakes, the cook,", "a lawyer
named Bell", "Job Tranter was the bailiff"). The noun means this character in that chapter; in the
others, too, if no other character has it and it is no word for anybody ("the man").
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from miner.people.names import (
    BEFORE_OBJECT,
    BEING,
    DETERMINERS,
    GENERAL_NOUNS,
    INDEFINITE,
    INTRODUCING,
    JOINING,
    KINSHIP,
    NAMING,
    NOUNS,
    NUMBERED,
    OTHERS,
    OWNING,
    OWNING_ENDING,
    PLACE_OF_NOUN,
    Name,
    Paragraph,
)
from miner.people.nouns import find_nouns, read_noun, singular_of

_BESIDE = 60  # characters beside a name in which its noun is looked for

_LONGEST_WORD = 20  # characters of a word before a name, at most
_BEFORE_NAME = NOUNS.keys() | NAMING

# Words for anybody; and whose father "the father" is, is told by others.
_NO_ROLES = GENERAL_NOUNS | OTHERS | KINSHIP.keys() | NUMBERED | INDEFINITE

_LAST = re.compile(r"([a-zà-ÿ-]+)(?P<stop>,?)\s+$")
_NAMES = "|".join(map(re.escape, sorted(NAMING))) or "(?!)"
_BEFORE = re.compile(
    rf"\b(?P<determiner>{DETERMINERS})\s+(?:[a-zà-ÿ-]+\s+){{0,3}}?(?P<noun>[a-zà-ÿ-]+)"
    rf"(?:,|\s+(?:{_NAMES})|)\s+$"
)
_AFTER = re.compile(rf"(?P<joint>,|\s+(?:{BEING})|)\s+(?={DETERMINERS})")
_AND = "|".join(map(re.escape, sorted(JOINING))) or "(?!)"
# "The cook, Adam, and Mara" and "Adam, the cook, the maid" are lists.
_CLOSED = re.compile(rf"[,.;:)—](?!\s+(?:{_AND}|{DETERMINERS})\b)")
_DEPENDS = re.compile(rf"\b(?:{BEFORE_OBJECT})\s+$")
_PLACE = re.compile(rf"\s+(?:{PLACE_OF_NOUN})\b")
_OWNS = re.compile(rf"(?:{OWNING_ENDING})\s")


@dataclass(frozen=True, slots=True)
class Roles:
    """The nouns that a book says to mean characters."""

    # the chapters in which it says so of each noun and each character
    _chapters: Mapping[str, Mapping[int, frozenset[int]]] = field(default_factory=dict, repr=False)

    def of_chapter(self, chapter: int, named: Container[int]) -> dict[str, int]:
        """Returns the character whom each noun means in a chapter, which names some of them."""
        found: dict[str, int] = {}
        for noun, chapters in self._chapters.items():
            here = [character for character in chapters if chapter in chapters[character]]
            if not here and len(chapters) == 1:
                here = [character for character in chapters if character in named]
            if len(here) == 1:
                found[noun] = here[0]
        return found


def find_roles(
    paragraphs: Sequence[Paragraph], names: Sequence[Name], mentioned: Sequence[int | None]
) -> Roles:
    """Returns the nouns of characters; `mentioned` is whom each name means."""
    found: defaultdict[str, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for name, meant in zip(names, mentioned, strict=True):
        if meant is not None and not name.in_speech:
            paragraph = paragraphs[name.paragraph]
            for noun in _nouns_beside(paragraph.text, name):
                found[noun][meant].add(paragraph.chapter)
    return Roles(
        {
            noun: {character: frozenset(chapters) for character, chapters in bearers.items()}
            for noun, bearers in found.items()
        }
    )


def _nouns_beside(text: str, name: Name) -> Iterator[str]:
    if _OWNS.match(text, name.end):
        return  # "the cook, Mara’s friend,"
    last = _LAST.search(text, max(0, name.start - _LONGEST_WORD), name.start)
    if last and (_CLOSED.match(text, name.end) if last["stop"] else last[1] in _BEFORE_NAME):
        match = _BEFORE.search(text, max(0, name.start - _BESIDE), name.start)
        is_apart = bool(last["stop"])
        determiner = match["determiner"].lower() if match else ""
        # "The cook Mara" and "a cook named Mara", but not "for a cook Mara took"
        is_one = is_apart or last[1] in NAMING or determiner not in INTRODUCING
        if match and is_one and _is_role(match["noun"], determiner, is_apart=is_apart):
            yield match["noun"]
    if match := _AFTER.match(text, name.end):
        start, end = match.end(), match.end() + _BESIDE
        if not match["joint"]:  # "Mara the cook", but not "she gave Mara a cook"
            phrase = next(find_nouns(text[start:end]), None)
            is_one = (
                phrase is not None
                and not phrase.start
                and phrase.determiner not in INTRODUCING | OWNING
                and not _OWNS.match(text, start + phrase.end)
            )
        elif _DEPENDS.search(text, max(0, name.start - _LONGEST_WORD), name.start):
            return  # "in the house of Mara, the cook, who"
        else:
            phrase = read_noun(text, start, end)
            is_one = phrase is not None and any(
                following.match(text, phrase.end) for following in (_CLOSED, _PLACE)
            )
        if phrase and is_one and not phrase.number:
            if _is_role(phrase.noun, phrase.determiner, is_apart=bool(match["joint"])):
                yield phrase.noun


def _is_role(noun: str, determiner: str, *, is_apart: bool) -> bool:
    """Whether a noun beside a name is one for its bearer.

    One that the language does not list is one if a stop or a verb stands between ("Bell, the
    barber,"), but not as somebody's ("Bell, her smile,").
    """
    if noun in _NO_ROLES:
        return False
    return noun in NOUNS or (is_apart and determiner not in OWNING and singular_of(noun) == noun)
