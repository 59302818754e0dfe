"""The output of `miner mine` is there whole or not at all, and what was there before is safe."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from miner.app.cli.main import main
from miner.corpus.schema import KINDS

EXISTS = "exists already, expected a new name (or --force to replace it)"


def mine(out, *words):
    done = CliRunner().invoke(
        main, ["mine", "sample", "-q", "--tagger", "gap", "-o", str(out), *words]
    )
    assert done.stdout == ""
    return done.exit_code, done.stderr


def test_an_existing_output_is_refused_before_any_work_and_unchanged(tmp_path):
    out = tmp_path / "out"
    assert mine(out) == (0, "")
    before = state(out)
    assert mine(out, "gone.html", "--tagger", "gap:9") == (1, f"miner: {out}: {EXISTS}\n")
    assert state(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_force_replaces_all_of_an_earlier_run_and_nothing_else(tmp_path):
    out = tmp_path / "out"
    assert mine(out) == (0, "")
    (out / "notes.txt").write_text("mine")
    (out / "other.jsonl").write_text("mine, too")
    before = state(out)
    assert mine(out, "--force", "--tagger", "gap:9") == (0, "")
    after = state(out)
    assert json.loads(after["run.json"])["options"]["tagger"] == "gap:9"
    assert after["pairs.jsonl"] != before["pairs.jsonl"]
    assert mine(out, "--force", "--format", "parquet") == (0, "")
    kinds = [f"{kind}.parquet" for kind in KINDS]
    assert sorted(state(out)) == sorted(
        ["README.md", "run.json", "notes.txt", "other.jsonl", *kinds]
    )
    assert state(out)["notes.txt"] == b"mine"
    assert b"pairs.parquet" in state(out)["README.md"]


def test_force_does_not_touch_a_folder_of_something_else(tmp_path):
    (tmp_path / "README.md").write_text("# My work")
    code, error = mine(tmp_path, "--force")
    assert (code, len(error.splitlines())) == (1, 1)
    assert "no run.json of an earlier run" in error
    assert state(tmp_path) == {"README.md": b"# My work"}
    (tmp_path / "run.json").write_text('{"epochs": 3}')
    assert mine(tmp_path, "--force")[0] == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("file/out", "cannot be written: Not a directory"),
        ("file", EXISTS),
        ("link", EXISTS),
        ("n" * 300, "File name too long"),
    ],
)
def test_a_folder_that_cannot_be_made(tmp_path, name, reason):
    (tmp_path / "file").write_text("kept")
    (tmp_path / "link").symlink_to("nowhere")
    assert mine(tmp_path / name) == (1, f"miner: {tmp_path / name}: {reason}\n")
    assert (tmp_path / "file").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


@pytest.mark.parametrize("is_link", [False, True])
def test_force_does_not_turn_a_file_into_a_folder(tmp_path, is_link):
    out = tmp_path / "out"
    if is_link:
        out.symlink_to("nowhere")
    else:
        out.write_text("kept")
    code, error = mine(out, "--force")
    assert (code, error) == (1, f"miner: {out}: found a file, expected the name of a folder\n")
    assert [*tmp_path.iterdir()] == [out] and (is_link or out.read_text() == "kept")


def test_an_unwritable_disk(tmp_path):
    proc = Path("/proc/self/out")
    if not proc.parent.is_dir():
        pytest.skip("no file system here that nobody can write to")
    code, error = mine(proc)
    assert code == 1
    assert error.startswith(f"miner: {proc}: cannot be written: ")
    assert len(error.splitlines()) == 1


def state(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}
