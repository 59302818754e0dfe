"""What commands write: never to an input, a link, a pipe or a device; and closed streams."""

import os
import shutil
import subprocess
import sys

import click
import pytest
from helpers import ANNOTATIONS, DATA, ROOT, SAMPLE, annotations_of_sample, failed
from helpers import run as command

from miner.app.cli.command import Command
from miner.app.cli.main import main
from miner.app.cli.options import OutputPath
from miner.lab.app.cli.training import KindGroup

MINED = ("--tagger", "gap")
GOLD = ("--gold", ANNOTATIONS, "--split", "sample")
# Each command that writes a file, with the words before the option that names the file.
WRITERS = {
    "tag": ("sample", *MINED, "-o"),
    "view": ("sample", *MINED, "-o"),
    "gold tasks": ("sample", "--chapter", "1", "-o"),
    "gold export": (*GOLD, "--format", "tags", "-o"),
    "gold trust": (*GOLD, *MINED, "-o"),
    "gold confidence": (*GOLD, *MINED, "--plot"),
    "speakers": (*GOLD, *MINED, "--errors", "1", "-o"),
}


def commands(group, *names):
    """Each command of a group and of the groups in it, by its words; not the kinds of a training.

    To import all that is trained takes long. One function makes the commands of the kinds.
    """
    for name, one in group.commands.items() if not isinstance(group, KindGroup) else ():
        if isinstance(one, click.Group):
            yield from commands(one, *names, name)
        else:
            yield " ".join((*names, name)), one


def test_every_command_compares_its_outputs_with_its_inputs():
    found = dict(commands(main))
    assert all(isinstance(one, Command) for one in found.values())
    for name, one in found.items():
        for param in one.params:
            is_output = {"-o", "--plot", "--plots", "--log"} & set(param.opts)
            assert isinstance(param.type, OutputPath) == bool(is_output), (name, param.name)
    assert set(WRITERS) < set(found)


@pytest.mark.parametrize("kind", ["link", "pipe", "device"])
@pytest.mark.parametrize("name", WRITERS)
def test_what_is_no_plain_file_is_refused_before_any_work(tmp_path, monkeypatch, name, kind):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out.png"
    target = tmp_path / "theirs"
    target.write_text("theirs")
    if kind == "pipe":
        os.mkfifo(out)
    else:
        out.symlink_to("/dev/null" if kind == "device" else target)
    before = out.lstat().st_ino, out.lstat().st_mtime_ns
    line = failed(*name.split(), *WRITERS[name], out, "--force")
    assert line.startswith(f"{out}: found a ")
    assert (out.lstat().st_ino, out.lstat().st_mtime_ns) == before
    assert target.read_text() == "theirs"


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder with inputs of commands, in which they run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "books").mkdir()
    (tmp_path / "pairs").mkdir()
    for path in ("7-h.htm", "books/11-h.htm"):
        shutil.copy(SAMPLE, path)
    annotations_of_sample(tmp_path / "gold")
    for path in ("some.tags", "people.jsonl", "pairs/train.csv", "exported.json", "recipe.toml"):
        (tmp_path / path).write_text("theirs")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "tag 7-h.htm -o 7-h.htm",
        "tag ./7-h.htm -o books/../7-h.htm",
        "tag 11 --books books -o books/11-h.htm",
        "tag sample --tagger some.tags -o some.tags",
        "tag sample --characters people.jsonl -o people.jsonl",
        "view 7-h.htm -o 7-h.htm",
        "view sample --tagger gap --tagger some.tags -o some.tags",
        "view sample --gold gold -o gold/books.jsonl",
        "gold tasks 7-h.htm --chapter 1 -o 7-h.htm",
        "gold export --gold gold --format tags -o gold/books.jsonl",
        "gold trust --gold gold --tagger some.tags -o some.tags",
        "gold confidence --gold gold --tagger gap --plot gold/books.jsonl",
        "gold import exported.json -o exported.json",
        "speakers --gold gold --errors 1 -o gold/books.jsonl",
        "generation answer pairs pairs/train.csv -o pairs/train.csv",
        "selection train tf-idf pairs/train.csv:train -o pairs/train.csv",
        "mine 7-h.htm -o mined --log 7-h.htm",
        "mine 11 --books books -o mined --log books/11-h.htm",
        "mine books -o mined --log books/11-h.htm",
        "mine sample --characters people.jsonl -o mined --log people.jsonl",
        "build recipe.toml -o corpus --log recipe.toml",
    ],
)
def test_no_input_is_replaced_or_appended_to(shelf, words):
    before = {path: path.is_file() and path.read_bytes() for path in shelf.rglob("*")}
    *_, output = words.split()
    force = () if "--log" in words else ("--force",)
    line = failed(*words.split(), *force)
    assert line == f"{output}: found an input, expected another output"
    assert {path: path.is_file() and path.read_bytes() for path in shelf.rglob("*")} == before


def test_a_log_in_a_folder_of_books_and_a_measurement_beside_a_checkpoint_are_outputs(shelf):
    (shelf / "books" / "mined.log").write_text("earlier\n")
    words = ("mine", "books", "-q", *MINED, "-o", "mined", "--log", "books/mined.log")
    assert command(*words).exit_code == 0
    assert (shelf / "books" / "mined.log").read_text().startswith("earlier\n")
    (shelf / "gold" / "trust.json").write_text("earlier")
    assert (
        "found an input"
        not in command(
            "gold",
            "trust",
            "--gold",
            "gold",
            "--tagger",
            "none",
            "-o",
            "gold/trust.json",
            "--force",
        ).stderr
    )


SHORT = DATA / "dash.htm"
# A command of each kind, which prints something or shows a bar.
QUIET = {
    "mine": ("mine", SHORT, *MINED, "-o", "out"),
    "tag": ("tag", SHORT, *MINED),
    "view": ("view", SHORT, *MINED, "-o", "page.html"),
    "profile": ("profile", "sample"),
    "languages": ("gold", "languages", *map(str, GOLD), *MINED),
    "refused": ("tag", "nowhere.htm"),
    "help": ("--help",),
}


@pytest.mark.parametrize("closed", ["stdin", "stdout", "stderr"])
@pytest.mark.parametrize("name", QUIET)
def test_a_closed_stream_changes_nothing(tmp_path, monkeypatch, name, closed):
    monkeypatch.chdir(tmp_path)
    expected = "refused" == name
    with monkeypatch.context() as context:
        context.setattr(sys, closed, None)
        with pytest.raises(SystemExit) as ended:
            main.main([*map(str, QUIET[name])])
        assert not getattr(sys, closed).close()
    assert ended.value.code == expected
    assert (tmp_path / QUIET[name][-1]).exists() == (name in ("mine", "view"))


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    "program",
    [
        "-m miner tag tests/data/dash.htm --tagger gap -o out",
        pytest.param("train.py -h", marks=pytest.mark.slow),
    ],
)
def test_a_process_without_streams_writes_its_files(tmp_path, program, closed):
    line = f"{sys.executable} {program.replace(' out', f' {tmp_path}/out')} {closed}"
    done = subprocess.run(["sh", "-c", line], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    if "-o" in program:
        assert (tmp_path / "out").read_text().endswith("}\n")
