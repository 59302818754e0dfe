"""Narration -> its noun phrases for people: "the old man", "one of the carters", "both boys".

A noun that the language lists means a person wherever it stands. Any other word means one where it
is the subject of a verb of saying ("said the wub"); so do words that name nobody ("said one", "said
they all"). Several people who speak at once are one person of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from miner.people.names import (
    DETERMINERS,
    GROUPS,
    INDEFINITE,
    KINSHIP,
    MEMBERS_OF,
    NOUNS,
    NUMBERED,
    OWNING_ENDING,
    PHRASE_ENDINGS,
    PHRASE_ENDS,
    PICKED,
    PLURALS,
    SAY,
    SEVERAL,
)

_MODIFIERS = 3  # words between a determiner and its noun, at most
_LONGEST = 5  # words of a phrase after its determiner, at most

_LONGEST_FIRST = sorted(NOUNS, key=lambda noun: (-len(noun), noun))
_ANY_NOUN = f"(?:{'|'.join(map(re.escape, _LONGEST_FIRST)) or '(?!)'})"
_BEGINS = rf"(?<![\w’'-])(?P<determiner>{DETERMINERS})\s+"
_ADJECTIVES = rf"(?P<modifiers>(?:(?!(?:{MEMBERS_OF})\s)[a-zà-ÿ-]+\s+){{0,{_MODIFIERS}}}?)"
_PHRASE = re.compile(
    rf"{_BEGINS}{_ADJECTIVES}(?P<noun>{_ANY_NOUN})(?![\w-])(?!\s+{_ANY_NOUN}(?![\w-]))"
)
# "the boy’s mother": it begins where its owner ends.
_OWNED = re.compile(rf"(?<=\w)(?:{OWNING_ENDING})\s+{_ADJECTIVES}(?P<noun>{_ANY_NOUN})(?![\w-])")
# "one of the", "the youngest of the three"; the words of the language may be of any case.
_ANY_PICKED = f"(?i:{'|'.join(sorted(PICKED)) or '(?!)'})"
_PICKS = rf"(?:(?:{DETERMINERS})\s+)?(?P<picked>{_ANY_PICKED})\s+(?:{MEMBERS_OF})\s+"
_PICKS_BEFORE = re.compile(rf"(?<![\w’'-]){_PICKS}$")
_SEVERAL_AFTER = re.compile(rf"\s+(?:{MEMBERS_OF})\s+(?:{DETERMINERS})\s")
_PICKS_AT = re.compile(rf"\s*[—–-]*\s*{_PICKS}")
_BEFORE = 30  # characters in which "the youngest of" is looked for
_DETERMINER = re.compile(
    rf"\s*[—–-]*\s*(?P<determiner>(?i:{SEVERAL})(?:\s+(?:{DETERMINERS}))?|{DETERMINERS})(?![\w-])"
)
_ONLY_GROUP = re.compile(GROUPS)
_GROUP = re.compile(rf"\s*[—–-]*\s*(?P<group>(?i:{GROUPS}))(?![\w-])")
_WORD = re.compile(r"\s*([^\W\d_]+(?:['’-][^\W\d_]+)*)")


class NounPhrase(NamedTuple):
    """A place in narration where a noun means a person."""

    start: int  # the first character in the text of its paragraph
    end: int  # the character after the noun
    # the word before it, in small letters; "" for "one", and for a noun after its owner
    determiner: str
    number: str  # the word that tells it from others of its noun: "second"; or ""
    noun: str  # the noun, of one person: "carter" for "one of the carters"

    @property
    def name(self) -> str:
        """The noun after its number."""
        return f"{self.number} {self.noun}" if self.number else self.noun


def find_nouns(narration: str) -> Iterator[NounPhrase]:
    """Yields the phrases whose noun the language lists."""
    for match in _PHRASE.finditer(narration):
        start, end = match.span()
        determiner, noun = match["determiner"].lower(), match["noun"]
        words = match["modifiers"].split()
        singular = singular_of(noun)
        if noun in PICKED and _SEVERAL_AFTER.match(narration, end):
            continue  # "the youngest of the three men"
        if singular in NOUNS:
            before = narration[max(0, start - _BEFORE) : start]
            if picks := _PICKS_BEFORE.search(before):
                start -= len(before) - picks.start()
                words, noun = [picks["picked"].lower()], singular
        yield NounPhrase(start, end, determiner, _number(determiner, words), noun)
    for match in _OWNED.finditer(narration):
        if match["noun"] in KINSHIP:
            yield NounPhrase(*match.span(), "", "", match["noun"])


def read_noun(text: str, start: int, end: int) -> NounPhrase | None:
    """Returns the phrase at the start of a stretch of narration, whose noun may be any word."""
    picks = _PICKS_AT.match(text, start, end)
    picked = picks["picked"].lower() if picks else ""
    first = _DETERMINER.match(text, picks.end() if picks else start, end)
    determiner = first["determiner"].lower() if first else ""
    words: list[re.Match[str]] = []
    at = first.end() if first else picks.end() if picks else start
    while first and len(words) < _LONGEST and (word := _WORD.match(text, at, end)):
        if _ends_phrase(word[1], bool(words)):
            break
        words.append(word)
        at = word.end()
    noun = words[-1][1].lower() if words else ""
    if picks:
        singular = singular_of(noun)
        if singular == noun:  # "one of them", "one of the crew"
            return NounPhrase(*picks.span("picked"), "", "", picked)
        return NounPhrase(*words[-1].span(1), determiner, _number("", [picked]), singular)
    if words:
        before = [word[1].lower() for word in words[:-1]]
        return NounPhrase(*words[-1].span(1), determiner, _number(determiner, before), noun)
    if group := _GROUP.match(text, start, end):
        return NounPhrase(*group.span("group"), "", "", group["group"].lower().split()[-1])
    word = _WORD.match(text, first.start("determiner") if first else start, end)
    if word and word[1].lower() in INDEFINITE:
        return NounPhrase(*word.span(1), "", "", word[1].lower())
    return None


def _ends_phrase(word: str, is_inside: bool) -> bool:
    lower = word.lower()
    if is_inside and lower.endswith(PHRASE_ENDINGS):
        return True
    return lower in SAY or lower in PHRASE_ENDS


def _number(determiner: str, words: Iterable[str]) -> str:
    return next((word for word in (determiner, *words) if word in NUMBERED), "")


@cache
def is_group(noun: str) -> bool:
    """Whether a noun means several people: "boys", "everybody"."""
    return singular_of(noun) != noun or bool(_ONLY_GROUP.fullmatch(noun))


def singular_of(noun: str) -> str:
    """Returns the noun for one of several; a noun without an ending of the plural as it is."""
    for ending in sorted(PLURALS, key=len, reverse=True):
        if noun.endswith(ending):
            return noun[: len(noun) - len(ending)] + PLURALS[ending]
    return noun


def gender_of_noun(noun: str) -> str:
    """Returns the gender that a noun tells, or else its last part: "f" for "char-woman"."""
    return NOUNS.get(noun) or NOUNS.get(noun.rpartition("-")[2], "")
