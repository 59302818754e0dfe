"""The names in the paragraphs of a book -> its characters: the forms that one person goes by.

The longest forms come first, because they tell most: "Elizabeth Bennet". A title with a surname or
a given name joins them ("Miss Elizabeth"), then names alone ("Lizzy"). Every form is compared with
the people who share a word or a short name with it, and with no others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from miner.people.cast import Cast, Character, find_mentions, slug_of
from miner.people.evidence import Evidence
from miner.people.given_names import gender_of_words, initials, parts_of, sought, told
from miner.people.joins import Person, join_alike
from miner.people.names import (
    ADDRESS,
    DAUGHTERS,
    KIN,
    NOBLE,
    PLACE_NOUNS,
    QUALITIES,
    SURNAME_TITLES,
    TITLES,
    TITLES_OF_NOUNS,
    WIVES,
    Form,
    Name,
    Paragraph,
    find_names,
    gender_of_titles,
    parse_form,
)

# Two forms that stand in one clause so often are two people: at least this often, and at least this
# share of the times of the rarer one.
_BESIDE, _BESIDE_SHARE = 3, 0.015
# Speech shows two forms to be of two people at least so often, and more often than of one.
_APART = 2
# Narration uses both "Mr. Wilcox" and "Charles" so often: the name without a given name is another.
_SEPARATE = 6
_WIFE = 3
# So many pronouns, and so many times as many as of the other gender, tell more than a given name.
_AGAINST_NAME = 8, 4
_NOBLE = 0.75  # the share of mentions with a noble title above which nobody uses a short name
# A short name, or a given name that is a surname, too, is that of a person who is named otherwise
# at least this share of its times. Else "Otway Hall" would own "Otway".
_LEAST_SHARE = 0.04
# Speech shows a surname to be another man's, too, at least so often, and so many times as often
# as it shows the two to be two.
_SHARED, _SHARED_TIMES = 10, 0.75
# A title alone is that of the person who has it so many times more often than any other bearer.
_MAIN_BEARER = 5
_ALONE = 3  # a title without a name is a person if it stands so often
_LADIES = frozenset(title for title in SURNAME_TITLES if TITLES[title] == "f")
_NOBLE_LADIES = _LADIES & NOBLE


class _Relations(NamedTuple):
    """How often the text shows a form and each person to be two people, or one."""

    beside: Counter[Person]  # both stand in one clause
    apart: Counter[Person]  # both speak, one after the other
    alike: Counter[Person]  # both speak, in turn with somebody else
    kin: Counter[Person]  # one is called a relative of the other


def group_forms(evidence: Evidence) -> list[Person]:
    """Returns the people of a book, those who are named most first."""
    return _Grouping(evidence).people()


def bearers_of_titles(people: Iterable[Person], evidence: Evidence) -> dict[str, Counter[Person]]:
    """Returns the people who have each title before their names, and how often."""
    found: defaultdict[str, Counter[Person]] = defaultdict(Counter)
    for person in people:
        for form in person.forms:
            if form.words:
                for title in form.titles:
                    found[title][person] += evidence.counts[form]
    return found


def main_bearer(
    bearers: Mapping[str, Counter[Person]], title: str, named: bool = False
) -> Person | None:
    """Returns the person whom a title alone means in every chapter; None where it depends."""
    found = all_bearers(bearers, title, named)
    counts = [*(count for _, count in found.most_common(2)), 0, 0]
    return found.most_common(1)[0][0] if counts[0] > _MAIN_BEARER * counts[1] else None


def all_bearers(
    bearers: Mapping[str, Counter[Person]], title: str, named: bool = False
) -> Counter[Person]:
    """Returns the people who have a title or, for "His Lordship", one that goes with it."""
    found: Counter[Person] = Counter()
    others = TITLES_OF_NOUNS.get(title, frozenset()) if title in ADDRESS else {title}
    for other in sorted({*others, title} if named else others):  # ties are in this order
        found.update(bearers.get(other, {}))
    return found


class _Grouping:
    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._people: list[Person] = []
        self._of: dict[Form, Person] = {}
        self._by_first: defaultdict[str, list[Person]] = defaultdict(list)
        self._by_last: defaultdict[str, list[Person]] = defaultdict(list)
        self._by_husband: defaultdict[str, list[Person]] = defaultdict(list)
        self._by_key: defaultdict[str, list[Person]] = defaultdict(list)
        self._by_ends: defaultdict[tuple[str, str], list[Person]] = defaultdict(list)
        self._by_full: defaultdict[frozenset[str], list[Person]] = defaultdict(list)
        self._by_part: defaultdict[frozenset[str], list[Person]] = defaultdict(list)
        self._forms = [form for form in evidence.counts if self._is_person(form)]
        self._forms.sort(key=lambda form: -evidence.counts[form])

    def people(self) -> list[Person]:
        for form in self._forms:
            if len(form.words) > 1:
                self._add_full(form)
        for form in self._forms:
            if len(form.words) == 1 and form.titles:
                self._add_titled(form)
        for form in self._forms:
            if len(form.words) == 1 and not form.titles:
                self._add_bare(form)
        bearers = bearers_of_titles(self._people, self._evidence)
        for form in self._forms:
            if not form.words:
                title = form.titles[-1]
                person = main_bearer(bearers, title, named=title in NOBLE)
                self._join(person or self._found(form, gender_of_titles(form.titles)), form)
        for person in self._people:
            person.gender = person.gender or self._gender_of_forms(person.forms)
        people = join_alike(self._people, self._evidence)
        return sorted(people, key=lambda person: -person.count)

    def _is_person(self, form: Form) -> bool:
        uses = self._evidence.uses_of(form)
        if not form.words:
            said = uses.says, uses.acts
            if form.titles[-1] in ADDRESS:
                return uses.says >= _ALONE
            return uses.all >= _ALONE and (said[0] >= 1 or said[1] >= 2)
        is_named_after = len(form.words) > 1 and form.words[-1].lower() in PLACE_NOUNS
        if is_named_after and not form.plain.titles:
            return False  # "Otway Hall"
        if uses.is_person:
            return True
        if len(form.words) == 1 or uses.is_place:
            return False
        ends = form.words[:1], form.words[-1:]
        return any(self._evidence.uses[end].is_person for end in ends)

    def _add_full(self, form: Form) -> None:
        words, gender = form.words, self._gender(form)
        near = [self._by_ends[key, words[-1]] for key in (*sought(words[0]), *initials(words[0]))]
        near.append(self._by_part[frozenset(words)])
        near += [self._by_full[part] for part in parts_of(words)]
        is_wife = bool(WIVES & set(form.titles))
        person = next(
            (
                person
                for people in near
                for person in people
                if person.fits(gender) and self._may_share(person, gender, is_wife)
            ),
            None,
        )
        if person is None:
            person = self._found(form, gender)
            for key in (*told(words[0]), *initials(words[0], told=True)):
                _add_one(self._by_ends[key, words[-1]], person)
            for part in parts_of(words):
                _add_one(self._by_part[part], person)
            _add_one(self._by_full[frozenset(words)], person)
        self._join(person, form)
        if not is_wife or gender_of_words(words) == "f":
            self._name_first(person, words[0])
        else:
            self._by_husband[words[0]].append(person)
        self._name_last(person, words[-1])

    @staticmethod
    def _may_share(person: Person, gender: str, is_wife: bool) -> bool:
        """Whether a full name and a person may be of one: "Mrs. Bute Crawley" is named by Bute."""
        if is_wife:
            return person.gender == "f"
        are_wives = all(WIVES & set(form.titles) for form in person.forms)
        return gender == "f" or not are_wives

    def _add_titled(self, form: Form) -> None:
        (word,), title, gender = form.words, form.titles[-1], self._gender(form)
        if title in QUALITIES:  # it tells the person from another one of the name
            self._join(self._found(form, gender), form)
            return
        others = self._others(form)
        least = self._least(form) if self._by_last[word] else 0
        wives = self._by_husband[word] if title in WIVES else []
        fit = [
            person
            for person in dict.fromkeys((*self._bearers(word), *wives))
            if person.fits(gender)
            and (word in person.last or self._size(person, form) >= least)
            and not self._clashes(person, title, gender, word)
            and not self._is_separate(person, form)
            and not self._is_other(person, form, others)
        ]
        surname = [person for person in fit if word in person.last]
        if title in SURNAME_TITLES and TITLES[title] and surname:
            person = _owner_of_surname(surname, title)
        else:
            person = max(fit, key=lambda person: person.count, default=None)
        if person is None:
            person = self._found(form, gender)
            named = self._name_last if title in SURNAME_TITLES else self._name_first
            named(person, word)
        self._join(person, form)

    def _add_bare(self, form: Form) -> None:
        (word,) = form.words
        gender = self._gender_of_name(form, 4)
        others = self._others(form)
        least = self._least(form)
        fit = [
            person
            for person in self._bearers(word)
            if person.fits(gender)
            if word in person.first or not self._is_beside(person, form, others)
        ]
        is_surname = bool(self._by_last[word])
        first = [
            person
            for person in fit
            if word in person.first
            if not is_surname or self._size(person, form) >= least
        ]
        last = [person for person in fit if word in person.last and word not in person.first]
        short = [
            person
            for person in fit
            if word not in person.first and word not in person.last and person.count >= least
            if self._has_short_name(person, form)
        ]
        if first:
            person = max(first, key=lambda person: (person.uses[word], person.count))
        elif last:
            person = self._owner_of_bare(last, form, gender)
        else:
            person = max(short, key=lambda person: person.count, default=None)
        is_first = bool(first) or not last
        if person is None:
            person = self._found(form, gender)
            is_first = True
        self._join(person, form)
        if is_first:
            self._name_first(person, word)
        person.gender = person.gender or gender

    def _found(self, form: Form, gender: str) -> Person:
        person = Person(gender)
        self._people.append(person)
        return person

    def _join(self, person: Person, form: Form) -> None:
        n = self._evidence.counts[form]
        person.forms.append(form)
        person.count += n
        person.noble += n * bool(form.titles and form.titles[-1] in NOBLE)
        person.uses.update(dict.fromkeys(form.words, n))
        person.gender = person.gender or self._gender(form)
        self._of[form] = person
        if _is_bare(form):
            for other in self._by_first[form.words[0]]:
                other.expected -= n

    def _name_first(self, person: Person, word: str) -> None:
        if word in person.first:
            return
        person.first.add(word)
        if (bare := Form((), (word,))) not in self._of:
            person.expected += self._evidence.counts[bare]
        self._by_first[word].append(person)
        for key in told(word):
            self._by_key[key].append(person)

    def _name_last(self, person: Person, word: str) -> None:
        if word not in person.last:
            person.last.add(word)
            self._by_last[word].append(person)

    def _bearers(self, word: str) -> list[Person]:
        """The people who have a word as a name, or a longer or shorter form of it."""
        near = [self._by_first[word], self._by_last[word]]
        near += [self._by_key[key] for key in sought(word)]
        return list(dict.fromkeys(person for people in near for person in people))

    def _gender(self, form: Form) -> str:
        return gender_of_titles(form.titles) or self._gender_of_name(form, 3)

    def _gender_of_name(self, form: Form, least: int) -> str:
        """The gender that pronouns tell, or the given name if they do not clearly contradict it."""
        known = gender_of_words(form.words)
        least, times = _AGAINST_NAME if known else (least, 2)
        return self._evidence.gender(form, least, times) or known

    def _gender_of_forms(self, forms: Iterable[Form]) -> str:
        counts = [self._evidence.pronouns[form] for form in forms]
        he, she = (sum(count[gender] for count in counts) for gender in "mf")
        return "m" if he > 1.5 * she else "f" if she > 1.5 * he else ""

    def _clashes(self, person: Person, title: str, gender: str, word: str) -> bool:
        """Whether a person has the surname with a title that another person must have."""
        titles = {
            form.titles[-1] for form in person.forms if form.titles and form.words[-1] == word
        }
        if title in WIVES and person.gender != "f":
            return True
        if title in _NOBLE_LADIES and any(DAUGHTERS & set(form.titles) for form in person.forms):
            return True  # "Lady Jane" was never Miss Jane
        if gender == "f":
            return title in _LADIES and bool(titles & (_LADIES - {title}))
        return word not in person.first and bool(titles & _LADIES)

    def _is_separate(self, person: Person, form: Form) -> bool:
        """Whether narration uses both the title with the surname and the given name."""
        title, word = form.titles[-1], form.words[0]
        if title in KIN:  # "Aunt March" is not Mrs. March
            others = [Form((other,), (word,)) for other in SURNAME_TITLES]
            named = sum(self._evidence.narrated[other] for other in others if other in person.forms)
            if word not in person.first and not named:
                return True
            if min(named, self._evidence.narrated[form]) >= _SEPARATE:
                return True
        if title in DAUGHTERS or word in person.first:
            return False
        full = [other for other in person.forms if len(other.words) > 1]
        narrated = self._evidence.narrated
        given = sum(narrated[Form((), (first,))] for first in person.first)
        if any(other.titles[-1:] == (title,) for other in full):
            # "Mr. Joseph Sedley" is the son, if there is a Mrs. Sedley, too.
            wives = sum(self._evidence.counts[Form((wife,), (word,))] for wife in WIVES)
            return wives >= _WIFE and narrated[form] >= _SEPARATE and given >= narrated[form]
        given += sum(narrated[other] for other in full)
        return narrated[form] >= _SEPARATE and given >= _SEPARATE

    def _others(self, form: Form) -> _Relations:
        """How often a form stands beside each person, and speaks as this person or another one."""
        exchanges = self._evidence.exchanges
        tables = self._evidence.beside, exchanges.apart, exchanges.alike, self._evidence.kin
        return _Relations(*(self._of_people(table[form]) for table in tables))

    def _of_people(self, counts: Counter[Form]) -> Counter[Person]:
        """The counts of the people whose forms are counted, and of those who may have one."""
        found: Counter[Person] = Counter()
        for other, n in counts.items():
            if other in self._of:
                found[self._of[other]] += n
            elif _is_bare(other):
                for person in self._by_first[other.words[0]]:
                    found[person] += n
        return found

    def _is_other(self, person: Person, form: Form, others: _Relations) -> bool:
        """Whether a form is shown not to be that of a person."""
        if others.kin[person] or others.apart[person] >= max(_APART, others.alike[person] + 1):
            return True
        return self._is_beside(person, form, others)

    def _is_beside(self, person: Person, form: Form, others: _Relations) -> bool:
        n = others.beside[person]
        return n >= _BESIDE and n >= _BESIDE_SHARE * min(
            self._evidence.counts[form], self._size(person, form)
        )

    def _least(self, form: Form) -> float:
        return _LEAST_SHARE * self._evidence.counts[form]

    def _has_short_name(self, person: Person, form: Form) -> bool:
        """Whether a person may be called by a short name: nobody calls Lady Catherine Kitty."""
        size = self._size(person, form)
        return size < self._evidence.counts[form] or person.noble <= _NOBLE * size

    def _owner_of_bare(self, people: list[Person], form: Form, gender: str) -> Person | None:
        """The one of several people with a surname whom the surname alone names."""
        men = [person for person in people if person.gender != "f"]
        if men:
            return max(men, key=lambda person: self._size(person, form))
        if len(people) > 1:
            return None
        is_wife = any(WIVES & set(other.titles) for other in people[0].forms)
        return people[0] if gender == "f" or not is_wife else None

    def _size(self, person: Person, without: Form) -> int:
        """How often a person is named, if the given names alone are this person's."""
        is_counted = _is_bare(without) and without not in self._of
        own = is_counted and without.words[0] in person.first
        return person.count + person.expected - own * self._evidence.counts[without]


