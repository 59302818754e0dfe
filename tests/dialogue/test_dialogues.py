"""Dialogues of tagged books: worked by hand, and what must hold for any legal sequence."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miner.dialogue.dialogues import (
    Turn,
    dialogues,
    is_unclosed,
    repair_book,
    span_pairs,
    turn_pairs,
)
from miner.dialogue.filters import filter_dialogues
from miner.dialogue.spans import Span
from miner.dialogue.tags import Tag, TaggedBook, TaggedSpan, repair_tags

NAMES = {"S": Tag.B_START, "s": Tag.I_START, "R": Tag.B_OTHER, "r": Tag.I_OTHER, "O": Tag.O}


def tagged(letters: str, words: dict[int, int] | None = None) -> TaggedBook:
    """A book with one paragraph per letter (S s R r O); `words` sets the length of a span."""
    spans = []
    for i, letter in enumerate(letters):
        text = " ".join([f"word{i}"] * (words or {}).get(i, 1))
        spans.append(
            TaggedSpan(Span(1, i, 0, 0, len(text), text, letter != "O"), NAMES[letter], None)
        )
    return TaggedBook("7", tuple(spans))


def shape(letters: str) -> list[list[list[int]]]:
    """The paragraphs of each turn of each dialogue."""
    return [
        [[span.paragraph for span in turn.spans] for turn in dialogue.turns]
        for dialogue in dialogues(tagged(letters))
    ]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("", []),
        ("OO", []),
        ("S", [[[0]]]),
        # Narration inside a turn does not end it.
        ("SOsR", [[[0, 2], [3]]]),
        ("SRrR", [[[0], [1, 2], [3]]]),
        ("SRSsR", [[[0], [1]], [[2, 3], [4]]]),
        ("SS", [[[0]], [[1]]]),
    ],
)
def test_tags_make_dialogues_of_turns(letters, expected):
    assert shape(letters) == expected


def test_dialogues_are_numbered_and_carry_the_book():
    found = dialogues(tagged("SRS"))
    assert [(d.book, d.index, d.part) for d in found] == [("7", 0, 0), ("7", 1, 0)]


@pytest.mark.parametrize(
    ("letters", "message"),
    [
        ("Or", "book 7, paragraph 1, span 0: found I-OTHER after no tag, expected B-START"),
        (
            "SOr",
            "book 7, paragraph 2, span 0: found I-OTHER after B-START, "
            "expected B-START, I-START, B-OTHER",
        ),
        (
            "SRs",
            "book 7, paragraph 2, span 0: found I-START after B-OTHER, "
            "expected B-START, B-OTHER, I-OTHER",
        ),
    ],
)
def test_an_illegal_sequence_is_refused_with_its_place(letters, message):
    with pytest.raises(ValueError) as error:
        dialogues(tagged(letters))
    assert str(error.value) == message


def test_a_mended_book_has_dialogues():
    # r first: B-START; s after R: B-START again.
    assert [item.tag for item in repair_book(tagged("rRs")).spans] == [
        Tag.B_START,
        Tag.B_OTHER,
        Tag.B_START,
    ]
    assert len(dialogues(repair_book(tagged("rRs")))) == 2


def test_turn_pairs_and_span_pairs_of_one_dialogue():
    (dialogue,) = dialogues(tagged("SsRr"))
    by_turn = [(p.context.quoted_text, p.response.quoted_text) for p in turn_pairs(dialogue)]
    by_span = [(p.context.quoted_text, p.response.quoted_text) for p in span_pairs(dialogue)]
    assert by_turn == [("word0 word1", "word2 word3")]
    assert by_span == [("word0", "word1"), ("word1", "word2"), ("word2", "word3")]
    assert {(p.book, p.dialogue) for p in turn_pairs(dialogue) + span_pairs(dialogue)} == {("7", 0)}


def test_a_dialogue_of_one_turn_has_no_turn_pair():
    (dialogue,) = dialogues(tagged("Ss"))
    assert turn_pairs(dialogue) == []
    assert len(span_pairs(dialogue)) == 1


def test_text_of_a_turn_has_one_space_between_spans():
    spans = (Span(1, 0, 0, 0, 5, "“Aye ", True), Span(1, 0, 1, 5, 9, "no.”", True))
    assert Turn(spans).quoted_text == "“Aye no.”"


@given(st.lists(st.sampled_from(list(Tag))))
def test_every_utterance_is_in_exactly_one_turn_in_order(tags):
    tags = repair_tags(tags)
    spans = tuple(
        TaggedSpan(Span(1, i, 0, 0, 1, "x", tag is not Tag.O), tag) for i, tag in enumerate(tags)
    )
    found = dialogues(TaggedBook("7", spans))
    numbers = [span.paragraph for d in found for turn in d.turns for span in turn.spans]
    assert numbers == [i for i, tag in enumerate(tags) if tag is not Tag.O]
    assert len(found) == tags.count(Tag.B_START)
    assert sum(len(d.turns) for d in found) == tags.count(Tag.B_START) + tags.count(Tag.B_OTHER)
    assert sum(len(turn_pairs(d)) for d in found) == tags.count(Tag.B_OTHER)
    assert sum(len(span_pairs(d)) for d in found) == len(numbers) - len(found)


def test_a_long_turn_splits_its_dialogue_and_makes_no_new_pair():
    # Turn 2 has 4 words: turns 0 1 | 3 4 remain, and no pair of 1 and 3.
    found = dialogues(tagged("SRRRR", {2: 4}))
    result = filter_dialogues(found, max_utterance_words=3)
    assert [(d.index, d.part, [t.text for t in d.turns]) for d in result.kept] == [
        (0, 0, ["word0", "word1"]),
        (0, 1, ["word3", "word4"]),
    ]
    assert dict(result.drops) == {
        "long turns": 1,
        "unsure pairs": 0,
        "short dialogues": 0,
        "turns in short dialogues": 0,
    }


def test_the_limit_is_the_longest_that_stays_and_counts_all_spans_of_a_turn():
    found = dialogues(tagged("SsR", {0: 2, 1: 2}))
    assert len(filter_dialogues(found, max_utterance_words=4).kept[0].turns) == 2
    assert len(filter_dialogues(found, max_utterance_words=3).kept[0].turns) == 1


def test_short_dialogues_go_and_the_number_of_the_others_stays():
    # Dialogues of 1, 2 and 3 turns; the long turn in the middle of the third leaves two of one.
    found = dialogues(tagged("SSRSRR", {4: 9}))
    result = filter_dialogues(found, max_utterance_words=8, min_turns=2)
    assert [(d.index, len(d.turns)) for d in result.kept] == [(1, 2)]
    assert dict(result.drops) == {
        "long turns": 1,
        "unsure pairs": 0,
        "short dialogues": 3,
        "turns in short dialogues": 3,
    }


def test_without_limits_nothing_goes():
    found = dialogues(tagged("SRSR", {1: 500}))
    assert list(filter_dialogues(found).kept) == found


@pytest.mark.parametrize("limits", [{"min_turns": 0}, {"max_utterance_words": 0}])
def test_a_limit_below_one_is_refused(limits):
    with pytest.raises(ValueError, match="expected at least 1"):
        filter_dialogues([], **limits)


def sure(letters: str, *confidences: float) -> TaggedBook:
    """The book of `tagged`, its utterances as sure as the numbers say."""
    book = tagged(letters)
    numbers = iter(confidences)
    spans = (
        replace(item, confidence=None if item.tag is Tag.O else next(numbers))
        for item in book.spans
    )
    return replace(book, spans=tuple(spans))


def pair_confidences(book: TaggedBook, pairs=turn_pairs):
    return [pair.confidence for dialogue in dialogues(book) for pair in pairs(dialogue)]


def test_a_pair_is_as_sure_as_its_tags_and_the_tag_after_it_together():
    found = pair_confidences(sure("SsORRS", 0.9, 0.8, 0.7, 0.6, 0.5))
    assert found == pytest.approx([0.9 * 0.8 * 0.7 * 0.6, 0.7 * 0.6 * 0.5])


def test_nothing_can_follow_the_last_pair_of_a_book():
    assert pair_confidences(sure("SR", 0.9, 0.7)) == pytest.approx([0.63])


def test_span_pairs_are_sure_by_their_own_spans():
    found = pair_confidences(sure("SsR", 0.9, 0.8, 0.7), span_pairs)
    assert found == pytest.approx([0.9 * 0.8 * 0.7, 0.8 * 0.7])


def test_without_confidence_a_pair_claims_none():
    assert pair_confidences(tagged("SRR")) == [None, None]


def test_an_unsure_pair_parts_its_dialogue_and_both_turns_stay():
    book = sure("SRRR", 1.0, 0.9, 0.2, 1.0)  # pairs: 0.18, 0.18, 0.2
    result = filter_dialogues(dialogues(book), min_confidence=0.19)
    assert [[turn.spans[0].paragraph for turn in d.turns] for d in result.kept] == [
        [0],
        [1],
        [2, 3],
    ]
    assert [d.part for d in result.kept] == [0, 1, 2]
    assert dict(result.drops)["unsure pairs"] == 2


def test_a_turn_that_is_taken_out_makes_no_unsure_pair():
    words = {1: 9}
    book = tagged("SRR", words)
    spans = (replace(item, confidence=0.1) for item in book.spans)
    result = filter_dialogues(dialogues(replace(book, spans=tuple(spans))), 8, min_confidence=0.5)
    assert dict(result.drops)["unsure pairs"] == 0
    assert dict(result.drops)["long turns"] == 1


def test_confidence_asked_of_a_heuristic_is_refused():
    with pytest.raises(ValueError, match="tags without confidence, expected those of a checkpoint"):
        filter_dialogues(dialogues(tagged("SR")), min_confidence=0.5)


@pytest.mark.parametrize("least", [-0.1, 1.1])
def test_a_confidence_that_is_no_probability_is_refused(least):
    with pytest.raises(ValueError, match="expected 0 to 1"):
        filter_dialogues([], min_confidence=least)


@pytest.mark.parametrize(
    ("text", "is_open"),
    [("“Come", True), ("“Come,” ", False), ("‘Come!", True), ("— Come", False), ("“", False)],
)
def test_speech_that_is_left_open(text, is_open):
    assert is_unclosed(text) is is_open
