"""Formats that are plain text: that of The Gutenberg Dialogue Dataset, and ParlAI's."""

import pytest
from corpus_helpers import ODD, book_of, turn, written

import miner
from miner.corpus.export import find_format


def talk(*texts):
    return [turn(text, None, number) for number, text in enumerate(texts)]


def test_a_turn_is_a_line_and_an_empty_line_ends_a_dialogue(tmp_path):
    books = (
        book_of("1", talk("One.", "Two,\n\tand\u2028more."), talk("A", "B")),
        book_of("2", talk("C", "D")),
    )
    content = (written(tmp_path, "text", *books) / "dialogues.txt").read_text(encoding="utf-8")
    assert content == "One.\nTwo, and more.\n\nA\nB\n\nC\nD\n\n"


def test_the_reader_of_that_dataset_finds_the_dialogues(tmp_path):
    sample = miner.mine("sample", tagger="gap")
    dialogues = [[]]
    with (written(tmp_path, "text", sample.encoded) / "dialogues.txt").open("rb") as file:
        for line in file:
            if line == b"\n":
                dialogues.append([])
            else:
                dialogues[-1].append(line.decode().strip("\n"))
    assert dialogues.pop() == []
    assert dialogues == [
        [turn.text.replace("\n", " ") for turn in one.turns] for one in sample.dialogues
    ]


def parsed(line):
    """A line as ParlAI's `str_to_msg` parses it."""

    def text_of(value):
        return value.replace("\\t", "\t").replace("\\n", "\n").replace("__PIPE__", "|")

    message = {}
    for field in line.split("\t"):
        key, _, value = field.partition(":")
        message[key] = [*map(text_of, value.split("|"))] if key == "labels" else text_of(value)
    return message


def episodes(folder):
    found = [[]]
    with (folder / "dialogues.txt").open(encoding="utf-8", newline="\n") as file:
        for line in file:
            message = parsed(line.rstrip("\n"))
            found[-1].append((message["text"], *message["labels"]))
            if "episode_done" in message:
                found.append([])
    assert found.pop() == []
    return found


def test_each_turn_but_the_first_is_a_label_once(tmp_path):
    texts = "One. Two. Three. Four. Five.".split()
    folder = written(tmp_path, "parlai", book_of("1", talk(*texts), talk("A", "B")))
    assert episodes(folder) == [
        [("One.", "Two."), ("Three.", "Four.")],
        [("One.\nTwo.", "Three."), ("Four.", "Five.")],
        [("A", "B")],
    ]
    line = (folder / "dialogues.txt").read_text().splitlines()[-1]
    assert line == "text:A\tlabels:B\tbook:1\tdialogue:1\tpart:0\tepisode_done:True"


def test_signs_of_the_form_are_escaped(tmp_path):
    odd = ODD + " a:b"
    folder = written(tmp_path, "parlai", book_of("1", talk(odd, odd), talk(r"C:\new", "D")))
    assert episodes(folder) == [[(odd, odd)], [(r"C:\ new", "D")]]


def test_a_turn_alone_is_counted(tmp_path):
    left_out = find_format("parlai").write_books(tmp_path, [book_of("1", talk("A"))])
    assert left_out == {"dialogues of one turn": 1}
    assert (tmp_path / "dialogues.txt").read_bytes() == b""


@pytest.mark.parametrize("format", ["convokit", "parlai", "ubuntu"])
def test_formats_of_which_one_call_writes_a_split(format):
    assert not find_format(format).is_divisible
    assert find_format("parquet").is_divisible
