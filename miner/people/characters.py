"""Paragraphs -> the characters of a book."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from miner.people.cast import Cast, Character, find_mentions, slug_of
from miner.people.evidence import Evidence
from miner.people.grouping import (
    Person,
    all_bearers,
    bearers_of_titles,
    group_forms,
    main_bearer,
)
from miner.people.names import Form, Name, find_names, parse_form
from miner.people.paragraphs import Paragraph
from miner.people.words import QUALITIES, gender_of_titles

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
        name = shown[_usual_name(counts[n])]
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
        own = (of[plain],) if plain in of else ()
        if not plain.words:
            title = plain.titles[-1]
            if main := main_bearer(bearers, title):
                found[form] = (position[main],)
            else:
                others = (person for person, _ in all_bearers(bearers, title).most_common())
                found[form] = (*own, *(position[person] for person in others))
        elif own:
            found[form] = own
        elif (bare := Form((), plain.words)) in of:
            if people[of[bare]].fits(gender_of_titles(plain.titles)):
                found[form] = (of[bare],)
    return {form: meant for form, meant in found.items() if meant}


def _show(form: Form, printed: Mapping[str, int]) -> str:
    """Returns a form as the book prints it most, so that it can be read back."""
    for text in sorted(printed, key=lambda text: -printed[text]):
        if parse_form(text) == form:
            return text
    return " ".join((*(title.capitalize() for title in form.titles), *form.words))


def _usual_name(counts: Counter[Form]) -> Form:
    """Returns the fullest form that is not rare: a name of two words, or a title and a surname."""
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
