"""Whole runs of `train.py`: what they leave behind, resumed ones, quantized ones, two processes."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from click.testing import CliRunner
from encoders import encoder, sample
from helpers import DATA, ROOT, annotations_of_sample
from models_helpers import read_sample
from safetensors.torch import load_file
from transformers import AutoModel

import train
from miner.errors import InputError
from miner.lab.learning.run_folder import partial_folder
from miner.lab.measure.compare import compare
from miner.lab.training.tagger import training_data
from miner.lab.training.tagger.encoded_chapters import ChapterEncoder
from miner.lab.training.tagger.model_selection import BestEpoch
from miner.lab.training.tagger.training import chapters_loss, new_model, unfreeze
from miner.lab.training.tagger.training_data import (
    AugmentedChapters,
    digest_examples,
    read_examples,
)
from miner.score import format_rate, format_score
from miner.speech.tags import repair_tags
from miner.tagger.checkpoint import OnnxRuntime, load_checkpoint
from miner.tagger.config import Expert
from miner.tagger.encoding import plain_tokenizer
from miner.tagger.load import load_tagger
from miner.tagger.torch_runtime import read_checkpoint

SMALL = ("--window", 64, "--margin", 8, "--projection", 16, "--hidden", 8)
SHORT = ("--batch", 2, "--resamples", 20)  # three steps an epoch
STAGES = ["structure", "weak", "gold", "gold"]


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    return annotations_of_sample(tmp_path_factory.mktemp("gold") / "sample-only")


def words(gold, out, *options):
    given = ["tagger", "--gold", gold, "--encoder", encoder(), "-o", out]
    given += [*SMALL, *SHORT, *options]
    return [str(word) for word in given]


def start(gold, out, *options):
    return CliRunner().invoke(train.main, words(gold, out, *options))


@pytest.fixture(scope="module")
def whole(gold, tmp_path_factory):
    """A run by the command that passes through every stage, and its arguments."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    argv = ["train.py", *words(gold, out, "--smoke")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", argv)
        done = CliRunner().invoke(train.main, argv[1:])
    assert (done.exit_code, done.exception) == (0, None)
    return out, argv


@pytest.fixture(scope="module")
def resumed(gold, tmp_path_factory):
    """The same run, interrupted in its last epoch, before it could save it, and resumed."""
    out = tmp_path_factory.mktemp("runs") / "resumed"
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, epoch=4)
        done = start(gold, out, "--smoke")
    assert done.exit_code == 130
    assert f"what is done is kept in {partial_folder(out)}, --resume continues" in done.output
    state = partial_folder(out) / "state"
    interrupted = {path.name for path in state.iterdir()}, metrics(state), out.exists()
    command = json.loads((partial_folder(out) / "run.json").read_bytes())["command"]
    done = start(gold, out, "--smoke", "--resume")
    assert (done.exit_code, done.exception) == (0, None)
    return out, interrupted, command


SPLITS = ("--train-split", "sample", "--dev-split", "sample")
FROZEN = (*SPLITS, "--frozen", "--quantize", "--encoder-layers", 1, "--context", "span")
FROZEN += ("--paragraphs", 4, "--no-features", "--epochs", 1)


@pytest.fixture(scope="module")
def quantized(gold, tmp_path_factory):
    """A run with a frozen encoder of one layer, on spans alone, stored in 8 bits."""
    out = tmp_path_factory.mktemp("runs") / "quantized"
    done = start(gold, out, *FROZEN, "--chapters", 3, "--test-split", "sample")
    assert (done.exit_code, done.exception) == (0, None)
    return out


@pytest.fixture(scope="module")
def unexported(gold, tmp_path_factory):
    """A shorter run of this kind, whose encoder cannot be exported, and what it printed."""

    def fail(folder):
        raise InputError(f"{folder}: the encoder cannot be exported: no such operator")

    out = tmp_path_factory.mktemp("runs") / "unexported"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "export_encoder", fail)
        done = start(gold, out, *FROZEN, "--chapters", 1)
    assert (done.exit_code, done.exception) == (0, None)
    return out, done.output.splitlines()


def interrupt(patch, epoch):
    """Interrupts a run when it evaluates an epoch, counted from 1 over all stages."""
    calls = []
    evaluate_epoch = train.evaluate_epoch

    def interrupted(*given):
        calls.append(given)
        if len(calls) == epoch:
            raise KeyboardInterrupt
        return evaluate_epoch(*given)

    patch.setattr(train, "evaluate_epoch", interrupted)


