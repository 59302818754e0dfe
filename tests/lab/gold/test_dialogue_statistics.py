"""Lengths of dialogues and shares of speech, counted by hand."""

import math

import pytest
from encoders import sample, told
from helpers import book

from miner.lab.gold.dialogue_statistics import (
    Lengths,
    measure_course,
    measure_dialogues,
    measure_talk,
)
from miner.speech.dialogues import count_words_of_speakers
from miner.speech.kinds import SpanKind
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan


def test_lengths_are_turns_of_every_conversation_of_all_books():
    lengths = measure_dialogues("two books", [book("SsRrRO|SR", "1"), book("S", "2")])
    assert lengths == Lengths("two books", (3, 2, 1))
    assert (lengths.mean, lengths.median) == (2, 2)
    assert lengths.counts == {1: 1, 2: 1, 3: 1}
    assert lengths.at_least() == [(1, 1.0), (2, pytest.approx(2 / 3)), (3, pytest.approx(1 / 3))]


def test_illegal_tags_are_repaired_for_the_lengths():
    assert measure_dialogues("", [book("RSR")]).turns == (1, 2)


def test_a_book_without_conversation_has_no_lengths():
    lengths = measure_dialogues("", [TaggedBook("7", ())])
    assert (lengths.turns, lengths.counts, lengths.at_least()) == ((), {}, [])
    assert math.isnan(lengths.mean) and math.isnan(lengths.median)


def test_speech_is_counted_in_words_by_chapter():
    spans = told(
        ["“Is the lamp lit?” asked Mara.", "Nobody answered her."],
        ["“It was,” said Tobin, “until now.”"],
        ["The sea was grey."],
    )
    talk = measure_talk("The Lighthouse", spans)
    found = [(item.chapter, item.n_spoken, item.n_words) for item in talk.chapters]
    assert found == [(1, 4, 9), (2, 4, 6), (3, 0, 4)]
    assert [round(item.share, 2) for item in talk.chapters] == [0.44, 0.67, 0]
    assert (talk.name, talk.share) == ("The Lighthouse", pytest.approx(8 / 19))


def test_headings_and_the_title_page_do_not_count():
    talk = measure_talk("sample", sample())
    assert [item.chapter for item in talk.chapters] == [1, 2, 3, 4, 5]
    of_story = [b for b in sample().book.blocks if b.chapter and b.kind != "heading"]
    n_words = sum(len(block.text.split()) for block in of_story)
    # A span may end inside what white space alone does not part: a dash between two words.
    assert sum(item.n_words for item in talk.chapters) == pytest.approx(n_words, rel=0.02)
    assert 0.3 < talk.share < 0.4


def test_without_words_there_is_no_share():
    talk = measure_talk("", told())
    assert talk.chapters == () and math.isnan(talk.share)


def test_the_course_is_the_share_of_parts_with_as_many_words():
    spans = told(["“Is the lamp lit?”", "Nobody answered her."], ["“No, said” Tobin and left."])
    assert measure_course(spans, 1) == (pytest.approx(6 / 12),)  # 4 + 2 of 4 + 3 + 5 words
    assert measure_course(spans, 2) == (pytest.approx(4 / 6), pytest.approx(2 / 6))
    assert measure_course(spans, 12) == (1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0)


def test_the_course_of_the_sample_has_its_share_of_talk():
    course = measure_course(sample(), 4)
    mean = sum(course) / 4  # the parts are of the same size, to within a word
    assert mean == pytest.approx(measure_talk("", sample()).share, abs=0.001)


def test_a_part_without_words_has_no_share():
    first, second = measure_course(told(["Snow."]), 2)
    assert math.isnan(first) and second == 0


def test_words_of_speakers_by_chapter():
    said = [
        (1, "ann", "“One two,”"),
        (1, None, "“No one knows.”"),
        (2, "bob", "—A, b, c, d."),
        (3, "ann", "“Three”"),
        (3, "ann", "“four"),
    ]
    spans = [
        TaggedSpan(
            Span(chapter, n, 0, 0, len(text), text, SpanKind.UTTERANCE),
            Tag.B_START,
            speaker=speaker,
        )
        for n, (chapter, speaker, text) in enumerate(said)
    ]
    spans.append(TaggedSpan(Span(3, 9, 0, 0, 9, "said Ann.", SpanKind.NARRATION), Tag.O))
    found = count_words_of_speakers(spans)
    assert found == {"ann": {1: 2, 3: 2}, "bob": {2: 4}, None: {1: 3}}
    assert list(found) == ["ann", "bob", None]  # who says most is first
    assert count_words_of_speakers([]) == {}
