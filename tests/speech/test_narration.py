"""What is told between two utterances, and of which of them."""

import re
from itertools import cycle

import pytest
from dialogue_checks import check_narration
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.speech.dialogues import decode_dialogues
from miner.speech.kinds import SpanKind
from miner.speech.narration import divide_narration
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan, repair_tags


def spans_of(page):
    """The spans of a page with a paragraph a line and speech in curly marks."""
    found = []
    for paragraph, text in enumerate(page.split("\n"), 3):
        parts = filter(str, re.split(r"(“[^”]*”)", text))
        start = 0
        for index, part in enumerate(parts):
            kind = SpanKind.UTTERANCE if part.startswith("“") else SpanKind.NARRATION
            found.append(Span(1, paragraph, index, start, start + len(part), part, kind))
            start += len(part)
    return found


def divided(page):
    """The narration between the two utterances of a page."""
    spans = spans_of(page)
    first, second = (number for number, span in enumerate(spans) if span.is_utterance)
    return divide_narration(spans[first + 1 : second], spans[first], spans[second])


@pytest.mark.parametrize(
    ("page", "after", "before"),
    [
        ("“Come,” said Mara.\n“No.”", "said Mara.", ""),
        ("“Come.” Mara rose. She lit the lamp.\n“No.”", "Mara rose. She lit the lamp.", ""),
        ("“Come.”\nMara rose. “No.”", "", "Mara rose."),
        ("“Come,” said Mara.\nIt rained.\n“No.”", "said Mara.", "It rained."),
        ("“Come.”\nIt rained.\nBell sat:\n“No.”", "", "It rained.\nBell sat:"),
        # the end of a paragraph announces the next one
        ("“Come,” said Mara. But Bell cried:\n“No.”", "said Mara.", "But Bell cried:"),
        ("“Come.” Bell replied,\n“No.”", "", "Bell replied,"),
        ("“Come.” She said:\nIt rained.\n“No.”", "She said:", "It rained."),
        ("“Come,” said Mara:\n“No.”", "said Mara:", ""),
        ("“Come”—\n“No.”", "—", ""),
        # one paragraph
        ("“Come,” said Mara. “No,”", "said Mara.", ""),
        ("“Come,” said Mara. said his mother, “no.”", "said Mara.", "said his mother,"),
        ("“Come!” Mara cried. Bell shook his head. “No.”", "Mara cried.", "Bell shook his head."),
        ("“Come,” Mara rose. Bell laughed. “No.”", "Mara rose.", "Bell laughed."),
        ("“Come.” Bell said, “No.”", "", "Bell said,"),
        ("“Come.” Bell laughed. “No.”", "", "Bell laughed."),
        ("“Come,” said Mr. Bell. “No.”", "said Mr. Bell.", ""),
        ("“Come,” said Mara; his mother said, “no.”", "said Mara;", "his mother said,"),
        ("“Come,” said Mara, and his mother said, “no.”", "said Mara,", "and his mother said,"),
        ("“Come,” said Mara, and she rose, “no.”", "said Mara, and she rose,", ""),
        ("“Come.” “No.”", "", ""),
    ],
)
def test_a_tag_stays_with_its_speech(page, after, before):
    assert divided(page)[:2] == (after, before)


@pytest.mark.parametrize(
    ("page", "opening"),
    [
        ("“Come,” said Mara.\nIt rained.\nBell rose. “No.”", "Bell rose."),
        ("“Come,” said Mara.\nIt rained.\nBell cried:\n“No.”", "Bell cried:"),
        ("“Come,” said Mara.\nIt rained.\nBell rose.\n“No.”", ""),
        ("“Come,” said Mara. But Bell cried:\n“No.”", "But Bell cried:"),
        ("“Come,” said Mara.\n“No.”", ""),
    ],
)
def test_a_conversation_opens_with_what_leads_it_in(page, opening):
    assert divided(page).opening == opening


def test_a_book_begins_and_ends_with_narration():
    first, said, *last = spans_of("It rained. “Come,” said Mara. She rose.\nIt was late.")
    assert divide_narration([first], None, said) == ("", "It rained.", "It rained.")
    assert divide_narration(last, said, None)[:2] == ("said Mara. She rose.", "It was late.")


SAID = [tag for tag in Tag if tag is not Tag.O]
PIECES = ["“So,”", "“No.”", " said Ann. ", " Bob cried: ", ", and he said—", "It rained.", "\n"]


@given(st.lists(st.sampled_from(PIECES)), st.lists(st.sampled_from(SAID), min_size=1))
@settings(max_examples=100, deadline=None)
def test_all_narration_is_told_once(pieces, tags):
    spans = spans_of("".join(pieces))
    drawn = cycle(tags)
    given_tags = repair_tags(next(drawn) if span.is_utterance else Tag.O for span in spans)
    tagged = (TaggedSpan(*both) for both in zip(spans, given_tags, strict=True))
    check_narration(TaggedBook("7", tuple(tagged)))


def test_a_turn_keeps_what_is_told_before_inside_and_after_it():
    page = (
        "It rained.\nMara sat. “So,” said she, “come in,”\nand she rose, “at once!”\nBell came.\n"
        "“I,” said Bell. “No,” said Mara. Bell said: “Never!” and wept.\nIt was late."
    )
    tags = iter("SssRRR")
    names = {"S": Tag.B_START, "s": Tag.I_START, "R": Tag.B_OTHER}
    tagged = [
        TaggedSpan(span, names[next(tags)] if span.is_utterance else Tag.O)
        for span in spans_of(page)
    ]
    (dialogue,) = decode_dialogues(TaggedBook("7", tuple(tagged)))
    assert [(turn.before, turn.text, turn.after) for turn in dialogue.turns] == [
        ("Mara sat.", "So, come in, at once!", ""),
        ("Bell came.", "I.", "said Bell."),
        ("", "No.", "said Mara."),
        ("Bell said:", "Never!", "and wept."),
    ]
    first = dialogue.turns[0]
    assert first.inside == [(4, "said she,"), (13, "and she rose,")]
    assert [first.text[at:] for at, _ in first.inside] == ["come in, at once!", "at once!"]
