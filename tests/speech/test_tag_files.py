"""The tags file: round trips, what is refused and where."""

import json
from itertools import product
from pathlib import Path

import pytest
from helpers import kind_of
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.errors import InputError
from miner.lab.gold.mcn import read_any_tag_file
from miner.speech.kinds import SpanKind
from miner.speech.spans import Span
from miner.speech.tag_files import read_tag_file, row_from_span
from miner.speech.tags import SUCCESSORS, Tag, TaggedSpan, repair_tags


def make_spans() -> list[TaggedSpan]:
    """Two paragraphs: “Is it you?” he said. “Speak.” / “It is.” And a sign that nobody says."""
    return [
        TaggedSpan(Span(1, 0, 0, 0, 12, "“Is it you?”", SpanKind.UTTERANCE), Tag.B_START, 0.123456),
        TaggedSpan(Span(1, 0, 1, 12, 22, " he said. ", SpanKind.NARRATION), Tag.O, None),
        TaggedSpan(Span(1, 0, 2, 22, 30, "“Speak.”", SpanKind.UTTERANCE), Tag.I_START, 1.0),
        TaggedSpan(
            Span(1, 1, 0, 0, 8, "“It is.”", SpanKind.UTTERANCE),
            Tag.B_OTHER,
            0.5,
            "ann",
            0.75,
            ("bo", "cy"),
        ),
        TaggedSpan(Span(2, 2, 0, 0, 9, "“No\u2028exit”", SpanKind.INSCRIPTION), Tag.O, 0.25),
    ]


def write_rows(path: Path, rows: list[dict]) -> Path:
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def rows_of(book: str = "11") -> list[dict]:
    return [row_from_span(book, item) for item in make_spans()]


def test_quoted_narration_of_an_older_file_is_of_no_certain_kind(tmp_path):
    rows = [row | {"kind": "narration", "quoted": row["kind"] != "narration"} for row in rows_of()]
    path = write_rows(tmp_path / "old.jsonl", [row | {"tag": "O"} for row in rows[:3]])
    ((book,),) = [read_tag_file(path).books]
    kinds = [item.span.kind for item in book.spans]
    assert kinds == [SpanKind.OTHER, SpanKind.NARRATION, SpanKind.OTHER]


def test_a_row_has_the_keys_of_the_file_in_their_order():
    assert list(rows_of()[0].items()) == [
        ("book", "11"),
        ("chapter", 1),
        ("paragraph", 0),
        ("span", 0),
        ("start", 0),
        ("end", 12),
        ("kind", "utterance"),
        ("text", "“Is it you?”"),
        ("tag", "B-START"),
        ("confidence", 0.1235),
        ("continues", False),
        ("speaker", None),
        ("speaker_confidence", None),
        ("addressees", []),
    ]
    assert list(rows_of()[3].items())[-3:] == [
        ("speaker", "ann"),
        ("speaker_confidence", 0.75),
        ("addressees", ["bo", "cy"]),
    ]
    assert rows_of()[1]["kind"] == "narration"
    assert rows_of()[1]["confidence"] is None


def test_tags_come_back_as_they_were_written(tmp_path):
    path = write_rows(tmp_path / "two.jsonl", rows_of("b") + rows_of("a"))
    books = read_tag_file(path).books
    assert [book.book for book in books] == ["b", "a"]
    assert [row_from_span("a", item) for item in books[1].spans] == rows_of("a")
    assert [item.span for item in books[0].spans] == [item.span for item in make_spans()]
    # The name of the file and the beginning of its digest, as sha256sum gives it.
    assert (
        books[0].source.startswith("two.jsonl@") and len(books[0].source) == len("two.jsonl@") + 8
    )


def test_a_file_from_before_speakers_has_none(tmp_path):
    rows = rows_of()
    for row in rows:
        del row["speaker"], row["speaker_confidence"], row["addressees"]
    (book,) = read_tag_file(write_rows(tmp_path / "old.jsonl", rows)).books
    assert [item.tag for item in book.spans] == [item.tag for item in make_spans()]
    assert {(item.speaker, item.speaker_confidence, item.addressees) for item in book.spans} == {
        (None, None, ())
    }


def test_books_may_be_interleaved(tmp_path):
    rows = [row for pair in zip(rows_of("x"), rows_of("y"), strict=True) for row in pair]
    books = read_tag_file(write_rows(tmp_path / "t.jsonl", rows)).books
    assert [(book.book, len(book.spans)) for book in books] == [("x", 5), ("y", 5)]


