"""The five tags: which may follow which, and how an illegal sequence is repaired."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.speech.spans import Span
from miner.speech.tags import SUCCESSORS, Tag, TaggedSpan, repair_tags

START, SAME, OTHER, MORE, OUT = Tag.B_START, Tag.I_START, Tag.B_OTHER, Tag.I_OTHER, Tag.O


@pytest.mark.parametrize(
    ("before", "allowed"),
    [
        (None, {START}),
        (START, {START, SAME, OTHER}),
        (SAME, {START, SAME, OTHER}),
        (OTHER, {START, OTHER, MORE}),
        (MORE, {START, OTHER, MORE}),
    ],
)
def test_which_tag_may_follow_which(before, allowed):
    assert SUCCESSORS[before] == allowed
    assert OUT not in SUCCESSORS


@pytest.mark.parametrize(
    ("tags", "repaired"),
    [
        ([], []),
        ([OUT, OUT], [OUT, OUT]),
        ([START, OUT, SAME, OTHER, OUT, MORE], [START, OUT, SAME, OTHER, OUT, MORE]),
        ([SAME], [START]),
        ([OTHER, OTHER], [START, OTHER]),
        ([OUT, MORE, MORE], [OUT, START, OTHER]),
        ([START, MORE], [START, OTHER]),
        ([START, OTHER, SAME], [START, OTHER, START]),
        ([START, OTHER, SAME, SAME], [START, OTHER, START, SAME]),
        ([START, OUT, MORE, SAME, MORE], [START, OUT, OTHER, START, OTHER]),
    ],
)
def test_tags_repaired_by_hand(tags, repaired):
    assert repair_tags(tags) == repaired


@given(st.lists(st.sampled_from(Tag)))
@settings(max_examples=40, deadline=None)
def test_repaired_tags_are_legal_and_legal_tags_stay(tags):
    repaired = repair_tags(tags)
    spoken = [None, *(tag for tag in repaired if tag is not OUT)]
    assert all(b in SUCCESSORS[a] for a, b in zip(spoken, spoken[1:], strict=False))
    assert [tag is OUT for tag in repaired] == [tag is OUT for tag in tags]
    assert repair_tags(repaired) == repaired


@pytest.mark.parametrize(("tag", "is_utterance"), list(product(Tag, (True, False))))
def test_narration_has_o_and_utterances_have_another(tag, is_utterance):
    span = Span(2, 31, 4, 0, 6, "“Yes.”", is_utterance)
    if is_utterance != (tag is OUT):
        assert TaggedSpan(span, tag).tag is tag
        return
    with pytest.raises(ValueError, match=r"paragraph 31, span 4: found .* on ") as error:
        TaggedSpan(span, tag)
    assert f"found {tag} on {'utterance' if is_utterance else 'narration'}" in str(error.value)


def test_tags_are_written_as_the_field_writes_them():
    assert [str(tag) for tag in Tag] == ["B-START", "I-START", "B-OTHER", "I-OTHER", "O"]
