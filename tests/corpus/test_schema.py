"""Rows of files, of a book that was worked out by hand."""

from dataclasses import replace

import pytest
from helpers import NAMES, kind_of

from miner.books.book import Book
from miner.corpus.schema import (
    KINDS,
    NARRATION,
    SCHEMAS,
    SPEAKER,
    TITLE,
    rows_of_book,
    tagged_from_rows,
)
from miner.people.cast import Character, Kind
from miner.people.character_files import SpokenBook, character_from_row
from miner.speech.dialogues import Turn, decode_dialogues
from miner.speech.filters import DialogueLimits, filter_dialogues
from miner.speech.kinds import SpanKind
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan

PAGE = [  # letter of the tag, paragraph, text, speaker
    ("O", 0, "CHAPTER I", None),
    ("S", 1, "“Is the lamp lit?”", "mara"),
    ("O", 1, " asked Mara.", None),
    ("O", 2, "She waited.", None),
    ("R", 3, "“It was,”", "tobin"),
    ("O", 3, " said Tobin, ", None),
    ("r", 3, "“until the oil ran out.”", "tobin"),
    ("R", 4, "“Then fill it.”", "mara"),
    ("O", 5, "The oil was gone.", None),
    ("S", 6, "“Good night!”", None),
]
CHARACTERS = (
    Character("mara", "Mara Otway", ("Mara", "Mara Otway"), "f", n_mentions=2),
    Character("tobin", "Tobin", ("Tobin",), "m", n_mentions=1),
    Character("boy-1", "boy", ("boy",), "m", Kind.UNNAMED, chapter=1),
)


BOOK = Book("7", "The Lamp", "Otway, Mara", "en", (), (), "")


def page():
    spans, ends = [], {}
    for letter, paragraph, text, speaker in PAGE:
        index, start = ends.get(paragraph, (0, 0))
        ends[paragraph] = (index + 1, start + len(text))
        is_said = letter != "O"
        span = Span(1, paragraph, index, start, start + len(text), text, kind_of(is_said))
        sure = 0.5 if speaker else None
        heard = ("tobin",) if "fill" in text else ()
        tagged = TaggedSpan(span, NAMES[letter], 0.25 if is_said else None, speaker, sure, heard)
        spans.append(tagged)
    return TaggedBook("7", tuple(spans))


def made(found=None, by_span=False, history_turns=0):
    book = page()
    found = decode_dialogues(book) if found is None else found
    rows = rows_of_book(
        BOOK, book, found, SpokenBook(book.spans, CHARACTERS), by_span, history_turns
    )
    return {kind: list(rows[kind]) for kind in KINDS}


def test_columns_of_a_span():
    row = made()["spans"][6]
    assert list(row.items()) == [
        ("book", "7"),
        ("chapter", 1),
        ("paragraph", 3),
        ("span", 2),
        ("start", 22),
        ("end", 46),
        ("kind", "utterance"),
        ("text", "“until the oil ran out.”"),
        ("tag", "I-OTHER"),
        ("confidence", 0.25),
        ("continues", False),
        ("speaker", "tobin"),
        ("speaker_confidence", 0.5),
        ("addressees", []),
        ("speaker_name", "Tobin"),
        ("dialogue", 0),
        ("part", 0),
        ("turn", 1),
    ]


def test_turns_carry_their_narration():
    first, second = made()["dialogues"]
    inside = [{"at": 8, "text": "said Tobin,"}]
    assert [[turn[key] for key in ("text", *NARRATION)] for turn in first["turns"]] == [
        ["Is the lamp lit?", "", [], "asked Mara."],
        ["It was, until the oil ran out.", "She waited.", inside, ""],
        ["Then fill it.", "", [], ""],
    ]
    assert (first["n_turns"], first["n_words"], first["paragraph"]) == (3, 14, 1)
    assert (second["dialogue"], second["n_turns"], second["chapter"]) == (1, 1, 1)


def test_turns_have_speakers_and_dialogues_participants():
    first, second = made()["dialogues"]
    assert [[turn[key] for key in SPEAKER] for turn in first["turns"]] == [
        ["mara", "Mara Otway", 0.5, ["tobin"]],
        ["tobin", "Tobin", 0.5, ["mara"]],
        ["mara", "Mara Otway", 0.5, ["tobin"]],
    ]
    assert first["participants"] == ["mara", "tobin"]
    (turn,) = second["turns"]
    assert [turn[key] for key in SPEAKER] == [None, None, None, []]
    assert second["participants"] == []


def test_pairs_have_the_narration_of_both_sides():
    row = made()["pairs"][0]
    inside = [{"at": 8, "text": "said Tobin,"}]
    assert [row[f"context_{name}"] for name in NARRATION] == ["", [], "asked Mara."]
    assert [row[f"response_{name}"] for name in NARRATION] == ["She waited.", inside, ""]


@pytest.mark.parametrize("by_span", [False, True])
def test_pairs_have_the_speakers_of_both_sides(by_span):
    rows = made(by_span=by_span)["pairs"]
    last = [[rows[-1][f"{side}_{key}"] for key in SPEAKER] for side in ("context", "response")]
    assert last == [
        ["tobin", "Tobin", 0.5, ["mara"]],
        ["mara", "Mara Otway", 0.5, ["tobin"]],
    ]


