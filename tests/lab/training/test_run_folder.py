"""Run folders: what an interrupted run is resumed from, and runs that are not resumed."""

import json
import math

import pytest
import torch
from encoders import sample

from heuristic.gap import GapTagger
from miner.errors import InputError
from miner.lab.training.tagger.examples import (
    AnnotatedExamples,
    digest_examples,
    examples_from_tagger,
)
from miner.lab.training.tagger.model_selection import BestEpoch
from miner.lab.training.tagger.run_folder import (
    RunState,
    begin_run,
    build_run_record,
    resume_run,
    write_state,
)
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.lab.training.tagger.training_data import build_data_record

EXAMPLES = examples_from_tagger(sample(), GapTagger(150))
DEV = AnnotatedExamples(tuple(EXAMPLES[:1]), (), ())


def record_of(*, examples=EXAMPLES, command="python train.py tagger -o a", n_processes=1, **given):
    config = TrainingConfig(**given)
    data = build_data_record(config, examples, DEV, [], ["1, chapter 2"])
    return build_run_record(config, data, torch.float32, n_processes, command)


def state_of(record):
    weight = torch.nn.Parameter(torch.arange(3.0))
    optimizer = torch.optim.AdamW([weight])
    weight.sum().backward()
    optimizer.step()
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1 / (n + 1))
    saved = {"weight": weight.detach()}, optimizer.state_dict(), schedule.state_dict()
    rows = [{"stage": "gold", "epoch": 1, "loss": 0.5, "dev B-START.f1": None}]
    return RunState("gold", 1, *saved, BestEpoch(0, 0.7, 0.2, 0.75), rows, record)


@pytest.fixture
def interrupted(tmp_path):
    """The folder of an interrupted run with the default choices."""
    out = tmp_path / "out"
    begin_run(out)
    write_state(out, state_of(record_of()))
    return out


def test_the_record_holds_all_that_decides_the_result():
    record = record_of(seed=3, weak=("sample",), without=("11", "12"), quantize=True)
    assert (record["seed"], record["left out"], record["quantize"]) == (3, "11 12", True)
    assert (record["chapters"], record["chapters left out"]) == (5, "1, chapter 2")
    assert record["utterances"] == sum(len(item.tags) for item in EXAMPLES)
    assert record["digest of the data"] == digest_examples(EXAMPLES)
    assert record["digest of dev"] == digest_examples(EXAMPLES[:1])
    assert (record["augment"], record["dtype"], record["test"]) == (0.6, "float32", "none")
    assert record["versions"]["torch"] == torch.__version__
    assert json.loads(json.dumps(record)) == record


def test_places_do_not_decide_the_result(tmp_path):
    assert record_of(books=tmp_path, vectors=tmp_path) == record_of()


def test_a_state_comes_back_as_it_was_written(interrupted):
    expected, found = state_of(record_of()), resume_run(interrupted, record_of(command="resumed"))
    assert torch.equal(found.model["weight"], expected.model["weight"])
    assert found.optimizer["param_groups"] == expected.optimizer["param_groups"]
    moments = found.optimizer["state"][0]["exp_avg"]
    assert torch.equal(moments, expected.optimizer["state"][0]["exp_avg"])
    for name in ("stage", "epoch", "schedule", "best", "rows", "record"):
        assert getattr(found, name) == getattr(expected, name)
    rows = (interrupted / "metrics.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(row) for row in rows] == expected.rows


def test_a_run_without_a_best_epoch_is_resumed(tmp_path):
    begin_run(tmp_path)
    state = state_of(record_of())
    write_state(tmp_path, RunState(**(as_dict(state) | {"best": BestEpoch()})))
    assert resume_run(tmp_path, record_of()).best == BestEpoch(-1, -1.0, math.inf, -1.0)


def as_dict(state):
    return {name: getattr(state, name) for name in RunState.__dataclass_fields__}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": 7}, "seed 0, expected 7"),
        ({"patience": 1}, "patience 2, expected 1"),
        ({"head_rate": 0.5}, "head_rate 0.002, expected 0.5"),
        ({"hidden": 4}, "hidden 128, expected 4"),
        ({"examples": EXAMPLES[:2]}, "chapters 5, expected 2"),
        ({"quantize": True}, "quantize False, expected True"),
        ({"augment": 0.0}, "augment 0.6, expected 0.0"),
        ({"test_split": "test"}, "test none, expected test"),
        ({"resamples": 21}, "resamples 1000, expected 21"),
        ({"n_processes": 2}, "processes 1, expected 2"),
    ],
)
def test_a_run_is_not_resumed_with_other_choices(interrupted, given, message):
    with pytest.raises(InputError) as error:
        resume_run(interrupted, record_of(**given))
    assert f"{interrupted}: found a run with {message} " in str(error.value)


def test_a_folder_without_a_state_is_not_resumed(tmp_path):
    with pytest.raises(InputError) as error:
        resume_run(tmp_path, record_of())
    message = f"{tmp_path}: found no state.pt, expected an interrupted run to resume"
    assert str(error.value) == message


def test_a_damaged_state_is_refused(interrupted):
    state = (interrupted / "state.pt").read_bytes()
    (interrupted / "state.pt").write_bytes(state[: len(state) // 2])
    with pytest.raises(InputError) as error:
        resume_run(interrupted, record_of())
    assert str(error.value).startswith(f"{interrupted / 'state.pt'}: cannot be read (")
    assert str(error.value).endswith("); `force=True` starts again")


def test_a_state_of_an_older_version_is_refused(interrupted):
    torch.save({"epoch": 1}, interrupted / "state.pt")
    with pytest.raises(InputError, match="a state of an older version; `force=True` starts again"):
        resume_run(interrupted, record_of())


def test_a_state_is_replaced_as_a_whole(interrupted, monkeypatch):
    def stopped(saved, path):
        path.write_bytes(b"half a state")
        raise KeyboardInterrupt

    before = (interrupted / "state.pt").read_bytes()
    monkeypatch.setattr(torch, "save", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_state(interrupted, state_of(record_of()))
    assert (interrupted / "state.pt").read_bytes() == before


def test_a_new_run_deletes_the_files_of_an_older_one_and_no_others(interrupted):
    for name in ("config.json", "model.safetensors", "tokenizer.json", "run.json", "README.md"):
        (interrupted / name).write_text("old")
    (interrupted / "notes.txt").write_text("mine")
    begin_run(interrupted)
    assert [path.name for path in interrupted.iterdir()] == ["notes.txt"]
