"""Which characters the nouns beside their names mean."""

import pytest
from characters_helpers import Scene

from miner.people.clues import Cue, find_clues

MARA = "“Yes,” said Mara. “No,” said Mara."
BELL = "“Yes,” said Mr. Bell. “No,” said Mr. Bell."


def noun(*texts):
    """Whom the first noun of the last paragraph means, in words."""
    found = Scene(*texts).mentions()
    return next(person for _, kind, person in found if kind == "noun")


@pytest.mark.parametrize(
    ("told", "person"),
    [
        ("The cook, Mara, sat.", "Mara"),
        ("The old cook Mara sat.", "Mara"),
        ("A cook named Mara sat.", "Mara"),
        ("Mara, the cook, sat.", "Mara"),
        ("Mara, a cook of the place, sat.", "Mara"),
        ("Mara the cook rose.", "Mara"),
        ("Mara was the cook of the place.", "Mara"),
        ("Mara, the cook, and Mr. Bell sat.", "cook"),
        ("Mara, the cook and Mr. Bell sat.", "cook"),
        ("Mara, the cook, the maid and Mr. Bell sat.", "cook"),
        ("In the house of Mara, the cook, who was tired, sat.", "cook"),
        ("He gave Mara a cook.", "cook"),
        ("He gave Mara the cook’s hat.", "cook"),
        ("For a cook Mara sang.", "cook"),
        ("Mara’s, the cook, sat.", "cook"),
        ("Mara was the second cook.", "cook"),
        ("“It is Mara, the cook.”", "cook"),
    ],
)
def test_a_noun_beside_a_name_means_its_bearer(told, person):
    assert noun(MARA, BELL, told, "The cook rose.") == person


def test_a_noun_right_before_a_name_means_this_one_alone():
    texts = (MARA, BELL, "The cook Mara and the cook Mr. Bell sat.")
    assert noun(*texts) == "Mara"
    assert noun(*texts, "The cook rose.") == "cook"


def test_a_word_for_anybody_and_a_new_person_are_nobody_in_particular():
    assert noun(MARA, "The woman, Mara, sat.", "The woman rose.") == "woman"
    assert noun(MARA, "The cook, Mara, sat.", "Another cook rose.") != "Mara"


@pytest.mark.parametrize(
    ("texts", "person"),
    [
        ((f"{MARA} The cook sat.", BELL, "Mara, the cook, sat."), "Mara"),
        ((f"{BELL} The cook sat.", MARA, "Mara, the cook, sat."), "cook"),
        ((f"{MARA} The cook sat.", "Mr. Bell, the cook, sat.", "Mara, the cook, sat."), "cook"),
    ],
    ids=["named", "not named", "of two"],
)
def test_in_another_chapter_it_means_the_only_bearer_if_the_chapter_names_him(texts, person):
    scene = Scene(*texts, chapters=(1, 2, 3))
    assert scene.mentions()[-1][2] == person


@pytest.mark.parametrize(
    ("told", "speaker"),
    [
        ("Mara, the tinker, sat.", "Mara"),
        ("Mara, her tinker, sat.", "tinker"),
        ("The tinker Mara sat.", "tinker"),
    ],
)
def test_a_word_that_is_not_listed_means_its_bearer_where_it_speaks(told, speaker):
    scene = Scene(MARA, told, "“Yes,” said the tinker.")
    found = find_clues(scene.chapter)
    scene.chapter = found.chapter
    assert scene.shown(found.clues[-1].cue(Cue.SAYS_AFTER)) == speaker


def test_of_a_noun_that_is_a_title_the_title_decides():
    texts = ("“Yes,” said Captain Otway.", "Mara, the captain of the guard, sat.")
    assert noun(MARA, *texts, "The captain rose.") == "Captain Otway"


def test_a_noun_that_leads_in_stands_in_the_paragraph_before():
    scene = Scene(MARA, "Then said the tinker:", "“Yes.”")
    scene.chapter = find_clues(scene.chapter).chapter
    assert scene.mentions(1)[-1] == ("tinker", "noun", "tinker")
    assert scene.mentions(2) == []
