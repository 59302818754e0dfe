"""Dialogues of tagged books: worked by hand, and what must hold for any legal sequence."""

import pytest
from dialogue_checks import book_of, sure_book
from helpers import kind_of
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.speech.dialogues import (
    Turn,
    decode_dialogues,
    is_letter_or_verse,
    repair_book,
    span_pairs,
    split_into_spans,
    turn_pairs,
)
from miner.speech.kinds import SpanKind
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan, repair_tags


def shape(letters: str) -> list[list[list[int]]]:
    """The paragraphs of each turn of each dialogue."""
    return [
        [[span.paragraph for span in turn.spans] for turn in dialogue.turns]
        for dialogue in decode_dialogues(book_of(letters))
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
    found = decode_dialogues(book_of("SRS"))
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
        decode_dialogues(book_of(letters))
    assert str(error.value) == message


def test_a_repaired_book_has_dialogues():
    # r first: B-START; s after R: B-START again.
    assert [item.tag for item in repair_book(book_of("rRs")).spans] == [
        Tag.B_START,
        Tag.B_OTHER,
        Tag.B_START,
    ]
    assert len(decode_dialogues(repair_book(book_of("rRs")))) == 2


def test_turn_pairs_and_span_pairs_of_one_dialogue():
    (dialogue,) = decode_dialogues(book_of("SsRr"))
    by_turn = [(p.context.quoted_text, p.response.quoted_text) for p in turn_pairs(dialogue)]
    by_span = [(p.context.quoted_text, p.response.quoted_text) for p in span_pairs(dialogue)]
    assert by_turn == [("word0 word1", "word2 word3")]
    assert by_span == [("word0", "word1"), ("word1", "word2"), ("word2", "word3")]
    assert {(p.book, p.dialogue) for p in turn_pairs(dialogue) + span_pairs(dialogue)} == {("7", 0)}


def test_a_dialogue_of_one_turn_has_no_turn_pair():
    (dialogue,) = decode_dialogues(book_of("Ss"))
    assert turn_pairs(dialogue) == []
    assert len(span_pairs(dialogue)) == 1


def test_text_of_a_turn_has_one_space_between_spans():
    spans = (
        Span(1, 0, 0, 0, 5, "“Aye ", SpanKind.UTTERANCE),
        Span(1, 0, 1, 5, 9, "no.”", SpanKind.UTTERANCE),
    )
    assert Turn(spans).quoted_text == "“Aye no.”"


@given(st.lists(st.sampled_from(list(Tag))))
@settings(max_examples=40, deadline=None)
def test_every_utterance_is_in_exactly_one_turn_in_order(tags):
    tags = repair_tags(tags)
    spans = tuple(
        TaggedSpan(Span(1, i, 0, 0, 1, "x", kind_of(tag is not Tag.O)), tag)
        for i, tag in enumerate(tags)
    )
    found = decode_dialogues(TaggedBook("7", spans))
    numbers = [span.paragraph for d in found for turn in d.turns for span in turn.spans]
    assert numbers == [i for i, tag in enumerate(tags) if tag is not Tag.O]
    assert len(found) == tags.count(Tag.B_START)
    assert sum(len(d.turns) for d in found) == tags.count(Tag.B_START) + tags.count(Tag.B_OTHER)
    assert sum(len(turn_pairs(d)) for d in found) == tags.count(Tag.B_OTHER)
    assert sum(len(span_pairs(d)) for d in found) == len(numbers) - len(found)


def pair_confidences(book: TaggedBook, pairs=turn_pairs):
    return [pair.confidence for dialogue in decode_dialogues(book) for pair in pairs(dialogue)]


def test_the_confidence_of_a_pair_is_the_product_of_its_tags_and_the_tag_after_it():
    found = pair_confidences(sure_book("SsORRS", 0.9, 0.8, 0.7, 0.6, 0.5))
    assert found == pytest.approx([0.9 * 0.8 * 0.7 * 0.6, 0.7 * 0.6 * 0.5])


def test_no_tag_follows_the_last_pair_of_a_book():
    assert pair_confidences(sure_book("SR", 0.9, 0.7)) == pytest.approx([0.63])


def test_the_confidence_of_a_span_pair_is_of_its_own_spans():
    found = pair_confidences(sure_book("SsR", 0.9, 0.8, 0.7), span_pairs)
    assert found == pytest.approx([0.9 * 0.8 * 0.7, 0.8 * 0.7])


def test_a_pair_of_tags_without_confidence_has_none():
    assert pair_confidences(book_of("SRR")) == [None, None]


def a_turn(*texts: str, between: str = "") -> Turn:
    """A turn with a paragraph a text, and the same narration before each but the first."""
    spans = tuple(
        Span(1, i, 0, 0, len(text), text, SpanKind.UTTERANCE) for i, text in enumerate(texts)
    )
    return Turn(spans, (), (between,) * (len(spans) - 1))


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (a_turn("“Dear Sir:—The mill is sold.”"), True),
        (a_turn("“My dear Mara,", "“The mill is sold.”"), True),
        (a_turn("“Marl End, 4th May, 1811.", "“The mill is sold.”"), True),
        (a_turn(f"“{'The mill is sold. ' * 5}Yours truly, T. Otway.”"), True),
        (a_turn(f"“{'The mill is sold. ' * 5}I am, dear Madam,"), True),
        (a_turn(f"“{'The mill is sold. ' * 5}Here I am, and your servant.”"), False),
        (a_turn("“I have sold it. Yours truly may laugh now.”"), False),
        (a_turn("“The mill\nis still\nupon the hill.”"), True),
        (a_turn("“The mill is still\nupon the hill.”"), False),
        (a_turn("“My dear Mara, the mill is sold.”"), False),
        (a_turn("“My dear Mara,”", "“the mill is sold.”", between=" said Tobin, "), False),
        (a_turn("“The mill is yours.”"), False),
        (a_turn("“It was sold in 1811.”"), False),
    ],
)
def test_letters_and_verse_are_told_from_talk(turn, expected):
    assert is_letter_or_verse(turn, frozenset(), "en") is expected


