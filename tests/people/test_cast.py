"""Given characters: how forms are looked up in their aliases, and which aliases may be shared."""

from dataclasses import replace

import pytest
from characters_helpers import paragraphs_of

from miner.errors import InputError
from miner.people.cast import (
    Character,
    cast_from_characters,
    character_of,
    find_mentions,
    refuse_unclear,
    slug_of,
)
from miner.people.names import find_names


def given(*rows: tuple[str, str, str]) -> list[Character]:
    """A character for each name, gender and aliases with "|" between them."""
    return [
        character_of(name, filter(None, aliases.split("|")), gender)
        for name, gender, aliases in rows
    ]


def meant(characters: list[Character], *chapters: str) -> list[str]:
    """Each name of the chapters with the id of the character whom it means."""
    texts = paragraphs_of(*chapters)
    paragraphs = [replace(paragraph, chapter=n) for n, paragraph in enumerate(texts)]
    names = find_names(paragraphs)
    cast = cast_from_characters(characters, names)
    found = find_mentions(cast.forms, names, paragraphs)
    return [
        f"{paragraphs[name.paragraph].text[name.start : name.end]}: "
        + ("nobody" if position is None else cast.characters[position].id)
        for name, position in zip(names, found, strict=True)
    ]


OTWAYS = given(("Mara Otway", "f", "Mara|Mrs. Otway"), ("Tobin Otway", "m", "Tobin|Otway"))


def test_a_form_means_whoever_has_it_as_an_alias():
    assert meant(OTWAYS, "Then Mara saw Otway and Nan, and Mrs. Otway sat.") == [
        "Mara: mara-otway",
        "Otway: tobin-otway",
        "Nan: nobody",
        "Mrs. Otway: mara-otway",
    ]


def test_a_form_that_nobody_has_is_looked_up_with_less():
    assert meant(OTWAYS, "They saw Poor Mara, Captain Tobin, Mr. Otway, Miss Tobin there.") == [
        "Poor Mara: mara-otway",
        "Captain Tobin: tobin-otway",
        "Mr. Otway: tobin-otway",
        "Miss Tobin: nobody",
    ]
    (wife,) = given(("Mrs. Bell", "f", ""))
    assert meant([wife], "They saw Bell there, Miss Bell and Mr. Bell.") == [
        "Bell: mrs-bell",
        "Miss Bell: mrs-bell",
        "Mr. Bell: nobody",
    ]


def test_a_shared_alias_means_whom_the_chapter_names():
    sisters = given(("Jane", "f", "Miss Otway"), ("Mara", "f", "Miss Otway"))
    assert meant(sisters, "Here Jane sat. Miss Otway rose.", "Here Mara sat. Miss Otway rose.") == [
        "Jane: jane",
        "Miss Otway: jane",
        "Mara: mara",
        "Miss Otway: mara",
    ]


def test_where_nobody_is_named_a_shared_alias_means_whoever_has_no_other():
    dukes = given(("Duke of Arden", "m", "Duke"), ("Duke", "m", ""))
    assert meant(dukes, "They saw the Duke.", "There the Duke of Arden saw the Duke of it.") == [
        "Duke: duke",
        "Duke of Arden: duke-of-arden",
        "Duke: duke-of-arden",
    ]


def test_two_characters_without_an_alias_of_their_own_are_unclear():
    both = [Character("mara", "Miss Otway", ()), Character("jane", "Miss Otway", ("Miss Otway",))]
    message = "found no alias of 'jane' that is not of 'mara' or others, expected one of its own"
    with pytest.raises(InputError, match=message):
        refuse_unclear(both)
    assert meant(both, "They saw Miss Otway.") == ["Miss Otway: mara"]  # other corpora have such


def test_an_alias_without_a_capital_is_a_noun():
    cast = cast_from_characters(
        given(("Barber", "m", "the old barber|a barber"), ("Nan", "f", "my nurse")), []
    )
    assert cast.nouns == {"barber": (0,), "nurse": (1,)}


def test_an_alias_with_an_article_is_a_noun_if_the_language_lists_it():
    cast = cast_from_characters(given(("Nan", "f", "The Nurse|The Lamb|Nurse")), [])
    assert cast.nouns == {"nurse": (0,)}


def test_a_character_has_a_gender_and_an_id():
    with pytest.raises(ValueError, match="gender: found 'x', expected m, f or nothing"):
        Character("nan", "Nan", (), "x")
    with pytest.raises(ValueError, match="id: found none"):
        Character("", "Nan", ())


def test_an_id_is_in_small_letters_of_ascii_and_the_only_one():
    assert slug_of("St. John O’Dell") == "st-john-odell"
    assert slug_of("Zoë", {"zoe", "zoe-2"}) == "zoe-3"
    assert slug_of("Ω") == "character"
