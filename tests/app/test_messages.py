"""Messages of the library name its arguments, and the command line its options in their place."""

import ast
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from helpers import failed

import miner
from miner.app.cli.command import CommandGroup, name_options
from miner.app.cli.main import main
from miner.errors import InputError
from miner.lab.app.cli.options import config_options
from miner.lab.learning.network_training import NetworkRun
from miner.lab.training.encoders.making import EncoderConfig
from miner.lab.training.tagger.training_config import TrainingConfig

PACKAGE = Path(miner.__file__).parent
MODULES = [
    path for path in sorted(PACKAGE.rglob("*.py")) if "app" not in path.relative_to(PACKAGE).parts
]
_OPTION = re.compile(r"(?<![\w-])--[a-z]")


def messages(path):
    """The texts of a module, but for docstrings, the help of options, and whole commands."""
    source = path.read_text()
    if not _OPTION.search(source) and "=`" not in source and "=True`" not in source:
        return
    tree, skipped = ast.parse(source), set[ast.AST]()
    for node in ast.walk(tree):
        is_help = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Option"
        if is_help or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            skipped |= set(ast.walk(node))
    for node in ast.walk(tree):
        if node not in skipped and isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.sub(r"`(miner|python train.py) [^`]*(`|$)", "", node.value)  # or an f-string


def test_no_message_of_the_library_names_an_option():
    found = [text for path in MODULES for text in messages(path) if _OPTION.search(text)]
    assert not found, "name the argument, as `force=True`; the command line names its option"


def options_of(command):
    names = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    return names.union(*(options_of(one) for one in getattr(command, "commands", {}).values()))


def test_every_argument_in_a_message_is_an_option_of_a_command():
    known = options_of(main)
    for config in (TrainingConfig, EncoderConfig, NetworkRun):  # of train.py
        command = config_options(config)(lambda: None)
        known |= {name for option in command.__click_params__ for name in option.opts}
        known |= {name for option in command.__click_params__ for name in option.secondary_opts}
    named = {
        name_options(argument).split()[0]
        for path in MODULES
        for text in messages(path)
        for argument in re.findall(r"`\w+=(?:True|False)?`", re.sub("=$", "=`", text))
    }
    assert len(named) > 15
    assert named <= known, "a message names an argument that no command has as an option"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("a: exists (or `force=True` to replace it)", "a: exists (or --force to replace it)"),
        ("or `features=False`; `out=`", "or --no-features; --out"),
        ("found `top_p=2.0` and `heads=4`", "found --top-p 2.0 and --heads 4"),
        ("replaces the output of `mine`; `read`", "replaces the output of `mine`; `read`"),
    ],
)
def test_the_command_line_names_options(message, shown):
    assert name_options(message) == shown


@pytest.mark.parametrize("kind", [InputError, OSError, RuntimeError, KeyboardInterrupt])
def test_notes_on_every_kind_of_error_name_options(kind):
    def fail():
        error = kind("the work")
        error.add_note("1 book is kept, `resume=True` continues")
        raise error

    group = CommandGroup(commands=[click.Command("fail", callback=fail)])
    done = CliRunner().invoke(group, ["fail"])
    notes = getattr(done.exception, "__notes__", [])
    assert "--resume continues" in done.stderr + "".join(notes)
    assert "`resume=True`" not in done.stderr + "".join(notes)


def test_an_error_names_the_argument_in_python_and_the_option_in_the_terminal(tmp_path):
    (tmp_path / "mined").mkdir()
    (tmp_path / "mined" / "run.json").write_text("{}")
    with pytest.raises(InputError, match="`force=True`"):
        miner.mine_corpus("sample", tmp_path / "mined")
    assert "(or --force to replace it)" in failed("mine", "sample", "-o", tmp_path / "mined")
