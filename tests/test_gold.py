"""Readers of tagged books: round trips, what is refused and where, and the seed's own files."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from miner.book import BlockKind
from miner.dialogues import dialogues, mended
from miner.gold import read_annotated, read_seed, read_seed_tags, read_tags, tags_row
from miner.spans import Span
from miner.tags import Tag, TaggedBook, TaggedSpan

SEED = Path(__file__).parents[2] / "shared" / "convo-miner-gold"
needs_seed = pytest.mark.skipif(
    not SEED.is_dir(), reason=f"the seed project's files are not at {SEED}"
)


def make_spans() -> list[TaggedSpan]:
    """Two paragraphs: “Is it you?” he said. “Speak.” / “It is.” And a sign that nobody says."""
    return [
        TaggedSpan(Span(1, 0, 0, 0, 12, "“Is it you?”", True), Tag.B_START, 0.123456),
        TaggedSpan(Span(1, 0, 1, 12, 22, " he said. ", False), Tag.O, None),
        TaggedSpan(Span(1, 0, 2, 22, 30, "“Speak.”", True), Tag.I_START, 1.0),
        TaggedSpan(Span(1, 1, 0, 0, 8, "“It is.”", True), Tag.B_OTHER, 0.5),
        TaggedSpan(Span(2, 2, 0, 0, 9, "“No\u2028exit”", False, True), Tag.O, 0.25),
    ]


def write_rows(path: Path, rows: list[dict]) -> Path:
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def rows_of(book: str = "11") -> list[dict]:
    return [tags_row(book, item) for item in make_spans()]


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
        ("quoted", False),
    ]
    assert rows_of()[1]["kind"] == "narration"
    assert rows_of()[1]["confidence"] is None


def test_tags_come_back_as_they_were_written(tmp_path):
    path = write_rows(tmp_path / "two.jsonl", rows_of("b") + rows_of("a"))
    books = read_tags(path)
    assert [book.book for book in books] == ["b", "a"]
    assert [tags_row("a", item) for item in books[1].spans] == rows_of("a")
    assert [item.span for item in books[0].spans] == [item.span for item in make_spans()]
    # The name of the file and the beginning of its digest, as sha256sum gives it.
    assert (
        books[0].source.startswith("two.jsonl@") and len(books[0].source) == len("two.jsonl@") + 8
    )


def test_books_may_be_interleaved(tmp_path):
    rows = [row for pair in zip(rows_of("x"), rows_of("y"), strict=True) for row in pair]
    books = read_tags(write_rows(tmp_path / "t.jsonl", rows))
    assert [(book.book, len(book.spans)) for book in books] == [("x", 5), ("y", 5)]


@pytest.mark.parametrize(
    ("row", "changes", "message"),
    [
        (0, {"tag": "B-STRT"}, ":1: found tag 'B-STRT', expected B-START, I-START, B-OTHER"),
        (0, {"tag": None}, ":1: found tag None, expected"),
        (0, {"kind": "speech"}, ":1: found kind 'speech', expected utterance or narration"),
        (2, {"tag": "O"}, ":3: paragraph 0, span 2: found O on utterance, expected one of"),
        (1, {"tag": "I-START"}, ":2: paragraph 0, span 1: found I-START on narration, expected O"),
        (0, {"tag": "B-OTHER"}, ":1: found B-OTHER after no tag, expected B-START"),
        (3, {"tag": "I-OTHER"}, ":4: found I-OTHER after I-START, expected B-START, I-START, B-OT"),
        (0, {"start": "0"}, ":1: found '0' as start, expected int"),
        (0, {"chapter": True}, ":1: found True as chapter, expected int"),
        (0, {"paragraph": -1}, ":1: found -1 as paragraph, expected int"),
        (0, {"text": 5}, ":1: found 5 as text, expected str"),
        (0, {"quoted": 0}, ":1: found 0 as quoted, expected bool"),
        (0, {"end": 13}, ":1: found 12 characters of text, expected 13, from start to end"),
        (0, {"confidence": 1.5}, ":1: found confidence 1.5, expected 0 to 1, or null"),
        (0, {"confidence": float("nan")}, ":1: found confidence nan, expected 0 to 1, or null"),
        (2, {"start": 0, "end": 8}, ":3: found paragraph 0, start 0 after paragraph 0, start 12"),
    ],
)
def test_a_wrong_row_is_refused_with_file_and_line(tmp_path, row, changes, message):
    rows = rows_of()
    rows[row] |= changes
    path = write_rows(tmp_path / "bad.jsonl", rows)
    with pytest.raises(ValueError) as error:
        read_tags(path)
    assert str(error.value).startswith(f"{path}{message}")
    assert "\n" not in str(error.value)


def test_missing_keys_are_named(tmp_path):
    rows = rows_of()
    del rows[1]["kind"], rows[1]["quoted"]
    with pytest.raises(ValueError, match=r"bad\.jsonl:2: found no kind, quoted, expected book, "):
        read_tags(write_rows(tmp_path / "bad.jsonl", rows))


@pytest.mark.parametrize(
    ("line", "message"),
    [("{", "bad.jsonl:1: found bad JSON"), ("[1]", "bad.jsonl:1: found list, expected an object")],
)
def test_what_is_no_object_is_refused(tmp_path, line, message):
    (tmp_path / "bad.jsonl").write_text(line + "\n")
    with pytest.raises(ValueError, match=message):
        read_tags(tmp_path / "bad.jsonl")


def test_other_encodings_are_refused_with_the_line(tmp_path):
    (tmp_path / "bad.jsonl").write_bytes(b"{}\n\xe9\n")
    with pytest.raises(ValueError, match=r"bad\.jsonl:2: found bytes that are no UTF-8"):
        read_tags(tmp_path / "bad.jsonl")


def test_mending_changes_the_illegal_tags_and_counts_them(tmp_path):
    rows = rows_of()
    rows[0]["tag"], rows[3]["tag"] = "I-OTHER", "I-OTHER"
    path = write_rows(tmp_path / "ill.jsonl", rows)
    reading = read_annotated(path, mend=True)
    # I-OTHER at the beginning: B-START. I-OTHER after I-START: B-OTHER.
    assert [str(item.tag) for item in reading.books[0].spans] == [
        *("B-START", "O", "I-START", "B-OTHER", "O")
    ]
    assert [str(item.tag) for item in reading.as_read[0].spans] == [row["tag"] for row in rows]
    assert reading.n_mended == 2
    assert read_tags(path, mend=True) == reading.books


GOLD_ROWS = [
    # paragraph, text, tag, split
    ("0", "The Lamp", "O", "train"),
    ("1", "Chapter 1", "O", "train"),
    ("4", '"Who   is\n there?"', "B-START", "train"),
    ("4", '"Answer me."', "I-START", "train"),
    ("6", '"A friend,"', "B-OTHER", "train"),
    ("6", " said the other.", "O", "train"),
    ("7", "Chapter 2", "O", "test"),
    ("8", '"Come in."', "B-START", "test"),
    ("9", '"I will."', "B-OTHER", "test"),
]


def write_seed(path: Path, rows, names=("para_index", "sent", "label", "split_tag")) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["", *names])
        writer.writerows([i, *row[: len(names)]] for i, row in enumerate(rows))
    return path


def test_rows_of_a_paragraph_join_with_one_space(tmp_path):
    (book,) = read_seed_tags(write_seed(tmp_path / "g.csv", GOLD_ROWS)).books
    found = [
        (s.span.chapter, s.span.paragraph, s.span.index, s.span.start, s.span.end, s.span.text)
        for s in book.spans
    ]
    assert found == [
        (0, 0, 0, 0, 8, "The Lamp"),
        (1, 1, 0, 0, 9, "Chapter 1"),
        (1, 2, 0, 0, 16, '"Who is there?" '),
        (1, 2, 1, 16, 28, '"Answer me."'),
        (1, 3, 0, 0, 12, '"A friend," '),
        (1, 3, 1, 12, 27, "said the other."),
        (2, 4, 0, 0, 9, "Chapter 2"),
        (2, 5, 0, 0, 10, '"Come in."'),
        (2, 6, 0, 0, 9, '"I will."'),
    ]
    assert [item.span.is_utterance for item in book.spans] == [row[2] != "O" for row in GOLD_ROWS]


def test_a_split_keeps_whole_chapters_and_their_places(tmp_path):
    path = write_seed(tmp_path / "g.csv", GOLD_ROWS)
    (all_of_it,) = read_annotated(path).books
    (test,) = read_annotated(path, split="test").books
    assert test.spans == all_of_it.spans[6:]
    assert test.book == "1342"


def test_a_conversation_cut_by_the_split_is_mended_and_counted(tmp_path):
    rows = [*GOLD_ROWS[:7], ("8", '"Come in."', "B-OTHER", "test"), GOLD_ROWS[8]]
    path = write_seed(tmp_path / "g.csv", rows)
    assert read_annotated(path).n_mended == 0
    reading = read_annotated(path, split="test")
    assert [item.tag for item in reading.books[0].spans] == [Tag.O, Tag.B_START, Tag.B_OTHER]
    assert reading.n_mended == 1


def test_the_column_names_of_the_model_are_known(tmp_path):
    rows = [(text, tag, paragraph) for paragraph, text, tag, _ in GOLD_ROWS]
    path = write_seed(tmp_path / "m.csv", rows, ("para", "pred_label", "para_index"))
    gold = read_seed_tags(write_seed(tmp_path / "g.csv", GOLD_ROWS)).books[0]
    assert read_seed_tags(path).books[0].spans == gold.spans
    with pytest.raises(ValueError, match=r"m\.csv: found no rows of split test, .*no split_tag"):
        read_seed_tags(path, split="test")


@pytest.mark.parametrize(
    ("row", "cells", "message"),
    [
        (4, ("6", "x", "B_OTHER", "train"), r"g\.csv:7: found tag 'B_OTHER', expected B-START"),
        (4, ("6", "x", "I-OTHER", "train"), r"g\.csv:7: found I-OTHER after I-START, expected"),
        (4, ("6", "  ", "O", "train"), r"g\.csv:7: found an empty cell"),
        (
            8,
            ("9", "x", "O", "train"),
            r"g\.csv:11: found split 'train' in chapter 2, expected 'tes",
        ),
    ],
)
def test_a_wrong_seed_row_is_refused_with_file_and_line(tmp_path, row, cells, message):
    # Line numbers are one more from the fifth row on: the text of the third has a line break.
    rows = [*GOLD_ROWS]
    rows[row] = cells
    with pytest.raises(ValueError, match=message):
        read_seed_tags(write_seed(tmp_path / "g.csv", rows), split="test")


def test_missing_columns_and_unknown_endings_are_refused(tmp_path):
    path = write_seed(tmp_path / "g.csv", GOLD_ROWS, ("para_index", "sentence", "label"))
    with pytest.raises(ValueError, match=r"g\.csv:1: found columns , para_index, sentence, label"):
        read_annotated(path)
    for name, found in (("tags.json", ".json"), ("tags", "no ending")):
        with pytest.raises(ValueError, match=f"found {found}, expected .jsonl or .csv"):
            read_annotated(tmp_path / name)
    with pytest.raises(ValueError, match="no splits"):
        read_annotated(tmp_path / "tags.jsonl", split="test")


def write_folder(folder: Path, **changed) -> Path:
    """A seed folder in small; the model misses the last utterance and begins with I-OTHER."""
    model = [(t, tag, p) for p, t, tag, _ in GOLD_ROWS[6:]]
    model[1], model[2] = (model[1][0], "I-OTHER", "8"), (model[2][0], "O", "9")
    files = {
        "gold-v1": GOLD_ROWS,
        "gold-v2": GOLD_ROWS,
        "heuristic-predictions": GOLD_ROWS,
    } | changed
    for stem, rows in files.items():
        write_seed(folder / f"{stem}.csv", rows)
    names = ("para", "pred_label", "para_index")
    write_seed(folder / "model-predictions-test.csv", model, names)
    return folder


def test_the_seed_folder_is_read_on_the_spans_of_the_gold(tmp_path):
    seed = read_seed(write_folder(tmp_path))
    assert seed.splits == ((0, "train"), (1, "train"), (2, "test"))
    assert seed.heuristic.spans == seed.gold_v2.spans
    test = seed.part(seed.gold_v2, "test")
    assert [item.span.start for item in seed.model.spans] == [s.span.start for s in test.spans]
    assert [item.tag for item in seed.model.spans] == [Tag.O, Tag.I_OTHER, Tag.O]
    assert [item.span.is_utterance for item in seed.model.spans] == [False, True, False]
    assert dict(seed.n_mended)["model-predictions-test"] == 1
    kinds = [block.kind for block in seed.book_spans.book.blocks]
    assert [i for i, kind in enumerate(kinds) if kind is BlockKind.HEADING] == [1, 4]


def test_seed_files_with_other_rows_are_refused(tmp_path):
    short = write_folder(tmp_path, **{"gold-v1": GOLD_ROWS[:-1]})
    with pytest.raises(ValueError, match=r"gold-v1\.csv: found 8 rows, expected 9"):
        read_seed(short)
    other = [*GOLD_ROWS[:-1], ("9", '"I shall."', "B-OTHER", "test")]
    with pytest.raises(ValueError, match=r"predictions\.csv:11: found '\"I shall\.\"', expected"):
        read_seed(write_folder(tmp_path, **{"heuristic-predictions": other}))


def assert_spans_join(blocks, tagged: TaggedBook) -> None:
    joined: Counter[int] = Counter()
    texts: dict[int, str] = {}
    for item in tagged.spans:
        span = item.span
        assert blocks[span.paragraph].text[span.start : span.end] == span.text
        assert span.index == joined[span.paragraph]
        joined[span.paragraph] += 1
        texts[span.paragraph] = texts.get(span.paragraph, "") + span.text
    assert all(blocks[n].text == text for n, text in texts.items())


@needs_seed
def test_the_files_of_the_seed():
    seed = read_seed(SEED)
    blocks = seed.book_spans.book.blocks
    assert [block.index for block in blocks] == list(range(len(blocks)))
    for tagged, n_spans, n_utterances in (
        (seed.gold_v1, 2747, 1740),
        (seed.gold_v2, 2747, 1740),
        (seed.heuristic, 2747, 1740),
        (seed.model, 281, 173),
    ):
        assert len(tagged.spans) == n_spans
        assert sum(item.span.is_utterance for item in tagged.spans) == n_utterances
        assert_spans_join(blocks, tagged)
        dialogues(mended(tagged))
    assert len(dialogues(seed.gold_v2)) == 229
    assert seed.book_spans.spans == tuple(item.span for item in seed.gold_v2.spans)
    assert dict(seed.n_mended) == {
        "gold-v1": 41,
        "gold-v2": 0,
        "heuristic-predictions": 13,
        "model-predictions-test": 1,
    }


@needs_seed
def test_the_splits_of_the_seed_are_whole_chapters():
    splits = dict(read_seed(SEED).splits)
    assert len(splits) == 62
    assert [c for c, split in splits.items() if split == "test"] == list(range(19, 27))
    assert [c for c, split in splits.items() if split == "validation"] == list(range(27, 34))
