"""The speakers of spans -> the speaker, the addressees and the participants of turns."""

import pytest

from miner.speech.dialogues import decode_dialogues, split_into_spans
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan


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
