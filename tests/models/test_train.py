"""Training: what a run leaves behind, that it can be repeated and gone on with, what is frozen."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from click.testing import CliRunner
from encoders import KINDS, encoder, model_of, sample, tokenizer_of
from safetensors.torch import load_file
from transformers import AlbertConfig, AutoModel

import miner
from heuristic.gap import GapTagger
from miner.dialogue.tags import repair_tags
from miner.evaluation.compare import compare
from miner.models.tagger.examples import digest, weak_examples
from miner.models.tagger.model import (
    Expert,
    SequenceScores,
    sequence_loss,
    sequence_slices,
    speaker_loss,
)
from miner.models.tagger.tagger import load_checkpoint

ROOT = Path(miner.__file__).parents[1]
SMALL = ("--window", 64, "--margin", 8, "--projection", 16, "--hidden", 8)
SHORT = ("--batch", 2, "--resamples", 20)  # three steps an epoch
STAGES = ["structure", "weak", "gold", "gold"]


def loaded_script():
    """The script as a module, wherever the tests are started."""
    spec = importlib.util.spec_from_file_location("train", ROOT / "train.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["train"] = module
    spec.loader.exec_module(module)
    return module


train = loaded_script()


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    """The annotations of the sample alone."""
    folder = tmp_path_factory.mktemp("gold") / "sample-only"
    for part in ("gold", "first", "second"):
        (folder / part).mkdir(parents=True)
        path = ROOT / "annotations" / part / "sample.jsonl"
        if path.is_file():
            shutil.copy(path, folder / part)
    lines = (ROOT / "annotations" / "books.jsonl").read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in lines if json.loads(line)["book"] == "sample"]
    (folder / "books.jsonl").write_text(line + "\n", encoding="utf-8")
    return folder


def words(gold, out, *options):
    return ["--smoke", *words_without_smoke(gold, out, *options)]


def words_without_smoke(gold, out, *options):
    given = ["--gold", gold, "--encoder", encoder(), "-o", out, *SMALL, *SHORT, *options]
    return [str(word) for word in given]


def start(gold, out, *options):
    return CliRunner().invoke(train.main, words(gold, out, *options))


def trained(gold, out, *options):
    done = start(gold, out, *options)
    assert (done.exit_code, done.exception) == (0, None)
    return out


@pytest.fixture(scope="module")
def whole(gold, tmp_path_factory):
    """An uninterrupted run, and the arguments it was started with."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    argv = ["train.py", *words(gold, out)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", argv)
        return trained(gold, out), argv


def metrics(out):
    """The rows of the metrics without what depends on the machine."""
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_bytes().splitlines()]
    for row in rows:
        assert row.pop("seconds") > 0
        assert (row.pop("tokens_per_second") > 0) == (row["stage"] != "structure")
    return rows


def weights(out):
    return load_file(out / "model.safetensors")


def same_weights(a, b):
    assert a.keys() == b.keys()
    return all(torch.allclose(a[name], b[name], atol=1e-7) for name in a)


def encoder_changes(out):
    """The weights of the encoder that are not those it had before."""
    before = AutoModel.from_pretrained(encoder()).state_dict()
    after = {
        name.removeprefix("encoder."): value
        for name, value in weights(out).items()
        if name.startswith("encoder.")
    }
    assert after.keys() == {name for name in before if not name.startswith("pooler.")}
    return {name for name in after if not torch.equal(after[name], before[name])}


def interrupt(patch, call):
    """Ctrl-C while dev is looked at for the so manieth time: once an epoch, as in `STAGES`.

    The fifth time is after the training.
    """
    calls = []
    best_start_offset = train.best_start_offset

    def interrupted(*given):
        calls.append(given)
        if len(calls) == call:
            raise KeyboardInterrupt
        return best_start_offset(*given)

    patch.setattr(train, "best_start_offset", interrupted)


