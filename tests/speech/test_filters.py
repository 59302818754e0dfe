"""Filters on dialogues: what passes, and counts of what they took."""

from dataclasses import replace

import pytest
from dialogue_checks import book_of, sure_book
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.errors import InputError
from miner.speech.dialogues import decode_dialogues, turn_pairs
from miner.speech.filters import Amount, DialogueLimits, FilterCount, FilterCounts, filter_dialogues

KEEP_SINGLE = DialogueLimits(min_turns=1)


def filtered(dialogues, **limits):
    return filter_dialogues(dialogues, DialogueLimits(**limits))


def texts(result):
    return [[turn.quoted_text for turn in dialogue.turns] for dialogue in result.kept]


def test_a_long_turn_divides_its_dialogue_and_makes_no_new_pair():
    # Turn 2 has 4 words: turns 0 1 | 3 4 remain, and no pair of 1 and 3.
    found = decode_dialogues(book_of("SRRRR", {2: 4}))
    result = filtered(found, max_turn_words=3)
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
    assert len(filtered(found, max_turn_words=4, min_turns=1).kept[0].turns) == 2
    assert len(filtered(found, max_turn_words=3, min_turns=1).kept[0].turns) == 1


def test_short_dialogues_are_removed_and_the_others_keep_their_numbers():
    # Dialogues of 1, 2 and 3 turns; the long turn in the middle of the third leaves two of one.
    found = decode_dialogues(book_of("SSRSRR", {4: 9}))
    result = filtered(found, max_turn_words=8, min_turns=2)
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
    assert [len(d.turns) for d in filter_dialogues(found, KEEP_SINGLE).kept] == [1, 2]


@pytest.mark.parametrize("empty", ["“”", "—»", '" "'])
def test_a_turn_without_text_is_removed_and_divides_its_dialogue(empty):
    book = book_of("SRRRR")
    spans = [*book.spans]
    place = 2
    span = replace(spans[place].span, text=empty, end=len(empty))
    spans[place] = replace(spans[place], span=span)
    result = filter_dialogues(decode_dialogues(replace(book, spans=tuple(spans))), KEEP_SINGLE)
    assert texts(result) == [["word0", "word1"], ["word3", "word4"]]
    assert dict(result.drops)["empty turns"] == 1


@pytest.mark.parametrize(
    "limits, expected",
    [
        ({"min_turns": 0}, "min_turns: found 0, expected at least 1"),
        ({"max_turn_words": 0}, "max_turn_words: found 0, expected at least 1"),
        ({"min_confidence": -0.1}, "min_confidence: found -0.1, expected 0 to 1"),
        ({"min_confidence": 1.1}, "min_confidence: found 1.1, expected 0 to 1"),
    ],
)
def test_a_limit_out_of_range_is_refused(limits, expected):
    with pytest.raises(InputError) as error:
        DialogueLimits(**limits)
    assert str(error.value) == expected


def test_an_unsure_pair_divides_its_dialogue_and_both_turns_stay():
    book = sure_book("SRRR", 1.0, 0.9, 0.2, 1.0)  # pairs: 0.18, 0.18, 0.2
    result = filtered(decode_dialogues(book), min_turns=1, min_confidence=0.19)
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
    result = filtered(
        decode_dialogues(replace(book, spans=tuple(spans))), max_turn_words=8, min_confidence=0.5
    )
    assert dict(result.drops)["unsure pairs"] == 0
    assert dict(result.drops)["long turns"] == 1


def test_a_confidence_limit_is_refused_for_tags_without_confidence():
    with pytest.raises(InputError, match="tags without confidence, expected those of a checkpoint"):
        filtered(decode_dialogues(book_of("SR")), min_confidence=0.5)


def test_a_set_piece_divides_its_dialogue_and_is_counted():
    found = decode_dialogues(book_of("SRRRR"))
    result = filter_dialogues(found, is_letter_or_verse=lambda turn: turn.quoted_text == "word2")
    assert texts(result) == [["word0", "word1"], ["word3", "word4"]]
    assert dict(result.drops)["turns in letters and verse"] == 1


def test_dialogues_of_rare_words_are_judged_after_short_ones_are_gone():
    found = decode_dialogues(book_of("SRSSR"))  # dialogues of 2, 1 and 2 turns
    classified = []

    def is_rare(dialogue):
        classified.append(dialogue.index)
        return dialogue.index == 2

    result = filter_dialogues(found, is_rare=is_rare)
    assert classified == [0, 2]
    assert [dialogue.index for dialogue in result.kept] == [0]
    assert dict(result.drops) == {
        "empty turns": 0,
        "long turns": 0,
        "unsure pairs": 0,
        "short dialogues": 1,
        "turns in short dialogues": 1,
        "dialogues of rare words": 1,
        "turns in dialogues of rare words": 2,
    }


def test_each_filter_counts_what_came_to_it_and_what_it_took():
    # Dialogues of 5, 2 and 1 turns; turn 1 of the first and turn 5, of the second, are long.
    found = decode_dialogues(book_of("SRRRRSRS", {1: 9, 5: 9, 6: 9}))
    counts = filtered(found, max_turn_words=8).counts.dialogues
    assert list(counts) == ["empty_turns", "max_turn_words", "min_confidence", "min_turns"]
    everything = Amount(1, 3, 8, 5)
    assert counts["empty_turns"] == FilterCount(everything, Amount())
    # All of the second dialogue, and a turn between two pairs of the first.
    assert counts["max_turn_words"] == FilterCount(everything, Amount(0, 1, 3, 3))
    assert counts["min_confidence"] == FilterCount(Amount(1, 3, 5, 2), Amount())
    assert counts["min_turns"] == FilterCount(Amount(1, 3, 5, 2), Amount(0, 2, 2, 0))


