"""The record of a run, and runs that are not resumed."""

import json

import pytest
import torch
from encoders import sample

from heuristic.gap import GapTagger
from miner.errors import InputError
from miner.lab.learning.run_folder import run_folder
from miner.lab.training.tagger.run_folder import build_run_record
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.lab.training.tagger.training_data import (
    AnnotatedExamples,
    build_data_record,
    digest_examples,
    examples_from_tagger,
)

EXAMPLES = examples_from_tagger(sample(), GapTagger(150))
DEV = AnnotatedExamples(tuple(EXAMPLES[:1]), (), ())


def record_of(*, examples=EXAMPLES, command="python train.py tagger -o a", n_processes=1, **given):
    config = TrainingConfig(**given)
    data = build_data_record(config, examples, DEV, [], ["1, chapter 2"])
    return build_run_record(config, data, torch.float32, n_processes, command)


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
def test_a_run_is_not_resumed_with_other_choices(tmp_path, given, message):
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        with begun(out, record_of()) as folder:
            (folder.state / "state.pt").touch()
            raise KeyboardInterrupt
    with pytest.raises(InputError) as error:
        with begun(out, record_of(**given), resume=True):
            pass
    assert f"{out}.partial: found a run with {message} " in str(error.value)


def begun(out, record, resume=False):
    return run_folder(out, "run.json", record, resume=resume, force=False)