def _is_bare(form: Form) -> bool:
    return not form.titles and len(form.words) == 1


def _owner_of_surname(people: list[Person], title: str) -> Person | None:
    """The one of several people with a surname whom "Mr. Otway" or "Miss Otway" names."""
    if title in DAUGHTERS and len(people) > 1:
        # The eldest is never called by her given name after the title.
        people = [
            person
            for person in people
            if person.gender == "f"
            and not any(form.titles == (title,) and len(form.words) > 1 for form in person.forms)
        ]
    elif title in WIVES:
        women = [person for person in people if person.gender == "f"]
        wives = [p for p in women if any(WIVES & set(form.titles) for form in p.forms)]
        people = wives or women
    elif TITLES[title] == "m":
        return max(people, key=lambda person: person.count)
    return people[0] if len(people) == 1 else None


def _add_one(people: list[Person], person: Person) -> None:
    """Adds a person to those who are found by one key. One of each gender can be found."""
    if not any(other.gender in ("", person.gender) for other in people):
        people.append(person)


# A fuller name is the usual one if the book has it at least so often, and at least this share of
# the times of the form that it has most.
_FULLER, _FULLER_SHARE = 2, 0.01
_TITLED_SHARE = 0.2  # the same for a title before a single word


def find_characters(paragraphs: Sequence[Paragraph], names: Sequence[Name] | None = None) -> Cast:
    """Returns the characters whom a book names, those with the most mentions first."""
    if names is None:
        names = find_names(paragraphs)
    evidence = Evidence(names, paragraphs)
    people = group_forms(evidence)
    forms = _meant(people, evidence)
    counts: list[Counter[Form]] = [Counter() for _ in people]
    printed: defaultdict[Form, Counter[str]] = defaultdict(Counter)
    for name, meant in zip(names, find_mentions(forms, names, paragraphs), strict=True):
        if meant is not None:
            counts[meant][name.form] += 1
            text = paragraphs[name.paragraph].text[name.start : name.end]
            printed[name.form][" ".join(text.split())] += 1
    # Whoever is meant nowhere is left out: a captain in a book where each captain has a name.
    kept = [n for n in range(len(people)) if counts[n]]
    kept.sort(key=lambda n: -counts[n].total())
    position = {old: new for new, old in enumerate(kept)}
    shown = {form: _show(form, texts) for form, texts in printed.items()}
    characters: list[Character] = []
    taken: set[str] = set()
    for n in kept:
        first = Counter({form: count for form, count in counts[n].items() if forms[form][0] == n})
        name = shown[_usual_name(first or counts[n], evidence)]
        taken.add(slug := slug_of(name, taken))
        aliases = tuple(dict.fromkeys(shown[form] for form, _ in counts[n].most_common()))
        gender, n_mentions = people[n].gender, counts[n].total()
        characters.append(Character(slug, name, aliases, gender, n_mentions=n_mentions))
    left = {
        form: tuple(position[n] for n in meant if n in position) for form, meant in forms.items()
    }
    return Cast(tuple(characters), {form: meant for form, meant in left.items() if meant})


