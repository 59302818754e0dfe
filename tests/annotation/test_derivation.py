"""Tags, conversations and interrupted pairs from the facts of annotations."""

from itertools import pairwise

import pytest
from annotation_helpers import fact
from helpers import ANNOTATIONS
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import (
    Annotation,
    count_interrupted_pairs,
    derive_tags,
    renumber_conversations,
)
from miner.speech.tags import Tag, transition_error

FERRY = [
    # paragraph, text, speaker, conversation, tag
    (1, "“The ferry is late,”", "Ines", 1, "B-START"),
    (1, "“and so are you.”", "Ines", 1, "I-START"),
    (2, "the “Heron”", "", 0, "O"),
    (2, "“I walked round by the salt pans to be later still.”", "Ines", 1, "I-START"),
    (3, "“The ferry has nobody to scold it,”", "Ivo", 1, "B-OTHER"),
    (3, "“and I have.”", "Ivo", 1, "I-OTHER"),
    (4, "“You shall have more of it.”", "Ines", 1, "B-OTHER"),
    (5, "“At supper, for one.”", "Ines", 1, "I-OTHER"),
    (6, "“Boy! This trunk!”", "Ines", 2, "B-START"),
    (7, "“Which, miss?”", "boy", 2, "B-OTHER"),
    (8, "“Supper will be late, too.”", "Ivo", 1, "B-START"),  # resumed: the old number
    (9, "“Then I shall begin now.”", "Ines", 1, "B-OTHER"),
    (10, "“Fog.”", "Ines", 3, "B-START"),  # the same woman on another occasion
]


def test_the_tags_of_a_talk_at_the_ferry():
    facts = [fact(place, who, number, text=text) for place, text, who, number, _ in FERRY]
    assert [str(tag) for tag in derive_tags(facts)] == [row[4] for row in FERRY]


@pytest.mark.parametrize(("before", "after"), [("Ines", "?"), ("?", "Ines"), ("?", "?")])
def test_an_unknown_speaker_is_another_in_a_new_paragraph_only(before, after):
    opening = [fact(1, before, 1), fact(1, after, 1)]
    assert derive_tags(opening) == [Tag.B_START, Tag.I_START]
    assert derive_tags([fact(1, before, 1), fact(2, after, 1)]) == [Tag.B_START, Tag.B_OTHER]
    reply = [fact(1, "Ruben", 1), fact(2, before, 1), fact(2, "", 0), fact(2, after, 1)]
    assert derive_tags(reply) == [Tag.B_START, Tag.B_OTHER, Tag.O, Tag.I_OTHER]


def test_each_chapter_starts_a_conversation():
    facts = [fact(1, "Ines", 1), fact(2, "Ines", 1), fact(3, "Ines", 1, 2), fact(4, "Ines", 1, 2)]
    assert derive_tags(facts) == [Tag.B_START, Tag.I_START, Tag.B_START, Tag.I_START]


any_fact = st.tuples(
    st.integers(1, 3), st.sampled_from(["Ines", "Ruben", "?"]), st.integers(0, 3), st.integers(1, 2)
).map(lambda row: fact(row[0], row[1] if row[2] else "", row[2], row[3]))


@given(st.lists(any_fact, max_size=30))
@settings(max_examples=40, deadline=None)
def test_derived_tags_are_always_legal(facts):
    tags = derive_tags(facts)
    assert [tag is Tag.O for tag in tags] == [not item.is_utterance for item in facts]
    spoken = [tag for tag in tags if tag is not Tag.O]
    for before, after in pairwise([None, *spoken]):
        assert transition_error(after, before) == ""
    occasions = [(item.chapter, item.conversation) for item in facts if item.is_utterance]
    changes = [True, *(a != b for a, b in pairwise(occasions))][: len(occasions)]
    assert [tag is Tag.B_START for tag in spoken] == changes


def test_pairs_across_an_interruption_are_counted():
    facts = [
        *(fact(1, "Ines", 1), fact(2, "Ruben", 1), fact(3, "Ines", 2)),
        fact(4, "Ines", 1),  # answers paragraph 2: the first pair
        *(fact(5, "Ruben", 1), fact(6, "boy", 3)),
        fact(7, "Ruben", 1),  # the same speaker goes on: no pair
        fact(8, "boy", 2),  # answers paragraph 3: the second
        fact(9, "", 0),  # does not interrupt
        fact(10, "Ines", 2),
        fact(11, "?", 1),  # answers paragraph 7: the third
        *(fact(12, "boy", 1, chapter=2), fact(13, "Ines", 2, chapter=2)),  # another chapter
    ]
    assert count_interrupted_pairs(facts) == 3
    assert count_interrupted_pairs([item for item in facts if item.conversation != 2]) == 0


def test_the_worked_example_of_the_guidelines():
    """Its tags are those that the one function derives from its facts."""
    lines = (ANNOTATIONS / "GUIDELINES.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rows = [row for row in cells if len(row) == 5 and row[0].isdecimal()]
    assert len(rows) == 12
    facts = [
        Annotation(1, int(paragraph), fingerprint(text), speaker, int(conversation))
        for paragraph, text, speaker, conversation, _ in rows
    ]
    assert [str(tag) for tag in derive_tags(facts)] == [row[-1] for row in rows]
    assert count_interrupted_pairs(facts) == 1


def test_conversations_are_counted_in_the_order_in_which_they_begin():
    said = [(9, "A"), (4, "A"), (0, ""), (9, "B"), (2, "A"), (4, "C")]
    facts = [Annotation(1, 1, fingerprint("x"), who, number, "r") for number, who in said]
    again = renumber_conversations(facts)
    assert [fact.conversation for fact in again] == [1, 2, 0, 1, 3, 2]
    assert [(fact.speaker, fact.remark) for fact in again] == [(who, "r") for _, who in said]