def test_what_a_run_leaves_behind(whole):
    out, argv = whole
    names = {path.name for path in out.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"} <= names
    assert {"README.md", "run.json", "metrics.jsonl", "reliability.png"} <= names
    assert (out / "reliability.png").read_bytes().startswith(b"\x89PNG")
    assert not {name for name in names if name.startswith("state.pt")}
    record = json.loads((out / "run.json").read_bytes())
    training = record["training"]
    assert training["command"] == " ".join(["python", *argv])
    assert (training["chapters"], training["utterances"]) == (5, 180)
    assert (training["seed"], training["epochs"], training["weak_epochs"]) == (0, 2, 1)
    assert training["versions"]["torch"] == torch.__version__
    found = digest(train.read_examples(ROOT / "annotations", "sample", read_sample).examples)
    assert training["digest of the data"] == training["digest of dev"] == found
    assert f"- digest of the data: `{found}`" in (out / "README.md").read_text(encoding="utf-8")
    config = json.loads((out / "config.json").read_bytes())
    assert config["training"] == training
    assert config["confidence_temperature"] == record["calibration"]["temperature"]
    assert -0.5 <= config["start_offset"] <= 2.0
    assert set(record["scores"]) == {"sample", "sample, text alone", "sample, structure alone"}
    assert (config["window"], config["margin"], config["hidden"]) == (64, 8, 8)


def test_metrics_of_each_epoch(whole):
    out, _ = whole
    rows = metrics(out)
    assert [row["stage"] for row in rows] == STAGES
    assert [row["epoch"] for row in rows] == [1, 1, 1, 2]
    for row in rows:
        assert 0 < row["loss"] < 3
        for unit in ("B-START", "turn-pair", "span-pair"):
            assert 0 <= row[f"dev {unit}.f1"] <= 1
    assert rows[3]["loss"] < rows[2]["loss"]


def test_the_card_has_the_scores_of_the_run(whole):
    out, argv = whole
    record = json.loads((out / "run.json").read_bytes())
    card = (out / "README.md").read_text(encoding="utf-8")
    total = record["scores"]["sample"]["total"]["end_to_end"]["scores"]
    for label, unit in (("B-START", "B-START"), ("turn pairs", "turn-pair")):
        (line,) = [line for line in card.splitlines() if line.startswith(f"| sample: {label} |")]
        cells = line.split("|")[2:5]
        for cell, part in zip(cells, ("precision", "recall", "f1"), strict=True):
            value = total[f"{unit}.{part}"]["value"]
            assert cell.split()[0] == ("–" if value is None else f"{value:.3f}")
    assert card.count(f"`{record['scores']['sample']['signature']}`") == 1
    assert f"temperature {record['calibration']['temperature']:.2f}" in card
    assert " ".join(["python", *argv]) in card


def kept_of(epochs):
    """Which epoch is kept of some with these F1 and losses."""
    best = {"epoch": -1, "goal": -1.0, "loss": float("inf"), "highest": -1.0}
    for n, (goal, loss) in enumerate(epochs):
        if train.is_better(goal, loss, best):
            best |= {"epoch": n, "goal": goal, "loss": loss}
        best["highest"] = max(goal, best["highest"])
    return best["epoch"]


def test_the_best_epoch_is_the_one_that_is_kept(whole):
    out, _ = whole
    rows = [row for row in metrics(out) if row["stage"] == "gold"]
    record = json.loads((out / "run.json").read_bytes())
    goals = [(row["dev turn-pair.f1"] + row["dev B-START.f1"]) / 2 for row in rows]
    losses = [row["dev loss of mixture"] for row in rows]
    best = kept_of(zip(goals, losses, strict=True))
    assert record["training"]["best epoch"] == best + 1
    row = rows[best]
    kept = record["scores"]["sample"]["total"]["end_to_end"]["scores"]
    for unit in ("turn-pair", "B-START"):
        assert kept[f"{unit}.f1"]["value"] == pytest.approx(row[f"dev {unit}.f1"])


def test_a_run_is_a_checkpoint(whole):
    out, _ = whole
    tags = [item.tag for item in load_checkpoint(out).tag(sample())]
    assert repair_tags(tags) == tags


def test_bins_of_the_record_are_all_utterances(whole):
    out, _ = whole
    calibration = json.loads((out / "run.json").read_bytes())["calibration"]
    assert sum(item["n"] for item in calibration["bins"]) == 180


def test_the_same_seed_gives_the_same_run(whole, gold, tmp_path):
    out, _ = whole
    again = trained(gold, tmp_path / "again")
    for row, expected in zip(metrics(again), metrics(out), strict=True):
        assert row == pytest.approx(expected, abs=1e-6)
    assert same_weights(weights(again), weights(out))


@pytest.mark.parametrize("call", [2, 4, 5])
def test_a_run_goes_on_to_the_same_result(whole, gold, tmp_path, call):
    out, _ = whole
    resumed = tmp_path / "resumed"
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, call)
        assert start(gold, resumed).exit_code == 1
    assert (resumed / "state.pt").is_file()
    assert not (resumed / "run.json").exists()
    assert len(metrics(resumed)) == call - 1
    trained(gold, resumed, "--resume")
    for row, expected in zip(metrics(resumed), metrics(out), strict=True):
        assert row == pytest.approx(expected, abs=1e-6)
    assert same_weights(weights(resumed), weights(out))
    assert not (resumed / "state.pt").exists()
    first, second = (json.loads((item / "run.json").read_bytes()) for item in (resumed, out))
    assert first["scores"] == second["scores"]
    assert first["calibration"] == second["calibration"]


def test_a_run_interrupted_before_its_state_is_saved_has_each_epoch_once(whole, gold, tmp_path):
    out, _ = whole
    calls = []
    save = torch.save

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        save(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "save", interrupted)
        assert start(gold, tmp_path / "out").exit_code == 1
    trained(gold, tmp_path / "out", "--resume")
    assert same_weights(weights(tmp_path / "out"), weights(out))
    assert len(metrics(tmp_path / "out")) == len(metrics(out))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--seed", 7), "seed 0, expected 7"),
        (("--patience", 1), "patience 2, expected 1"),
        (("--head-rate", 0.5), "head_rate 0.002, expected 0.5"),
        (("--hidden", 4), "hidden 8, expected 4"),
        (("--chapters", 2), "chapters 5, expected 2"),
        (("--compact",), "compact False, expected True"),
        (("--test-split", "sample"), "test none, expected sample"),
        (("--resamples", 21), "resamples 20, expected 21"),
    ],
)
def test_a_run_is_not_gone_on_with_by_other_options(gold, begun, tmp_path, options, said):
    out = shutil.copytree(begun, tmp_path / "begun")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    done = start(gold, out, "--resume", *options)
    assert done.exit_code == 1
    line = f"train.py: {out}: found a run with {said} to go on with it; --force begins anew"
    assert done.output.splitlines()[-1] == line
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.fixture(scope="module")
def begun(gold, tmp_path_factory):
    """An interrupted run."""
    out = tmp_path_factory.mktemp("runs") / "begun"
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, 3)
        assert start(gold, out).exit_code == 1
    return out


def test_the_command_of_a_run_is_that_which_began_it(gold, begun, tmp_path, monkeypatch):
    out = shutil.copytree(begun, tmp_path / "begun")
    before = torch.load(out / "state.pt")["record"]["command"]
    monkeypatch.setattr(sys, "argv", ["train.py", "--resume"])
    trained(gold, out, "--resume")
    assert json.loads((out / "run.json").read_bytes())["training"]["command"] == before
    assert "--resume" not in before