def metrics(out):
    """The rows of the metrics without what depends on the machine."""
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_bytes().splitlines()]
    for row in rows:
        assert row.pop("seconds_of_run") > row.pop("seconds") > 0
        assert row.pop("share_of_bf16_peak") is None  # a CPU has no peak to compare with
        assert (row.pop("tokens_per_second") > 0) == (row["stage"] != "structure")
    return rows


def record_of(out):
    return json.loads((out / "run.json").read_bytes())


def files_of(out):
    return {path.name: path.read_bytes() for path in out.iterdir()}


def weights(out):
    return load_file(out / "model.safetensors")


def test_what_a_run_leaves_behind(whole):
    out, argv = whole
    checkpoint = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    more = {"encoder.onnx", "README.md", "run.json", "metrics.jsonl", "reliability.png"}
    assert {path.name for path in out.iterdir()} == checkpoint | more
    assert (out / "reliability.png").read_bytes().startswith(b"\x89PNG")
    record = record_of(out)
    training = record["training"]
    assert training["command"] == " ".join(["python", *argv])
    assert (training["chapters"], training["utterances"]) == (5, 180)
    assert (training["seed"], training["epochs"], training["weak_epochs"]) == (0, 2, 1)
    found = digest_examples(read_examples(ROOT / "annotations", "sample", read_sample).examples)
    assert training["digest of the data"] == training["digest of dev"] == found
    config = json.loads((out / "config.json").read_bytes())
    assert config["training"] == training
    assert config["confidence_temperature"] == record["calibration"]["temperature"]
    assert sum(item["n"] for item in record["calibration"]["bins"]) == 180
    assert -0.5 <= config["start_offset"] <= 2.0
    alone = ["sample", "sample, structure alone", "sample, text alone"]
    assert list(record["scores"]) == ["sample, as tagged", *alone]


def test_the_card_and_the_record_have_what_compare_prints(whole):
    """Speakers change tags, so the model alone has other scores."""
    out, _ = whole
    tagger = [(out.name, load_tagger(str(out)))]
    made = compare(ROOT / "annotations", tagger, "sample", read=read_sample, resamples=20)
    (row,) = made.rows
    found = record_of(out)["scores"]["sample, as tagged"]
    assert found == row.scores.to_json()
    card = (out / "README.md").read_text(encoding="utf-8")
    pairs = (
        row.scores.total.end_to_end[f"turn-pair.{part}"] for part in ("precision", "recall", "f1")
    )
    assert f"| sample, as tagged: turn pairs | {' | '.join(map(format_score, pairs))} |" in card
    assert row.scores.signature in card
    assert "`miner compare --tagger FOLDER`" in card


def test_metrics_of_each_epoch(whole):
    rows = metrics(whole[0])
    assert [row["stage"] for row in rows] == STAGES
    assert [row["epoch"] for row in rows] == [1, 1, 1, 2]
    for row in rows:
        assert 0 < row["loss"] < 3
        for unit in ("B-START", "turn-pair", "span-pair"):
            assert 0 <= row[f"dev {unit}.f1"] <= 1
    assert rows[3]["loss"] < rows[2]["loss"]


def test_the_card_has_the_scores_and_the_command_of_the_run(whole):
    out, argv = whole
    record = record_of(out)
    card = (out / "README.md").read_text(encoding="utf-8")
    total = record["scores"]["sample"]["total"]["end_to_end"]["scores"]
    for label, unit in (("B-START", "B-START"), ("turn pairs", "turn-pair")):
        (line,) = [line for line in card.splitlines() if line.startswith(f"| sample: {label} |")]
        cells = line.split("|")[2:5]
        for cell, part in zip(cells, ("precision", "recall", "f1"), strict=True):
            value = total[f"{unit}.{part}"]["value"]
            assert cell.split()[0] == format_rate(value)
    assert card.count(f"`{record['scores']['sample']['signature']}`") == 1
    assert f"temperature {record['calibration']['temperature']:.2f}" in card
    assert " ".join(["python", *argv]) in card


