"""The names that annotators give to speakers, matched to people."""

import pytest
from characters_helpers import Scene

from miner.lab.measure.speaker_matching import match_speakers
from miner.people.clues import find_clues

MARA = "“Yes,” said Mara Otway. “No,” said Mara Otway."
BELL = "“Yes,” said Mr. Bell. “No,” said Mr. Bell."


def matched(names, *texts):
    """The person of each name of a chapter, in words."""
    scene = Scene(*texts)
    found = find_clues(scene.chapter)
    assert len(names) == len(found.clues)
    of_name = match_speakers(
        names,
        found.clues,
        found.chapter.people,
        scene.book.cast,
        first_person=scene.chapter.first_person,
        unknown="?",
    )
    scene.chapter = found.chapter
    return {name: scene.person(number) for name, number in of_name.items()}


@pytest.mark.parametrize("name", ["Mara Otway", "Mara", "Miss Otway", "Otway", "Miss Mara Otway"])
def test_a_name_and_its_parts(name):
    assert matched([name] * 2, MARA) == {name: "Mara Otway"}


@pytest.mark.parametrize("name", ["Mr Bell", "Eliza", "the waiter", "Mara and Susan", "?"])
def test_what_matches_nobody(name):
    assert not matched([name] * 2, "Miss Mara Otway sat. “Yes.” “No.”")


def test_whoever_is_said_to_speak_is_meant_by_a_name_that_the_book_does_not_have():
    assert matched(["Eliza"] * 2, MARA) == {"Eliza": "Mara Otway"}


def test_two_names_of_a_chapter_are_two_people():
    texts = [MARA, "“Yes,” said Ann Otway. “No,” said Ann Otway."]
    names = ["Mara"] * 2 + ["Miss Otway"] * 2
    assert matched(names, *texts) == {"Mara": "Mara Otway", "Miss Otway": "Ann Otway"}


def test_a_noun():
    texts = [BELL, "“Yes,” said the old waiter. “No,” said the second man."]
    names = ["Mr Bell"] * 2 + ["waiter", "second man"]
    assert matched(names, *texts) == {
        "Mr Bell": "Mr. Bell",
        "waiter": "waiter",
        "second man": "second man",
    }


def test_one_of_several():
    texts = [BELL, "“Yes,” said one of the carters. “No,” said another."]
    names = ["Mr Bell"] * 2 + ["one of the carters at the door", "another"]
    assert matched(names, *texts) == {
        "Mr Bell": "Mr. Bell",
        "one of the carters at the door": "carter",
        "another": "another",
    }


def test_a_name_in_small_letters():
    texts = ["“Yes,” said the Hatter. “No,” said the Hatter."]
    assert matched(["hatter"] * 2, *texts) == {"hatter": "Hatter"}


def test_who_says_i_is_the_narrator():
    texts = [BELL, "“Yes,” I said. “No,” I said. I sat."]
    names = ["Mr Bell"] * 2 + ["Mara"] * 2
    assert matched(names, *texts) == {"Mr Bell": "Mr. Bell", "Mara": "narrator"}