def test_a_state_of_an_older_version_is_refused(gold, begun, tmp_path):
    out = shutil.copytree(begun, tmp_path / "begun")
    state = torch.load(out / "state.pt")
    del state["record"]
    torch.save(state, out / "state.pt")
    done = start(gold, out, "--resume")
    assert done.exit_code == 1
    assert done.output.splitlines()[-1] == (
        f"train.py: {out / 'state.pt'}: found a state of an older version; --force begins anew"
    )


def test_a_damaged_state_is_refused(gold, begun, tmp_path):
    out = shutil.copytree(begun, tmp_path / "begun")
    state = (out / "state.pt").read_bytes()
    (out / "state.pt").write_bytes(state[: len(state) // 2])
    done = start(gold, out, "--resume")
    assert done.exit_code == 1
    line = done.output.splitlines()[-1]
    assert line.startswith(f"train.py: {out / 'state.pt'}: cannot be read (")
    assert line.endswith("); --force begins anew")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--structure-epochs", 0), "found --structure-epochs 0, expected 1 or more, or --no-f"),
        (("--without", "1324"), "found no book 1324 in split sample to leave out"),
    ],
)
def test_options_that_would_say_what_is_not_so(gold, tmp_path, options, said):
    done = start(gold, tmp_path / "out", *options)
    assert done.exit_code == 1 and said in done.output.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_what_is_scored_is_what_is_kept_of_a_frozen_encoder_in_8_bits(gold, tmp_path):
    out = trained(gold, tmp_path / "out", "--frozen", "--compact")
    record = json.loads((out / "run.json").read_bytes())
    tagger = load_checkpoint(out)
    data = train.read_examples(gold, "sample", read_sample)
    rows = [tagger.scores(item.chapter) for item in data.examples]
    found = train.judged(data, rows, "sample", start_offset=tagger.model.config.start_offset)
    said = record["scores"]["sample"]["total"]["end_to_end"]["scores"]
    for unit in ("B-START", "turn-pair"):
        value = found.total.end_to_end[f"{unit}.f1"].value
        assert value == pytest.approx(said[f"{unit}.f1"]["value"])


def test_a_run_that_had_stopped_does_not_train_on(gold, tmp_path):
    out = tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, 4)  # of structure, of weak, of gold's only epoch, after the training
        assert start(gold, out, "--patience", 0).exit_code == 1
    rows = metrics(out)
    assert [row["stage"] for row in rows] == ["structure", "weak", "gold"]
    trained(gold, out, "--patience", 0, "--resume")
    assert metrics(out) == rows


def test_training_stops_when_dev_has_not_been_better_for_a_while(gold, tmp_path, monkeypatch):
    goals = iter([0.9, 0.3, 0.5, 0.4, 0.4, 0.8])  # of the structure, then of the text
    monkeypatch.setattr(train, "_goal", lambda scores: next(goals))
    monkeypatch.setattr(train, "best_start_offset", lambda *given: 0.0)
    given = ("--train-split", "sample", "--dev-split", "sample", "--structure-epochs", 1)
    given += ("--epochs", 6, "--patience", 2, "--recut", 0)
    done = CliRunner().invoke(train.main, words_without_smoke(gold, tmp_path / "out", *given))
    assert (done.exit_code, done.exception) == (0, None)
    assert [row["stage"] for row in metrics(tmp_path / "out")] == ["structure", *["gold"] * 4]
    record = json.loads((tmp_path / "out" / "run.json").read_bytes())
    assert record["training"]["best epoch"] == 2


@pytest.mark.parametrize(
    ("epochs", "kept"),
    [
        ([(0.80, 0.19), (0.83, 0.18), (0.84, 0.17)], 2),  # better in both
        ([(0.80, 0.19), (0.83, 0.20)], 1),  # much better, whatever the loss
        ([(0.83, 0.19), (0.84, 0.20)], 0),  # a little better may be luck
        ([(0.84, 0.19), (0.83, 0.18)], 1),  # a little worse, too
        ([(0.84, 0.19), (0.81, 0.18)], 0),
        # Of many little steps down, none but those near the highest.
        ([(0.84, 0.19), (0.83, 0.18), (0.815, 0.17)], 1),
        ([(0.84, 0.19), (0.85, 0.20), (0.825, 0.18)], 0),
    ],
)
def test_the_epoch_that_is_kept(epochs, kept):
    assert kept_of(epochs) == kept


