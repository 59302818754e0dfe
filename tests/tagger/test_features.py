"""Chapters as the tagger reads them: where utterances stand, and each feature by its name."""

import math

import numpy as np
import pytest
from encoders import sample, told

from miner.books.book import Block, BlockKind, Book
from miner.speech.spans import split_book
from miner.speech.typography import typography_from_names
from miner.speech.wording import is_unclosed
from miner.tagger.feature_attributions import Likeness
from miner.tagger.features import FEATURES, split_chapters

TAGGED = ["“Come,” said Ann, “and see.”", "“No.”"]
APART = ["“Come.”", "It rained all day.", "It blew.", "“No.”"]
RUNS_ON = ["“It began in spring.", "“It ended in autumn.”", "“Did it?”"]


def size(text):
    return math.log1p(len(text)) / 5


def only_chapter(*paragraphs, **options):
    (chapter,) = split_chapters(told(paragraphs, **options))
    return chapter


def column(name, *paragraphs):
    return only_chapter(*paragraphs).features[:, FEATURES.index(name)].tolist()


@pytest.mark.parametrize(
    ("name", "paragraphs", "expected"),
    [
        ("first of the chapter", TAGGED, [1, 0, 0]),
        ("first of its paragraph", TAGGED, [1, 0, 1]),
        ("runs on from the paragraph before", RUNS_ON, [0, 1, 0]),
        ("length of the utterance", TAGGED, [size("“Come,”"), size("“and see.”"), size("“No.”")]),
        (
            "length of the narration since the last utterance",
            ["The bell rang. “Come.” It rained.", "It blew.", "“No.”", "“Yes.”"],
            [size("The bell rang."), size("It rained.It blew."), 0],
        ),
        ("paragraphs of narration since the last utterance", APART, [0, math.log1p(2)]),
        # Those in which an utterance stands are not between.
        (
            "paragraphs of narration since the last utterance",
            ["It rained.", "“Come.” He sat down.", "She rose. “No.”"],
            [math.log1p(1), 0],
        ),
        ("paragraphs since the last utterance", APART, [0, math.log1p(3)]),
        ("paragraphs since the last utterance", TAGGED, [0, 0, math.log1p(1)]),
        (
            "length of the narration before it in its paragraph",
            ["It rained.", "Ann said, “Come,” and then, “No.”", "“Yes.”"],
            [size("Ann said,"), size("and then,"), 0],
        ),
        (
            "length of the narration after the last utterance in that one's paragraph",
            ["“Come,” said Ann, “and see.” She rose.", "It rained.", "“No.”"],
            [0, 0, size("She rose.")],
        ),
        (
            "length of the narration after it up to the next utterance or paragraph",
            ["“Come,” said Ann, “and see.”", "It rained.", "“No,” cried Jem."],
            [size("said Ann,"), 0, size("cried Jem.")],
        ),
        (
            "quoted narration since the last utterance",
            ["“Come.”", "The “keeper” said nothing.", "“No.”", "“Yes.”"],
            [0, 1, 0],
        ),
        ("begins in lower case", TAGGED, [0, 1, 0]),
        ("begins in lower case", ["“’tis late.”", "“1890?”", "“—and so on.”"], [1, 0, 1]),
        ("asks", ["“Why?”", "“No.”", "“What? No.”"], [1, 0, 0]),
        ("the last one asks", ["“Why?”", "“No.”", "“What? No.”"], [0, 1, 0]),
        ("the last one ends in a comma", TAGGED, [0, 1, 0]),
        ("the last one ends in a comma", ["“But I—”", "“No.”", "“Yes.”"], [0, 1, 0]),
        ("the last one ends without a closing mark", RUNS_ON, [0, 1, 0]),
        (
            "short narration before ends in a comma or colon",
            ["Ann said, “Come.”", "She sat: “No.”", "She sat. “Why?”", "“So.”"],
            [1, 1, 0, 0],
        ),
    ],
)
def test_a_feature(name, paragraphs, expected):
    assert column(name, *paragraphs) == pytest.approx(expected)


def test_every_plain_feature_without_names_is_tested():
    (test,) = test_a_feature.pytestmark
    assert {case[0] for case in test.args[1]} == set(FEATURES[:NAMED])


def test_features_are_small_numbers():
    for chapter in split_chapters(sample()):
        assert chapter.features.shape == (len(chapter.places), len(FEATURES))
        assert chapter.features.dtype == np.float32
        assert np.isfinite(chapter.features).all()
        assert (chapter.features >= 0).all() and (chapter.features < 5).all()


