"""Filters of dialogues: what they keep, how they split, and what they count."""

from dataclasses import replace

import pytest
from dialogue_checks import book_of, sure_book

from miner.dialogue.dialogues import decode_dialogues
from miner.dialogue.filters import filter_dialogues


def test_a_long_turn_splits_its_dialogue_and_makes_no_new_pair():
    # Turn 2 has 4 words: turns 0 1 | 3 4 remain, and no pair of 1 and 3.
    found = decode_dialogues(book_of("SRRRR", {2: 4}))
    result = filter_dialogues(found, max_utterance_words=3)
    assert [(d.index, d.part, [t.quoted_text for t in d.turns]) for d in result.kept] == [
        (0, 0, ["word0", "word1"]),
        (0, 1, ["word3", "word4"]),
    ]
    assert dict(result.drops) == {
        "empty turns": 0,
        "long turns": 1,
        "unsure pairs": 0,
        "short dialogues": 0,
        "turns in short dialogues": 0,
    }


def test_the_limit_counts_all_words_of_a_turn_and_is_inclusive():
    found = decode_dialogues(book_of("SsR", {0: 2, 1: 2}))
    assert len(filter_dialogues(found, max_utterance_words=4, min_turns=1).kept[0].turns) == 2
    assert len(filter_dialogues(found, max_utterance_words=3, min_turns=1).kept[0].turns) == 1


def test_short_dialogues_are_removed_and_the_others_keep_their_numbers():
    # Dialogues of 1, 2 and 3 turns; the long turn in the middle of the third leaves two of one.
    found = decode_dialogues(book_of("SSRSRR", {4: 9}))
    result = filter_dialogues(found, max_utterance_words=8, min_turns=2)
    assert [(d.index, len(d.turns)) for d in result.kept] == [(1, 2)]
    assert dict(result.drops) == {
        "empty turns": 0,
        "long turns": 1,
        "unsure pairs": 0,
        "short dialogues": 3,
        "turns in short dialogues": 3,
    }


def test_without_limits_all_dialogues_stay():
    found = decode_dialogues(book_of("SRSR", {1: 500}))
    assert list(filter_dialogues(found).kept) == found


def test_a_turn_that_nobody_answers_is_no_dialogue_unless_asked_for():
    found = decode_dialogues(book_of("SSR"))
    result = filter_dialogues(found)
    assert [(d.index, len(d.turns)) for d in result.kept] == [(1, 2)]
    assert dict(result.drops)["turns in short dialogues"] == 1
    assert [len(d.turns) for d in filter_dialogues(found, min_turns=1).kept] == [1, 2]


@pytest.mark.parametrize("empty", ["“”", "—»", '" "'])
def test_a_turn_without_text_is_removed_and_splits_its_dialogue(empty):
    book = book_of("SRRRR")
    spans = [*book.spans]
    place = 2
    span = replace(spans[place].span, text=empty, end=len(empty))
    spans[place] = replace(spans[place], span=span)
    result = filter_dialogues(decode_dialogues(replace(book, spans=tuple(spans))), min_turns=1)
    assert [[t.quoted_text for t in d.turns] for d in result.kept] == [
        ["word0", "word1"],
        ["word3", "word4"],
    ]
    assert dict(result.drops)["empty turns"] == 1


@pytest.mark.parametrize("limits", [{"min_turns": 0}, {"max_utterance_words": 0}])
def test_a_limit_below_one_is_refused(limits):
    with pytest.raises(ValueError, match="expected at least 1"):
        filter_dialogues([], **limits)


def test_an_unsure_pair_splits_its_dialogue_and_both_turns_stay():
    book = sure_book("SRRR", 1.0, 0.9, 0.2, 1.0)  # pairs: 0.18, 0.18, 0.2
    result = filter_dialogues(decode_dialogues(book), min_turns=1, min_confidence=0.19)
    assert [[turn.spans[0].paragraph for turn in d.turns] for d in result.kept] == [
        [0],
        [1],
        [2, 3],
    ]
    assert [d.part for d in result.kept] == [0, 1, 2]
    assert dict(result.drops)["unsure pairs"] == 2


def test_a_removed_turn_makes_no_unsure_pair():
    words = {1: 9}
    book = book_of("SRR", words)
    spans = (replace(item, confidence=0.1) for item in book.spans)
    result = filter_dialogues(
        decode_dialogues(replace(book, spans=tuple(spans))), 8, min_confidence=0.5
    )
    assert dict(result.drops)["unsure pairs"] == 0
    assert dict(result.drops)["long turns"] == 1


def test_a_confidence_limit_is_refused_for_tags_without_confidence():
    with pytest.raises(ValueError, match="tags without confidence, expected those of a checkpoint"):
        filter_dialogues(decode_dialogues(book_of("SR")), min_confidence=0.5)


@pytest.mark.parametrize("least", [-0.1, 1.1])
def test_a_confidence_limit_outside_0_to_1_is_refused(least):
    with pytest.raises(ValueError, match="expected 0 to 1"):
        filter_dialogues([], min_confidence=least)