def test_two_processes_train_as_one_does_on_twice_as_many_chapters(gold, tmp_path):
    still = ("--dropout", 0, "--masked", 0, "--recut", 0, "--chapters", 4, "--epochs", 2)
    still += ("--head-rate", 0.02)  # chapters are of unequal length, and that is to show
    still += ("--train-split", "sample", "--dev-split", "sample", "--structure-epochs", 1)
    still += ("--weak", ROOT / "tests" / "data" / "classic_pre.htm")  # two chapters
    alone = words_without_smoke(gold, tmp_path / "one", *still)  # two chapters a step
    assert CliRunner().invoke(train.main, alone).exit_code == 0
    one, out = metrics(tmp_path / "one"), tmp_path / "out"
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu"]
    launch += ["--num_processes", "2", "--num_machines", "1", "--mixed_precision", "no"]
    launch += ["--dynamo_backend", "no", str(ROOT / "train.py")]
    launch += words_without_smoke(gold, out, *still, "--batch", 1)
    settings = {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    options = {"capture_output": True, "text": True, "timeout": 120}
    done = subprocess.run(launch, env=os.environ | settings, **options)
    assert done.returncode == 0, done.stderr
    two = metrics(out)
    assert [row["stage"] for row in two] == STAGES
    for row, expected in zip(two, one, strict=True):
        name = "dev loss of structure" if row["stage"] == "structure" else "dev loss of text"
        assert row[name] == pytest.approx(expected[name], abs=0.0002)
    assert load_checkpoint(out).tag(sample())


def test_nothing_to_go_on_with(whole, gold, tmp_path):
    out, _ = whole
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    for folder in (out, tmp_path / "new"):
        done = start(gold, folder, "--resume")
        assert done.exit_code == 1
        assert done.output.splitlines()[-1] == (
            f"train.py: {folder}: found no state.pt, expected an interrupted run to go on with"
        )
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_an_existing_run_is_refused(whole, gold):
    out, _ = whole
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    done = start(gold, out)
    assert done.exit_code == 1
    assert done.output.splitlines() == [
        f"train.py: {out}: exists already, expected a new name (or --force to replace it)"
    ]
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_an_existing_run_is_replaced_with_force(whole, gold, tmp_path):
    out = shutil.copytree(whole[0], tmp_path / "copy")
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, 2)
        start(gold, out, "--force", "--seed", 1)
    (row,) = metrics(out)
    assert row["loss"] != pytest.approx(metrics(whole[0])[0]["loss"], abs=1e-4)


def test_with_force_nothing_of_the_older_run_is_gone_on_with(gold, tmp_path):
    out = tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, 2)
        start(gold, out)
    assert (out / "state.pt").is_file()
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, 1)  # before the new run has a state of its own
        assert start(gold, out, "--force", "--seed", 1).exit_code == 1
    assert not (out / "state.pt").exists()


def test_a_run_that_replaces_a_checkpoint_is_none_until_it_has_one(whole, gold, tmp_path):
    out = shutil.copytree(whole[0], tmp_path / "copy")
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, 2)  # before it has weights to keep
        assert start(gold, out, "--force").exit_code == 1
    assert {path.name for path in out.iterdir()} == {"state.pt", "metrics.jsonl"}
    with pytest.raises(ValueError, match="expected a checkpoint"):
        load_checkpoint(out)


def test_a_frozen_encoder_stays_as_it_was(gold, tmp_path):
    # As the seed work: each span alone, 4 paragraphs at once, no features.
    seed_work = ("--context", "span", "--paragraphs", 4, "--no-features")
    out = trained(gold, tmp_path / "out", "--frozen", *seed_work)
    assert encoder_changes(out) == set()
    rows = metrics(out)
    assert len({row["loss"] for row in rows}) == 3
    config = load_checkpoint(out).model.config
    assert (config.context, config.paragraphs, config.features) == ("span", 4, False)


def test_lower_layers_that_are_frozen_stay_as_they_were(gold, tmp_path):
    out = trained(gold, tmp_path / "out", "--frozen-layers", 1)
    changed = encoder_changes(out)
    assert changed
    assert {".".join(name.split(".")[:3]) for name in changed} == {"encoder.layer.1"}


def test_all_layers_of_an_encoder_are_trained_and_its_embeddings_are_not(whole):
    out, _ = whole
    changed = {".".join(name.split(".")[:3]) for name in encoder_changes(out)}
    assert changed == {"encoder.layer.0", "encoder.layer.1"}


def test_a_frozen_encoder_reads_a_chapter_once(gold, tmp_path):
    vectors = tmp_path / "vectors"
    options = ("--frozen", "--vectors", vectors)
    first = trained(gold, tmp_path / "first", *options)
    made = {path.name: path.stat().st_mtime_ns for path in vectors.iterdir()}
    assert 5 <= len(made) <= 10  # the chapters of the sample, and as the miner cuts them
    second = trained(gold, tmp_path / "second", *options)
    assert {path.name: path.stat().st_mtime_ns for path in vectors.iterdir()} == made
    assert same_weights(weights(first), weights(second))
    third = trained(gold, tmp_path / "third", "--frozen")
    assert same_weights(weights(first), weights(third))


def test_vectors_of_another_encoding_are_not_taken(gold, tmp_path):
    vectors = tmp_path / "vectors"
    trained(gold, tmp_path / "first", "--frozen", "--vectors", vectors)
    n = len(list(vectors.iterdir()))
    trained(gold, tmp_path / "second", "--frozen", "--vectors", vectors, "--ends", 2)
    assert len(list(vectors.iterdir())) == 2 * n


def test_a_frozen_encoder_cannot_read_other_paragraphs(whole, gold, tmp_path):
    done = start(gold, tmp_path / "out", "--frozen", "--recut", 0.5)
    assert done.exit_code == 1
    assert done.output.splitlines()[-1] == (
        "train.py: found --recut with --frozen, whose vectors are made once: expected 0"
    )
    frozen = trained(gold, tmp_path / "frozen", "--frozen")
    shares = [
        json.loads((out / "run.json").read_bytes())["training"]["recut"]
        for out in (whole[0], frozen)
    ]
    assert shares == [0.6, 0.0]


def test_every_epoch_has_other_paragraphs_unless_none_are_cut(whole, gold, tmp_path, monkeypatch):
    epochs, read = [], []
    encoded = train.encoded

    def noted(*given):
        epochs.append(given[0])
        read.append(given[-1] is not False)
        return encoded(*given)

    monkeypatch.setattr(train, "encoded", noted)
    trained(gold, tmp_path / "cut")
    assert read == [True, False, True, True, True, True]  # the structure alone is not
    dev, structure, weak, first, second, _ = [
        [[paragraph.text for paragraph in item.chapter.paragraphs] for item in examples]
        for examples in epochs
    ]
    assert all(one != other for one, other in combinations([dev, first, second], 2))
    assert structure != dev and len(weak) >= 5
    epochs.clear()
    plain = trained(gold, tmp_path / "plain", "--recut", 0)
    # Dev, the annotated chapters for either expert, the weak ones, and dev at the end.
    assert len(epochs) == 5
    as_they_are = train.read_examples(gold, "sample", read_sample).examples
    for chapters in (epochs[1], epochs[3]):
        assert [item.spans for item in chapters] == [item.spans for item in as_they_are]
    assert not same_weights(weights(plain), weights(whole[0]))


