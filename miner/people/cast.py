"""The people of a book: characters, the names that each goes by, and whom a name means."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache

from miner.errors import InputError
from miner.people.names import ARTICLES, NOUNS, Form, Name, Paragraph, gender_of_titles, parse_form

GENDERS = ("m", "f", "")
_NO_SLUG = re.compile(r"[^a-z0-9]+")
_ARTICLE = re.compile(rf"^{ARTICLES}\s+")


class Kind(StrEnum):
    """How a character is known."""

    NAMED = "named"
    NARRATOR = "narrator"  # who tells the story as "I"
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

    @property
    def narrator(self) -> int | None:
        """The character who tells the story; None where a given list does not say who."""
        kinds = (n for n, one in enumerate(self.characters) if one.kind is Kind.NARRATOR)
        return next(kinds, None)


def find_mentions(
    forms: Mapping[Form, tuple[int, ...]], names: Sequence[Name], paragraphs: Sequence[Paragraph]
) -> tuple[int | None, ...]:
    """Returns the character whom each name means, as a position in the cast; None for nobody.

    A name that may mean several characters ("the Captain") means the one of them whom the chapter
    names most by names of its own, or else the likeliest one of the book.
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

    @cache
    def meant_in(form: Form, chapter: int) -> int | None:
        rank, counts = ranks.get(form), own[chapter]
        if not rank:
            return None
        few, many = sorted((rank, counts), key=len)  # a book may have thousands of captains
        here = (position for position in few if position in many)
        likeliest = forms[form][0]
        return max(
            here, key=lambda position: (counts[position], -rank[position]), default=likeliest
        )

    return tuple(meant_in(name.form, paragraphs[name.paragraph].chapter) for name in names)


def cast_from_characters(
    characters: Sequence[Character], names: Sequence[Name], found: Cast | None = None
) -> Cast:
    """Returns the cast of a book whose characters are given: by hand, or by another corpus.

    A form of the book means those who have it as an alias. A form that nobody has is looked up
    without qualities ("Poor Jane"), then without its titles, then with any title, as long as the
    gender fits. An alias that several characters share means the one whom the chapter names by
    other aliases; where it names none, whoever has no other alias, or else the one who is named
    most in the book. An alias without a capital ("the barber") is a noun, and so is one with an
    article whose last word the language lists as a noun ("The Barber"). The aliases of an unnamed
    person of one chapter mean nobody elsewhere, so they are not looked up.
    """
    counts = Counter(name.form for name in names)
    by_form: defaultdict[Form, list[int]] = defaultdict(list)
    by_words: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    nouns: defaultdict[str, list[int]] = defaultdict(list)
    holders = _holders(characters)
    # Whoever has no alias of its own is meant where none of the others is at hand.
    rank: list[tuple[bool, int]] = []
    for position, character in enumerate(characters):
        own = [form for form in _forms_of(character) if len(holders[form]) == 1]
        rank.append((bool(own), -sum(counts[form] for form in _forms_of(character))))
        if character.chapter is not None:
            continue
        for alias in dict.fromkeys((character.name, *character.aliases)):
            plain = _ARTICLE.sub("", alias.strip(), count=1) or alias
            noun = plain.split()[-1].lower()
            is_small = plain == plain.lower()
            if is_small or (plain != alias.strip() and noun in NOUNS):
                nouns[noun].append(position)
            if is_small:
                continue
            form = parse_form(plain)
            by_form[form].append(position)
            if form.words:
                by_words[form.words].append(position)
    forms: dict[Form, tuple[int, ...]] = {}
    for form in counts:
        meant = by_form.get(form)
        if meant is None:
            near = by_form.get(form.plain) or by_form.get(Form((), form.words))
            gender = gender_of_titles(form.titles)
            meant = [
                position
                for position in near or by_words.get(form.words, ())
                if not gender or characters[position].gender in ("", gender)
            ]
        if meant:
            forms[form] = tuple(sorted(dict.fromkeys(meant), key=lambda position: rank[position]))
    if found is not None:
        forms |= _shared_as_before(found, characters, holders)
    given = {noun: tuple(dict.fromkeys(positions)) for noun, positions in nouns.items()}
    return Cast(tuple(characters), forms, given)


def _shared_as_before(
    found: Cast, characters: Sequence[Character], holders: Mapping[Form, set[int]]
) -> dict[Form, tuple[int, ...]]:
    """Returns whom the forms may mean that a found cast and a given list share in the same way."""
    position = {character.id: n for n, character in enumerate(characters)}
    listed = _holders(found.characters)
    kept: dict[Form, tuple[int, ...]] = {}
    for form, meant in found.forms.items():
        ids = [found.characters[n].id for n in meant]
        if len(ids) > 1 and all(id in position for id in ids):
            was = {found.characters[n].id for n in listed.get(form, ())}
            if was == {characters[n].id for n in holders.get(form, ())}:
                kept[form] = tuple(position[id] for id in ids)
    return kept


def refuse_unclear(characters: Sequence[Character], places: Sequence[str] = ()) -> None:
    """Raises an error if an id is not the only one, or if no alias tells two characters apart.

    Characters may share an alias as long as all of them but one have another one of their own.
    """
    where = [f"{place}: " for place in places] or [""] * len(characters)
    ids: set[str] = set()
    holders = _holders(characters)
    unclear: dict[Form, str] = {}
    for n, character in enumerate(characters):
        if character.id in ids:
            raise InputError(f"{where[n]}found the id {character.id!r} again, expected a new one")
        ids.add(character.id)
        forms = _forms_of(character)
        if any(len(holders[form]) == 1 for form in forms):
            continue
        for form in forms:
            if form in unclear:
                raise InputError(
                    f"{where[n]}found no alias of {character.id!r} that is not of "
                    f"{unclear[form]!r} or others, expected one of its own"
                )
            unclear[form] = character.id


def _forms_of(character: Character) -> frozenset[Form]:
    if character.chapter is not None:
        return frozenset()
    return frozenset(map(parse_form, (character.name, *character.aliases)))


def _holders(characters: Sequence[Character]) -> defaultdict[Form, set[int]]:
    """Returns the positions of the characters who have each form as an alias."""
    holders: defaultdict[Form, set[int]] = defaultdict(set)
    for position, character in enumerate(characters):
        for form in _forms_of(character):
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


def find_unnamed(characters: Iterable[Character]) -> dict[tuple[str, int], Character]:
    """Returns the unnamed people of chapters, by each noun that they go by and their chapter."""
    return {
        (alias, one.chapter): one
        for one in characters
        if one.chapter is not None
        for alias in one.aliases
    }


def character_of(
    name: str, aliases: Iterable[str], gender: str = "", taken: Container[str] = ()
) -> Character:
    """Returns a character of a given list, which may leave out the name among the aliases."""
    return Character(slug_of(name, taken), name, tuple(dict.fromkeys((name, *aliases))), gender)