def test_the_best_epoch_is_kept(whole):
    out, _ = whole
    rows = [row for row in metrics(out) if row["stage"] == "gold"]
    best = BestEpoch()
    for n, row in enumerate(rows):
        goal = (row["dev turn-pair.f1"] + row["dev B-START.f1"]) / 2
        best = best.compare(n, goal, row["dev loss of mixture"])
    record = record_of(out)
    assert record["training"]["best epoch"] == best.epoch + 1
    kept = record["scores"]["sample"]["total"]["end_to_end"]["scores"]
    for unit in ("turn-pair", "B-START"):
        assert kept[f"{unit}.f1"]["value"] == pytest.approx(rows[best.epoch][f"dev {unit}.f1"])


def test_a_run_is_a_checkpoint(whole, tmp_path):
    tagger = load_checkpoint(whole[0], "cpu")
    assert isinstance(tagger.runtime, OnnxRuntime)
    tags = [item.tag for item in tagger.tag(sample())]
    assert repair_tags(tags) == tags
    copy = shutil.copytree(whole[0], tmp_path / "copy")
    (copy / "encoder.onnx").unlink()
    assert [item.tag for item in load_checkpoint(copy, "cpu").tag(sample())] == tags


def test_an_encoder_that_cannot_be_exported_leaves_a_checkpoint_for_pytorch(unexported):
    out, lines = unexported
    line = f"{partial_folder(out) / 'made'}: the encoder cannot be exported: no such operator; "
    assert f"{line}tagging with this checkpoint needs PyTorch" in lines
    assert not (out / "encoder.onnx").exists() and (out / "run.json").exists()
    assert load_checkpoint(out).tag(sample())


def test_the_layers_of_the_encoder_are_trained_and_its_embeddings_are_not(whole):
    before = AutoModel.from_pretrained(encoder()).state_dict()
    after = read_checkpoint(whole[0])[0].encoder.state_dict()
    changed = {name for name, weight in after.items() if not torch.equal(weight, before[name])}
    layers = {".".join(name.split(".")[:3]) for name in changed}
    assert layers == {"encoder.layer.0", "encoder.layer.1"}


def scores_of(out):
    """The scores in a record, but for the signatures, which name the folder."""
    found = record_of(out)["scores"]
    return {
        name: {key: value for key, value in scores.items() if key != "signature"}
        for name, scores in found.items()
    }


@pytest.mark.slow
def test_a_resumed_run_comes_to_the_same_result(whole, resumed):
    out, (names, rows, is_there), command = resumed
    assert (names, is_there) == ({"state.pt", "metrics.jsonl", "best"}, False)
    assert [(row["stage"], row["epoch"]) for row in rows][-1] == ("gold", 1)
    for row, expected in zip(metrics(out), metrics(whole[0]), strict=True):
        assert row == pytest.approx(expected, abs=1e-6)
    found, expected = weights(out), weights(whole[0])
    assert found.keys() == expected.keys()
    assert all(torch.allclose(found[name], expected[name], atol=1e-7) for name in found)
    assert not partial_folder(out).exists()
    assert scores_of(out) == scores_of(whole[0])
    assert record_of(out)["training"]["command"] == command


@pytest.fixture(scope="module")
def prepared(gold, tmp_path_factory):
    """The examples of the whole run."""
    path = tmp_path_factory.mktemp("prepared") / "examples"
    done = CliRunner().invoke(train.main, prepare_words(gold, path, "--smoke"))
    assert (done.exit_code, done.exception) == (0, None)
    assert re.fullmatch(rf"{path}: 5 chapters, \d+\.\d MB\n", done.stderr)
    return path


def prepare_words(gold, path, *options):
    given = words(gold, path, *options)
    given[given.index("-o")] = "--prepare"
    return given


@pytest.mark.slow
def test_a_run_from_prepared_examples_comes_to_the_same_result_without_books(
    whole, prepared, tmp_path, monkeypatch
):
    monkeypatch.setattr(training_data, "read_book_bytes", None)
    out = tmp_path / "out"
    done = start(tmp_path / "no gold", out, "--smoke", "--examples", prepared)
    assert (done.exit_code, done.exception) == (0, None)
    assert metrics(out) == metrics(whole[0])
    found, expected = weights(out), weights(whole[0])
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in found)
    record, of_whole = record_of(out), record_of(whole[0])
    of_whole["scores"].pop("sample, as tagged")  # which needs the text
    assert record["scores"] == of_whole["scores"]
    assert "`miner compare --tagger FOLDER` has" in (out / "README.md").read_text(encoding="utf-8")
    assert record["calibration"] == of_whole["calibration"]
    commands = [item["training"].pop("command") for item in (record, of_whole)]
    assert commands[0] != commands[1]
    assert record["training"] == of_whole["training"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--window", 66), "found examples of --window 64, expected 66; prepare the examples"),
        (("--augment", 0.1), "found examples of --augment 0.6, expected 0.1"),
        (("--weak-epochs", 2), "found 1 versions of weak chapters, 1 of them in tokens, expected"),
        (("--encoder", encoder("roberta")), "found tokens of another tokenizer, expected that of"),
    ],
)
def test_examples_of_another_recipe_are_refused(prepared, gold, tmp_path, options, message):
    done = start(gold, tmp_path / "out", "--smoke", "--examples", prepared, *options)
    assert done.exit_code == 1
    assert done.output.splitlines()[-1].startswith(f"train.py: {prepared}: {message}")
    assert not (tmp_path / "out").exists()


