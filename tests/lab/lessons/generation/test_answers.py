"""Files of answers: each form, what is written and read again, what is refused in one line."""

import csv
import json
from dataclasses import asdict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from miner.errors import InputError
from miner.lab.lessons.generation.answers import Answer, read_answers, write_answers

ANSWERS = [
    Answer("7", ("Who is there?", "It is Mara, sir."), "Come in, Mara.", "Go away!", 3),
    Answer("8", ("Is the lamp “lit”,\tand by whom?",), "It was.", "", 0),
]
FIELDS = ("context", "response", "predicted", "history", "book", "chapter")


def rows(history):
    """The rows of `ANSWERS` as a table has them; `history` makes a cell of the earlier turns."""
    return [
        {**asdict(one), "context": one.context[-1], "history": history(list(one.context[:-1]))}
        for one in ANSWERS
    ]


def write_csv(path, of_rows, delimiter=","):
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, FIELDS, delimiter=delimiter)
        table.writeheader()
        table.writerows(of_rows)
    return path


def texts(folder, **changed):
    """A folder of three texts."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = {
        "contexts": "Who is there?\nIs the lamp lit?\n",
        "responses": "Mara.\nIt was.\n",
        "predicted": "go away !\n\n",
    } | changed
    for name, content in lines.items():
        (folder / f"{name}.txt").write_text(content, encoding="utf-8")
    return folder


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "answers.jsonl"
    write_answers(path, ANSWERS)
    assert read_answers(path) == ANSWERS and read_answers(str(path)) == ANSWERS
    assert json.loads(path.read_bytes().splitlines()[0]) == {
        "book": "7",
        "chapter": 3,
        "history": ["Who is there?"],
        "context": "It is Mara, sir.",
        "response": "Come in, Mara.",
        "predicted": "Go away!",
    }
    with pytest.raises(InputError, match="answers.jsonl: exists already"):
        write_answers(path, ANSWERS)
    write_answers(path, ANSWERS[:1], force=True)
    assert read_answers(path) == ANSWERS[:1]


def test_each_kind_of_table_is_read(tmp_path):
    lines = [json.dumps(row) + "\n" for row in rows(list)]
    (tmp_path / "a.jsonl").write_text("".join(lines), encoding="utf-8")
    write_csv(tmp_path / "a.csv", rows(json.dumps))
    write_csv(tmp_path / "b.csv", rows("\n".join))
    write_csv(tmp_path / "a.tsv", rows(json.dumps), "\t")
    pq.write_table(pa.Table.from_pylist(rows(list)), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.csv", "b.csv", "a.tsv", "a.parquet"):
        assert read_answers(tmp_path / name) == ANSWERS, name
    (tmp_path / "c.csv").write_text("predicted,response,context\nNo.,Yes.,Is it?\n", "utf-8")
    assert read_answers(tmp_path / "c.csv") == [Answer("", ("Is it?",), "Yes.", "No.")]
    with pytest.raises(InputError, match="^found answer 'Yes.' without a context$"):
        Answer("7", (), "No.", "Yes.")


def test_a_folder_of_three_texts_is_read_line_by_line(tmp_path):
    assert read_answers(texts(tmp_path / "gpt2")) == [
        Answer("", ("Who is there?",), "Mara.", "go away !"),
        Answer("", ("Is the lamp lit?",), "It was.", ""),
    ]


HEAD = "context,response,predicted\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", HEAD, "a.csv: found no rows, expected answers"),
        ("a.jsonl", "", "a.jsonl: found no rows, expected answers"),
        ("a.csv", "context,response\nA?,B.\n",
         "a.csv: found no column predicted (context, response), expected context, response, "
         "predicted, and perhaps history, book and chapter"),
        ("a.csv", "text\nA?\n", "a.csv: found no column context and no column response and no "),
        ("a.csv", HEAD + "A?,B.\n", "a.csv:2: found fewer cells than columns, expected as many"),
        ("a.csv", HEAD + "A?,,C.\n", "a.csv:2: found an empty response, expected text"),
        ("a.csv", HEAD + " ,B.,C.\n", "a.csv:2: found an empty context, expected text"),
        ("a.jsonl", '{"context": "A?", "response": "B.", "predicted": "C."}\n{"context": "A?"}\n',
         "a.jsonl:2: found no column response and no column predicted (context), expected "),
        ("a.jsonl", '{"context": "A?", "response": "B.", "predicted": 3}\n',
         "a.jsonl:1: found 3 as predicted, expected text"),
    ],
)  # fmt: skip
def test_a_bad_table_is_refused_in_one_line(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_answers(path)
    line = str(raised.value)
    assert line.startswith(f"{tmp_path}/{message}") and "\n" not in line


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"predicted": "No.\n"},
         "predicted.txt: found 1 lines, expected 2 as in contexts.txt"),
        ({"responses": "Mara.\nIt was.\nYes.\n"},
         "responses.txt: found 3 lines, expected 2 as in contexts.txt"),
        ({"responses": "Mara.\n\n"}, "responses.txt:2: found an empty response, expected text"),
        ({"contexts": "\nWho?\n"}, "contexts.txt:1: found an empty context, expected text"),
    ],
)  # fmt: skip
def test_a_bad_folder_is_refused_in_one_line(tmp_path, changed, message):
    with pytest.raises(InputError) as raised:
        read_answers(texts(tmp_path / "gpt2", **changed))
    assert str(raised.value) == f"{tmp_path}/gpt2/{message}"


def test_what_is_not_there_is_named(tmp_path):
    folder = texts(tmp_path / "gpt2")
    (folder / "predicted.txt").unlink()
    with pytest.raises(InputError) as raised:
        read_answers(folder)
    assert str(raised.value) == (
        f"{folder}: found no predicted.txt, expected a file of answers or a folder of "
        "contexts.txt, responses.txt, predicted.txt"
    )
    empty = texts(tmp_path / "empty", contexts="", responses="", predicted="")
    with pytest.raises(InputError, match="empty: found no rows, expected answers$"):
        read_answers(empty)
    with pytest.raises(OSError, match="gone.csv"):
        read_answers(tmp_path / "gone.csv")
