"""Speakers of a layer -> the cast that the page lists, and the colours of those who speak most."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from miner.annotation.annotations import UNKNOWN
from miner.people.cast import Character
from miner.people.spoken_book import SpokenBook

N_COLOURS = 8  # as many as the styles have


@dataclass(frozen=True, slots=True)
class CastMember:
    """A person of a layer, or whoever speaks where nobody is known.

    Attributes:
        character: the person; None for the unknown ones together.
        chapters: the number of utterances in each chapter in which it speaks.
    """

    character: Character | None
    chapters: Mapping[int, int]

    @property
    def id(self) -> str:
        """The id of the character, or `UNKNOWN`."""
        return UNKNOWN if self.character is None else self.character.id

    @property
    def n_utterances(self) -> int:
        """How many utterances of the book it speaks."""
        return sum(self.chapters.values())


def list_cast(spoken: SpokenBook) -> tuple[CastMember, ...]:
    """Returns the cast of a tagged book, whoever speaks most first and the unknown ones last.

    It is empty if no utterance has a speaker, as in languages without an attributor.
    """
    counts: defaultdict[str | None, Counter[int]] = defaultdict(Counter)
    for item in spoken:
        if item.span.is_utterance:
            counts[item.speaker][item.span.chapter] += 1
    if not counts.keys() - {None}:
        return ()
    members = [CastMember(one, counts.get(one.id, {})) for one in spoken.characters]
    members.sort(key=lambda member: -member.n_utterances)
    unknown = CastMember(None, counts.get(None, {}))
    return (*members, unknown) if unknown.chapters else tuple(members)


def choose_colours(casts: Sequence[Sequence[CastMember]]) -> list[dict[str, int]]:
    """Returns the colours, from 1, of those who speak most in all layers together.

    A person has one colour in all layers. The gold calls people by names of its own, so layers are
    matched by name: by the name that is shown, else by another one.
    """
    people: dict[str, str] = {}  # the id of a person in the first layer that has it, by name
    person_of: list[dict[str, str]] = []
    counts: Counter[str] = Counter()
    for cast in casts:
        found: dict[str, str] = {}
        for member in cast:
            if member.character is not None and member.chapters:
                known = (people.get(name) for name in _names_of(member.character))
                free = (person for person in known if person and person not in found.values())
                found[member.id] = next(free, member.id)
                counts[found[member.id]] += member.n_utterances
        for member in cast:
            if member.character is not None and member.id in found:
                for name in _names_of(member.character):
                    people.setdefault(name, found[member.id])
        person_of.append(found)
    colours = {person: n for n, (person, _) in enumerate(counts.most_common(N_COLOURS), 1)}
    return [
        {one: colours[person] for one, person in found.items() if person in colours}
        for found in person_of
    ]


def _names_of(character: Character) -> Iterator[str]:
    """The names of a character in one spelling: "mrs pockett" for "Mrs. Pockett"."""
    for name in dict.fromkeys((character.name, *character.aliases)):
        yield name.replace(".", "").casefold()