def test_examples_are_not_replaced_unless_asked(prepared, gold):
    before = prepared.read_bytes()
    done = CliRunner().invoke(train.main, prepare_words(gold, prepared, "--smoke"))
    assert done.exit_code == 1 and "exists already" in done.output
    assert prepared.read_bytes() == before


@pytest.mark.parametrize("given", [(), ("-o", "a", "--prepare", "b")])
def test_a_run_is_written_or_its_examples(given):
    done = CliRunner().invoke(train.main, ["tagger", *given])
    line = "train.py: expected --out, with or without --examples, or --prepare alone"
    assert (done.exit_code, done.output.splitlines()) == (1, [line])


def test_a_finished_run_is_neither_resumed_nor_replaced(whole, gold):
    out, _ = whole
    before = files_of(out)
    for options in ((), ("--resume",)):
        done = start(gold, out, "--smoke", *options)
        assert (done.exit_code, done.output.splitlines()) == (
            1,
            [f"train.py: {out}: exists already, expected a new name (or --force to replace it)"],
        )
    assert files_of(out) == before


def test_a_run_is_not_replaced_until_another_is_finished(whole, gold, tmp_path):
    out = shutil.copytree(whole[0], tmp_path / "copy")
    before = files_of(out)
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, epoch=2)
        assert start(gold, out, "--smoke", "--force", "--seed", 1).exit_code == 130
    assert files_of(out) == before
    (row,) = metrics(partial_folder(out) / "state")
    assert row["loss"] != pytest.approx(metrics(whole[0])[0]["loss"], abs=1e-4)


@pytest.mark.slow
def test_the_mean_of_two_runs_is_written_without_training(whole, gold, tmp_path):
    other, out = tmp_path / "other", tmp_path / "mean"
    assert start(gold, other, "--smoke", "--seed", 5).exit_code == 0
    runs = [whole[0], other]
    given = [word for run in runs for word in ("--initialize-from", run)]
    done = start(gold, out, *SPLITS, "--epochs", 0, "--structure-epochs", 0, *given)
    assert (done.exit_code, done.exception) == (0, None)
    first, second = (read_checkpoint(run)[0].state_dict() for run in runs)
    assert not torch.equal(first["text.scores.weight"], second["text.scores.weight"])
    for name, weight in read_checkpoint(out)[0].state_dict().items():
        assert torch.allclose(weight, (first[name] + second[name]) / 2, atol=1e-6)
    assert record_of(out)["training"]["initialized from"] == " ".join(map(str, runs))


@pytest.mark.slow
def test_training_stops_when_dev_is_not_better(gold, tmp_path, monkeypatch):
    """A run that has stopped and is interrupted before it is finished does not train on."""
    monkeypatch.setattr(BestEpoch, "compare", lambda best, *given: BestEpoch(0, 0.5, 0.1, 0.5))
    finish_run, calls = train.finish_run, []

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return finish_run(*given)

    monkeypatch.setattr(train, "finish_run", interrupted)
    monkeypatch.setattr("miner.lab.training.tagger.run_folder.fit_start_offset", lambda *given: 0.7)
    given = (*SPLITS, "--structure-epochs", 1)
    given += ("--epochs", 6, "--patience", 1, "--chapters", 1)
    out = tmp_path / "out"
    assert start(gold, out, *given).exit_code == 130
    rows = metrics(partial_folder(out) / "state")
    assert [row["stage"] for row in rows] == ["structure", "gold", "gold"]
    assert start(gold, out, *given, "--resume").exit_code == 0
    assert metrics(out) == rows
    assert record_of(out)["training"]["best epoch"] == 1
    assert load_checkpoint(out).config.start_offset == 0.7


