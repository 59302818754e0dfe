"""A few facts about the people of real books."""

from functools import lru_cache

import pytest
from helpers import needs_books
from real import real_spans

from miner.people.characters import find_characters
from miner.people.names import join_spans

pytestmark = [needs_books, pytest.mark.slow]

# Aliases of one character each: different characters of a file.
PEOPLE = {
    "1342-h.htm": [
        {"Elizabeth", "Lizzy", "Miss Elizabeth Bennet", "Eliza"},
        {"Mr. Darcy", "Darcy", "Fitzwilliam Darcy"},
        {"Mr. Bennet"},
        {"Mrs. Bennet"},
        {"Mr. Bingley", "Bingley"},
        {"Miss Bingley"},
        {"Lady Catherine", "Lady Catherine de Bourgh"},
        {"Kitty"},
        {"Mr. Collins"},
        {"Colonel Fitzwilliam"},
    ],
    "74-h.htm": [
        {"Tom", "Tom Sawyer"},
        {"Huck", "Huckleberry", "Huck Finn"},
        {"Becky", "Becky Thatcher"},
        {"Aunt Polly"},
        {"Injun Joe"},
        {"Joe Harper"},
    ],
    "514-h.htm": [
        {"Laurie"},
        {"Mr. Laurence"},
        {"Jo"},
        {"Mr. Brooke"},
        {"Aunt March"},
        {"Amy"},
    ],
}
GENDERS = {
    "1342-h.htm": {"Elizabeth": "f", "Mr. Darcy": "m", "Jane": "f", "Wickham": "m"},
    "74-h.htm": {"Tom": "m", "Becky": "f", "Sid": "m", "Mary": "f"},
    "514-h.htm": {"Jo": "f", "Laurie": "m", "Beth": "f", "Mr. Brooke": "m"},
}


@lru_cache(maxsize=2)
def people_of(file):
    return find_characters(join_spans(real_spans(file))).characters


@pytest.mark.parametrize("file", PEOPLE)
def test_each_has_its_names_and_nobody_elses(file):
    holders = [
        [one.id for one in people_of(file) if aliases <= set(one.aliases)]
        for aliases in PEOPLE[file]
    ]
    assert all(len(ids) == 1 for ids in holders), holders
    assert len({ids[0] for ids in holders}) == len(holders), holders


@pytest.mark.parametrize("file", GENDERS)
def test_genders(file):
    found = {alias: one.gender for one in people_of(file) for alias in one.aliases}
    assert {name: found[name] for name in GENDERS[file]} == GENDERS[file]


@pytest.mark.parametrize("file", PEOPLE)
def test_the_people_with_the_most_mentions_are_people(file):
    towns = {"London", "Meryton", "Netherfield", "Longbourn", "Paris", "St. Petersburg", "God"}
    assert not towns & {alias for one in people_of(file)[:25] for alias in one.aliases}


@pytest.mark.parametrize(
    "file, speaker", [("7500-h.htm", "Heidi"), ("17989-h.htm", "Dantès"), ("2000-h.htm", "Sancho")]
)
def test_other_languages_have_those_who_speak(file, speaker):
    assert speaker in {alias for one in people_of(file)[:6] for alias in one.aliases}
