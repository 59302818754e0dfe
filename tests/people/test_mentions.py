"""Whom names, nouns and pronouns mention; each rule in a small form."""

from dataclasses import replace

import pytest
from characters_helpers import Scene, paragraphs_of

from miner.people.cast import Character, Kind
from miner.people.mentions import (
    NARRATOR_NUMBER,
    UNKNOWN_NUMBER,
    MentionKind,
    people_from_paragraphs,
)

MARA = "“Yes,” said Mara. “No,” said Mara."
OTWAY = "“Yes,” said Captain Otway. “No,” said Captain Otway."
BELL = "“Yes,” said Captain Bell. “No,” said Captain Bell."


def test_a_name_a_noun_and_a_pronoun_are_mentions():
    assert Scene(MARA, "Mara saw the waiter, and he bowed.").mentions() == [
        ("Mara", "name", "Mara"),
        ("the waiter", "noun", "waiter"),
        ("he", "pronoun", "m"),
    ]


def test_only_names_are_mentions_in_speech():
    assert Scene(MARA, "“I saw Mara and the waiter.”").mentions() == [("Mara", "name", "Mara")]


def test_the_captain_is_the_character_of_that_title():
    scene = Scene(OTWAY, "The captain sat.")
    assert scene.mentions() == [("The captain", "noun", "Captain Otway")]


def test_of_two_captains_the_one_whom_the_chapter_names_is_meant():
    scene = Scene(OTWAY, "The captain sat.", BELL, chapters=(1, 1, 2))
    assert scene.mentions() == [("The captain", "noun", "Captain Otway")]


def test_of_two_captains_in_one_chapter_neither_is_meant():
    assert Scene(OTWAY, BELL, "The captain sat.").mentions()[0][2] == "captain"


def test_a_number_tells_two_people_of_one_noun_apart():
    scene = Scene("“Yes.”", "The first man sat. The second man stood.")
    assert [person for _, _, person in scene.mentions()] == ["first man", "second man"]


@pytest.mark.parametrize(("word", "may_act"), [("him", False), ("he", True), ("my", False)])
def test_only_subjects_can_act(word, may_act):
    (mention,) = Scene(f"“Yes.” And {word} too.").chapter.mentions[0]
    assert mention.may_act is may_act


def test_the_narrator_is_part_of_the_story_if_it_says_i():
    assert Scene("I sat. “Yes,” I said. He sat.").chapter.first_person
    assert not Scene("He sat. “Yes,” he said. She sat. They sat.").chapter.first_person


def test_every_chapter_has_a_narrator_and_an_unknown_person():
    people = Scene("“Yes.”").chapter.people
    assert people[NARRATOR_NUMBER].kind is Kind.NARRATOR
    assert people[UNKNOWN_NUMBER].kind is None


def test_i_is_the_narrator():
    (mention,) = Scene("I sat. “Yes.”").chapter.mentions[0]
    assert (mention.kind, mention.person) == (MentionKind.PRONOUN, NARRATOR_NUMBER)


def test_chapters_without_speech_are_left_out():
    scene = Scene("Nobody spoke.", "“Yes.”", chapters=(1, 2))
    assert [chapter.number for chapter in scene.book.chapters()] == [2]


def test_a_noun_that_two_have_as_an_alias_means_whom_the_chapter_names():
    texts = ("Mara sat. “Yes,” said the nurse.", "Nan sat. “Yes,” said the nurse.")
    paragraphs = paragraphs_of(*texts)
    apart = tuple(replace(one, chapter=number) for number, one in enumerate(paragraphs, 1))
    listed = [Character(name.lower(), name, (name, "the nurse"), "f") for name in ("Mara", "Nan")]
    book = people_from_paragraphs(apart, listed)
    speakers = [
        chapter.people[mention.person].character
        for chapter in book.chapters()
        for mention in chapter.mentions[0]
        if mention.kind is MentionKind.NOUN
    ]
    assert speakers == [0, 1]


def test_a_title_that_a_character_seldom_has_is_not_its_noun():
    often = ["Mara sat. “Yes,” said Mara."] * 40
    texts = ("“Yes,” said Princess Mara.", *often, "Mara saw the princess.")
    assert Scene(*texts).mentions()[-1] == ("the princess", "noun", "princess")
    assert Scene(*["“Yes,” said Princess Mara."] * 9, texts[-1]).mentions()[-1][2] != "princess"
