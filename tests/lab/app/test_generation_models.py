"""The commands `miner generation train|answer|chat`: what they write and show, and refuse."""

import json
import re

import pytest
from click.testing import CliRunner
from generation_helpers import QUICK, pairs, write_gpt2
from helpers import failed, said

from miner.app.cli.main import main
from miner.lab.lessons.generation.answers import Texts, read_answers

FLAGS = [
    word
    for name, value in (QUICK | {"epochs": 3}).items()
    for word in (f"--{name.replace('_', '-')}", value)
]


def write_pairs(path, examples):
    rows = [
        json.dumps(
            {
                "book": one.book,
                "history": list(one.context[:-1]),
                "context": one.context[-1],
                "response": one.response,
            }
        )
        for one in examples
    ]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Pairs to learn from, to be judged on and to answer, and a trained model."""
    folder = tmp_path_factory.mktemp("files")
    for seed, (name, n) in enumerate({"train": 160, "valid": 40, "test": 20}.items()):
        write_pairs(folder / f"{name}.jsonl", pairs(n, seed, f"{name} "))
    words = ("generation", "train", "transformer", folder / "train.jsonl", "-o", folder / "model")
    shown = said(*words, "--validation", folder / "valid.jsonl", *FLAGS)
    (folder / "shown.txt").write_text(shown, encoding="utf-8")
    return folder


def test_a_training_shows_its_curve_its_speed_and_what_it_reached(files):
    lines = (files / "shown.txt").read_text("utf-8").splitlines()
    for n, line in enumerate(lines[:3], 1):
        assert re.fullmatch(
            rf" +{160 * n} pairs   loss \d+\.\d{{4}}   validation \d+\.\d{{4}}, perplexity [\d,.]+"
            r"   [\d.]+ s",
            line,
        )
    assert re.fullmatch(
        r"transformer of [\d,]+ weights learned from 160 pairs of 3 books in [\d.]+ s", lines[3]
    )
    assert lines[4] == "  train.jsonl"
    assert re.fullmatch(r"  [\d,]+ tokens a second on the processor, \d+ threads?", lines[5])
    assert re.fullmatch(
        r"loss [\d.]+, perplexity [\d.]+, after \d+ pairs, on 40 pairs of 3 books", lines[6]
    )
    assert lines[7:] == ["  valid.jsonl", f"wrote {files / 'model'}"]


def test_answers_are_a_file_for_score(files, tmp_path):
    out = tmp_path / "answers.jsonl"
    words = ("generation", "answer", files / "model", files / "test.jsonl", "-o", out)
    lines = said(*words, "--decoding", "greedy", "--longest", 8).splitlines()
    assert lines[0] == "20 answers by greedy to test.jsonl"
    assert re.fullmatch(r"loss of the true responses [\d.]+, perplexity [\d.]+", lines[1])
    assert lines[2:] == [f"wrote {out}"]
    answers = read_answers(out)
    assert [one.response for one in answers] == [one.response for one in pairs(20, 2, "test ")]
    assert all(one.predicted and len(one.context) == 2 for one in answers)
    assert "exists already" in failed(*words)
    shown = said("generation", "score", out, "--reference", files / "train.jsonl")
    assert shown.split()[0] == "|U|" and "answers.jsonl" in shown
    record = json.loads(said(*words, "--force", "--most-pairs", 5, "--json"))
    assert record["answers"] == 5 and "5 of 20 pairs drawn with seed 0" in record["source"]


def test_a_book_that_was_trained_on_is_not_answered(files, tmp_path):
    out = tmp_path / "answers.jsonl"
    error = failed("generation", "answer", files / "model", files / "train.jsonl", "-o", out)
    assert error == (
        "model: found 3 books of the training (train 0, train 1, train 2), expected others"
    )
    assert not out.exists()


def test_a_talk_has_a_line_for_a_line(files, tmp_path, monkeypatch):
    heard = []

    def answer(trained, contexts, *_):
        heard.extend(contexts)
        return Texts([f"answer {len(heard)}"], 0, 0)

    # What it remembers is seen from what the model is asked; the answers of a real one, below.
    monkeypatch.setattr("miner.lab.lessons.generation.answers.answer_contexts", answer)
    out = tmp_path / "model"
    words = ("generation", "train", "transformer", files / "train.jsonl", "-o", out, "-q", *FLAGS)
    said(*words, "--history-turns", "all")
    lines = "One.\nTwo.\n/new\nThree.\n\nnot read\n"
    result = CliRunner().invoke(main, ["generation", "chat", str(out)], input=lines)
    assert result.stdout == "answer 1\nanswer 2\nanswer 3\n"
    assert heard == [("One.",), ("One.", "answer 1", "Two."), ("Three.",)]


def test_a_talk_with_a_real_model(files):
    words = ["generation", "chat", str(files / "model"), "--decoding", "greedy"]
    result = CliRunner().invoke(main, words, input="Where is the kettle?\n")
    assert result.exit_code == 0 and len(result.stdout.splitlines()) == 1
    result = CliRunner().invoke(main, words, input="kettle " * 300 + "\n")
    assert "left out: the oldest words" in result.stderr


def test_contexts_longer_than_the_model_are_counted(files, tmp_path):
    gpt2 = write_gpt2(tmp_path / "gpt2", positions=24)
    words = ("generation", "train", "pretrained", files / "train.jsonl", "-o", tmp_path / "m")
    flags = ("--model", gpt2, "--epochs", 1, "--longest-response", 16, "--history-turns", 1)
    shown = said(*words, *flags)
    assert "160 contexts were longer than 7 tokens and lost their oldest ones" in shown
    out = tmp_path / "answers.jsonl"
    shown = said("generation", "answer", tmp_path / "m", files / "test.jsonl", "-o", out)
    assert "20 contexts were longer than 7 tokens and lost their oldest ones" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("train", "oracle", "x.csv", "-o", "m"), "found kind 'oracle', expected pretrained, tr"),
        (("answer", "nowhere", "x.csv", "-o", "a.jsonl"), "nowhere: found no training.json"),
        (("chat", "nowhere"), "nowhere: found no training.json, expected a folder of `miner gen"),
        (("chat", "nowhere", "--top-p", "2"), "found --top-p 2.0, expected more than 0 and at"),
    ],
)
def test_bad_input_has_one_line(words, message):
    assert message in failed("generation", *words)