def test_a_run_begins_with_the_weights_of_another(whole, gold, tmp_path):
    out, _ = whole
    begun = trained(gold, tmp_path / "begun", "--start", out, "--head-rate", 0, "--encoder-rate", 0)
    assert same_weights(weights(begun), weights(out))


def test_a_run_of_another_shape_is_nothing_to_begin_with(whole, gold, tmp_path):
    out, _ = whole
    done = start(gold, tmp_path / "begun", "--start", out, "--hidden", 16)
    assert done.exit_code == 1
    assert done.output.splitlines()[-1] == (
        f"train.py: {out}: found a model of another shape, expected that of the options"
    )


def read_sample(book):
    return train.find_book(book, None)[1].read_bytes()


def test_the_structure_is_trained_first_and_alone(gold, tmp_path):
    out = trained(gold, tmp_path / "out")
    stages = [row["stage"] for row in metrics(out)]
    assert stages == STAGES
    # Of the structure alone, the scores do not depend on the encoder.
    model, tokenizer = load_checkpoint(out).model, tokenizer_of()
    examples = train.read_examples(gold, "sample", read_sample).examples
    items = train.encoded(examples, model, tokenizer, False)
    alone, both = train.scores_of(model, items, [Expert.STRUCTURE]), train.scores_of(model, items)
    with torch.no_grad():
        for weight in model.encoder.parameters():
            weight.mul_(-3.0)
    for before, after in zip(alone, train.scores_of(model, items, [Expert.STRUCTURE]), strict=True):
        assert (before == after).all()
    assert any(
        (before != after).any()
        for before, after in zip(both, train.scores_of(model, items), strict=True)
    )


def test_without_features_there_is_no_structure_to_train(gold, tmp_path):
    out = trained(gold, tmp_path / "out", "--no-features")
    assert [row["stage"] for row in metrics(out)] == ["weak", "gold", "gold"]


def test_a_book_is_left_out_of_the_training(gold, tmp_path):
    done = start(gold, tmp_path / "out", "--without", "sample")
    assert done.exit_code == 1
    assert "found no book of split sample but those left out" in done.output


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("given", "layers"),
    [
        ({}, ".0. .1."),
        ({"frozen_layers": 1}, ".1."),
        ({"frozen_layers": 2}, ""),
        ({"frozen": True}, ""),
    ],
)
def test_what_training_the_text_changes(kind, given, layers):
    model = model_of(kind)
    train.train_only(model, Expert.TEXT, options_of(**given))
    for name, weight in model.named_parameters():
        of_encoder = name.startswith("encoder.")
        is_chosen = any(layer in name for layer in layers.split())
        assert weight.requires_grad == (is_chosen if of_encoder else name.startswith("text."))
    changed = [name for name, item in model.encoder.named_parameters() if item.requires_grad]
    assert bool(changed) == bool(layers)


def test_training_the_structure_changes_nothing_else():
    model = model_of()
    for expert in (Expert.TEXT, Expert.STRUCTURE):  # also after the text was trained
        train.train_only(model, expert, options_of())
    for name, weight in model.named_parameters():
        assert weight.requires_grad == name.startswith("structure.")


def test_a_checkpoint_of_fewer_layers_in_8_bits(gold, whole, tmp_path):
    out = trained(gold, tmp_path / "out", "--encoder-layers", 1, "--compact")
    record = json.loads((out / "run.json").read_bytes())
    kept, before = weights(out), weights(whole[0])
    assert not any("layer.1." in name for name in kept if name.startswith("encoder."))
    assert any("layer.1." in name for name in before)
    assert {value.dtype for value in kept.values()} == {torch.int8, torch.float16}
    tagger = load_checkpoint(out)
    assert tagger.model.config.encoder["num_hidden_layers"] == 1
    assert "_name_or_path" not in tagger.model.config.encoder
    # What is judged is what is kept, not what it was before its digits were cut.
    made = compare(gold, [("kept", tagger)], "sample", read=read_sample, resamples=1, seed=0)
    found = made.rows[0].scores.total.end_to_end
    said = record["scores"]["sample"]["total"]["end_to_end"]["scores"]
    for unit in ("B-START.f1", "turn-pair.f1"):
        assert found[unit].value == pytest.approx(said[unit]["value"], abs=0.1)


def test_too_many_layers_to_keep(gold, tmp_path):
    done = start(gold, tmp_path / "out", "--encoder-layers", 9)
    assert done.exit_code != 0
    assert "found 9 layers to keep, expected at most 2, the encoder's" in done.output
    assert not (tmp_path / "out").exists()