def test_a_book_is_taken_by_the_filter_that_takes_its_last_dialogue():
    found = decode_dialogues(book_of("SRR", {1: 9}))
    counts = filtered(found, max_turn_words=8).counts.dialogues
    assert [count.taken.books for count in counts.values()] == [0, 0, 0, 1]
    assert counts["min_turns"] + counts["min_turns"] == FilterCount(
        Amount(2, 4, 4, 0), Amount(2, 4, 4, 0)
    )


def test_one_more_filter_takes_some_of_the_dialogues_that_were_kept():
    found = decode_dialogues(book_of("SRSRRSR"))
    result = filter_dialogues(found)
    left = result.without([1], "copies")
    assert [dialogue.index for dialogue in left.kept] == [0, 2]
    assert [*left.counts.dialogues] == [*result.counts.dialogues, "copies"]
    assert left.counts.dialogues["copies"] == FilterCount(Amount(1, 3, 7, 4), Amount(0, 1, 3, 2))
    assert dict(left.drops)["copies"] == 1
    nothing = result.without(range(3), "copies")
    assert nothing.kept == ()
    assert nothing.counts.dialogues["copies"].taken == Amount(1, 3, 7, 4)


TURN = st.tuples(
    st.booleans(),  # whether it opens a dialogue
    st.integers(0, 6),  # its words
    st.floats(0, 1),  # confidence
    st.booleans(),  # whether it is a set piece
    st.booleans(),  # whether it makes a dialogue rare
)


@given(
    turns=st.lists(TURN, min_size=1, max_size=25),
    max_turn_words=st.none() | st.integers(1, 6),
    min_confidence=st.sampled_from([0.0, 0.2, 0.9]),
    min_turns=st.integers(1, 4),
    with_set_pieces=st.booleans(),
    with_rare=st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_every_pair_that_is_left_is_a_pair_of_the_book(
    turns, max_turn_words, min_confidence, min_turns, with_set_pieces, with_rare
):
    letters = "".join("S" if opens or not n else "R" for n, (opens, *_) in enumerate(turns))
    book = sure_book(letters, *(sure for _, _, sure, _, _ in turns))
    spans = []
    for item, (_, n_words, *_) in zip(book.spans, turns, strict=True):
        text = "“" + " ".join([f"w{item.span.paragraph}"] * n_words) + "”"
        spans.append(replace(item, span=replace(item.span, text=text, end=len(text))))
    dialogues = decode_dialogues(replace(book, spans=tuple(spans)))

    def turn_of(turn):
        return turns[turn.spans[0].paragraph]

    result = filter_dialogues(
        dialogues,
        DialogueLimits(max_turn_words, min_confidence, min_turns),
        is_letter_or_verse=(lambda turn: turn_of(turn)[3]) if with_set_pieces else None,
        is_rare=(lambda part: any(turn_of(turn)[4] for turn in part.turns)) if with_rare else None,
    )

    pairs = [pair for dialogue in dialogues for pair in turn_pairs(dialogue)]
    left = [pair for dialogue in result.kept for pair in turn_pairs(dialogue)]
    assert all(pair in pairs for pair in left)
    for part in result.kept:
        assert len(part.turns) >= min_turns
        for turn in part.turns:
            assert turn.text
            assert max_turn_words is None or turn_of(turn)[1] <= max_turn_words
            assert not (with_set_pieces and turn_of(turn)[3])
            assert not (with_rare and turn_of(turn)[4])
    assert all(pair.confidence >= min_confidence for pair in left)
    assert len({(part.index, part.part) for part in result.kept}) == len(result.kept)
    # What no filter took is what is left, in every unit but dialogues, which are divided.
    counts = [*result.counts.dialogues.values()]
    n_turns = sum(len(part.turns) for part in result.kept)
    came, taken = counts[0].came, sum((count.taken for count in counts), Amount())
    assert (came.turns, came.pairs) == (len(turns), len(pairs))
    assert came.turns - taken.turns == n_turns
    assert came.pairs - taken.pairs == len(left)
    assert came.books - taken.books == bool(result.kept)


LONG = FilterCount(Amount(1, 4, 20, 16), Amount(0, 1, 3, 5))
SHORT = FilterCount(Amount(1, 5, 17, 12), Amount(1, 5, 17, 12))


def test_sums_do_not_depend_on_the_order_and_keep_that_of_the_filters():
    one = FilterCounts(dialogues={"long": LONG, "short": SHORT}).add_book("language", 7, 30)
    other = FilterCounts(dialogues={"long": LONG, "short": SHORT})
    other = other.add_book("delimiters", 2, 5).add_book("language", 1, 1)
    assert one + other == other + one
    assert [*(one + other).dialogues] == [*(FilterCounts() + one).dialogues] == ["long", "short"]
    assert (one + other).dialogues["long"] == FilterCount(Amount(2, 8, 40, 32), Amount(0, 2, 6, 10))
    assert (one + other).books == {
        "language": Amount(2, 8, 31, 23),
        "delimiters": Amount(1, 2, 5, 3),
    }


def test_what_came_to_the_dialogues_is_what_came_to_their_first_filter():
    assert FilterCounts().came_to_dialogues == Amount()
    counts = FilterCounts(dialogues={"long": LONG, "short": SHORT})
    assert (counts + counts).came_to_dialogues == Amount(2, 8, 40, 32)
