"""A training of the reader: its examples, their file, whole runs and resumed ones."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from encoders import encoder, plain_of, sample
from helpers import annotations_of_sample, run
from safetensors.torch import load_file

import train
from miner.errors import InputError
from miner.lab.learning.prepared import digest_prepared
from miner.lab.learning.run_folder import partial_folder
from miner.lab.training.reader import run as reader_run
from miner.lab.training.reader.evaluation import share_of_right
from miner.lab.training.reader.examples import (
    ReaderSplit,
    choose_chapters,
    load_reader_data,
    read_reader_data,
    write_reader_data,
)
from miner.lab.training.reader.training_config import ReaderTraining
from miner.people.chain import Way
from miner.people.mentions import UNKNOWN_NUMBER
from miner.reader.reader import ChapterScores
from miner.speech.tags import TAGS
from miner.tagger.load import load_tagger

SMALL = ("--window", 64, "--overlap", 16, "--width", 16, "--hidden", 8, "--batch", 4000)
SPLITS = ("--train-split", "sample", "--dev-split", "sample", "--resamples", 20)


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    return annotations_of_sample(tmp_path_factory.mktemp("gold") / "sample-only")


@pytest.fixture(scope="module")
def config(gold):
    return ReaderTraining(
        gold=gold, train_split="sample", dev_split="sample", encoder=str(encoder())
    )


@pytest.fixture(scope="module")
def data(config):
    return read_reader_data(config, plain_of(), len(plain_of().get_vocab()), lambda line: None)


def start(gold, out, *options):
    given = ["reader", "--gold", gold, "--encoder", encoder(), "-o", out, *SMALL, *SPLITS]
    return CliRunner().invoke(train.main, [str(word) for word in (*given, *options)])


def test_examples_have_the_gold_of_whole_chapters(data):
    assert (len(data.train), sum(len(example.tags) for example in data.train)) == (5, 180)
    split = data.splits["sample"]
    for example, tagged in zip(split.examples, split.gold.examples, strict=True):
        assert example.tags.tolist() == tagged.tags.tolist()
        assert len(example.units.utterances) == len(example.chapter.candidates)
        assert len(example.structure) == len(example.targets) == len(example.tags)
        np.testing.assert_allclose(example.structure, tagged.chapter.features, atol=2e-3)
        assert example.chapter.people == ()
        known = example.units.people.max()
        assert all(
            numbers[t] <= known
            for numbers, t in zip(example.chapter.candidates, example.targets, strict=True)
        )
    assert sum(len(example.links) for example in data.train) > 20


def test_some_chapters_are_chosen_by_the_seed(data, config):
    few = [choose_chapters(data, replace(config, chapters=2, seed=n)) for n in (1, 1, 2)]
    digests = [digest_prepared(list(one.train)) for one in few]
    assert digests[0] == digests[1] != digests[2]
    assert (few[0].record["books"], few[0].record["chapters"]) == (1, 2)
    assert choose_chapters(data, config).record["utterances"] == 180


def test_a_file_gives_the_same_examples_back(data, config, tmp_path):
    path = tmp_path / "reader.gz"
    write_reader_data(path, data, config, plain_of())
    found = load_reader_data(path, config, plain_of())
    assert digest_prepared(list(found.train)) == digest_prepared(list(data.train))
    assert found.record == data.record
    blank = found.splits["sample"].gold.book_spans[0]
    assert not any(block.text for block in blank.book.blocks)
    load_reader_data(path, replace(config, window=256, features=False), plain_of())
    for choices, message in (
        ({"ends": 7}, "found examples of `ends=48`, expected 7"),
        ({"dev_split": "dev"}, "found examples of `dev_split=sample`, expected dev"),
    ):
        with pytest.raises(InputError, match=message):
            load_reader_data(path, replace(config, **choices), plain_of())
    with pytest.raises(InputError, match="found tokens of another tokenizer"):
        load_reader_data(path, config, plain_of("roberta"))


def test_the_share_of_right_speakers_counts_known_ones(data):
    split = data.splits["sample"]

    def scored(rightness):
        found = []
        for example in split.examples:
            rows = []
            for numbers, target in zip(example.chapter.candidates, example.targets, strict=True):
                of_utterance = np.zeros((len(numbers), len(Way)), np.float32)
                of_utterance[target] = rightness
                rows.append(of_utterance)
            tags = np.zeros((len(example.tags), len(TAGS)), np.float32)
            tags[np.arange(len(tags)), example.tags] = 9.0
            found.append(ChapterScores(tags, np.concatenate(rows)))
        return found

    n_facts = [fact for example in split.examples for fact in example.chapter.facts]
    assert share_of_right(split, scored(40.0)) > 0.97  # a wrong name beside "said" stays one
    assert share_of_right(split, scored(-40.0)) < len([f for f in n_facts if f]) / len(n_facts)
    nobody = [
        replace(
            example,
            targets=tuple(numbers.index(UNKNOWN_NUMBER) for numbers in example.chapter.candidates),
        )
        for example in split.examples
    ]
    assert share_of_right(ReaderSplit(tuple(nobody), split.gold), scored(0.0)) == 0.0


def test_out_or_prepare_is_needed(gold):
    done = CliRunner().invoke(train.main, ["reader", "--gold", str(gold)])
    assert done.exit_code != 0
    assert "expected --out, with or without --examples, or --prepare alone" in done.output


@pytest.fixture(scope="module")
def trained(gold, tmp_path_factory):
    """A run of two epochs on the sample, from prepared examples."""
    folder = tmp_path_factory.mktemp("runs")
    words = ["reader", "--gold", gold, "--encoder", encoder(), "--prepare", folder / "reader.gz"]
    done = CliRunner().invoke(train.main, [str(word) for word in (*words, *SPLITS)])
    assert (done.exit_code, done.exception) == (0, None)
    done = start(gold, folder / "whole", "--epochs", 2, "--examples", folder / "reader.gz")
    assert (done.exit_code, done.exception) == (0, None)
    return folder / "whole", done.output


@pytest.mark.slow
def test_a_run_leaves_a_checkpoint_that_mines(trained, tmp_path):
    out, shown = trained
    checkpoint = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert {path.name for path in out.iterdir()} == checkpoint | {
        "README.md",
        "run.json",
        "metrics.jsonl",
    }
    assert "sample: B-START F1" in shown
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_bytes().splitlines()]
    assert [row["epoch"] for row in rows] == [1, 2]
    assert rows[1]["loss"] < rows[0]["loss"]
    record = json.loads((out / "run.json").read_bytes())
    training = record["training"]
    assert (training["chapters"], training["utterances"]) == (5, 180)
    assert 0 < training["right speakers of sample"] < 1
    config = json.loads((out / "config.json").read_bytes())
    assert config["training"] == training
    assert config["confidence_temperature"] == record["calibration"]["temperature"]
    assert (out / "README.md").read_text().startswith("---\n")
    assert load_tagger(out).tag(sample())
    done = run("mine", "sample", "--tagger", out, "-o", tmp_path / "mined")
    assert done.exit_code == 0


@pytest.mark.slow
def test_a_resumed_run_comes_to_the_same_weights(trained, gold, tmp_path, monkeypatch):
    out, _ = trained
    calls = []
    evaluate = reader_run.evaluate_reader

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return evaluate(*given)

    monkeypatch.setattr(reader_run, "evaluate_reader", interrupted)
    again = tmp_path / "again"
    words = ("--epochs", 2, "--examples", out.with_name("reader.gz"))
    done = start(gold, again, *words)
    assert done.exit_code == 130
    assert partial_folder(again).is_dir()
    done = start(gold, again, *words, "--resume")
    assert (done.exit_code, done.exception) == (0, None)
    first, second = (load_file(folder / "model.safetensors") for folder in (out, again))
    assert all((first[name] == second[name]).all() for name in first)