def test_a_chapter_for_each_that_has_an_utterance():
    book_spans = told(
        ["It rained.", "It blew."],
        ["“Come.”", "She came. “So?”"],
        ["Nobody spoke."],
        ["“Go,” said he."],
        name="17",
    )
    found = list(split_chapters(book_spans))
    assert [(chapter.book, chapter.number) for chapter in found] == [("17", 2), ("17", 4)]
    # Spans: two of narration; 2, then narration and 4; one of narration; 6 and a tag.
    assert [chapter.places for chapter in found] == [(2, 4), (6,)]
    # The features of each chapter start from nothing.
    assert [chapter.features[0, 0] for chapter in found] == [1, 1]
    assert found[1].features[0, FEATURES.index("paragraphs since the last utterance")] == 0


@pytest.mark.parametrize("pages", [[], [["It rained.", "It blew."]], [[], ["Nobody spoke."]]])
def test_a_book_without_speech_has_none(pages):
    assert list(split_chapters(told(*pages))) == []


def test_places_are_all_utterances_of_a_book():
    book_spans = sample()
    found = list(split_chapters(book_spans))
    assert len(found) == 5
    places = [place for chapter in found for place in chapter.places]
    assert places == [n for n, span in enumerate(book_spans.spans) if span.is_utterance]
    for chapter in found:
        assert {book_spans.spans[place].chapter for place in chapter.places} == {chapter.number}
        n_utterances = sum(len(paragraph.utterances) for paragraph in chapter.paragraphs)
        assert n_utterances == len(chapter.places)


@pytest.mark.parametrize(
    ("marks", "paragraphs"),
    [
        ("double-curly", ["“Come,” said Ann, “and see.”", "“No.”"]),
        ("double-straight", ['"Come," said Ann, "and see."', '"No."']),
        ("single-curly", ["‘Come,’ said Ann, ‘and see.’", "‘No.’"]),
        ("single-straight", ["'Come,' said Ann, 'and see.'", "'No.'"]),
        ("guillemets", ["« Come, » said Ann, « and see. »", "« No. »"]),
        ("low-high", ["„Come,“ said Ann, „and see.“", "„No.“"]),
    ],
)
def test_the_encoder_reads_curly_marks_in_any_book(marks, paragraphs):
    chapter = only_chapter(*paragraphs, marks=marks)
    assert [paragraph.text for paragraph in chapter.paragraphs] == [
        "“Come,” said Ann, “and see.”",
        "“No.”",
    ]
    assert [paragraph.utterances for paragraph in chapter.paragraphs] == [
        ((0, 7), (18, 28)),
        ((0, 5),),
    ]


def test_dashes_become_marks():
    chapter = only_chapter("—Come in.", "She came in.", "—So?", marks="dash")
    assert [paragraph.text for paragraph in chapter.paragraphs] == [
        "“Come in.”",
        "She came in.",
        "“So?”",
    ]


def test_offsets_are_those_of_the_words():
    book_spans = sample()
    for chapter in split_chapters(book_spans):
        found = [
            paragraph.text[start:end]
            for paragraph in chapter.paragraphs
            for start, end in paragraph.utterances
        ]
        assert all(text[0] == "“" for text in found)
        n_open = sum(text[-1] != "”" for text in found)
        assert n_open == sum(is_unclosed(book_spans.spans[place].text) for place in chapter.places)
        for text, place in zip(found, chapter.places, strict=True):
            assert text[1:-1] in book_spans.spans[place].text


def test_narration_is_kept_as_it_is():
    text = "The “keeper” drew breath; then, “Come,” said he, and was gone."
    (paragraph,) = only_chapter(text).paragraphs
    assert paragraph.text == text
    assert [text[a:b] for a, b in paragraph.utterances] == ["“Come,”"]


def test_a_speech_that_the_page_leaves_open_is_left_open():
    texts = [paragraph.text for paragraph in only_chapter(*RUNS_ON).paragraphs]
    assert texts == ["“It began in spring.", "“It ended in autumn.”", "“Did it?”"]


def test_a_heading_is_a_paragraph_of_its_chapter():
    blocks = (
        Block(0, 1, BlockKind.HEADING, "CHAPTER I"),
        Block(1, 1, BlockKind.PARAGRAPH, "“Come.”"),
    )
    book = Book("0", "", "", "en", blocks, (), "")
    (chapter,) = split_chapters(split_book(book, typography_from_names(["double-curly"])))
    assert [paragraph.text for paragraph in chapter.paragraphs] == ["CHAPTER I", "“Come.”"]
    assert chapter.features[0, FEATURES.index("paragraphs of narration since the last utterance")]


