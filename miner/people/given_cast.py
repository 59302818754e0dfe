"""Given characters and the names of a book -> its cast.

Characters are given by hand or by another corpus, often under one name each that the book seldom
uses. A form means those who have it as an alias. Another form means whoever fits it: "Tom" and "Mr.
Harris" are Tom Harris where nobody else is so called. The cast that is found without a list tells
which forms are of one person, so the others of a person's forms follow those that are known.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from miner.people.cast import Cast, Character, forms_of, holders_of
from miner.people.given_names import may_be_one
from miner.people.names import (
    ARTICLES,
    DAUGHTERS,
    KIN,
    NICKNAMES,
    NOUNS,
    WIVES,
    Form,
    Name,
    gender_of_titles,
    parse_form,
)

_ARTICLE = re.compile(rf"^{ARTICLES}\s+")
_NO_LETTER = re.compile(r"[\W\d_]+")
_APART = (WIVES, DAUGHTERS, KIN)  # titles of one kind tell a person from those of another
_OFTEN = 5  # a list lacks whoever is named beside a verb of saying so often


def cast_from_characters(
    characters: Sequence[Character], names: Sequence[Name], found: Cast
) -> Cast:
    """Returns the cast of a book whose characters are given, beside the cast that was found.

    Letter case, hyphens and apostrophes do not matter. A form that is no alias is looked up without
    qualities ("Poor Jane") and without its titles. If that fails, and somebody was found under the
    form, it means whoever fits it. Of several who do, and for a form that nobody fits, the other
    forms of the one who was found decide. An alias that several characters share means the one
    whom the chapter names by other aliases; where it names none, whoever has no other alias, or
    else the one who is named most in the book. An alias without a capital ("the barber") is a noun,
    and so is one with an article whose last word the language lists as a noun ("The Barber"). The
    aliases of an unnamed person of one chapter mean nobody elsewhere, so they are not looked up.
    """
    counts = Counter(name.form for name in names)
    aliases, nouns = _read_aliases(characters)
    by_form: defaultdict[Form, list[int]] = defaultdict(list)
    by_key: defaultdict[Form, list[int]] = defaultdict(list)
    for position, forms in enumerate(aliases):
        for form in forms:
            by_form[form].append(position)
            by_key[_key(form)].append(position)
    genders = [character.gender for character in characters]
    meant: dict[Form, tuple[int, ...]] = {}
    for form in counts:
        given = _look_up(form, by_form, genders)
        if not given and form in found.forms:
            given = _look_up(_key(form), by_key, genders)
        if given:
            meant[form] = given
    fitting = _Fitting(characters, aliases, found)
    left = [form for form in counts if form not in meant and form in found.forms]
    owners = _owners(meant, found, counts)
    taken = {position: n for n, given in owners.items() for position in given}
    fits = {form: fitting.who_fits(form, owners, taken) for form in left if form.words}
    meant |= {form: given for form, given in fits.items() if given}
    owners = _owners(meant, found, counts)
    for form in left:
        if form not in meant:
            given = (position for n in found.forms[form] for position in owners.get(n, ()))
            meant[form] = tuple(dict.fromkeys(given))
    holders = holders_of(characters)
    # Whoever has no alias of its own is meant where none of the others is at hand.
    rank: list[tuple[bool, int]] = []
    for character in characters:
        forms = forms_of(character)
        has_own = any(len(holders[form]) == 1 for form in forms)
        rank.append((has_own, -sum(counts[form] for form in forms)))
    ranked = {
        form: tuple(sorted(given, key=lambda position: rank[position]))
        for form, given in meant.items()
        if given
    }
    ranked |= _shared_as_before(found, characters, holders)
    return Cast(tuple(characters), ranked, nouns)


def find_unlisted(cast: Cast, names: Sequence[Name], found: Cast) -> tuple[str, ...]:
    """Returns the names of those who often speak and whom a given list lacks, most often first.

    None of the names that a found character shares with nobody means anyone of the given cast.
    """
    own = {form: meant[0] for form, meant in found.forms.items() if len(meant) == 1}
    listed = {position for form, position in own.items() if form in cast.forms}
    says = Counter(own[name.form] for name in names if name.says and name.form in own)
    return tuple(
        found.characters[position].name
        for position, n in says.most_common()
        if n >= _OFTEN and position not in listed
    )


def _read_aliases(
    characters: Sequence[Character],
) -> tuple[list[list[Form]], dict[str, tuple[int, ...]]]:
    """Returns the forms of each character that are names, and who has each noun as an alias."""
    aliases: list[list[Form]] = [[] for _ in characters]
    nouns: defaultdict[str, list[int]] = defaultdict(list)
    for position, character in enumerate(characters):
        if character.chapter is not None:
            continue
        for alias in dict.fromkeys((character.name, *character.aliases)):
            plain = _ARTICLE.sub("", alias.strip(), count=1) or alias
            noun = plain.split()[-1].lower()
            is_small = plain == plain.lower()
            if is_small or (plain != alias.strip() and noun in NOUNS):
                nouns[noun].append(position)
            if not is_small:
                aliases[position].append(parse_form(plain))
    return aliases, {noun: tuple(dict.fromkeys(given)) for noun, given in nouns.items()}


def _look_up(
    form: Form, by_form: Mapping[Form, Sequence[int]], genders: Sequence[str]
) -> tuple[int, ...]:
    """Returns who has a form, or else what is left of it without qualities or without titles."""
    near = by_form.get(form)
    if near is None:
        gender = gender_of_titles(form.titles)
        less = by_form.get(form.plain) or by_form.get(Form((), form.words)) or ()
        near = [position for position in less if not gender or genders[position] in ("", gender)]
    return tuple(dict.fromkeys(near))


def _key(form: Form) -> Form:
    """Returns a form that all spellings of it have in common: "MacAdam" is "Macadam"."""
    word = "".join(_letters(form).words)
    return Form(form.titles, (word,) if word else ())


def _letters(form: Form) -> Form:
    """Returns a form whose words are small letters alone."""
    return Form(form.titles, tuple(_NO_LETTER.sub("", word).lower() for word in form.words))


def _owners(
    meant: Mapping[Form, Sequence[int]], found: Cast, counts: Mapping[Form, int]
) -> dict[int, tuple[int, ...]]:
    """Returns the given characters who have forms of each found one, most of its mentions first."""
    owners: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for form, given in meant.items():
        if len(given) == 1 and form in found.forms:
            owners[found.forms[form][0]][given[0]] += counts[form]
    return {n: tuple(given for given, _ in of.most_common()) for n, of in owners.items()}


class _Fitting:
    """The aliases of the given characters, found by each word."""

    def __init__(
        self, characters: Sequence[Character], aliases: Sequence[Sequence[Form]], found: Cast
    ) -> None:
        self._characters = characters
        self._found = found
        self._by_word: defaultdict[str, list[tuple[int, Form]]] = defaultdict(list)
        for position, forms in enumerate(aliases):
            for alias in map(_letters, forms):
                for word in _keys(alias):
                    self._by_word[word].append((position, alias))

    def who_fits(
        self, form: Form, owners: Mapping[int, Sequence[int]], taken: Mapping[int, int]
    ) -> tuple[int, ...]:
        """Returns the characters whom a form may mean that none of them has as an alias.

        Args:
            form: the form; somebody was found under it.
            owners: the given characters of those who were found, as far as they are known.
            taken: the one who was found for each given character, as far as it is known.
        """
        person = self._found.forms[form][0]
        gender = gender_of_titles(form.titles) or self._found.characters[person].gender
        form = _letters(form)
        fitting = [
            (position, alias)
            for word in _keys(form)
            for position, alias in self._by_word.get(word, ())
            if not gender or self._characters[position].gender in ("", gender)
            if _fits(form, alias)
        ]
        fit = tuple(dict.fromkeys(position for position, _ in fitting))
        if len(fit) > 1:
            own = owners.get(person, ())
            return tuple(position for position in own if position in fit) or fit
        if fit and taken.get(fit[0], person) != person:
            # Another person was found for the one who fits. Yet a word of its name alone means it.
            is_word = not form.titles and len(form.words) == 1
            return fit if is_word and any(form.words[0] in a.words for _, a in fitting) else ()
        return fit


def _keys(form: Form) -> list[str]:
    """Returns the words of a form, and the given names that the first one may be short for."""
    return list(
        dict.fromkeys((*form.words, *(sorted(_others(form.words[0])) if form.words else ())))
    )


def _fits(form: Form, alias: Form) -> bool:
    """Whether a form of a book may be of somebody with an alias; both are letters alone."""
    titles, others = set(form.titles), set(alias.titles)
    if titles and others and any(titles & kind != others & kind for kind in _APART):
        return False
    if titles & KIN and not others and form.words[0] != alias.words[0]:
        return False  # "Aunt March" is not Amy March
    few, many = sorted((form.words, alias.words), key=len)
    first, *rest = few
    if first not in many and not may_be_one(first, many[0]):
        return False
    return all(word in many for word in rest)


def _others(word: str) -> frozenset[str]:
    """Returns the given names that a word in small letters may be short for."""
    return NICKNAMES.get(word, frozenset())


def _shared_as_before(
    found: Cast, characters: Sequence[Character], holders: Mapping[Form, set[int]]
) -> dict[Form, tuple[int, ...]]:
    """Returns whom the forms may mean that a found cast and a given list share in the same way."""
    position = {character.id: n for n, character in enumerate(characters)}
    listed = holders_of(found.characters)
    kept: dict[Form, tuple[int, ...]] = {}
    for form, meant in found.forms.items():
        ids = [found.characters[n].id for n in meant]
        if len(ids) > 1 and all(id in position for id in ids):
            was = {found.characters[n].id for n in listed.get(form, ())}
            if was == {characters[n].id for n in holders.get(form, ())}:
                kept[form] = tuple(position[id] for id in ids)
    return kept