@pytest.mark.slow
def test_a_quantized_run_scores_what_it_stores(quantized, gold):
    found = weights(quantized)
    assert {value.dtype for value in found.values()} == {torch.int8, torch.float16}
    assert not any("layer.1." in name for name in found)
    assert [row["stage"] for row in metrics(quantized)] == ["gold"]
    tagger = load_checkpoint(quantized)
    assert isinstance(tagger.runtime, OnnxRuntime)
    config = tagger.config
    assert (config.context, config.paragraphs, config.features) == ("span", 4, False)
    record = record_of(quantized)
    assert set(record["scores"]) == {"sample", "sample, as tagged"}
    assert (record["training"]["augment"], record["training"]["chapters"]) == (0.0, 3)
    made = compare(gold, [("stored", tagger)], "sample", read=read_sample, resamples=1, seed=0)
    measures = made.rows[0].scores.total.end_to_end
    said = record["scores"]["sample"]["total"]["end_to_end"]["scores"]
    for unit in ("B-START.f1", "turn-pair.f1"):
        assert measures[unit].value == pytest.approx(said[unit]["value"], abs=0.1)


def test_a_frozen_encoder_stays_as_it_was(unexported):
    before = AutoModel.from_pretrained(encoder()).state_dict()
    after = read_checkpoint(unexported[0])[0].encoder.state_dict()
    for name, weight in after.items():
        scale = before[name].abs().max()
        assert torch.allclose(weight, before[name], atol=float(scale) / 100)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--structure-epochs", 0), "found --structure-epochs 0, expected 1 or more, or --no-f"),
        (("--without", "1324"), "found no book 1324 in split sample to leave out"),
        (("--without", "sample"), "found no book of split sample but those left out"),
        (("--window", 16), "found window 16 with margin 8, expected 19 or more"),
        (("--encoder-layers", 9), "found 9 layers to keep"),
        (("--weak", "nowhere.html"), "no such file"),
        (("--weak", "sample", "--weak-tagger", "gaps"), "no tagger 'gaps'"),
    ],
)
def test_what_cannot_be_trained_is_one_line(gold, tmp_path, options, message):
    given = (*SPLITS, "--epochs", 1)
    done = start(gold, tmp_path / "out", *given, *options)
    if not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 1
    line = done.output.splitlines()[-1]
    assert line.startswith("train.py: ") and message in line
    assert not (tmp_path / "out" / "run.json").exists()


def with_another_book(gold, tmp_path, page):
    """The annotations of the sample, and of a book 9 like it, whose edition is `page`."""
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


def test_chapters_that_the_edition_lacks_are_left_out_and_recorded(gold, tmp_path, monkeypatch):
    page = read_sample("").decode()
    second, third = (page.index(f'<h2><a id="chap0{n}">') for n in (2, 3))
    folder, books = with_another_book(gold, tmp_path, page[:second] + page[third:])
    records = []

    def noted(*given):
        records.append(given)
        raise ValueError("enough")

    monkeypatch.setattr(train, "build_run_record", noted)
    given = ("--train-split", "train", "--dev-split", "sample", "--books", books)
    done = start(folder, tmp_path / "out", *given)
    (told,) = [line for line in done.output.splitlines() if line.startswith("left out, ")]
    assert re.match(r"left out, 9, chapter 2: found 0 of \d+ annotated utterances in this ed", told)
    ((_, data, *_),) = records
    assert f"left out, {data['chapters left out']}" == told
    assert data["chapters"] == 4


def test_nothing_left_to_train_on_is_one_line(gold, tmp_path):
    page = "<html><body><p>“No.”</p></body></html>"
    folder, books = with_another_book(gold, tmp_path, page)
    given = ("--train-split", "train", "--dev-split", "sample", "--books", books)
    done = start(folder, tmp_path / "out", *given)
    line = f"train.py: {folder}: found no chapter of split train in the editions at hand"
    assert (done.exit_code, done.output.splitlines()[-1]) == (1, line)


def test_every_epoch_splits_other_paragraphs():
    examples = read_examples(ROOT / "annotations", "sample", read_sample).examples

    def texts(epoch, share):
        found = AugmentedChapters(examples, share, 0).version(epoch)
        assert [item.tags.tolist() for item in found] == [item.tags.tolist() for item in examples]
        return [[paragraph.text for paragraph in item.chapter.paragraphs] for item in found]

    assert texts(0, 0.6) == texts(0, 0.6) != texts(1, 0.6)
    assert texts(0, 0.0) == texts(1, 0.0) != texts(0, 0.6)


