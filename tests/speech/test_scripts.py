"""A scene that a novel sets as a play has speech; lists, glossaries and diaries have none."""

import pytest

from miner.books.book import Block, BlockKind
from miner.speech.scripts import find_heads, find_speeches


def blocks_of(*texts):
    """A block for each text; "*" around its first words are italics, "#" begins a heading."""
    found = []
    for number, text in enumerate(texts):
        kind = BlockKind.HEADING if text.startswith("#") else BlockKind.PARAGRAPH
        lead = text.split("*")[1] if text.startswith("*") else ""
        found.append(Block(number, 1, kind, text.lstrip("# ").replace("*", ""), lead))
    return found


def said(*texts):
    """The speech of each block that has any, without the directions."""
    blocks = blocks_of(*texts)
    found = {}
    for index, speech in find_speeches(blocks).items():
        if speech:
            parts, at = [], speech.start
            for start, end in (*speech.directions, (speech.end, speech.end)):
                parts.append(blocks[index].text[at:start])
                at = end
            found[index] = " | ".join(filter(None, parts))
    return found


SCENES = {
    "capitals": ["ANN. Is it in?", "BO. Not yet.", "ANN. I see. Then I wait."],
    "capitals and a colon": ["ANN: Is it in?", "BO: Not yet.", "ANN: I see. Then I wait."],
    "capitals and a dash": ["ANN.—Is it in?", "BO.—Not yet.", "ANN.—I see. Then I wait."],
    "italics": ["*Ann.* Is it in?", "*Bo.* Not yet.", "*Ann.* I see. Then I wait."],
    "plain names": ["Ann: Is it in?", "Bo: Not yet.", "Ann: I see. Then I wait.", "Bo: Do."],
    "letters": ["Q. Is it in?", "A. Not yet.", "Q. I see. Then I wait.", "A. Do."],
}


@pytest.mark.parametrize("name", SCENES)
def test_each_way_to_head_a_speech(name):
    found = said("They played it in the barn.", *SCENES[name][:3], *SCENES[name][3:])
    assert list(found.values())[:3] == ["Is it in?", "Not yet.", "I see. Then I wait."]
    assert 0 not in found


def test_a_name_may_stand_alone_above_its_speech():
    for ann, bo in (("ANN", "BO"), ("*Ann*", "*Bo*")):
        found = said(ann, "Is it in?", f"{bo} (rising)", "Not yet.", ann, "I see.", bo, "Do!")
        assert found == {1: "Is it in?", 3: "Not yet.", 5: "I see.", 7: "Do!"}


def test_a_direction_in_italics_is_no_name_above_a_speech():
    scene = ["*Ann.* Is it in?", "*Bo.* Not yet!", "*Ann.* I wait.", "*Exit Ann.*"]
    assert 4 not in said(*scene, "“Bravo!” cried Mr. Bell.")


def test_what_the_actors_do_is_no_speech():
    found = said(
        "*Ann* (aside). He is late. (Aloud.) Is it in?",
        "[Bo drops the oar.]",
        "*Bo.* (Stooping.) Not yet. [Exit.]",
        "*Ann.* (Weeps.)",
        "*Bo*, without. Come! [Exit.",
    )
    assert found == {0: "He is late. | Is it in?", 2: "Not yet.", 4: "Come!"}


def test_a_voice_heard_once_is_part_of_the_scene():
    found = said("ANN. Is it in?", "BO. No.", "A VOICE FROM THE QUAY. Come!", "ANN. I come.")
    assert len(found) == 4


def test_speech_in_quotation_marks_is_left_to_the_marks_and_keeps_its_name():
    texts = ["The Cat: “Is it in?”", "Ann (yawning): “No.”", "The Cat: “Why not?”", "Ann: “Ice.”"]
    assert said(*texts) == {}
    assert [head.name for head in find_heads(blocks_of(*texts)).values()] == [
        "The Cat",
        "Ann",
        "The Cat",
        "Ann",
    ]


NO_SCENES = {
    "a glossary": ["*Bow.* The fore part.", "*Oar.* A pole with a blade.", "*Quay.* A landing."],
    "entries of a diary": ["*Later.* It rained.", "*Later.* It froze.", "*Midnight.* It blew."],
    "hours of a diary": ["*Noon.* It rained.", "*Night.* It blew.", "*Noon.* It froze."],
    "chapters in capitals": ["BOOK I. The eel.", "BOOK I. The pike.", "BOOK II. The bream."],
    "a list": ["First: the rope is dear.", "Secondly: it is wet.", "First: I know it."] * 2,
    "two speeches": ["ANN. Is it in?", "BO. Not yet."],
    "one speaker": ["ANN. Is it in?", "ANN. Not yet.", "ANN. I see."],
    "apart": ["ANN. Is it in?", *["It rained."] * 9, "BO. No.", *["It froze."] * 9, "ANN. I see."],
    "chapters between": ["ANN. Is it in?", "# II", "BO. No.", "# III", "ANN. I see."],
    "who says it": ["He said: no.", "She said: why?", "He said: ice.", "She said: oh?"],
    "a title page": ["THE FERRY", "THE FERRY", "BY A. TARRANT", "THE FERRY"],
}


@pytest.mark.parametrize("name", NO_SCENES)
def test_lists_and_headings_are_no_scenes(name):
    assert said(*NO_SCENES[name]) == {}