NAMED = FEATURES.index("its paragraph's narration names somebody")
SPOKEN = FEATURES.index("its narration says who speaks")


def names_of(*paragraphs):
    """The features of names of each utterance, as the numbers of those that hold."""
    rows = only_chapter(*paragraphs).features[:, NAMED:SPOKEN]
    return [[n for n, value in enumerate(row) if value] for row in rows]


def test_who_is_named_beside_speech():
    found = names_of(
        "“Come here,” said Mara.",
        "“Why, Mara?” asked Tobin.",
        "“Because I say so,” said Mara.",
        "Mara rose, and went to the door.",
        "“It rains,” said Mara.",
        "“Does it?” He rose.",
    )
    assert found == [
        [0, 7],  # somebody is named, for the first time
        [0, 2, 5, 7],  # another, who speaks of the last
        [0, 2, 3, 4],  # another, of whom he spoke, and who spoke before
        [0, 1, 6],  # the same, whom the narration between named, too
        [],
    ]


def test_a_word_that_is_written_small_elsewhere_is_no_name():
    assert names_of("“Go,” said the keeper. Keeper he was, and sat.") == [[]]


def test_utterances_of_a_paragraph_have_its_names():
    assert names_of("“Come,” said Mara, “and see.”") == [[0, 7], [0, 7]]


def spoken(name, *paragraphs):
    """The likeness of a comparison for each utterance, None if nothing is compared."""
    rows = only_chapter(*paragraphs).features
    columns = {like: rows[:, FEATURES.index(f"{name}: {like}")] for like in Likeness}
    held = [[like for like, column in columns.items() if column[n]] for n in range(len(rows))]
    assert all(len(item) < 2 for item in held)
    return [item[0] if item else None for item in held]


TALK = (
    "“Come here,” said Mara.",
    "“Why?”",
    "“Because it rains.”",
    "“It does not,” said Mr. Tobin.",
    "He looked out.",
    "“Or hardly,” he added.",
    "Mara rose. “Then come.”",
)


def test_speakers_of_attributions_are_compared():
    column = FEATURES.index("its speaker goes on")
    assert list(only_chapter(*TALK).features[:, column]) == [0, 0, 0, 0, 1, 0]
    last = spoken("its speaker, and the last", *TALK)
    before_last = spoken("its speaker, and the one before the last", *TALK)
    # Of the third paragraph it is Mara by alternation; "he" of the fifth is Tobin, named last.
    assert last == [None, None, None, Likeness.OTHER, Likeness.SAME, None]
    assert before_last == [None, None, None, None, Likeness.OTHER, None]


def test_subjects_are_compared_with_speakers():
    between = spoken("the last subject between, and its speaker or subject", *TALK)
    assert between == [None, None, None, None, Likeness.SAME, None]  # he looked out, he added
    assert spoken("the first subject between, and the last", *TALK)[4] is Likeness.SAME
    subject = spoken("its subject, and the last", *TALK)
    assert subject == [None, None, None, None, None, Likeness.OTHER]  # Mara rose


def held(*paragraphs):
    """The features of the narration before the last utterance, as numbers of those that hold."""
    first = FEATURES.index("the narration between names the last speaker alone")
    return list(np.flatnonzero(only_chapter(*paragraphs).features[-1, first:]))


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        ("Mrs. Mara rose, and she went out.", [0, 2]),
        ("Tobin rose, and he went out.", [1, 3]),
        ("Mrs. Mara and Tobin rose.", []),
        ("He looked at her.", []),
        ("I rose.", [4]),
        ("It rained.", []),
    ],
)
def test_the_narration_between_tells_of_the_speaker_or_of_others(between, expected):
    names = "Tobin sat down, and he took his hat; it was wet. Mrs. Mara sat down."
    assert held(names, "“Come,” said Mrs. Mara.", between, "“Why?”") == expected
    # Or in the paragraph of the speech itself.
    assert held(names, "“Come,” said Mrs. Mara.", f"{between} “Why?”") == expected


def test_without_a_speaker_narration_tells_of_nobody():
    assert held("“Come.”", "Mrs. Mara rose, and she went out.", "“Why?”") == []
