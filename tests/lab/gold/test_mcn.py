"""The CSV files of MCN: small ones, errors and their places, and the real ones."""

from collections import Counter
from pathlib import Path

import pytest
from annotation_helpers import MCN_ROWS, write_mcn
from helpers import MCN, needs_mcn

from miner.books.book import BlockKind
from miner.errors import InputError
from miner.lab.gold.mcn import read_any_tag_file, read_mcn, read_mcn_tags
from miner.speech.dialogues import decode_dialogues, repair_book
from miner.speech.tags import Tag, TaggedBook


def test_rows_of_a_paragraph_join_with_one_space(tmp_path):
    (book,) = read_mcn_tags(write_mcn(tmp_path / "g.csv", MCN_ROWS)).books
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
    assert [item.span.is_utterance for item in book.spans] == [row[2] != "O" for row in MCN_ROWS]


def test_a_split_keeps_whole_chapters_and_their_places(tmp_path):
    path = write_mcn(tmp_path / "g.csv", MCN_ROWS)
    (all_of_it,) = read_any_tag_file(path).books
    (test,) = read_any_tag_file(path, split="test").books
    assert test.spans == all_of_it.spans[6:]
    assert test.book == "1342"


def test_a_conversation_cut_by_the_split_is_repaired_and_counted(tmp_path):
    rows = [*MCN_ROWS[:7], ("8", '"Come in."', "B-OTHER", "test"), MCN_ROWS[8]]
    path = write_mcn(tmp_path / "g.csv", rows)
    assert read_any_tag_file(path).n_repaired == 0
    reading = read_any_tag_file(path, split="test")
    assert [item.tag for item in reading.books[0].spans] == [Tag.O, Tag.B_START, Tag.B_OTHER]
    assert reading.n_repaired == 1


def test_the_column_names_of_the_model_are_known(tmp_path):
    rows = [(text, tag, paragraph) for paragraph, text, tag, _ in MCN_ROWS]
    path = write_mcn(tmp_path / "m.csv", rows, ("para", "pred_label", "para_index"))
    gold = read_mcn_tags(write_mcn(tmp_path / "g.csv", MCN_ROWS)).books[0]
    assert read_mcn_tags(path).books[0].spans == gold.spans
    with pytest.raises(InputError, match=r"m\.csv: found no rows of split test, .*no split_tag"):
        read_mcn_tags(path, split="test")


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
def test_a_wrong_row_is_refused_with_file_and_line(tmp_path, row, cells, message):
    # Line numbers are one more from the fifth row on: the text of the third has a line break.
    rows = [*MCN_ROWS]
    rows[row] = cells
    with pytest.raises(InputError, match=message):
        read_mcn_tags(write_mcn(tmp_path / "g.csv", rows), split="test")


def test_missing_columns_are_refused(tmp_path):
    path = write_mcn(tmp_path / "g.csv", MCN_ROWS, ("para_index", "sentence", "label"))
    names = r"\['', 'para_index', 'sentence', 'label'\]"
    with pytest.raises(
        InputError, match=rf"g\.csv:1: found columns {names}, expected para_index, "
    ):
        read_any_tag_file(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"a\nb",c\n', ":1: found columns ['a\\nb', 'c'], expected para_index"),
        (f'para_index,sent,label\n0,"{"x " * 10**5}",O\n', ":2: field larger than field limit"),
        (f"para_index,sent,label\n0,a,{'O' * 10**4}\n", ":2: found tag 'OOOOOOOOOOOO...OOOOOO"),
    ],
)
def test_a_table_that_was_made_to_break_is_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / "g.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_any_tag_file(path)
    assert str(error.value).startswith(f"{path}{message}")
    assert "\n" not in str(error.value) and len(str(error.value)) < 400


def test_a_chapter_number_of_thousands_of_digits_is_no_number(tmp_path):
    rows = [MCN_ROWS[0], ("1", "Chapter " + "9" * 5000, "O", "train"), *MCN_ROWS[2:6]]
    (tagged,) = read_mcn_tags(write_mcn(tmp_path / "g.csv", rows)).books
    assert {item.span.chapter for item in tagged.spans} == {0}


def write_folder(folder: Path, **changed) -> Path:
    """A small folder. The model misses the last utterance and begins with I-OTHER."""
    model = [(t, tag, p) for p, t, tag, _ in MCN_ROWS[6:]]
    model[1], model[2] = (model[1][0], "I-OTHER", "8"), (model[2][0], "O", "9")
    files = {
        "gold-v1": MCN_ROWS,
        "gold-v2": MCN_ROWS,
        "heuristic-predictions": MCN_ROWS,
    } | changed
    for stem, rows in files.items():
        write_mcn(folder / f"{stem}.csv", rows)
    names = ("para", "pred_label", "para_index")
    write_mcn(folder / "model-predictions-test.csv", model, names)
    return folder


def test_the_folder_is_read_on_the_spans_of_the_gold(tmp_path):
    mcn = read_mcn(write_folder(tmp_path))
    assert mcn.splits == ((0, "train"), (1, "train"), (2, "test"))
    assert mcn.heuristic.spans == mcn.gold_v2.spans
    test = mcn.of_split(mcn.gold_v2, "test")
    assert [item.span.start for item in mcn.model.spans] == [s.span.start for s in test.spans]
    assert [item.tag for item in mcn.model.spans] == [Tag.O, Tag.I_OTHER, Tag.O]
    assert [item.span.is_utterance for item in mcn.model.spans] == [False, True, False]
    assert dict(mcn.n_repaired)["model-predictions-test"] == 1
    kinds = [block.kind for block in mcn.book_spans.book.blocks]
    assert [i for i, kind in enumerate(kinds) if kind is BlockKind.HEADING] == [1, 4]


def test_files_with_other_rows_are_refused(tmp_path):
    short = write_folder(tmp_path, **{"gold-v1": MCN_ROWS[:-1]})
    with pytest.raises(InputError, match=r"gold-v1\.csv: found 8 rows, expected 9"):
        read_mcn(short)
    other = [*MCN_ROWS[:-1], ("9", '"I shall."', "B-OTHER", "test")]
    with pytest.raises(InputError, match=r"predictions\.csv:11: found '\"I shall\.\"', expected"):
        read_mcn(write_folder(tmp_path, **{"heuristic-predictions": other}))


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


@needs_mcn
def test_the_real_files():
    mcn = read_mcn(MCN)
    blocks = mcn.book_spans.book.blocks
    assert [block.index for block in blocks] == list(range(len(blocks)))
    for tagged, n_spans, n_utterances in (
        (mcn.gold_v1, 2747, 1740),
        (mcn.gold_v2, 2747, 1740),
        (mcn.heuristic, 2747, 1740),
        (mcn.model, 281, 173),
    ):
        assert len(tagged.spans) == n_spans
        assert sum(item.span.is_utterance for item in tagged.spans) == n_utterances
        assert_spans_join(blocks, tagged)
        decode_dialogues(repair_book(tagged))
    assert len(decode_dialogues(mcn.gold_v2)) == 229
    assert mcn.book_spans.spans == tuple(item.span for item in mcn.gold_v2.spans)
    assert dict(mcn.n_repaired) == {
        "gold-v1": 41,
        "gold-v2": 0,
        "heuristic-predictions": 13,
        "model-predictions-test": 1,
    }


@needs_mcn
def test_the_real_splits_are_whole_chapters():
    splits = dict(read_mcn(MCN).splits)
    assert len(splits) == 62
    assert [c for c, split in splits.items() if split == "test"] == list(range(19, 27))
    assert [c for c, split in splits.items() if split == "validation"] == list(range(27, 34))