def test_a_row_for_each_character_who_speaks_or_not():
    rows = made()["characters"]
    assert [(row["id"], row["utterances"], row["addressed"]) for row in rows] == [
        *[("tobin", 2, 1), ("mara", 2, 0), ("boy-1", 0, 0)],
    ]
    assert list(rows[2].items()) == [
        ("book", "7"),
        ("id", "boy-1"),
        ("name", "boy"),
        ("aliases", ["boy"]),
        ("gender", "m"),
        ("kind", "unnamed"),
        ("chapter", 1),
        ("mentions", 0),
        ("utterances", 0),
        ("addressed", 0),
    ]
    assert set(map(character_from_row, rows)) == set(CHARACTERS)


def test_pairs_are_of_neighbours_in_one_dialogue():
    assert [(row["context"], row["response"]) for row in made()["pairs"]] == [
        ("Is the lamp lit?", "It was, until the oil ran out."),
        ("It was, until the oil ran out.", "Then fill it."),
    ]
    by_span = made(by_span=True)["pairs"]
    columns = ("context", "context_narration_after", "response_narration_before", "response")
    assert [[row[name] for name in columns] for row in by_span] == [
        ["Is the lamp lit?", "asked Mara.", "She waited.", "It was,"],
        ["It was,", "said Tobin,", "", "until the oil ran out."],
        ["until the oil ran out.", "", "", "Then fill it."],
    ]


def test_spans_that_a_filter_left_out_have_no_dialogue_and_parts_are_numbered():
    found = filter_dialogues(
        decode_dialogues(page()), DialogueLimits(max_turn_words=4, min_turns=1)
    )
    rows = made(found.kept)
    places = {row["text"]: (row["dialogue"], row["part"], row["turn"]) for row in rows["spans"]}
    assert places["“Is the lamp lit?”"] == (0, 0, 0)
    assert places["“It was,”"] == places["“until the oil ran out.”"] == (None, None, None)
    assert places["“Then fill it.”"] == (0, 1, 0)
    assert [(row["dialogue"], row["part"]) for row in rows["dialogues"]] == [(0, 0), (0, 1), (1, 0)]
    assert rows["pairs"] == []


def test_dialogues_and_pairs_name_their_book():
    rows = made()
    for kind in ("dialogues", "pairs"):
        for row in rows[kind]:
            assert [row[key] for key in TITLE] == ["The Lamp", "Otway, Mara", "en"]


def test_turns_and_pairs_have_their_text_as_printed():
    rows = made()
    printed = ["“Is the lamp lit?”", "“It was,” “until the oil ran out.”", "“Then fill it.”"]
    assert [turn["raw"] for turn in rows["dialogues"][0]["turns"]] == printed
    found = [(row["context_raw"], row["response_raw"]) for row in rows["pairs"]]
    assert found == [(printed[0], printed[1]), (printed[1], printed[2])]


@pytest.mark.parametrize(
    ("history_turns", "expected"),
    [
        (0, [[], [], []]),
        (1, [[], ["Is the lamp lit?"], ["It was,"]]),
        (2, [[], ["Is the lamp lit?"], ["Is the lamp lit?", "It was,"]]),
        (None, [[], ["Is the lamp lit?"], ["Is the lamp lit?", "It was,"]]),
    ],
)
def test_pairs_have_the_turns_before_them(history_turns, expected):
    rows = made(by_span=True, history_turns=history_turns)["pairs"]
    assert [row["turn"] for row in rows] == [1, 2, 3]
    assert [row["history"] for row in rows] == expected


@pytest.mark.parametrize("has_confidence", [True, False])
def test_the_rows_of_spans_lead_back_to_the_tagged_book(has_confidence):
    book = page()
    if not has_confidence:
        book = replace(book, spans=tuple(replace(item, confidence=None) for item in book.spans))
    confidences = [item.confidence for item in book.spans] if has_confidence else []
    rows = rows_of_book(BOOK, book, [], SpokenBook(book.spans, CHARACTERS))["spans"]
    assert tagged_from_rows("7", rows, confidences, book.source) == book


def test_the_schemas_of_parquet_have_the_columns_of_the_rows():
    # A run adds the part of the book in which a span is.
    for kind, rows in made().items():
        columns = [name for name in SCHEMAS[kind] if name != "part_of_book"]
        assert columns == list(rows[0])
    (turn,) = SCHEMAS["dialogues"]["turns"]
    assert list(turn) == list(made()["dialogues"][0]["turns"][0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("“Come!”", "Come!"),
        ("“’Tis true,", "’Tis true."),
        ("'’Tis true,'", "’Tis true."),
        ("''Tis true,'", "'Tis true."),
        ("“It’s the boys’”", "It’s the boys’"),
        ("“It’s the boys’", "It’s the boys’"),
        ("‘The boys’ dinners,’", "The boys’ dinners."),
        ("“‘No’ is what he said”", "‘No’ is what he said."),
        ("“I never—”", "I never—"),
        ("—Come in,", "Come in."),
        ("--Come in--", "Come in--"),
        ("« Entrez ! »", "Entrez !"),
        ("»Herein!«", "Herein!"),
        ("„Herein!“", "Herein!"),
        ("and so it was.”", "And so it was."),
        ("and so it was.’", "And so it was."),
        ("and all the boys’", "And all the boys’"),
        ("“", ""),
        ("—", ""),
        ("”", ""),
    ],
)
def test_what_is_said_leaves_out_the_marks_around_it_and_nothing_else(text, said):
    assert Turn((Span(1, 7, 0, 0, len(text), text, SpanKind.UTTERANCE),)).text == said


def test_tags_are_written_as_the_field_writes_them():
    assert {row["tag"] for row in made()["spans"]} == {str(tag) for tag in Tag} - {"I-START"}
