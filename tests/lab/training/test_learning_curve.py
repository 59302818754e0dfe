"""The learning curve, from the records of training runs."""

import json

import pytest

from miner.errors import InputError
from miner.lab.training.tagger.learning_curve import Learned, read_learning_curve
from miner.score import Score


def a_run(folder, chapters, value, low=None, high=None):
    folder.mkdir()
    score = {"value": value, "low": low, "high": high}
    scores = {"total": {"end_to_end": {"scores": {"turn-pair.f1": score}}}}
    record = {"training": {"chapters": chapters}, "scores": {"dev": scores}}
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    return folder


def test_runs_of_the_same_number_of_chapters_are_one_point(tmp_path):
    runs = [
        a_run(tmp_path / "a", 24, 0.8, 0.7, 0.9),
        a_run(tmp_path / "b", 6, 0.5, 0.4, 0.55),
        a_run(tmp_path / "c", 24, 0.6, 0.45, 0.7),
    ]
    six, twenty_four = read_learning_curve(runs, "dev")
    assert (six.n_chapters, six.values, six.mean, six.interval) == (6, (0.5,), 0.5, (0.4, 0.55))
    assert (twenty_four.n_chapters, twenty_four.values) == (24, (0.8, 0.6))
    assert twenty_four.mean == pytest.approx(0.7)
    assert twenty_four.interval == (0.45, 0.9)


def test_a_run_without_an_interval_counts_as_its_value():
    point = Learned(3, (Score(0.5, 0.4, 0.6), Score(0.8, None, None)))
    assert point.interval == (0.4, 0.8)
    assert Learned(3, (Score(None, None, None),)).interval == (0.0, 0.0)


def test_an_unfinished_run_is_refused(tmp_path):
    run = a_run(tmp_path / "a", 5, 0.5)
    with pytest.raises(InputError, match="run.json: found scores of dev, expected test"):
        read_learning_curve([run], "test")
    with pytest.raises(InputError, match="run.json: found no measure pk, expected one such as"):
        read_learning_curve([run], "dev", "pk")
    for text, part in (
        ("{", "found bad JSON"),
        ('{"miner": "1"}', "found no scores"),
        ("[]", "no"),
    ):
        (run / "run.json").write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=part):
            read_learning_curve([run], "dev")
    with pytest.raises(InputError, match="found no run, expected folders"):
        read_learning_curve([], "dev")
    with pytest.raises(FileNotFoundError):
        read_learning_curve([tmp_path / "gone"], "dev")