def test_a_step_follows_the_mean_loss_per_utterance_and_is_clipped(gold, tmp_path, monkeypatch):
    clip, norms = Accelerator.clip_grad_norm_, []

    def noted(self, parameters, largest):
        parameters = [p for p in parameters if p.grad is not None]
        norm = clip(self, parameters, largest)
        after = torch.cat([p.grad.flatten() for p in parameters]).norm()
        norms.append((norm.item(), after.item()))

    monkeypatch.setattr(Accelerator, "clip_grad_norm_", noted)
    monkeypatch.setattr(train, "finish_run", lambda *given: sys.exit(7))
    given = (*SPLITS, "--chapters", 2, "--epochs", 1)
    given += ("--augment", 0, "--dropout", 0, "--masked", 0, "--structure-epochs", 1)
    given += ("--speaker-weight", 20)  # large gradients
    assert start(gold, tmp_path / "out", *given).exit_code == 7
    config = train.TrainingConfig(
        encoder=str(encoder()), window=64, margin=8, projection=16, hidden=8, dropout=0, masked=0
    )
    model, tokenizer = new_model(config)
    unfreeze(model, Expert.TEXT, config)
    examples = list(read_examples(gold, "sample", read_sample).examples)
    random.Random(0).shuffle(examples)
    plain = plain_tokenizer(tokenizer.backend_tokenizer)
    chapters = ChapterEncoder(model, plain).encode(examples[:2])
    losses = [
        chapters_loss(
            [model(item.encoding, item.features, item.sequences, experts=[Expert.TEXT])],
            [item.tags],
            [item.speakers],
            config.start_weight,
            20.0,
        )
        for item in chapters
    ]
    assert len({len(item.tags) for item in chapters}) == 2
    (sum(losses) / sum(len(item.tags) for item in chapters)).backward()
    gradients = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
    _, (before, after) = norms  # of the structure, and of the text
    assert before == pytest.approx(torch.cat(gradients).norm().item(), rel=0.001)
    assert before > 1 and after == pytest.approx(1, abs=0.001)


@pytest.mark.slow
def test_two_processes_train_as_one_does_on_twice_as_many_chapters(gold, tmp_path):
    still = ("--dropout", 0, "--masked", 0, "--augment", 0, "--chapters", 4, "--epochs", 2)
    still += ("--head-rate", 0.02)  # large, so that unequal lengths of chapters would show
    still += (*SPLITS, "--structure-epochs", 1)
    still += ("--weak", DATA / "classic_pre.htm")  # two chapters
    assert start(gold, tmp_path / "one", *still).exit_code == 0  # two chapters a step
    one, out = metrics(tmp_path / "one"), tmp_path / "out"
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu"]
    launch += ["--num_processes", "2", "--num_machines", "1", "--mixed_precision", "no"]
    launch += ["--dynamo_backend", "no", str(ROOT / "train.py")]
    launch += words(gold, out, *still, "--batch", 1)
    settings = {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    options = {"capture_output": True, "text": True, "timeout": 600}
    done = subprocess.run(launch, env=os.environ | settings, **options)
    assert done.returncode == 0, done.stderr
    two = metrics(out)
    assert [row["stage"] for row in two] == STAGES
    for row, expected in zip(two, one, strict=True):
        name = "dev loss of structure" if row["stage"] == "structure" else "dev loss of text"
        assert row[name] == pytest.approx(expected[name], abs=0.0002)
    assert load_checkpoint(out).tag(sample())


def test_an_epoch_is_one_readable_line(whole):
    rows = [json.loads(line) for line in (whole[0] / "metrics.jsonl").read_bytes().splitlines()]
    for row in rows:
        line = train.describe_epoch(row)
        assert line.startswith(f"{row['stage']} epoch {row['epoch']}: loss ")
        assert len(line) < 120 and "None" not in line


@pytest.mark.slow
def test_a_smoke_run_needs_no_options_no_books_and_no_network():
    environment = {name: value for name, value in os.environ.items() if name != "MINER_BOOKS"}
    done = subprocess.run(
        [sys.executable, "train.py", "tagger", "--smoke"],
        cwd=ROOT,
        env=environment | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    out = Path(re.search(r"^wrote (.+), \d+ seconds in all$", done.stderr, re.M)[1])
    assert load_checkpoint(out).tag(sample())
    shutil.rmtree(out)