def test_too_many_layers_to_freeze(gold, tmp_path):
    done = start(gold, tmp_path / "out", "--frozen-layers", 9)
    assert done.exit_code != 0
    assert "found 9 layers to freeze" in done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_model_has_the_weights_of_the_encoder(kind):
    names = train.Options.__dataclass_fields__
    given = dict.fromkeys(names, 0) | {"encoder": str(encoder(kind)), "seed": 7}
    shape = {"projection": 16, "hidden": 8}
    model, tokenizer = train.new_model(train.Options(**given), shape)
    expected = AutoModel.from_pretrained(encoder(kind)).state_dict()
    for name, weight in model.encoder.state_dict().items():
        assert torch.equal(weight, expected[name])
    assert tokenizer.get_vocab() == tokenizer_of(kind).get_vocab()
    again, _ = train.new_model(train.Options(**given), shape)
    other, _ = train.new_model(train.Options(**(given | {"seed": 8})), shape)
    assert torch.equal(model.text.scores.weight, again.text.scores.weight)
    assert not torch.equal(model.text.scores.weight, other.text.scores.weight)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_an_encoder_kept_in_fewer_bits_is_trained_in_float32(tmp_path, dtype):
    AutoModel.from_pretrained(encoder()).to(dtype).save_pretrained(tmp_path)
    tokenizer_of().save_pretrained(tmp_path)
    model, _ = train.new_model(options_of(encoder=str(tmp_path)), {})
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    model.save_pretrained(tmp_path / "kept")
    loaded = type(model).from_pretrained(tmp_path / "kept")
    assert {weight.dtype for weight in loaded.parameters()} == {torch.float32}


@pytest.mark.parametrize("kind", KINDS)
def test_the_lowest_layers_of_any_encoder_are_kept(kind):
    model, _ = train.new_model(options_of(encoder=str(encoder(kind)), encoder_layers=1), {})
    before = AutoModel.from_pretrained(encoder(kind))
    (kept,), first = train.layers_of(model), train.layers_of(model_of(kind))[0]
    assert kept.state_dict().keys() == first.state_dict().keys()
    for name, weight in kept.state_dict().items():
        assert torch.equal(weight, first.state_dict()[name])
    assert len(model.encoder.state_dict()) < len(before.state_dict())


def test_an_encoder_whose_layers_are_one_is_refused(tmp_path):
    sizes = {"embedding_size": 8, "hidden_size": 16, "num_attention_heads": 2}
    config = AlbertConfig(vocab_size=len(tokenizer_of()), intermediate_size=16, **sizes)
    AutoModel.from_config(config).save_pretrained(tmp_path)
    tokenizer_of().save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="found an encoder of type albert, expected one with 12"):
        train.new_model(options_of(encoder=str(tmp_path)), {})


def test_a_window_that_an_encoder_cannot_read_is_refused():
    # Its positions begin after that of padding, so that two of them are for nothing.
    roberta = options_of(encoder=str(encoder("roberta")))
    assert train.new_model(roberta, {"window": 512})
    with pytest.raises(ValueError, match="found no encoder that reads windows of 513 tokens"):
        train.new_model(roberta, {"window": 513})


def test_weak_labels_are_those_of_the_tagger_that_is_asked(whole, gold):
    gaps = train.weakly_tagged(["sample"], "tuned-gap", None, gold, ())
    expected = weak_examples(sample(), GapTagger(300))
    assert [item.tags.tolist() for item in gaps] == [item.tags.tolist() for item in expected]
    own = train.weakly_tagged(["sample"], str(whole[0]), None, gold, ())
    expected = weak_examples(sample(), load_checkpoint(whole[0]))
    assert [item.tags.tolist() for item in own] == [item.tags.tolist() for item in expected]
    for words, tagger, without, said in [
        (["nowhere.html"], "gap", (), "no such file"),
        (["sample"], "gaps", (), "no tagger 'gaps'"),
        (["sample"], "gap", ["sample"], "found no book for weak labels but those left out"),
    ]:
        with pytest.raises(ValueError, match=said):
            train.weakly_tagged(words, tagger, None, gold, without)


def test_no_weak_labels_of_books_that_judge(gold, tmp_path, capsys):
    page = (ROOT / "miner" / "books" / "sample.html").read_bytes()
    for name in ("155-h.htm", "24-h.htm", "7-h.htm", "pg24-images.html"):
        (tmp_path / name).write_bytes(page)
    shutil.copy(ROOT / "tests" / "data" / "play.html", tmp_path)
    found = train.weakly_tagged([str(tmp_path)], "gap", None, ROOT / "annotations", ())
    assert {item.chapter.book for item in found} == {"7"}
    said = capsys.readouterr().err.splitlines()
    assert said[:3] == [
        "155: left out, since it is of split test",
        "24: left out, since it is of split dev",
        "pg24-images: left out, since it is of split dev",
    ]
    assert len(said) == 4 and said[3].startswith("play: left out, a play: ")


def with_another_book(gold, tmp_path, page):
    """The annotations of the sample and, in the train split, of a book 9 that is like it.

    Of the latter `page` is the edition at hand, in the second folder.
    """
    folder, books = tmp_path / "gold", tmp_path / "books"
    shutil.copytree(gold, folder)
    (line,) = (folder / "books.jsonl").read_text("utf-8").splitlines()
    other = json.loads(line) | {"book": "9", "author": "B", "split": "train", "file": "9-h.htm"}
    (folder / "books.jsonl").write_text(f"{line}\n{json.dumps(other)}\n", "utf-8")
    rows = (folder / "gold" / "sample.jsonl").read_text("utf-8")
    (folder / "gold" / "9.jsonl").write_text(rows.replace('"book":"sample"', '"book":"9"'), "utf-8")
    books.mkdir()
    (books / "9-h.htm").write_text(page, "utf-8")
    return folder, books


def test_nothing_left_to_train_on_is_one_line(gold, tmp_path):
    page = "<html><body><p>“No.”</p></body></html>"
    folder, books = with_another_book(gold, tmp_path, page)
    given = ("--train-split", "train", "--dev-split", "sample", "--books", books)
    done = CliRunner().invoke(train.main, words_without_smoke(folder, tmp_path / "out", *given))
    assert done.exit_code == 1
    line = f"train.py: {folder}: found no chapter of split train in the editions at hand"
    assert done.output.splitlines()[-1] == line


