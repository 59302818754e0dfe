"""The tables of trained rows: which runs they take, and what they say of them."""

import json
import shlex

import pytest
from benchmarks import rows
from click.testing import CliRunner

SIGNATURE = "gold:15-files@01234567|split:test"
UNITS = ("B-START", "turn-pair", "span-pair")


def write_run(out, row, seed, f1, chapters=9, options=None, signature=SIGNATURE):
    """The record of a run of a row of the table of the test split."""
    value = {"value": f1, "low": f1 - 0.05, "high": f1 + 0.05}
    figures = {f"{unit}.{part}": value for unit in UNITS for part in rows.PARTS}
    words = rows.TABLES["test"][row] if options is None else options
    record = {
        "training": {"command": shlex.join(["python", "train.py", *words]), "chapters": chapters},
        "scores": {
            "dev": {},
            "test": {"signature": signature, "total": {"end_to_end": {"scores": figures}}},
        },
    }
    folder = rows.folder_of(out, row, seed)
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(record), "utf-8")
    return folder


def printed(out, *words):
    return CliRunner().invoke(rows.main, ["test", "--print", "-o", str(out), *words])


def test_a_row_is_the_mean_of_its_runs(tmp_path):
    write_run(tmp_path, "six layers", 0, 0.75)
    write_run(tmp_path, "six layers", 1, 0.85, chapters=1010)
    write_run(tmp_path, "the MCN variant", 0, 0.5)
    done = printed(tmp_path)
    assert done.exit_code == 0
    means = "0.800 / 0.800 / 0.800 (0.750–0.850) [0.70–0.80]"
    one = "0.500 / 0.500 / 0.500 [0.45–0.55]"
    assert done.stdout.splitlines()[2:] == [
        f"| six layers | 2 | 9–1,010 | {means} | {means} | {means} |",
        f"| the MCN variant | 1 | 9 | {one} | {one} | {one} |",
    ]


def test_runs_that_are_not_of_the_row_are_refused(tmp_path):
    other = ("--encoder-layers", "4", "--epochs", "7", "--quantize")
    folder = write_run(tmp_path, "shipped checkpoint", 0, 0.75, options=other)
    done = printed(tmp_path)
    assert done.exit_code == 1
    assert done.stderr == f"Error: {folder}: found a run without --epochs 4\n"


def test_a_run_without_a_flag_is_refused(tmp_path):
    options = rows.SHIPPED[:-1]
    folder = write_run(tmp_path, "shipped checkpoint", 0, 0.75, options=options)
    assert printed(tmp_path).stderr == f"Error: {folder}: found a run without {rows.SHIPPED[-1]}\n"


def test_rows_of_one_name_are_one_run(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(rows.subprocess, "run", lambda command, check: commands.append(command))
    for table, words in [("test", ()), ("ablations", rows.SCORED)]:
        given = [f"--row={name}" for name in words] + ["--seeds", "2"]
        done = CliRunner().invoke(rows.main, [table, "-o", str(tmp_path), *given])
        assert done.exit_code == 0
    assert commands[: len(commands) // 2] == commands[len(commands) // 2 :] != []


@pytest.mark.parametrize("row", ["six layers", "the MCN variant"])
def test_runs_that_were_scored_on_other_gold_are_refused(tmp_path, row):
    write_run(tmp_path, "shipped checkpoint", 0, 0.75)
    folder = write_run(tmp_path, row, 0, 0.75, signature="gold:15-files@89abcdef|split:test")
    done = printed(tmp_path)
    assert done.exit_code == 1
    assert done.stderr.startswith(f"Error: {folder}: found scores of gold:15-files@89abcdef|")
    assert "expected gold:15-files@01234567" in done.stderr


def test_weak_labels_are_of_books_that_judge_nothing():
    weak = [word.removeprefix("--weak=") for word in rows.WEAK]
    assert len(weak) > 15 and {rows.ENGLISH[book].split for book in weak} == {"train"}
