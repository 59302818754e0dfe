"""The output of `miner mine` is there whole or not at all, and what was there before is safe."""

import json
import os
import re
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers import DATA

from miner.app.cli.main import main
from miner.corpus.export import describe_formats, find_format
from miner.corpus.output import OutputFolder
from miner.corpus.schema import KINDS
from miner.errors import InputError
from miner.files import digest_of

EXISTS = "exists already, expected a new name (or --force to replace it)"
SHORT = str(DATA / "single_curly.html")


def mine(out, *words):
    done = CliRunner().invoke(
        main, ["mine", SHORT, "-q", "--tagger", "gap", "-o", str(out), *words]
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
    (out / "index.json").write_text("mine, and of a name that a format has")
    before = state(out)
    assert mine(out, "--force", "--tagger", "gap:9") == (0, "")
    after = state(out)
    assert json.loads(after["run.json"])["options"]["tagger"] == "gap:9"
    assert after["pairs.jsonl"] != before["pairs.jsonl"]
    theirs = {"notes.txt", "other.jsonl", "index.json"}
    assert mine(out, "--force", "--format", "parquet") == (0, "")
    files = {f"{kind}.parquet" for kind in KINDS}
    assert set(state(out)) == {"README.md", "run.json", *theirs, *files}
    assert {name: state(out)[name] for name in theirs} == {name: before[name] for name in theirs}
    assert b"pairs.parquet" in state(out)["README.md"]


def write(out, format):
    """An output without any book."""
    with OutputFolder(out, force=True) as folder:
        folder.finish([], format, {"miner": "0", "options": {"format": format}})


def test_force_leaves_no_file_of_the_format_that_was_there(tmp_path):
    out = tmp_path / "out"
    for format in ("convokit", "chat", "csv", "convokit", "jsonl", "parquet", "csv", "jsonl"):
        write(out, format)
        files = find_format(format).files
        assert set(state(out)) == {"README.md", "run.json", *files}
        assert all(f"| `{name}` | {about}" in card(out) for name, about in files.items())
        assert set(json.loads(state(out)["run.json"])["files"]) == {*files, "README.md"}


def test_the_card_names_the_files_that_hold_rows(tmp_path):
    loaded = {}
    for format in describe_formats():
        write(tmp_path / format, format)
        names = re.findall(
            r"config_name: (.*)\n +data_files: (.*)\n( +default: true)?", card(tmp_path / format)
        )
        loaded[format] = [name + "!" * bool(default) for _, name, default in names]
        assert all(config == name.partition(".")[0] for config, name, _ in names)
    assert loaded == {
        "chat": ["chat.jsonl!"],
        "convokit": ["utterances.jsonl!"],
        "csv": ["spans.csv", "turns.csv", "pairs.csv!", "characters.csv"],
        "examples": ["examples.jsonl!"],
        "jsonl": ["spans.jsonl", "dialogues.jsonl", "pairs.jsonl!", "characters.jsonl"],
        "parquet": [
            *("spans.parquet", "dialogues.parquet", "pairs.parquet!", "characters.parquet")
        ],
        "parlai": ["dialogues.txt!"],
        "text": ["dialogues.txt!"],
        "ubuntu": ["triples.csv!", "rankings.csv"],
    }


def card(out):
    return (out / "README.md").read_text()


def link(path, outside):
    path.unlink()
    path.symlink_to(outside)


def link_parent(path, outside):
    """A folder outside, with a file of the digest that the record has."""
    os.rename(path, outside.parent / path.name)
    path.parent.rmdir()
    path.parent.symlink_to(outside.parent)


# What may lie where a run wrote a file: none of it is the run's any more.
OTHERS = {
    "changed": lambda path, _: path.write_bytes(path.read_bytes() + b"corrected"),
    "link": link,
    "folder": lambda path, _: [path.unlink(), path.mkdir()],
    "pipe": lambda path, _: [path.unlink(), os.mkfifo(path)],
    "linked folder": link_parent,
}


@pytest.mark.parametrize("when", ["before", "meanwhile"])
@pytest.mark.parametrize("name", ["characters.jsonl", "README.md", "csv/turns/train.csv"])
@pytest.mark.parametrize("other", OTHERS)
def test_force_removes_and_replaces_what_a_run_wrote_and_nothing_else(tmp_path, other, name, when):
    out, outside = tmp_path / "out", tmp_path / "outside" / "theirs"
    outside.parent.mkdir()
    outside.write_text("theirs")
    file = out / name
    if other == "linked folder" and file.parent == out:
        pytest.skip("a file of the folder itself")
    write_files(out, name, "pairs.jsonl")
    if when == "before":
        OTHERS[other](file, outside)
    before = everything(tmp_path)
    with pytest.raises(InputError, match="that is kept; expected nothing in the way"):
        with OutputFolder(out, force=True) as folder:
            if when == "meanwhile":
                OTHERS[other](file, outside)
                before = everything(tmp_path)
            (folder.output / file.parent.relative_to(out)).mkdir(parents=True)
            (folder.output / name).write_text("new")
            (folder.output / "run.json").write_text("{}")
            folder.put_in_place()
    assert everything(tmp_path) == before


def write_files(out, *names):
    """The output of a run that wrote these files."""
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(name)
    files = {name: digest_of(out / name) for name in names}
    (out / "run.json").write_text(json.dumps({"miner": "0", "files": files}))


def everything(folder):
    paths = (path for path in folder.rglob("*") if "out.partial" not in path.parts)
    return {
        path: os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
        for path in paths
    }


@pytest.mark.parametrize("name", ["../theirs", "/theirs", "lnk/theirs", "", ".", "x\0", "\ud800"])
def test_a_record_of_somebody_else_names_nothing_outside(tmp_path, name):
    out = tmp_path / "out"
    (tmp_path / "theirs").write_text("theirs")
    write_files(out, "pairs.jsonl")
    (out / "lnk").symlink_to(tmp_path)
    record = json.loads((out / "run.json").read_bytes())
    record["files"][name] = digest_of(tmp_path / "theirs")
    (out / "run.json").write_text(json.dumps(record))
    with suppress(InputError):
        write(out, "text")
    assert (tmp_path / "theirs").read_text() == "theirs"


@pytest.mark.parametrize("words", [("--force",), ("--resume",), ("--force", "--resume")])
@pytest.mark.parametrize("is_changed", [False, True])
def test_a_list_of_characters_is_not_lost_by_mining_into_its_folder(tmp_path, words, is_changed):
    out = tmp_path / "out"
    assert mine(out) == (0, "")
    given = out / "characters.jsonl"
    if is_changed:
        row = given.read_text().splitlines()[0]
        given.write_text(row + "\n")
    before = state(out)
    for more in ((), ("--characters", str(given))):
        if not (is_changed or more):
            continue
        code, error = mine(out, *words, *more)
        assert (code, len(error.splitlines())) == (1, 1)
        assert state(out) == before


@pytest.mark.parametrize(
    "options", [None, [], {}, {"format": ["csv"]}, {"format": "../csv"}, {"format": "xml"}]
)
def test_force_removes_nothing_of_a_run_of_an_unknown_format(tmp_path, options):
    (tmp_path / "run.json").write_text(json.dumps({"miner": "9", "options": options}))
    (tmp_path / "pairs.csv").write_text("kept")
    write(tmp_path, "jsonl")
    assert state(tmp_path)["pairs.csv"] == b"kept" and "pairs.jsonl" in state(tmp_path)


def test_force_does_not_touch_a_folder_of_something_else(tmp_path):
    (tmp_path / "README.md").write_text("# My work")
    code, error = mine(tmp_path, "--force")
    assert (code, len(error.splitlines())) == (1, 1)
    assert "no run.json of an earlier run" in error
    assert state(tmp_path) == {"README.md": b"# My work"}
    for record in ('{"epochs": 3}', "[" * 100_000, "7" * 5_000, "[]"):
        (tmp_path / "run.json").write_text(record)
        code, error = mine(tmp_path, "--force")
        assert (code, len(error.splitlines())) == (1, 1)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("file/out", "cannot be written: Not a directory"),
        ("file", EXISTS),
        ("link", "found a link, expected a plain file or a new name"),
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
    found = "link, expected a plain file or a new name" if is_link else "file, expected the name"
    assert code == 1 and error.startswith(f"miner: {out}: found a {found}")
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