@pytest.mark.parametrize(("blocks", "expected"), [({1}, True), ({0}, False), ({7}, False)])
def test_most_of_a_turn_stands_in_a_letter(blocks, expected):
    turn = a_turn("“Listen:", "“The mill is sold, and we go.”")
    assert is_letter_or_verse(turn, frozenset(blocks), "en") is expected


def test_a_language_without_a_file_has_only_the_signs_of_the_page():
    turn = a_turn("“Dear Sir:—The mill is sold.”")
    assert not is_letter_or_verse(turn, frozenset(), "fi")
    assert is_letter_or_verse(turn, frozenset({0}), "fi")


def said(*items):
    """A dialogue: for each span its tag, length, speaker and, perhaps, who is called."""
    spans, tags = [], {"S": Tag.B_START, "s": Tag.I_START, "R": Tag.B_OTHER, "r": Tag.I_OTHER}
    for number, (letter, length, speaker, *called) in enumerate(items):
        span = Span(1, number, 0, 0, length, "x" * length, SpanKind.UTTERANCE)
        sure = None if speaker is None else length / 100
        spans.append(TaggedSpan(span, tags[letter], None, speaker, sure, tuple(called)))
    (dialogue,) = decode_dialogues(TaggedBook("7", tuple(spans)))
    return dialogue


def test_the_speaker_of_a_turn_has_most_of_its_characters():
    (turn,) = said(("S", 30, "ann"), ("s", 40, "bo"), ("s", 20, "ann")).turns
    assert (turn.speaker, turn.speaker_confidence) == ("ann", pytest.approx(0.25))
    (turn,) = said(("S", 30, "ann"), ("s", 40, "bo"), ("s", 5, "ann")).turns
    assert (turn.speaker, turn.speaker_confidence) == ("bo", 0.4)


def test_a_turn_of_which_most_is_nobody_s_has_no_speaker():
    dialogue = said(("S", 30, "ann"), ("s", 40, None), ("R", 9, "bo"))
    assert (dialogue.turns[0].speaker, dialogue.turns[0].speaker_confidence) == (None, None)
    assert dialogue.participants == ("bo",)


def test_of_two_who_talk_each_speaks_to_the_other():
    dialogue = said(("S", 9, "ann"), ("R", 9, "bo"), ("R", 9, None), ("R", 9, "ann"))
    assert dialogue.participants == ("ann", "bo")
    assert [turn.addressees for turn in dialogue.turns] == [("bo",), ("ann",), (), ("bo",)]


def test_who_is_called_by_name_is_spoken_to():
    dialogue = said(("S", 9, "ann", "cy"), ("s", 9, "ann", "di", "cy"), ("R", 9, "bo"))
    assert [turn.addressees for turn in dialogue.turns] == [("cy", "di"), ("ann",)]


@pytest.mark.parametrize("speakers", [("ann", "bo", "cy"), ("ann", "ann", None), (None,) * 3])
def test_of_others_nobody_knows_to_whom_they_speak(speakers):
    dialogue = said(*(("R" if n else "S", 9, speaker) for n, speaker in enumerate(speakers)))
    assert [turn.addressees for turn in dialogue.turns] == [(), (), ()]


def test_participants_are_in_the_order_in_which_they_begin_to_speak():
    dialogue = said(("S", 9, "cy"), ("R", 9, "ann"), ("R", 9, "cy"), ("R", 9, None), ("R", 9, "bo"))
    assert dialogue.participants == ("cy", "ann", "bo")


def test_a_span_alone_has_the_speaker_of_its_turn():
    turns = split_into_spans(said(("S", 9, "ann"), ("s", 30, "bo"), ("R", 9, "ann"))).turns
    assert [(turn.speaker, turn.addressees) for turn in turns] == [
        *[("bo", ("ann",)), ("bo", ("ann",)), ("ann", ("bo",))],
    ]


def test_narration_with_a_speaker_is_refused():
    with pytest.raises(ValueError, match="^paragraph 4, span 2: found the speaker 'ann' on narr"):
        TaggedSpan(Span(1, 4, 2, 0, 2, "No", SpanKind.NARRATION), Tag.O, speaker="ann")
