"""Dialogues of tagged books: worked by hand, and what must hold for any legal sequence."""

import pytest
from dialogue_checks import book_of, sure_book
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.speech.dialogues import (
    Turn,
    decode_dialogues,
    drop_glosses,
    is_letter_or_verse,
    is_unclosed,
    repair_book,
    span_pairs,
    split_into_spans,
    turn_pairs,
)
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
    spans = (Span(1, 0, 0, 0, 5, "“Aye ", True), Span(1, 0, 1, 5, 9, "no.”", True))
    assert Turn(spans).quoted_text == "“Aye no.”"


@given(st.lists(st.sampled_from(list(Tag))))
@settings(max_examples=40, deadline=None)
def test_every_utterance_is_in_exactly_one_turn_in_order(tags):
    tags = repair_tags(tags)
    spans = tuple(
        TaggedSpan(Span(1, i, 0, 0, 1, "x", tag is not Tag.O), tag) for i, tag in enumerate(tags)
    )
    found = decode_dialogues(TaggedBook("7", spans))
    numbers = [span.paragraph for d in found for turn in d.turns for span in turn.spans]
    assert numbers == [i for i, tag in enumerate(tags) if tag is not Tag.O]
    assert len(found) == tags.count(Tag.B_START)
    assert sum(len(d.turns) for d in found) == tags.count(Tag.B_START) + tags.count(Tag.B_OTHER)
    assert sum(len(turn_pairs(d)) for d in found) == tags.count(Tag.B_OTHER)
    assert sum(len(span_pairs(d)) for d in found) == len(numbers) - len(found)


SPANS = {
    "a sentence ends with the tag": ("“It rains,”| said Ann. |“Come in.”", "It rains. Come in."),
    "a name or I begins a sentence": ("“It rains,”| said Ann. |“I do.”", "It rains. I do."),
    "the narrator goes on": ("“No,”| said Ann. She rose! (At last.) |“Go.”", "No. Go."),
    "a colon announces speech": ("“No,”| she said, and then: |“Go.”", "No. Go."),
    "a comma after the tag": ("“I think,”| said Ann, |“that it rains.”", "I think, that it rains."),
    "a name after a comma": ("“I think,”| said Ann, |“Tom is right.”", "I think, Tom is right."),
    "a small letter": ("“Then,”| said Ann. |“and only then.”", "Then, and only then."),
    "a semicolon after the tag": (
        "“I am not sorry,”| said Ann; |“but go.”",
        "I am not sorry; but go.",
    ),
    "a semicolon after a name": ("“No, Tom,”| said Ann; |“but go.”", "No, Tom, but go."),
    "German semicolon": ("»Das ist wahr«|, sagte er; |»geh.«", "Das ist wahr; geh."),
    "Spanish colon": ("—Te lo digo |—dijo Bo—: |ven.", "Te lo digo: ven."),
    "a small letter after a stop": ("“Cod.”| She added—|“and salt.”", "Cod. And salt."),
    "the tag at the end": ("“I see,”| said Ann.", "I see."),
    "the tag before": ("“that it rains”| she said.", "That it rains."),
    "no narration": ("“If,”| |“Tom.”", "If, Tom."),
    "another stop": ("“It rains!”| said Ann. |“Come in.”", "It rains! Come in."),
    "dashes": ("“It rains”|—she paused—|“here.”", "It rains here."),
    "German": ("»Ja«|, sagte er. |»Komm.«", "Ja. Komm."),
    "German clause": (
        "»Es ist wahr«|, sagte er, |»dass es regnet.«",
        "Es ist wahr, dass es regnet.",
    ),
    "French": ("— Non,| répliqua M. Aubin. |Jamais.", "Non. Jamais."),
    "French clause": ("— Oui,| dit-il, |viens.", "Oui, viens."),
    "Italian": ("— Vieni,| — disse Bo. — |È tardi.", "Vieni. È tardi."),
    "Spanish": ("—Ven |—dijo Bo—. |Es tarde.", "Ven. Es tarde."),
    "Spanish clause": ("—Ven |—dijo Bo—, |que es tarde.", "Ven, que es tarde."),
    "Spanish question": ("—Ven |—dijo Bo—. |¿Vienes?", "Ven. ¿Vienes?"),
    "Hungarian clause": ("– Gyere, |– mondta Bo –, |késő van.", "Gyere, késő van."),
    "three parts": ("“A,”| said Bo, |“b,”| said Bo. |“C.”", "A, b. C."),
}


def turn_of(text: str) -> Turn:
    """The turn whose utterances and narration stand in turn in the text, divided by bars."""
    tagged, start = [], 0
    for number, place in enumerate(text.split("|")):
        tag = Tag.O if number % 2 else Tag.I_START if number else Tag.B_START
        span = Span(1, 0, number, start, start + len(place), place, not number % 2)
        tagged.append(TaggedSpan(span, tag))
        start += len(place)
    ((turn,),) = (dialogue.turns for dialogue in decode_dialogues(TaggedBook("7", tuple(tagged))))
    return turn


@pytest.mark.parametrize("case", SPANS)
def test_speech_goes_on_after_narration(case):
    text, expected = SPANS[case]
    assert turn_of(text).text == expected


@pytest.mark.parametrize(
    ("printed", "clean"),
    [
        ("“I _will_ go, *so* there, =now=.”", "I will go, so there, now."),
        ("“That d*d fool D__n, Mr. *** * * *.”", "That d*d fool D__n, Mr. *** * * *."),
        ("“The smouse,[*] he [sic] went [Greek: ou] .”", "The smouse, he went."),
        ("“Don’t [ex]change it* here.”", "Don’t exchange it here."),
        ("“Yes  . . . and\nno , sir.”", "Yes ... and no, sir."),
        ("“He said “go” and “stay.”", "He said “go” and stay."),
        ("« Viens ! »", "Viens !"),
        ("“’tis so;”", "’tis so."),
        ("“I--well—no--”", "I--well—no--"),
        ("“[He sighs.]”", ""),
    ],
)
def test_the_text_of_a_turn_is_clean(printed, clean):
    turn = Turn((Span(1, 0, 0, 0, len(printed), printed, True),))
    assert (turn.text, turn.quoted_text) == (clean, printed)


@given(st.lists(st.text('ab A,.;“”"«»‹›_*[]’—\n 1', max_size=15), min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_the_clean_text_has_the_letters_of_the_printed_one(texts):
    spans = tuple(Span(1, 0, i, 0, len(text), text, True) for i, text in enumerate(texts))
    turn = Turn(spans, (), (" said Ann; ",) * (len(spans) - 1))
    kept = "".join(drop_glosses(text) for text in texts)
    assert letters(turn.text) == letters(kept)
    assert turn.text == " ".join(turn.text.split())


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def test_a_turn_without_its_narration_is_joined_as_printed():
    assert Turn(turn_of("“It rains,”| said Ann. |“Come in.”").spans).text == "It rains, Come in."


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


@pytest.mark.parametrize(
    ("text", "is_open"),
    [("“Come", True), ("“Come,” ", False), ("‘Come!", True), ("— Come", False), ("“", False)],
)
def test_unclosed_speech(text, is_open):
    assert is_unclosed(text) is is_open


def a_turn(*texts: str, between: str = "") -> Turn:
    """A turn with a paragraph a text, and the same narration before each but the first."""
    spans = tuple(Span(1, i, 0, 0, len(text), text, True) for i, text in enumerate(texts))
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
        span = Span(1, number, 0, 0, length, "x" * length, True)
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
        TaggedSpan(Span(1, 4, 2, 0, 2, "No", False), Tag.O, speaker="ann")