class Watched(torch.optim.AdamW):
    """Keeps the rates and the gradients of each step, in order."""

    seen: list

    def step(self, closure=None):
        rates = [group["lr"] for group in self.param_groups]
        gradients = [p.grad.clone() for group in self.param_groups for p in group["params"]]
        Watched.seen.append((rates, gradients))
        return super().step(closure)


def watched(model, items, options, monkeypatch):
    """Rates and gradients of each step of an epoch of training the text."""
    monkeypatch.setattr(torch.optim, "AdamW", Watched)
    Watched.seen = []
    given = (options, Accelerator(cpu=True), 1, Expert.TEXT, lambda *_: False, None, lambda _: None)
    train.train(model, len(items), lambda _: items, *given)
    return Watched.seen


def still_model(kind):
    """A model without chance, and the chapters of the sample for it."""
    model = model_of(kind, dropout=0.0)
    examples = weak_examples(sample(), GapTagger())
    return model, train.encoded(examples, model, tokenizer_of(kind), False)


def test_rates_rise_and_fall_and_are_other_for_the_encoder(monkeypatch):
    model, items = still_model("bert")
    options = options_of(batch=1, head_rate=0.002, encoder_rate=0.0001)
    steps = watched(model, items * 4, options, monkeypatch)
    assert len(steps) == 20
    rates = [head for (head, _), _ in steps]
    assert rates[:2] == pytest.approx([0.001, 0.0019])  # the first tenth
    assert rates[2:] == pytest.approx([0.002 * (1 - n / 20) for n in range(2, 20)])
    assert [body for (_, body), _ in steps] == pytest.approx([rate / 20 for rate in rates])


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_is_the_mean_over_its_utterances_and_is_clipped(kind, monkeypatch):
    model, items = still_model(kind)
    options = options_of(batch=3, speaker_weight=0.5, start_weight=20.0)
    train.train_only(model, Expert.TEXT, options)
    trained = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    head = [p for name, p in trained if not name.startswith("encoder.")]
    body = [p for name, p in trained if name.startswith("encoder.")]
    model.train()
    model.encoder.eval()
    loss = torch.zeros(())
    for item in items[:3]:
        with train.autocast("cpu"):
            parts = model(item.encoding, item.features, item.cuts, item.pooled, [Expert.TEXT])
        loss = loss + train.loss_of(parts, item, options)
    assert len({len(item.tags) for item in items[:3]}) > 1
    (loss / sum(len(item.tags) for item in items[:3])).backward()
    assert all(p.grad.abs().sum() > 0 for p in body)
    expected = [p.grad.clone() for p in (*head, *body)]
    norm = torch.cat([gradient.flatten() for gradient in expected]).norm()
    assert norm > 1
    model.zero_grad()
    norms = []
    clip = Accelerator.clip_grad_norm_

    def noted(self, parameters, most):
        norms.append(clip(self, parameters, most))

    monkeypatch.setattr(Accelerator, "clip_grad_norm_", noted)
    ((_, found),) = watched(model, items[:3], options, monkeypatch)
    assert norms[0].item() == pytest.approx(norm.item(), rel=0.01)
    difference = torch.cat([(a - b / norm).flatten() for a, b in zip(found, expected, strict=True)])
    assert difference.norm() < 0.02


def item_of(tags, speakers, cuts):
    numbers = torch.tensor(speakers)
    return train.Encoded(None, None, torch.tensor(tags), numbers, cuts, None)


def options_of(**given):
    return train.Options(**(dict.fromkeys(train.Options.__dataclass_fields__, 0) | given))


def test_the_loss_of_a_chapter():
    generator = torch.Generator().manual_seed(1)
    rows, alike = torch.randn(5, 4, generator=generator), torch.randn(5, 8, generator=generator)
    tags, speakers = [0, 2, 3, 0, 1], [0, 1, 1, 2, 2]
    whole, parts = item_of(tags, speakers, [slice(0, 5)]), [SequenceScores(rows, alike)]
    plain = 5 * sequence_loss(rows, torch.tensor(tags))
    assert torch.allclose(train.loss_of(parts, whole, options_of()), plain)
    # A missed beginning costs more: the other tags start higher where one is right.
    raised = rows.clone()
    for n in (0, 3):
        raised[n, 1:] += 0.5
    expected = 5 * sequence_loss(raised, torch.tensor(tags))
    found = train.loss_of(parts, whole, options_of(start_weight=0.5))
    assert torch.allclose(found, expected) and found > plain
    # Beside the tags, the speakers, where the text was read.
    found = train.loss_of(parts, whole, options_of(speaker_weight=0.5))
    of_speakers = speaker_loss(alike, torch.tensor(speakers))
    assert torch.allclose(found, plain + 2.5 * of_speakers)
    found = train.loss_of([SequenceScores(rows, None)], whole, options_of(speaker_weight=0.5))
    assert torch.allclose(found, plain)


def test_tags_of_stretches_are_one_sequence():
    rows = torch.randn(5, 4)
    tags, speakers, cuts = [0, 2, 3, 3, 2], [0, 1, 1, 1, 0], [slice(0, 2), slice(2, 5)]
    parts = [SequenceScores(rows[cut], None) for cut in cuts]
    found = train.loss_of(parts, item_of(tags, speakers, cuts), options_of())
    assert torch.allclose(found, 5 * sequence_loss(rows, torch.tensor(tags)))


