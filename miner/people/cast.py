"""The people of a book: characters, the names that each goes by, and whom a name means."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache

from miner.errors import InputError
from miner.people.exchanges import find_exchanges
from miner.people.names import Form, Name, Paragraph, parse_form

GENDERS = ("m", "f", "")
# Whoever the speech of a chapter shows so many times more to be another one is not meant there.
_ANOTHER = -2
_NO_SLUG = re.compile(r"[^a-z0-9]+")


class Kind(StrEnum):
    """How a character is known."""

    NAMED = "named"
    NARRATOR = "narrator"  # who tells the story, or much of it, as "I"
    UNNAMED = "unnamed"  # "the waiter"


@dataclass(frozen=True, slots=True)
class Character:
    """A person of a book."""

    id: str  # a short name in small letters that no other character of the book has: "mrs-bennet"
    name: str  # the name to show, usually the full one
    # the names that it goes by as the book prints them, the most frequent first
    aliases: tuple[str, ...]
    gender: str = ""  # "m", "f", or "" where the book does not tell
    kind: Kind = Kind.NAMED  # how it is known
    n_mentions: int = 0  # how often the book names it
    # the chapter of an unnamed person, since the waiter of another chapter is another waiter;
    # None for those of the whole book
    chapter: int | None = None

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("id: found none, expected one")
        if self.gender not in GENDERS:
            raise ValueError(f"gender: found {self.gender!r}, expected m, f or nothing")

    @property
    def is_nameless_narrator(self) -> bool:
        """Whether it is "I" of whom no name is known."""
        return self.kind is Kind.NARRATOR and self.aliases == (Kind.NARRATOR.value,)


@dataclass(frozen=True, slots=True)
class Cast:
    """The characters of a book and what their names mean.

    A character is told by its position in `characters`.
    """

    characters: tuple[Character, ...]
    # those whom each form of the book may mean, the likeliest first
    forms: Mapping[Form, tuple[int, ...]] = field(repr=False)
    # those whom a noun may mean; only a given list has such aliases ("the barber")
    nouns: Mapping[str, tuple[int, ...]] = field(default_factory=dict, repr=False)


def find_mentions(
    forms: Mapping[Form, tuple[int, ...]], names: Sequence[Name], paragraphs: Sequence[Paragraph]
) -> tuple[int | None, ...]:
    """Returns the character whom each name means, as a position in the cast; None for nobody.

    A name that may mean several characters ("the Captain") means the one of them whose own names
    the speech of the chapter shows to be of the same person, or else whom the chapter names most by
    names of its own, but nobody who is shown to be another one. Where the chapter names none of
    them, it means the likeliest one of the book.
    """
    own: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for name in names:
        meant = forms.get(name.form, ())
        if len(meant) == 1:
            own[paragraphs[name.paragraph].chapter][meant[0]] += 1
    ranks = {
        form: {position: rank for rank, position in enumerate(meant)}
        for form, meant in forms.items()
        if meant
    }

    exchanges = find_exchanges(names, paragraphs)

    def shown(form: Form, chapter: int) -> Counter[int]:
        """How much more often speech shows a form to be of each character than of another one."""
        found: Counter[int] = Counter()
        for counts, sign in zip(exchanges[chapter], (1, -1), strict=True):
            for other, n in counts.get(form, {}).items():
                if len(forms.get(other, ())) == 1:
                    found[forms[other][0]] += sign * n
        return found

    @cache
    def meant_in(form: Form, chapter: int) -> int | None:
        rank, counts = ranks.get(form), own[chapter]
        if not rank:
            return None
        if len(rank) == 1:
            return forms[form][0]
        signs = shown(form, chapter) if chapter in exchanges else Counter[int]()
        few, many = sorted((rank, counts), key=len)  # a book may have thousands of captains
        here = (position for position in few if position in many and signs[position] > _ANOTHER)
        likely = (position for position in forms[form] if signs[position] > _ANOTHER)
        return max(
            here,
            key=lambda position: (signs[position], counts[position], -rank[position]),
            default=next(likely, forms[form][0]),
        )

    return tuple(meant_in(name.form, paragraphs[name.paragraph].chapter) for name in names)


def join_characters(cast: Cast, pairs: Iterable[tuple[int, int]]) -> tuple[Cast, tuple[int, ...]]:
    """Returns the cast in which the second of each pair is the first, and all new positions.

    The first of a pair has the aliases of both, its own before the others. The cast has no nouns.
    """
    joined: defaultdict[int, list[int]] = defaultdict(list)
    for one, other in pairs:
        joined[one].append(other)
    gone = {other for others in joined.values() for other in others}
    whole: dict[int, Character] = {}
    for n, character in enumerate(cast.characters):
        if n in gone:
            continue
        own = [cast.characters[other] for other in joined[n]]
        aliases = dict.fromkeys(alias for one in (character, *own) for alias in one.aliases)
        gender = next((one.gender for one in (character, *own) if one.gender), "")
        n_mentions = sum(one.n_mentions for one in (character, *own))
        whole[n] = replace(character, aliases=tuple(aliases), gender=gender, n_mentions=n_mentions)
    order = sorted(whole, key=lambda n: -whole[n].n_mentions)
    position = {old: new for new, old in enumerate(order)}
    position |= {other: position[one] for one, others in joined.items() for other in others}
    forms = {
        form: tuple(dict.fromkeys(position[n] for n in meant)) for form, meant in cast.forms.items()
    }
    characters = tuple(whole[n] for n in order)
    return Cast(characters, forms), tuple(position[n] for n in range(len(cast.characters)))


def refuse_unclear(characters: Sequence[Character], places: Sequence[str] = ()) -> None:
    """Raises an error if an id is not the only one, or if no alias tells two characters apart.

    Characters may share an alias as long as all of them but one have another one of their own.
    """
    where = [f"{place}: " for place in places] or [""] * len(characters)
    ids: set[str] = set()
    holders = holders_of(characters)
    unclear: dict[Form, str] = {}
    for n, character in enumerate(characters):
        if character.id in ids:
            raise InputError(f"{where[n]}found the id {character.id!r} again, expected a new one")
        ids.add(character.id)
        forms = forms_of(character)
        if any(len(holders[form]) == 1 for form in forms):
            continue
        for form in forms:
            if form in unclear:
                raise InputError(
                    f"{where[n]}found no alias of {character.id!r} that is not of "
                    f"{unclear[form]!r} or others, expected one of its own"
                )
            unclear[form] = character.id


def forms_of(character: Character) -> frozenset[Form]:
    """Returns the forms of the name and the aliases of somebody known in the whole book."""
    if character.chapter is not None:
        return frozenset()
    return frozenset(map(parse_form, (character.name, *character.aliases)))


def holders_of(characters: Sequence[Character]) -> defaultdict[Form, set[int]]:
    """Returns the positions of the characters who have each form as an alias."""
    holders: defaultdict[Form, set[int]] = defaultdict(set)
    for position, character in enumerate(characters):
        for form in forms_of(character):
            holders[form].add(position)
    return holders


def slug_of(name: str, taken: Container[str] = ()) -> str:
    """Returns a name as an id: small letters and digits of ASCII with dashes between the words."""
    plain = unicodedata.normalize("NFKD", name.replace("’", "").replace("'", "").lower())
    slug = _NO_SLUG.sub("-", plain.encode("ascii", "ignore").decode()).strip("-") or "character"
    free, number = slug, 2
    while free in taken:
        free, number = f"{slug}-{number}", number + 1
    return free


def find_unnamed(characters: Iterable[Character]) -> dict[tuple[str, int | None], Character]:
    """Returns the unnamed people of chapters, by each noun that they go by and their chapter.

    A narrator without a name has no noun, and is of no chapter.
    """
    found: dict[tuple[str, int | None], Character] = {}
    for one in characters:
        if one.chapter is not None:
            found |= {(alias, one.chapter): one for alias in one.aliases}
        elif one.is_nameless_narrator:
            found["", None] = one
    return found


def character_of(
    name: str, aliases: Iterable[str], gender: str = "", taken: Container[str] = ()
) -> Character:
    """Returns a character of a given list, which may leave out the name among the aliases."""
    return Character(slug_of(name, taken), name, tuple(dict.fromkeys((name, *aliases))), gender)
