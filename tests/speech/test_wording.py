"""The text of a turn: worked by hand, and what must hold for any text."""

import pytest
from helpers import kind_of
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.speech.dialogues import Turn, decode_dialogues
from miner.speech.kinds import SpanKind
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan
from miner.speech.wording import drop_glosses, is_unclosed

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
        span = Span(1, 0, number, start, start + len(place), place, kind_of(not number % 2))
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
    turn = Turn((Span(1, 0, 0, 0, len(printed), printed, SpanKind.UTTERANCE),))
    assert (turn.text, turn.quoted_text) == (clean, printed)


@given(st.lists(st.text('ab A,.;“”"«»‹›_*[]’—\n 1', max_size=15), min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_the_clean_text_has_the_letters_of_the_printed_one(texts):
    spans = tuple(
        Span(1, 0, i, 0, len(text), text, SpanKind.UTTERANCE) for i, text in enumerate(texts)
    )
    turn = Turn(spans, (), (" said Ann; ",) * (len(spans) - 1))
    kept = "".join(drop_glosses(text) for text in texts)
    assert letters(turn.text) == letters(kept)
    assert turn.text == " ".join(turn.text.split())


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def test_a_turn_without_its_narration_is_joined_as_printed():
    assert Turn(turn_of("“It rains,”| said Ann. |“Come in.”").spans).text == "It rains, Come in."


@pytest.mark.parametrize(
    ("text", "is_open"),
    [("“Come", True), ("“Come,” ", False), ("‘Come!", True), ("— Come", False), ("“", False)],
)
def test_unclosed_speech(text, is_open):
    assert is_unclosed(text) is is_open
