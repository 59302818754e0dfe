"""Marks that are wrong or missing: one reading is taken, none is guessed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.books.book import Block, BlockKind, Book
from miner.speech.spans import split_book
from miner.speech.typography import typography_from_names

CURLY, STRAIGHT = "double-curly", "double-straight"
SINGLE, SINGLE_STRAIGHT = "single-curly", "single-straight"


def split(names, *texts):
    blocks = (Block(i, 1, BlockKind.PARAGRAPH, text) for i, text in enumerate(texts))
    return split_book(
        Book("0", "", "", "en", tuple(blocks), (), ""), typography_from_names([names])
    )


def said(names, *texts):
    return [span.text for span in split(names, *texts).spans if span.is_utterance]


def repairs(names, *texts):
    return [
        (repair.kind.value, repair.start, repair.found, repair.assumed)
        for repair in split(names, *texts).repairs
    ]


@pytest.mark.parametrize(
    ("names", "text", "expected", "repair"),
    [
        # a straight mark among curly ones, and the reverse
        (
            CURLY,
            '“A good boat,” says Tom. "We shall want her.”',
            ["“A good boat,”", '"We shall want her.”'],
            ("mixed", 25, '"', "“"),
        ),
        (CURLY, '“No," said Ann.', ['“No,"'], ("mixed", 4, '"', "”")),
        (STRAIGHT, '"No,” said Ann.', ['"No,”'], ("mixed", 4, "”", '"')),
        (SINGLE, "'No,’ said Ann.", ["'No,’"], ("mixed", 0, "'", "‘")),
        # an opening mark is missing
        (SINGLE, "Sit down,’ said Ann.", ["Sit down,’"], ("missing", 0, "", "‘")),
        (STRAIGHT, 'Why? Who told you?"', ['Why? Who told you?"'], ("missing", 0, "", '"')),
        (
            SINGLE,
            "‘Sit down,’ said she, and take some tea.’",
            ["‘Sit down,’", "and take some tea.’"],
            ("missing", 22, "", "‘"),
        ),
        (
            CURLY,
            "“I know,” said Mrs. Pell. Is he here?”",
            ["“I know,”", "Is he here?”"],
            ("missing", 26, "", "“"),
        ),
        # a closing mark is missing
        (
            CURLY,
            "“You see, he said, “what it is.”",
            ["“You see,", "“what it is.”"],
            ("missing", 9, "", "”"),
        ),
        (
            SINGLE,
            "‘No said Ann, ‘it is in the barn.’",
            ["‘No", "‘it is in the barn.’"],
            ("missing", 3, "", "’"),
        ),
        (CURLY, "“Is it far? he asked.", ["“Is it far?"], ("missing", 11, "", "”")),
        # a mark shows the wrong direction
        (
            SINGLE,
            "‘Yes,’ said Ann,’ you may go, if you like.’",
            ["‘Yes,’", "’ you may go, if you like.’"],
            ("turned", 16, "’ ", " ‘"),
        ),
        (
            CURLY,
            "“May I go? “said Ann in haste. “I must.”",
            ["“May I go? “", "“I must.”"],
            ("turned", 10, " “", "” "),
        ),
        (
            SINGLE_STRAIGHT,
            "'I stay,' said I, though it was late,' unless you come.'",
            ["'I stay,'", "' unless you come.'"],
            ("turned", 37, "' ", " '"),
        ),
        # no space stands before it, or no stop
        (
            SINGLE_STRAIGHT,
            "'Yes, yes,' said the old man,'of course. Go!'",
            ["'Yes, yes,'", "'of course. Go!'"],
            ("spaced", 29, "'", " '"),
        ),
        (
            SINGLE,
            "‘So am I’ said Mr. Pell; ‘that’s it.’",
            ["‘So am I’", "‘that’s it.’"],
            ("spaced", 8, "’", ",’"),
        ),
    ],
)
def test_one_reading_alone_balances(names, text, expected, repair):
    assert said(names, text) == expected
    assert repairs(names, text) == [repair]


@pytest.mark.parametrize(
    ("names", "text", "expected"),
    [
        # the narrator's words may end anywhere
        (SINGLE, "‘No,’ said Ann, looking up.’", ["‘No,’"]),
        # a long sentence of the narrator is no speech
        (
            CURLY,
            "The men who had gone down to the harbour in the morning came back and told their "
            "wives of it at the gate.”",
            [],
        ),
        # it may be told that somebody said something
        (
            CURLY,
            "“I went to him and begged him. He laughed, and turning to go, he said, “Never.”",
            ["“I went to him and begged him. He laughed, and turning to go, he said,", "“Never.”"],
        ),
    ],
)
def test_in_doubt_nothing_is_assumed(names, text, expected):
    assert said(names, text) == expected
    assert [kind for kind, *_ in repairs(names, text)] == ["unclear"]


@pytest.mark.parametrize(
    ("names", "texts"),
    [
        (CURLY, ["“Once upon a time,” said Bo, “there was a king.", "“He had a cat.”"]),
        (CURLY, ["“He sang:", "and all was well.”"]),
        (CURLY, ["“He is 6' 2\" tall,” said Bo."]),
        (SINGLE, ["‘’Tis the boys’ hat,’ said Bo, ‘and it’s goin’ fast.’"]),
        (SINGLE, ["‘He cried “Fire!” and ran,’ said Bo."]),
        (STRAIGHT, ['"If I had--" he began, "or if you had--"']),
    ],
)
def test_what_balances_is_left(names, texts):
    assert repairs(names, *texts) == []


def test_the_places_are_those_of_the_printed_text():
    """A second repair stands where it is printed, whatever the first one has put in."""
    text = "‘Go,’ said he, and be quick.’ He rose.‘Now!’ said Ann."
    assert said(SINGLE, text) == ["‘Go,’", "and be quick.’", "‘Now!’"]
    assert repairs(SINGLE, text) == [("missing", 15, "", "‘"), ("spaced", 38, "‘", " ‘")]


MARK = st.sampled_from([*"“”‘’\"'.,!?", " ", "—"])
WORD = st.sampled_from(["Ann", "said Bo", "he asked", "’tis", "Yes", "it", "I", "and"])


@given(
    st.lists(st.lists(MARK | WORD, min_size=1, max_size=24).map("".join), max_size=4),
    st.sampled_from([CURLY, STRAIGHT, SINGLE, SINGLE_STRAIGHT]),
)
@settings(max_examples=150, deadline=None)
def test_repairs_lose_nothing(texts, names):
    texts = [text for text in texts if text.strip()]
    found = split(names, *texts)
    for number, text in enumerate(texts):
        assert "".join(span.text for span in found.spans if span.paragraph == number) == text
    for repair in found.repairs:
        end = repair.start + len(repair.found)
        assert texts[repair.paragraph][repair.start : end] == repair.found
