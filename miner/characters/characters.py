"""Names -> the characters of a book, and the character whom each name means."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from miner.characters.evidence import Evidence
from miner.characters.grouping import (
    Person,
    all_bearers,
    bearers_of_titles,
    gender_of_titles,
    group_forms,
    main_bearer,
)
from miner.characters.names import Form, Name, find_names
from miner.characters.paragraphs import Paragraph
from miner.characters.words import QUALITIES, SURNAME_TITLES

GENDERS = ("m", "f", "")
# A fuller name is the usual one if the book has it at least so often, and at least this share of
# the times of the form that it has most.
_FULLER, _FULLER_SHARE = 2, 0.01
_TITLED_SHARE = 0.2  # the same for a title before a single word
_NO_SLUG = re.compile(r"[^a-z0-9]+")


class Kind(StrEnum):
    """How a character is known."""

    NAMED = "named"
    NARRATOR = "narrator"  # who tells the story as "I"
    UNNAMED = "unnamed"  # "the waiter"


@dataclass(frozen=True, slots=True)
class Character:
    """A person of a book.

    Attributes:
        id: a short name in small letters that no other character of the book has: "mrs-bennet".
        name: the name to show, usually the full one.
        aliases: the names that it goes by as the book prints them, the most frequent first.
        gender: "m", "f", or "" where the book does not tell.
        kind: how it is known.
        n_mentions: how often the book names it.
    """

    id: str
    name: str
    aliases: tuple[str, ...]
    gender: str = ""
    kind: Kind = Kind.NAMED
    n_mentions: int = 0

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("id: found none, expected one")
        if self.gender not in GENDERS:
            raise ValueError(f"gender: found {self.gender!r}, expected m, f or nothing")


@dataclass(frozen=True, slots=True)
class Cast:
    """The characters of a book and what their names mean.

    Attributes:
        characters: the characters, those who are named most first.
        forms: the positions in `characters` of those whom a form may mean, the likeliest first.
    """

    characters: tuple[Character, ...]
    forms: Mapping[Form, tuple[int, ...]] = field(repr=False)


def find_characters(paragraphs: Sequence[Paragraph], names: Sequence[Name] | None = None) -> Cast:
    """Returns the characters whom a book names.

    Args:
        paragraphs: the paragraphs of the whole book.
        names: what `find_names` returns for them, if it is known already.
    """
    if names is None:
        names = find_names(paragraphs)
    evidence = Evidence(names, paragraphs)
    people = group_forms(evidence)
    forms = _meant(people, evidence)
    return _cast(people, forms, names, paragraphs)


def find_mentions(
    cast: Cast, names: Sequence[Name], paragraphs: Sequence[Paragraph]
) -> tuple[int | None, ...]:
    """Returns the position of the character whom each name means; None for one who is unknown.

    A name that may mean several characters ("the Captain") means the one of them whom the chapter
    names most by other names, or else the likeliest one of the book.
    """
    named: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for name in names:
        meant = cast.forms.get(name.form, ())
        if len(meant) == 1:
            named[paragraphs[name.paragraph].chapter][meant[0]] += 1
    found: list[int | None] = []
    for name in names:
        meant = cast.forms.get(name.form, ())
        counts = named[paragraphs[name.paragraph].chapter]
        found.append(max(meant, key=lambda position: counts[position], default=None))
    return tuple(found)


def slug_of(name: str, taken: Iterable[str] = ()) -> str:
    """Returns a name as an id: small letters and digits of ASCII with dashes between the words.

    Args:
        name: the name.
        taken: ids that are not free; a number tells the id from them.

    >>> slug_of("Mrs. Bennet"), slug_of("Adèle", ["adele"])
    ('mrs-bennet', 'adele-2')
    """
    plain = unicodedata.normalize("NFKD", name.replace("’", "").replace("'", "").lower())
    slug = _NO_SLUG.sub("-", plain.encode("ascii", "ignore").decode()).strip("-") or "character"
    taken, number, free = set(taken), 2, slug
    while free in taken:
        free, number = f"{slug}-{number}", number + 1
    return free


def _meant(people: Sequence[Person], evidence: Evidence) -> dict[Form, tuple[int, ...]]:
    """Returns the people whom each form of a book may mean."""
    of = {form: n for n, person in enumerate(people) for form in person.forms}
    position = {person: n for n, person in enumerate(people)}
    bearers = bearers_of_titles(people, evidence)
    found: dict[Form, tuple[int, ...]] = {}
    for form, plain in evidence.raw.items():
        own = [of[plain]] if plain in of else []
        if not plain.words:
            title = plain.titles[-1]
            if main := main_bearer(bearers, title):
                found[form] = (position[main],)
            else:
                others = (person for person, _ in all_bearers(bearers, title).most_common())
                found[form] = (*own, *(position[person] for person in others))
        elif own:
            found[form] = (own[0],)
        elif (bare := Form((), plain.words)) in of:
            gender = gender_of_titles(plain.titles)
            found[form] = (of[bare],) if people[of[bare]].fits(gender) else ()
    return {form: meant for form, meant in found.items() if meant}


def _cast(
    people: Sequence[Person],
    forms: Mapping[Form, tuple[int, ...]],
    names: Sequence[Name],
    paragraphs: Sequence[Paragraph],
) -> Cast:
    printed: defaultdict[Form, Counter[str]] = defaultdict(Counter)
    for name in names:
        text = paragraphs[name.paragraph].text[name.start : name.end]
        printed[name.form][" ".join(text.split())] += 1
    aliases: list[Counter[Form]] = [Counter() for _ in people]
    for form, meant in forms.items():
        if len(meant) == 1 or form in people[meant[0]].forms:
            aliases[meant[0]][form] = printed[form].total()
    characters: list[Character] = []
    taken: set[str] = set()
    for person, counts in zip(people, aliases, strict=True):
        shown = Counter({_shown(form, printed[form]): n for form, n in counts.items()})
        name = _usual_name(counts)
        text = _shown(name, printed[name])
        free = slug_of(text, taken)
        taken.add(free)
        by_count = tuple(alias for alias, _ in shown.most_common())
        characters.append(Character(free, text, by_count, person.gender))
    cast = Cast(tuple(characters), forms)
    n_mentions = Counter(find_mentions(cast, names, paragraphs))
    return replace(
        cast,
        characters=tuple(
            replace(character, n_mentions=n_mentions[n]) for n, character in enumerate(characters)
        ),
    )


def _shown(form: Form, printed: Counter[str]) -> str:
    return printed.most_common(1)[0][0]


def _usual_name(counts: Counter[Form]) -> Form:
    """Returns the fullest form that is not rare: a name of two words, or a title and a surname."""
    most = counts.most_common(1)[0][1]

    def rank(item: tuple[Form, int]) -> tuple[int, int, int]:
        form, n = item
        titles = [title for title in form.titles if title not in QUALITIES]
        n_words = len(form.words) if n >= max(_FULLER, _FULLER_SHARE * most) else 0
        if n_words > 1:
            return n_words, -len(titles), n
        is_titled = bool(titles and titles[-1] in SURNAME_TITLES and n >= _TITLED_SHARE * most)
        return min(n_words, 1), is_titled, n

    return max(counts.items(), key=rank)[0]