def _meant(people: Sequence[Person], evidence: Evidence) -> dict[Form, tuple[int, ...]]:
    """Returns the people whom each form of a book may mean, as positions, the likeliest first."""
    of = {form: n for n, person in enumerate(people) for form in person.forms}
    position = {person: n for n, person in enumerate(people)}
    bearers = bearers_of_titles(people, evidence)
    found: dict[Form, tuple[int, ...]] = {}
    for form, plain in evidence.raw.items():
        own = of.get(plain)
        if not plain.words:
            title = plain.titles[-1]
            if main := main_bearer(bearers, title):
                found[form] = (position[main],)
            else:
                others = (person for person, _ in all_bearers(bearers, title).most_common())
                own_first = () if own is None else (own,)
                found[form] = (*own_first, *(position[person] for person in others))
        elif own is not None:
            found[form] = (own, *_others_of_surname(plain, own, people, of, evidence))
        elif (bare := Form((), plain.words)) in of:
            if people[of[bare]].fits(gender_of_titles(plain.titles)):
                found[form] = (of[bare],)
    return {form: meant for form, meant in found.items() if meant}


def _others_of_surname(
    form: Form, own: int, people: Sequence[Person], of: Mapping[Form, int], evidence: Evidence
) -> list[int]:
    """Returns the other men whom a surname means in some chapters: the son is "Mr. Weller", too."""
    if len(form.words) != 1 or "f" in (gender_of_titles(form.titles), people[own].gender):
        return []
    alike, apart = (_sum_by_person(counts.get(form, {}), of) for counts in evidence.exchanges)
    return [
        n
        for n, count in alike.most_common()
        if n != own and people[n].gender == "m" and form.words[0] in people[n].last
        if count >= max(_SHARED, _SHARED_TIMES * apart[n])
    ]


