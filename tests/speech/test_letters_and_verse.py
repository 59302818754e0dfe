"""Which turns are letters or verse, and which are talk."""

import pytest

from miner.speech.dialogues import Turn, is_letter_or_verse
from miner.speech.spans import Span


def turn_of(*texts: str, between: str = "") -> Turn:
    """A turn with a paragraph a text, and the same narration before each but the first."""
    spans = tuple(Span(1, i, 0, 0, len(text), text, True) for i, text in enumerate(texts))
    return Turn(spans, (), (between,) * (len(spans) - 1))


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (turn_of("“Dear Sir:—The mill is sold.”"), True),
        (turn_of("“My dear Mara,", "“The mill is sold.”"), True),
        (turn_of("“Marl End, 4th May, 1811.", "“The mill is sold.”"), True),
        (turn_of(f"“{'The mill is sold. ' * 5}Yours truly, T. Otway.”"), True),
        (turn_of(f"“{'The mill is sold. ' * 5}I am, dear Madam,"), True),
        (turn_of(f"“{'The mill is sold. ' * 5}Here I am, and your servant.”"), False),
        (turn_of("“I have sold it. Yours truly may laugh now.”"), False),
        (turn_of("“The mill\nis still\nupon the hill.”"), True),
        (turn_of("“The mill is still\nupon the hill.”"), False),
        (turn_of("“My dear Mara, the mill is sold.”"), False),
        (turn_of("“My dear Mara,”", "“the mill is sold.”", between=" said Tobin, "), False),
        (turn_of("“The mill is yours.”"), False),
        (turn_of("“It was sold in 1811.”"), False),
    ],
)
def test_letters_and_verse_are_told_from_talk(turn, expected):
    assert is_letter_or_verse(turn, frozenset(), "en") is expected


@pytest.mark.parametrize(("blocks", "expected"), [({1}, True), ({0}, False), ({7}, False)])
def test_most_of_a_turn_stands_in_a_letter(blocks, expected):
    turn = turn_of("“Listen:", "“The mill is sold, and we go.”")
    assert is_letter_or_verse(turn, frozenset(blocks), "en") is expected


def test_a_language_without_a_file_has_only_the_signs_of_the_page():
    turn = turn_of("“Dear Sir:—The mill is sold.”")
    assert not is_letter_or_verse(turn, frozenset(), "fi")
    assert is_letter_or_verse(turn, frozenset({0}), "fi")
