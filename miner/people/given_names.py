"""A given name -> its gender, and the keys under which its other forms are found: "Lizzy"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from miner.people.names import FEMALE_NAMES, MALE_NAMES, NICKNAMES, NO_NAMES, SURNAME_ENDINGS

# A given name may be a shorter one with this many letters at least and so many more.
_STEM, _LONGER = 4, 6


def gender_of_words(words: tuple[str, ...]) -> str:
    """Returns the gender that a name's words tell, or ""."""
    for word in words:
        for ending, gender in SURNAME_ENDINGS.items():
            if word.lower().endswith(ending):
                return gender
    first = words[0].lower() if words else ""
    is_male, is_female = first in MALE_NAMES, first in FEMALE_NAMES
    return "" if is_male == is_female else "m" if is_male else "f"


def may_be_one(one: str, other: str) -> bool:
    """Whether two given names in small letters may be of one person: "lizzy" and "elizabeth"."""
    return bool(_forms(one) & _forms(other))


def _forms(word: str) -> frozenset[str]:
    return NICKNAMES.get(word, frozenset()) | {word}


def told(word: str) -> list[str]:
    """The keys under which a given name is kept; `sought` gives those of its other forms."""
    lower = word.lower()
    return [lower, *sorted(NICKNAMES.get(lower, ())), *(f"{stem}-" for stem in _stems(lower))]


def sought(word: str) -> list[str]:
    """The keys under which the other forms of a given name are kept: short, longer, of the same."""
    lower = word.lower()
    shorter = [stem for stem in _stems(lower) if _is_stem(stem)]
    longer = [f"{lower}-"] if _is_stem(lower) else []
    return [lower, *sorted(NICKNAMES.get(lower, ())), *shorter, *longer]


def initials(word: str, told: bool = False) -> list[str]:
    """The keys that join "G. Otway" to "George Otway", but not "George" to "Gilbert"."""
    is_initial = word.endswith(".") and len(word) == 2
    return [f"{word[0]}. of {'initial' if is_initial == told else 'name'}"]


def _stems(lower: str) -> list[str]:
    """The beginnings of a given name that may be a short form of it."""
    if lower.endswith("s"):
        return []
    return [lower[:size] for size in range(max(_STEM, len(lower) - _LONGER), len(lower))]


def _is_stem(lower: str) -> bool:
    is_known = any(lower in known for known in (FEMALE_NAMES, MALE_NAMES, NICKNAMES, NO_NAMES))
    return len(lower) >= _STEM and not is_known


def parts_of(words: tuple[str, ...]) -> Iterator[frozenset[str]]:
    """The sets of two words of a name or more, the largest first."""
    for size in range(len(words), 1, -1):
        yield from map(frozenset, combinations(words, size))