def _sum_by_person(counts: Mapping[Form, int], of: Mapping[Form, int]) -> Counter[int]:
    found: Counter[int] = Counter()
    for form, n in counts.items():
        if form in of:
            found[of[form]] += n
    return found


def _show(form: Form, printed: Mapping[str, int]) -> str:
    """Returns a form as the book prints it most, so that it can be read back."""
    for text in sorted(printed, key=lambda text: -printed[text]):
        if parse_form(text) == form:
            return text
    return " ".join((*(title.capitalize() for title in form.titles), *form.words))


def _usual_name(counts: Counter[Form], evidence: Evidence) -> Form:
    """Returns the fullest form that is not rare: a name of two words, or a title and a surname.

    What says only what somebody is ("the Canadian") comes last.
    """
    is_epithet = {form: not form.titles and evidence.uses_of(form).is_epithet for form in counts}
    counts = Counter({form: n for form, n in counts.items() if not is_epithet[form]}) or counts
    most = counts.most_common(1)[0][1]

    def rank(form: Form) -> tuple[int, int, int]:
        n = counts[form]
        titles = [title for title in form.titles if title not in QUALITIES]
        n_words = len(form.words) if n >= max(_FULLER, _FULLER_SHARE * most) else 0
        if n_words > 1:
            return n_words, -len(titles), n
        is_titled = bool(titles) and n >= _TITLED_SHARE * most
        return min(n_words, 1), is_titled, n

    return max(counts, key=rank)
