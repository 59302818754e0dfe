"""The text of a turn: worked by hand, and what must hold for any text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.speech.dialogues import Turn
from miner.speech.kinds import SpanKind
from miner.speech.spans import Span
from miner.speech.wording import drop_glosses, is_unclosed


@pytest.mark.parametrize(
    ("printed", "clean"),
    [
        ("“I _will_ go, *so* there, =now=.”", "I will go, so there, now."),
        ("“That d*d fool D__n, Mr. *** * * *.”", "That d*d fool D__n, Mr. *** * * *."),
        ("“The smouse,[*] he [sic] went [Greek: ou] .”", "The smouse, he went."),
        ("“Don’t [ex]change it* here.”", "Don’t exchange it here."),
        ("“Yes  . . . and\nno , sir.”", "Yes ... and no, sir."),
        ("“He said “go” and “stay.”", "He said “go” and “stay.”"),
        ("“He said go” and stay.”", "He said go and stay."),
        ("« Viens ! »", "Viens !"),
        ("“’tis so;”", "’tis so."),
        ("“He cried ‘Stop,’”", "He cried ‘Stop.’"),
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


@pytest.mark.parametrize(
    ("text", "is_open"),
    [("“Come", True), ("“Come,” ", False), ("‘Come!", True), ("— Come", False), ("“", False)],
)
def test_unclosed_speech(text, is_open):
    assert is_unclosed(text) is is_open
