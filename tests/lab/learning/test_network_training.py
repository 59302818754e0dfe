"""`train.py speakers` and `train.py speech`: from books or prepared examples to weights."""

import json

import pytest
from click.testing import CliRunner
from helpers import annotations_of_sample

import train
from miner.lab.learning import network_training
from miner.people.attributor import load_attributor
from miner.speech.speech_classifier import load_classifier

LOADERS = {"speakers": load_attributor, "speech": load_classifier}


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    return annotations_of_sample(tmp_path_factory.mktemp("gold") / "sample")


def start(name, *words):
    return CliRunner().invoke(train.main, [name, *map(str, words)])


@pytest.fixture(scope="module", params=LOADERS)
def trained(request, gold, tmp_path_factory):
    """A network, the folder with its weights and prepared examples, and what the run printed."""
    folder = tmp_path_factory.mktemp(request.param)
    words = ["-o", folder / "en.safetensors", "--prepare", folder / "examples"]
    done = start(request.param, "--gold", gold, "--train-split", "sample", *words)
    assert (done.exit_code, done.exception) == (0, None)
    return request.param, folder, done


def test_a_run_writes_weights_that_load_and_a_record(trained, gold):
    name, folder, done = trained
    LOADERS[name](folder / "en.safetensors")
    record = json.loads((folder / "en.json").read_bytes())
    assert record["command"].startswith("python ")
    assert (record["data"], record["books"]) == (f"{gold} sample", ["sample"])
    assert record["left out"] == record["chapters left out"] == []
    assert len(record["digest of the data"]) == 8 and len(record["digest of the weights"]) == 64
    assert record.get("seed", 0) == 0 and record["miner"]
    assert (done.stdout, "seconds in all" in done.stderr) == ("", True)


def test_weights_from_prepared_examples_are_the_same_without_books(trained, tmp_path, monkeypatch):
    name, folder, _ = trained
    monkeypatch.setattr(network_training, "read_book_bytes", None)
    out = tmp_path / "en.safetensors"
    words = ["--gold", tmp_path / "none", "--examples", folder / "examples", "-o", out]
    done = start(name, *words)
    assert (done.exit_code, done.exception) == (0, None)
    assert out.read_bytes() == (folder / "en.safetensors").read_bytes()
    found, expected = (json.loads((at / "en.json").read_bytes()) for at in (tmp_path, folder))
    assert {**found, "command": ""} == {**expected, "command": ""}


def test_weights_are_not_replaced_unless_asked(trained):
    name, folder, _ = trained
    path = folder / "en.safetensors"
    words = ["--examples", folder / "examples", "-o", path]
    before = path.read_bytes()
    done = start(name, *words)
    assert (done.exit_code, path.read_bytes()) == (1, before)
    assert done.output.startswith(f"train.py: {path}: exists already")
    assert start(name, *words, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "found neither --out nor --prepare, expected a file to write"),
        (("--prepare", "a", "--examples", "b"), "found --examples with --prepare, expected one"),
        (("-o", "en.json", "--examples", "b"), "en.json: found a name of a record, expected one"),
    ],
)
@pytest.mark.parametrize("name", LOADERS)
def test_contradictions_are_one_line(name, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = start(name, *words)
    assert done.exit_code == 1
    (line,) = done.output.splitlines()
    assert line.startswith(f"train.py: {message}")
    assert not any(tmp_path.iterdir())


def test_how_many_books_were_read_is_told_now_and_then(tmp_path):
    (tmp_path / "7-h.htm").write_text("<p>Seven.</p>")
    for pause, told in ((0, ["reading books: 1 so far"] * 2), (60, [])):
        lines: list[str] = []
        read = network_training.reporting_reader(tmp_path, lines.append, pause)
        assert read("7") == read("7") == b"<p>Seven.</p>"
        assert lines == told
