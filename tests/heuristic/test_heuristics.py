"""The two heuristics: by hand, at the edges of their rules, and legal on every input."""

from dataclasses import replace

import pytest
from helpers import kind_of
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristic.gap import DEFAULT_GAP, GapTagger
from heuristic.narration import NarrationTagger
from miner.books.book import Block, BlockKind, Book
from miner.errors import InputError
from miner.speech.spans import BookSpans, Span, split_book
from miner.speech.tags import Tag, repair_tags
from miner.speech.typography import infer_typography

LETTERS = {"B-START": "S", "I-START": "s", "B-OTHER": "R", "I-OTHER": "r", "O": "-"}
TAGGERS = [GapTagger(), GapTagger(0), NarrationTagger()]


def chapter(*paragraphs, number=1, first=0):
    return [
        Block(first + i, number, BlockKind.PARAGRAPH, text) for i, text in enumerate(paragraphs)
    ]


def spans_of(blocks):
    book = Book("0", "", "", "en", tuple(blocks), (), "")
    return split_book(book, infer_typography(book))


def tags(tagger, *paragraphs):
    """A letter for each span."""
    return "".join(LETTERS[item.tag] for item in tagger.tag(spans_of(chapter(*paragraphs))))


PAGE = (
    "The ferry came in at six.",
    "“Any geese?” said the mate.",
    "“Nine,” said Ann, “and a gander.”",
    "She counted them aboard. The gander was the last, and looked about him like an owner.",
    "“Who pays for him?”",
    "“He does. He has always paid, and I will tell you how.",
    "“He was born on this boat.”",
    "The river was wide there, and brown, and went by under the rail without a sound. Nobody had "
    "a word to say to it. The lamps were lit on the farther bank, one after the other, and a bell "
    "rang for some church.",
    "“Land!”",
    "The gander shook himself.",
    "“Mind the step, sir,” said the mate to him.",
)


def test_a_page_by_hand():
    #                              0  1   2    3  4 5 6 7  8 9 10
    assert tags(GapTagger(), *PAGE) == "-S-R-r-RRr-S-R-"
    assert tags(NarrationTagger(), *PAGE) == "-S-R-r-RRr-R-R-"


def narration(length):
    return "x" * (length - 1) + "."


@pytest.mark.parametrize(("length", "last"), [(149, "R"), (150, "R"), (151, "S")])
def test_a_gap_is_more_than_150_characters(length, last):
    assert DEFAULT_GAP == 150
    assert tags(GapTagger(), "“Ann!”", narration(length), "“Yes?”") == f"S-{last}"


def test_the_gap_is_counted_over_all_narration_between_two_utterances():
    half = narration(76)
    assert tags(GapTagger(), "“Ann!” " + half, half, "“Yes?”") == "S--S"
    assert tags(GapTagger(), "“Ann!” " + half, half + " “Yes?”") == "S--S"
    assert tags(GapTagger(), "“Ann!”", half, "“Yes?”", half, "“No.”") == "S-R-R"
    assert tags(GapTagger(80), "“Ann!”", half, "“Yes?”") == "S-R"
    assert tags(GapTagger(75), "“Ann!”", half, "“Yes?”") == "S-S"


def test_a_gap_below_zero_is_refused():
    with pytest.raises(InputError, match="found a gap of -1 characters"):
        GapTagger(-1)


@pytest.mark.parametrize("tagger", TAGGERS[::2])
def test_narration_within_a_paragraph_ends_no_turn(tagger):
    long = " ".join([narration(60)] * 6)
    assert tags(tagger, f"“Ann!” {long} “Ann!” {long} “Ann!”") == "S-s-s"
    assert tags(tagger, "“Well?”", f"“Ann!” {long} “Ann!”", "“Yes?”") == "SR-rR"


def test_three_spans_of_narration_begin_a_conversation():
    two, three = ("He sat.", "She sat."), ("He sat.", "She sat.", "It sat.")
    tagger = NarrationTagger()
    assert tags(tagger, "“Ann!”", *two, "“Yes?”") == "S--R"
    assert tags(tagger, "“Ann!”", *three, "“Yes?”") == "S---S"
    assert tags(tagger, "“Ann!” said Bo.", *two, "“Yes?”") == "S---S"
    assert tags(tagger, "“Ann!” —", *two, "“Yes?”") == "S---R"  # a blank span is none
    # nor do those before an utterance of the same paragraph count
    assert tags(tagger, "“Ann!” said Bo.", "He sat. “Ann!” “Yes?”") == "S--R-r"
    assert tags(tagger, "“Ann!”", *two, "He: “Ann!”", "“Yes?”") == "S---SR"


@pytest.mark.parametrize("tagger", TAGGERS)
def test_a_chapter_begins_a_conversation(tagger):
    blocks = [*chapter("“Ann!”", "“Yes?”"), *chapter("“Well?”", "“No.”", number=2, first=2)]
    assert [item.tag for item in tagger.tag(spans_of(blocks))] == [
        Tag.B_START,
        Tag.B_OTHER,
        Tag.B_START,
        Tag.B_OTHER,
    ]


@pytest.mark.parametrize("tagger", TAGGERS)
def test_a_scene_begins_a_conversation_unless_speech_runs_on(tagger):
    blocks = chapter("“Ann!”", "“Yes?”", "“No.”", "“It was so:", "“He came.”")
    scenes = (1, 1, 2, 2, 3)
    blocks = [replace(block, scene=scene) for block, scene in zip(blocks, scenes, strict=True)]
    assert [str(item.tag) for item in tagger.tag(spans_of(blocks))] == [
        *("B-START", "B-OTHER"),
        *("B-START", "B-OTHER", "I-OTHER"),
    ]


def test_speech_that_continues_in_the_next_paragraph_is_one_turn():
    told = ("“I was born here.", "“My mother was a goose.", "“That is all.”", "“All?”")
    assert tags(GapTagger(), *told) == "SssR"
    assert tags(GapTagger(), "“Where?”", *told) == "SRrrR"


@pytest.mark.parametrize("tagger", TAGGERS)
def test_without_speech_all_tags_are_o(tagger):
    assert tagger.tag(spans_of([])) == []
    assert tags(tagger, "Nobody spoke.", "It rained.") == "--"


@st.composite
def books(draw):
    """Spans in the order of a book, each of any kind."""
    spans, chapter, paragraph, index = [], 0, 0, 0
    for _ in range(draw(st.integers(0, 30))):
        step = draw(st.integers(0, 3))
        if step > 1:
            paragraph, index, chapter = paragraph + 1, 0, chapter + (step == 3)
        text = draw(st.sampled_from(["—", "“Yes.”", "He sat.", narration(151)]))
        said, on = draw(st.booleans()), draw(st.booleans())
        spans.append(Span(chapter, paragraph, index, 0, len(text), text, kind_of(said), on))
        index += 1
    return BookSpans(Book("0", "", "", "en", (), (), ""), tuple(spans))


@given(books(), st.sampled_from(TAGGERS))
@settings(max_examples=40, deadline=None)
def test_every_input_gives_a_legal_sequence(book, tagger):
    tagged = tagger.tag(book)
    assert tuple(item.span for item in tagged) == book.spans
    found = [item.tag for item in tagged]
    assert found == repair_tags(found)
    assert all(item.confidence is None for item in tagged)
