"""The people of a book, and those of them whom its speech shows to be one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from miner.people.evidence import Evidence
from miner.people.names import Form

# Two people are one if speech shows it at least so often, at this share at least of the times that
# it shows one of them to be anybody, and so many times as often as it shows them to be two. Less
# would join allies, who speak in turn with a third.
_ALIKE, _ALIKE_SHARE, _ALIKE_TIMES = 6, 0.4, 5


@dataclass(slots=True, eq=False)
class Person:
    """The forms of one person."""

    gender: str  # "m", "f" or ""
    forms: list[Form] = field(default_factory=list)  # the forms, without qualities
    first: set[str] = field(default_factory=set)  # given names
    last: set[str] = field(default_factory=set)  # surnames
    count: int = 0  # how often the forms stand in the book
    noble: int = 0  # how often they stand with a noble title
    expected: int = 0  # how often given names stand alone that are not grouped yet
    uses: Counter[str] = field(default_factory=Counter)  # how often each word stands in the forms

    def join(self, other: Person) -> None:
        """Takes over the forms of another person, who is this one."""
        self.forms += other.forms
        self.first |= other.first
        self.last |= other.last
        self.count += other.count
        self.noble += other.noble
        self.gender = self.gender or other.gender

    def fits(self, gender: str) -> bool:
        """Whether somebody of that gender may be this person."""
        return not (gender and self.gender and gender != self.gender)


def join_alike(people: Sequence[Person], evidence: Evidence) -> list[Person]:
    """Returns the people of a book; those whom its speech shows to be one are: Fagin, "the Jew"."""
    exchanges = evidence.exchanges
    alike, apart = _between(people, exchanges.alike), _between(people, exchanges.apart)
    beside, kin = _between(people, evidence.beside), _between(people, evidence.kin)
    total: Counter[int] = Counter()
    for pair, n in alike.items():
        total.update(dict.fromkeys(pair, n))
    joined_to = list(range(len(people)))

    def find(number: int) -> int:
        while joined_to[number] != number:
            number = joined_to[number]
        return number

    for pair, n in sorted(alike.items(), key=lambda item: -item[1]):
        if n < max(_ALIKE, _ALIKE_SHARE * min(total[number] for number in pair)):
            continue
        main, left = sorted(map(find, pair), key=lambda number: -people[number].count)
        against = _ALIKE_TIMES * apart[pair] + beside[pair]
        is_one = n > against and not kin[pair] and people[main].fits(people[left].gender)
        if main != left and is_one:
            people[main].join(people[left])
            joined_to[left] = main
    return [person for number, person in enumerate(people) if find(number) == number]


def _between(
    people: Sequence[Person], counts: Mapping[Form, Mapping[Form, int]]
) -> Counter[tuple[int, int]]:
    """Returns the counts of pairs of forms as those of pairs of people, each as two positions."""
    of = {form: number for number, person in enumerate(people) for form in person.forms}
    found: Counter[tuple[int, int]] = Counter()
    for form, number in of.items():
        for other, n in counts.get(form, {}).items():
            if number < of.get(other, number):
                found[number, of[other]] += n
    return found
