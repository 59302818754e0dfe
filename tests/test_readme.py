"""What the README shows is what the commands print, and it names no command that is not there."""

import re
import tomllib
from pathlib import Path

import pytest
from benchmarks import rows
from click.testing import CliRunner
from helpers import BOOKS, CORPUS, SEED

import train
from miner.app.cli.main import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DATASHEET = (ROOT / "annotations" / "DATASHEET.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```console\n\$ miner (.+)\n((?:.*\n)*?)```", README + DATASHEET)
FOLDERS = {"BOOKS": BOOKS, "PDNC": CORPUS, "SEED": SEED, "annotations": ROOT / "annotations"}


def plain(text):
    """Without trailing blanks and empty lines, which a table is padded with."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=[command for command, _ in SHOWN])
def test_output_shown_is_output_printed(command, shown, tmp_path, monkeypatch, recwarn):
    words = command.split()
    for name, folder in FOLDERS.items():
        if name in words and not folder.is_dir():
            pytest.skip(f"needs {name}: {folder}")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, [str(FOLDERS.get(word, word)) for word in words])
    assert (done.stderr, done.exit_code) == ("", 0)
    assert not [warning for warning in recwarn if issubclass(warning.category, UserWarning)]
    printed = done.stdout
    for name, folder in FOLDERS.items():
        printed = printed.replace(folder.name + ",", f"{name},") if name == "SEED" else printed
    assert plain(printed) == plain(shown)


def test_the_first_command_is_shown_with_its_output():
    assert SHOWN
    assert SHOWN[0][0] == "mine sample -o mined"


def test_every_command_is_named_and_every_named_command_exists():
    named = set(re.findall(r"`(?:\$ )?miner (\w+)", README))
    assert named == set(main.commands)
    named = set(re.findall(r"miner gold (\w+)", README + DATASHEET))
    assert named == set(main.commands["gold"].commands)


def test_options_named_exist():
    commands = [*main.commands.values(), *main.commands["gold"].commands.values()]
    commands += [train.main, rows.main]
    options = {flag for command in commands for p in command.params for flag in p.opts}
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]+", README + DATASHEET))
    assert named <= options


def test_python_and_dependencies_say_why():
    """Each dependency is chosen on purpose, and the line says so."""
    tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = re.findall(r'^    "[a-z].*', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert lines
    assert all(
        "#" in line or '"pytest>=' in line or "ruff" in line or "pyright" in line for line in lines
    )