@pytest.mark.parametrize(
    ("row", "changes", "message"),
    [
        (0, {"tag": "B-STRT"}, ":1: found tag 'B-STRT', expected B-START, I-START, B-OTHER"),
        (0, {"tag": None}, ":1: found tag None, expected"),
        (
            0,
            {"kind": "speech"},
            ":1: found kind 'speech', expected utterance, narration, ",
        ),
        (2, {"tag": "O"}, ":3: paragraph 0, span 2: found O on utterance, expected one of"),
        (1, {"tag": "I-START"}, ":2: paragraph 0, span 1: found I-START on narration, expected O"),
        (0, {"tag": "B-OTHER"}, ":1: found B-OTHER after no tag, expected B-START"),
        (3, {"tag": "I-OTHER"}, ":4: found I-OTHER after I-START, expected B-START, I-START, B-OT"),
        (0, {"start": "0"}, ":1: found '0' as start, expected int"),
        (0, {"chapter": True}, ":1: found True as chapter, expected int"),
        (0, {"paragraph": -1}, ":1: found -1 as paragraph, expected int"),
        (1, {"span": 10**30}, f":2: found {10**30} as span, expected int from 0 to 1000000000"),
        (0, {"end": 2**63}, ":1: found 9223372036854775808 as end, expected int from 0 to 10000"),
        (0, {"start": float("inf")}, ":1: found inf as start, expected int from 0 to 1000000000"),
        (0, {"book": None}, ":1: found None as book, expected str"),
        (0, {"book": "\ud83d"}, ":1: found half a character, expected whole ones"),
        (0, {"tag": "B" * 10**4}, ":1: found tag 'BBBBBBBBBBBB...BBBBBBBBBBBBB', expected B-START"),
        (0, {"kind": ["a"]}, ":1: found kind ['a'], expected utterance, narration, "),
        (0, {"text": 5}, ":1: found 5 as text, expected str"),
        (0, {"end": 13}, ":1: found 12 characters of text, expected 13, from start to end"),
        (0, {"confidence": 1.5}, ":1: found confidence 1.5, expected 0 to 1, or null"),
        (0, {"confidence": float("nan")}, ":1: found confidence nan, expected 0 to 1, or null"),
        (3, {"speaker": 7}, ":4: found speaker 7, expected an id, or null"),
        (3, {"speaker": ""}, ":4: found speaker '', expected an id, or null"),
        (3, {"speaker_confidence": -1}, ":4: found speaker confidence -1, expected 0 to 1, or nu"),
        (3, {"speaker_confidence": "1"}, ":4: found speaker confidence '1', expected 0 to 1, or"),
        (3, {"addressees": "bo"}, ":4: found addressees 'bo', expected a list of ids"),
        (
            3,
            {"addressees": ["bo", None]},
            ":4: found addressees ['bo', None], expected a list of ids",
        ),
        (3, {"addressees": [""]}, ":4: found addressees [''], expected a list of ids"),
        (1, {"speaker": "ann"}, ":2: paragraph 0, span 1: found the speaker 'ann' on narration, "),
        (2, {"start": 0, "end": 8}, ":3: found paragraph 0, start 0 after paragraph 0, start 12"),
    ],
)
def test_a_wrong_row_is_refused_with_file_and_line(tmp_path, row, changes, message):
    rows = rows_of()
    rows[row] |= changes
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_tag_file(path)
    assert str(error.value).startswith(f"{path}{message}")
    assert "\n" not in str(error.value) and len(str(error.value)) < 400


