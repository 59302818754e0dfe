"""What the help shows: examples that work, names that the shell completes, versions."""

import re
import shlex
import subprocess
import sys

import click
import pytest
from click.shell_completion import ShellComplete
from helpers import ANNOTATIONS, BOOKS, CORPUS, run, said

from miner import __version__
from miner.app.cli.main import main
from miner.tagger.load import AUTO, SHIPPED, find_registered_taggers

COMMANDS = {(name,): command for name, command in main.commands.items()}
COMMANDS |= {
    (group, name): one
    for group in ("gold", "selection", "generation")
    for name, one in main.commands[group].commands.items()
}
GROUPS = [(), ("gold",), ("selection",), ("generation",)]
PLACES = {"PDNC": CORPUS, "DIR": BOOKS}


def examples_of(command):
    """The lines of a help that are commands, each without the remark behind it."""
    lines = [line.strip() for line in command.help.splitlines()]
    return [re.split(" {2,}", line)[0] for line in lines if line.startswith("miner ")]


EXAMPLES = {path: examples_of(command) for path, command in {(): main, **COMMANDS}.items()}
ALL = [example for found in EXAMPLES.values() for example in found]


def words_of(example):
    return [str(PLACES.get(word, word)) for word in shlex.split(example)[1:]]


@pytest.mark.parametrize("path", EXAMPLES, ids=" ".join)
def test_a_help_ends_with_one_to_three_examples(path):
    """The groups of commands have more."""
    found = EXAMPLES[path]
    assert 1 <= len(found) <= (6 if path in GROUPS else 3)
    if path not in GROUPS:
        assert COMMANDS[path].help.rstrip().splitlines()[-1].strip().startswith("miner ")
        assert any(example.startswith(" ".join(["miner", *path])) for example in found)


@pytest.mark.parametrize("example", dict.fromkeys(ALL))
def test_the_examples_are_well_formed(example):
    command, words = main, words_of(example)
    parent = click.Context(main, **main.context_settings)  # its names of --help are inherited
    while isinstance(command, click.Group):
        command, words = command.commands[words[0]], words[1:]
    try:
        command.make_context(example, words, parent=parent)
    except click.exceptions.Exit as done:  # of an option such as --example, which needs no more
        assert done.exit_code == 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with what the examples name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "annotations").symlink_to(ANNOTATIONS)
    said("gold", "export", "--split", "sample", "--format", "labelstudio", "-o", "project-1.json")
    return tmp_path


def run_examples(examples):
    """Runs examples one after the other, since one may read or replace what another wrote."""
    for example in examples:
        words = words_of(example)
        done = run(*words, *(["--force"] if "-o" in words else []))
        assert (done.exit_code, done.stderr) == (0, ""), example


def test_examples_that_need_no_tagger_and_no_other_book_work(folder):
    run_examples(
        example
        for name in ("export", "import", "tasks")
        for example in EXAMPLES["gold", name]
        if "sample" in example or name == "import"
    )
    assert {path.name for path in folder.iterdir()} >= {"gold", "sample.tags", "tasks.json"}
    run_examples(EXAMPLES["profile",][:1])


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=" ".join)
def test_examples_of_the_sample_work(path, folder):
    """The others read whole books or a split of them, or serve a page."""
    said("tag", "sample", "--tagger", "gap", "-o", "sample.tags")
    run_examples(line for line in EXAMPLES[path] if "sample" in line)


def test_the_help_says_what_a_book_is_and_how_the_shell_completes():
    shown = " ".join(said("--help").split())
    for part in (
        "a file 1342-h.htm, 1342-0.txt, pg1342.epub, 1342-h.zip",
        'a folder, or a pattern books, "books/*.htm"',
        "a Gutenberg number 1342",
        'a title "Pride and Prejudice"',
        "the word sample",
        'eval "$(_MINER_COMPLETE=bash_source miner)"',
    ):
        assert part in shown


def completed(*words):
    """What the shell completes after these words, files left out."""
    *before, begun = words
    found = ShellComplete(main, {}, "miner", "_MINER_COMPLETE").get_completions(before, begun)
    return [item.value for item in found if item.type == "plain"], any(
        item.type == "file" for item in found
    )


def test_commands_options_choices_and_names_are_completed():
    assert completed("pro") == (["profile"], False)
    assert completed("gold", "sp") == (["speakers"], False)
    assert completed("score", "--pre") == (["--predicted"], False)
    assert completed("compare", "--dtype", "b") == (["bfloat16"], False)
    assert completed("gold", "export", "--format", "c") == (["conll"], False)
    taggers = [AUTO, *find_registered_taggers()]
    for command in ("tag", "mine", "view", "compare", "annotate"):
        assert completed(command, "--tagger", "") == (taggers, True)
    assert completed("tag", "--tagger", "na") == (["narration"], True)
    assert completed("profile", "s") == (["sample"], True)
    assert completed("compare", "--split", "t") == (["train", "test"], False)
    assert completed("gold", "stats", "--gold", "") == ([], True)
    assert completed("gold", "check", "--split", "dev+te") == (["dev+test"], False)
    assert completed("gold", "check", "--split", "a") == (["all"], False)
    assert completed("gold", "check", "--split", "dev+a") == ([], False)
    assert completed("gold", "check", "--language", "h") == (["hu"], False)
    assert completed("compare", "--language", "de,h") == (["de,hu"], False)
    assert completed("gold", "stats", "--language", "a") == (["all"], False)


def test_the_version_names_the_tagger_and_loads_no_library_of_models():
    code = (
        "import sys\nfrom miner.app.cli.main import main\nmain(['--version'], prog_name='miner', "
        "standalone_mode=False)\nprint([name for name in "
        "('torch', 'onnxruntime', 'numpy', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    version, loaded = done.stdout.splitlines()
    taggers = (f"tagger {name}@{digest[:8]}" for name, digest in SHIPPED.items())
    assert version == ", ".join((f"miner {__version__}", *taggers))
    assert [*SHIPPED] == ["en", "multilingual"]
    assert (loaded, done.stderr) == ("[]", "")


def test_a_script_of_each_shell_is_printed():
    for shell, part in (
        ("bash", "complete -o nosort -F"),
        ("zsh", "compdef"),
        ("fish", "complete"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", "from miner.app.cli.main import main; main(prog_name='miner')"],
            env={"_MINER_COMPLETE": f"{shell}_source", "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
        )
        assert part in done.stdout and "_MINER_COMPLETE" in done.stdout