def scores_by_hand(opens, goes_on):
    """Scores (n, 4) of which the log-odds of both questions are given."""
    rest = torch.nn.functional.logsigmoid(torch.tensor(-opens))
    on = rest + torch.nn.functional.logsigmoid(torch.tensor(goes_on))
    other = rest + torch.nn.functional.logsigmoid(torch.tensor(-goes_on))
    first = torch.nn.functional.logsigmoid(torch.tensor(opens))
    return torch.stack([first, on, other, on], dim=1).numpy()


def test_each_expert_has_its_own_worth_for_each_question():
    random = np.random.default_rng(3)
    opens, goes_on, *noise = random.normal(0, 3, (4, 4000))
    drawn = [random.random(4000) < 1 / (1 + np.exp(-odds)) for odds in (opens, goes_on)]
    tags = np.where(drawn[0], 0, np.where(drawn[1], 3, 2))
    # Of a start the text knows, of a turn the structure.
    text, structure = scores_by_hand(opens, noise[0]), scores_by_hand(noise[1], goes_on)
    alone = {Expert.STRUCTURE: [structure[:1000], structure[1000:]]}
    alone[Expert.TEXT] = [text[:1000], text[1000:]]
    model = model_of()
    train.fit_shares(model, alone, [tags[:1000], tags[1000:]])
    assert model.config.start_share > 0.9 and model.config.turn_share < 0.1
    both = train.mixture(model, alone)
    assert [len(rows) for rows in both] == [1000, 3000]
    expected = model.mixture(torch.from_numpy(text), torch.from_numpy(structure)).numpy()
    assert np.allclose(np.concatenate(both), expected, atol=1e-5)
    right = np.arange(4000), tags
    assert np.concatenate(both)[right].mean() > max(text[right].mean(), structure[right].mean())


def test_of_one_expert_there_is_nothing_to_mix():
    model, rows = model_of(), [np.zeros((3, 4), np.float32)]
    train.fit_shares(model, {Expert.TEXT: rows}, [np.zeros(3, np.int64)])
    assert train.mixture(model, {Expert.TEXT: rows}) is rows
    assert model.config.start_share == model_of().config.start_share


def test_the_offset_of_starts_is_the_best_that_was_tried(gold):
    data = train.read_examples(gold, "sample", read_sample)
    random = np.random.default_rng(2)
    rows = [
        np.eye(4)[item.tags] * 2 + random.normal(0, 1, (len(item.tags), 4))
        for item in data.examples
    ]
    for item in rows:
        item[:, 0] -= 3.0  # starts are doubted

    def f1(offset):
        figures = train.judged(data, rows, "sample", start_offset=offset).total.end_to_end
        return figures["B-START.f1"].value + figures["turn-pair.f1"].value

    assert train.best_start_offset(data, [row * 100 for row in rows]) == 0.0
    found = train.best_start_offset(data, rows)
    assert 0.5 < found <= 2.0
    assert f1(found) > f1(0.0)
    assert f1(found) == max(f1(step / 10) for step in range(-5, 21))


def test_chapters_are_encoded_for_training(monkeypatch):
    # Some processors compute with fewer digits otherwise.
    monkeypatch.setattr(train, "autocast", lambda device: torch.autocast(device, enabled=False))
    model = model_of()
    example, *_ = weak_examples(sample(), GapTagger(150))
    chapter = example.chapter
    (plain,) = train.encoded([example], model, tokenizer_of(), False)
    (frozen,) = train.encoded([example], model, tokenizer_of(), True)
    for is_frozen in (False, True):
        (unread,) = train.encoded([example], model, tokenizer_of(), is_frozen, text=False)
        assert unread.encoding.windows == () and unread.pooled is None
        assert torch.equal(unread.features, plain.features)
    assert plain.pooled is None and plain.encoding == frozen.encoding
    assert plain.cuts == sequence_slices(chapter, 0)
    with torch.no_grad():
        expected = model.pooled(plain.encoding)
    assert torch.allclose(frozen.pooled, expected, atol=1e-5)
    assert not frozen.pooled.requires_grad


def test_a_chapter_of_which_the_edition_shows_too_little_is_not_trained_on(gold, tmp_path):
    page = (ROOT / "miner" / "books" / "sample.html").read_text("utf-8")
    start_of, end_of = (page.index(f'<h2><a id="chap0{n}">') for n in (2, 3))
    folder, books = with_another_book(gold, tmp_path, page[:start_of] + page[end_of:])
    out = tmp_path / "out"
    given = ("--train-split", "train", "--dev-split", "sample", "--books", books, "--epochs", 1)
    argv = words_without_smoke(folder, out, *given, "--structure-epochs", 1)
    done = CliRunner().invoke(train.main, argv)
    assert (done.exit_code, done.exception) == (0, None)
    (told,) = [line for line in done.output.splitlines() if line.startswith("left out, ")]
    assert re.match(r"left out, 9, chapter 2: found 0 of \d+ annotated utterances in this ed", told)
    rows = (folder / "gold" / "9.jsonl").read_text("utf-8").splitlines()
    n_chapters = len({json.loads(row)["chapter"] for row in rows})
    training = json.loads((out / "run.json").read_bytes())["training"]
    assert training["chapters"] == n_chapters - 1
    assert f"left out, {training['chapters left out']}" == told
    assert training["chapters left out"] in (out / "README.md").read_text("utf-8")


def test_margins_without_room_are_one_line(gold, tmp_path):
    done = start(gold, tmp_path / "out", "--window", 16, "--margin", 8)
    assert done.exit_code == 1
    assert done.output.splitlines()[-1].startswith("train.py: found a window of 16 tokens")


def test_a_window_larger_than_the_encoder_is_one_line(gold, tmp_path):
    done = start(gold, tmp_path / "out", "--window", 1024)
    if not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.output.splitlines()[-1].startswith("train.py: ")