def test_missing_keys_are_named(tmp_path):
    rows = rows_of()
    del rows[1]["kind"], rows[1]["continues"]
    with pytest.raises(
        InputError, match=r"bad\.jsonl:2: found no kind, continues, expected book, "
    ):
        read_tag_file(write_rows(tmp_path / "bad.jsonl", rows))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "bad.jsonl:1: found bad JSON"),
        ("[1]", "bad.jsonl:1: found list, expected an object"),
        ('{"span": ' + "[" * 10**5, "bad.jsonl:1: found JSON of too many levels, expected one obj"),
        ('{"a": ' * 10**5, "bad.jsonl:1: found JSON of too many levels, expected one object"),
        ('{"span": ' + "9" * 5000 + "}", "bad.jsonl:1: found a number of thousands of digits, exp"),
    ],
    ids=["open", "list", "deep list", "deep object", "long number"],
)
def test_a_line_that_is_not_an_object_is_refused(tmp_path, line, message):
    (tmp_path / "bad.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=message):
        read_tag_file(tmp_path / "bad.jsonl")


def test_other_encodings_are_refused_with_the_line(tmp_path):
    (tmp_path / "bad.jsonl").write_bytes(b"{}\n\xe9\n")
    with pytest.raises(InputError, match=r"bad\.jsonl:2: found bytes that are not UTF-8"):
        read_tag_file(tmp_path / "bad.jsonl")


def test_illegal_tags_are_repaired_and_counted(tmp_path):
    rows = rows_of()
    rows[0]["tag"], rows[3]["tag"] = "I-OTHER", "I-OTHER"
    path = write_rows(tmp_path / "ill.jsonl", rows)
    reading = read_any_tag_file(path, repair=True)
    # I-OTHER at the beginning: B-START. I-OTHER after I-START: B-OTHER.
    assert [str(item.tag) for item in reading.books[0].spans] == [
        *("B-START", "O", "I-START", "B-OTHER", "O")
    ]
    assert [str(item.tag) for item in reading.as_read[0].spans] == [row["tag"] for row in rows]
    assert reading.n_repaired == 2
    assert read_tag_file(path, repair=True) == reading


def test_any_ending_but_csv_is_a_tags_file(tmp_path):
    for name in ("x.tags", "tags", "tags.jsonl"):
        path = write_rows(tmp_path / name, rows_of())
        assert read_any_tag_file(path).books == read_tag_file(path).books
    with pytest.raises(InputError, match="no splits"):
        read_any_tag_file(tmp_path / "tags.jsonl", split="test")


START, SAME, OTHER, MORE, OUT = Tag.B_START, Tag.I_START, Tag.B_OTHER, Tag.I_OTHER, Tag.O


@pytest.mark.parametrize(
    ("before", "allowed"),
    [
        (None, {START}),
        (START, {START, SAME, OTHER}),
        (SAME, {START, SAME, OTHER}),
        (OTHER, {START, OTHER, MORE}),
        (MORE, {START, OTHER, MORE}),
    ],
)
def test_which_tag_may_follow_which(before, allowed):
    assert SUCCESSORS[before] == allowed
    assert OUT not in SUCCESSORS


@pytest.mark.parametrize(
    ("tags", "repaired"),
    [
        ([], []),
        ([OUT, OUT], [OUT, OUT]),
        ([START, OUT, SAME, OTHER, OUT, MORE], [START, OUT, SAME, OTHER, OUT, MORE]),
        ([SAME], [START]),
        ([OTHER, OTHER], [START, OTHER]),
        ([OUT, MORE, MORE], [OUT, START, OTHER]),
        ([START, MORE], [START, OTHER]),
        ([START, OTHER, SAME], [START, OTHER, START]),
        ([START, OTHER, SAME, SAME], [START, OTHER, START, SAME]),
        ([START, OUT, MORE, SAME, MORE], [START, OUT, OTHER, START, OTHER]),
    ],
)
def test_tags_repaired_by_hand(tags, repaired):
    assert repair_tags(tags) == repaired


@given(st.lists(st.sampled_from(Tag)))
@settings(max_examples=40, deadline=None)
def test_repaired_tags_are_legal_and_legal_tags_stay(tags):
    repaired = repair_tags(tags)
    spoken = [None, *(tag for tag in repaired if tag is not OUT)]
    assert all(b in SUCCESSORS[a] for a, b in zip(spoken, spoken[1:], strict=False))
    assert [tag is OUT for tag in repaired] == [tag is OUT for tag in tags]
    assert repair_tags(repaired) == repaired


@pytest.mark.parametrize(("tag", "is_utterance"), list(product(Tag, (True, False))))
def test_narration_has_o_and_utterances_have_another(tag, is_utterance):
    span = Span(2, 31, 4, 0, 6, "“Yes.”", kind_of(is_utterance))
    if is_utterance != (tag is OUT):
        assert TaggedSpan(span, tag).tag is tag
        return
    with pytest.raises(ValueError, match=r"paragraph 31, span 4: found .* on ") as error:
        TaggedSpan(span, tag)
    assert f"found {tag} on {'utterance' if is_utterance else 'narration'}" in str(error.value)


def test_tags_are_written_as_the_field_writes_them():
    assert [str(tag) for tag in Tag] == ["B-START", "I-START", "B-OTHER", "I-OTHER", "O"]
