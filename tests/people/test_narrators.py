"""Who tells a book as "I", each rule in a small form."""

import pytest
from characters_helpers import Scene, paragraphs_of

from miner.people.cast import Character, Kind
from miner.people.mentions import NARRATOR_NUMBER, people_from_paragraphs

# Nell is called by those who talk to "I"; Mara and Mr. Bell are told of.
TALK = (
    "I came down late. Mara sat by the stove, and Mr. Bell had the lantern.",
    "“Is it you, Nell?” said Mara.",
    "“It is,” I said.",
    "“Shut the door, Miss Otway,” said Mr. Bell.",
    "“I have shut it,” I answered.",
    "“Then sit down, Nell,” said Mara. “Sit down, Nell.”",
    "“Is that well, Nell?”",
    "“I will, Mara,” I said, and Mara laughed.",
)


def tellers(*texts, chapters=(), given=None):
    """The name of the narrator of each chapter, or None; `given` are the names of a list."""
    scene = Scene(*texts, chapters=chapters)
    book = scene.book if given is None else people_from_paragraphs(scene.book.paragraphs, given)
    found = []
    for chapter in book.chapters():
        who = chapter.people[NARRATOR_NUMBER].character
        found.append(None if who is None else book.cast.characters[who].name)
    return found


def test_who_is_called_by_those_who_talk_to_i_is_the_narrator():
    assert tellers(*TALK) == ["Nell"]


def test_a_pet_name_that_only_those_who_talk_to_i_use_is_the_narrators_too():
    pet = ("“Come, Mouse,” said Mara.", "“I come,” I said.") * 5
    cast = Scene(*TALK * 2, *pet).book.cast.characters
    (narrator,) = (one for one in cast if one.kind is Kind.NARRATOR)
    assert set(narrator.aliases) == {"Nell", "Mouse"}
    assert {one.name for one in cast} >= {"Mara", "Mr. Bell"}


@pytest.mark.parametrize(
    "text",
    [
        "“You are late, Mara,” I said. “Come in, Mara,” I said. Mara sat. Mara rose.",
        "He came in. “Is it you, Nell?” he said. “It is,” she said. “Sit, Nell,” he said. He sat.",
        "I sat. “Is it raining?” he said. “It is,” I said. “Hush, hush,” he said.",
    ],
    ids=["called by I", "nobody says I", "not called"],
)
def test_no_name_of_the_narrator(text):
    assert tellers(text) == [None]


def test_a_narrator_gives_its_name():
    cries = "“Nell!” they cried. They laughed. “Nell! Nell! Nell!”"
    assert tellers("I sat down.", cries, cries, "I rose, and I left.") == [None]
    assert tellers("Call me Nell. I sat down.", cries, cries, "I left.") == ["Nell"]


def test_a_chapter_that_tells_of_the_narrator_is_told_by_another():
    by_mara = (
        "I saw that Nell was gone. Nell had left her hat. Nell came back at noon.",
        "“Where were you?” I said.",
        "“Out, Mara,” said Nell. Nell sat, and Nell smiled.",
        "“Sit down, Mara,” said Mr. Bell to me.",
        "“I will stand,” I said.",
        "“As you like, Mara,” said Nell.",
        "“You are right, Mara,” said Mr. Bell to me.",
        "“Are you tired, Mara?” said Nell to me.",
        "“Good night, Mara,” said Mr. Bell to me.",
        "“No,” I said.",
    )
    chapters = (1,) * len(TALK) + (2,) * len(by_mara)
    assert tellers(*TALK, *by_mara, chapters=chapters) == ["Nell", "Mara"]


def test_a_line_above_a_part_says_who_tells_it():
    texts = (
        "Mara Otway had a lamp. “Yes,” said Mara Otway. “No,” said Mara Otway.",
        "Mara Otway’s Diary.",
        "I am alone. I wrote all day, and I slept.",
        "“Are you ill?” he said.",
    )
    scene = Scene(*texts)
    (mention, *_) = scene.chapter.mentions[2]
    assert (scene.person(mention.person), mention.gender) == ("Mara Otway", "i")
    story = tuple(text.replace("’s Diary.", "’s lamp was out.") for text in texts)
    assert Scene(*story).person(Scene(*story).chapter.mentions[2][0].person) == "narrator"


def test_letters_are_told_by_whose_name_ends_them():
    story = "Then Mara Otway came. “Yes,” said Mara Otway. He sat. She sat. He rose. She rose."
    letter = ("I am well. " * 25, "“Go,” he said to me. I went.", "Your loving sister, Mara Otway")
    chapters = (1,) * 9 + (2,) * 3 + (3,) * 3 + (4,) * 3
    told = tellers(*[story] * 9, *letter * 3, chapters=chapters)
    assert told == [None, *["Mara Otway"] * 3]


def test_a_list_says_who_tells():
    mara, nell = (Character(n.lower(), n, (n,), "f") for n in ("Mara", "Nell"))
    telling = Character("mara", "Mara", ("Mara",), "f", Kind.NARRATOR)
    assert tellers(*TALK, given=[mara, nell]) == ["Nell"]
    assert tellers(*TALK, given=[telling, nell]) == ["Mara"]
    nobody = Character("narrator", "narrator", ("narrator",), kind=Kind.NARRATOR)
    assert tellers(*TALK, given=[mara, nell, nobody]) == ["narrator"]


def test_the_cast_that_is_found_is_read_back_the_same():
    found = Scene(*TALK).book
    again = people_from_paragraphs(paragraphs_of(*TALK), found.cast.characters)
    assert again.cast.characters == found.cast.characters


def test_who_neither_speaks_nor_is_called_is_told_apart():
    book = Scene(*TALK, "Pilot ran. They saw Pilot’s tail. Then Pilot barked.").book
    names = [one.name for one in book.cast.characters]
    roles = dict(zip(names, book.narration.doings, strict=True))
    assert roles["Pilot"] == (0, 1, 0, 0)
    assert (roles["Mara"].says, roles["Nell"].called_to_i) == (3, 3)
