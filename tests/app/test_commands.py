"""The commands as a user meets them: help, examples, names that are completed, errors, numbers."""

import json
import re
import shlex
import subprocess
import sys

import click
import pytest
from click.shell_completion import ShellComplete
from helpers import (
    ANNOTATIONS,
    BOOKS,
    CORPUS,
    DATA,
    SAMPLE,
    failed,
    interrupted_after,
    run,
    said,
    small_corpus,
)
from loopback import answer

from miner import __version__
from miner.app.cli.main import main
from miner.tagger.load import AUTO, SHIPPED, find_registered_taggers

SHORT = str(DATA / "single_curly.html")
HEAVY = "torch transformers numpy pandas matplotlib seqeval sklearn pyarrow requests datasets"
COMMANDS = {(name,): command for name, command in main.commands.items()}
COMMANDS |= {
    (group, name): command
    for group in ("gold", "selection", "generation")
    for name, command in main.commands[group].commands.items()
}
WITH_TAGGER = [
    path
    for path, command in COMMANDS.items()
    if any("--tagger" in parameter.opts for parameter in command.params)
]
# What each command needs, with a file or folder that does not exist.
FAILURES = {
    ("mine",): ["--books", "gone", "-o", "out", "1342"],
    ("catalog",): ["--language", "gone"],
    ("build",): ["gone.toml", "-o", "out"],
    ("tag",): ["gone.htm", "--tagger", "gap"],
    ("view",): ["gone.htm", "--tagger", "gap", "-o", "out.html"],
    ("profile",): ["gone.htm"],
    ("score",): ["--gold", "gone.jsonl", "--predicted", "gone.jsonl"],
    ("compare",): ["--gold", "gone.jsonl"],
    ("quotations",): ["--pdnc", "gone"],
    ("speakers",): ["--pdnc", "gone"],
    ("annotate",): ["gone.htm", "--chapter", 1, "-o", "out.jsonl"],
    ("gold", "export"): ["--gold", "gone", "--format", "tags", "-o", "out.jsonl"],
    ("gold", "speakers"): ["--gold", "gone", "--pdnc", "gone"],
    ("gold", "errors"): ["--gold", "gone", "--tagger", "gap"],
    ("gold", "confidence"): ["--gold", "gone", "--tagger", "gap"],
    ("gold", "tasks"): ["gone.htm", "--chapter", 1, "-o", "out.json"],
    ("gold", "import"): ["gone.json", "-o", "out"],
} | {
    ("gold", name): ["--gold", "gone"]
    for name in "fetch check stats agreement languages sweep trust".split()
}
FAILURES |= {
    ("selection", "train"): ["tf-idf", "gone", "-o", "out"],
    ("selection", "score"): ["gone", "gone.csv"],
    ("selection", "compare"): ["gone", "--on", "gone.csv"],
    ("generation", "train"): ["transformer", "gone", "-o", "out"],
    ("generation", "answer"): ["gone", "pairs.csv", "-o", "out"],
    ("generation", "score"): ["gone.csv", "--reference", "gone"],
    ("generation", "chat"): ["gone"],
}


@pytest.mark.parametrize("path", [(), *COMMANDS], ids=" ".join)
def test_every_command_has_help(path):
    done = run(*path, "--help")
    assert done.exit_code == 0
    command = COMMANDS.get(path, main)
    assert command.help and "\\b" not in done.output and "\b" not in done.output
    first = command.help.splitlines()[0]
    assert first.endswith(".") and len(first) < 66  # fits into the list of commands
    for parameter in command.params:
        if parameter.param_type_name == "option":
            assert parameter.help and parameter.opts[0] in done.output
    assert run(*path, "-h").output == done.output


def test_the_help_lists_examples_and_commands_as_they_stand():
    lines = [line.strip() for line in run("--help").output.splitlines()]
    assert "miner mine sample -o mined          all steps at once" in lines
    assert [line.split()[0] for line in lines[-len(main.commands) :]] == list(main.commands)


@pytest.mark.parametrize("path", WITH_TAGGER, ids=" ".join)
def test_the_help_of_tagger_names_the_registered_taggers(path):
    shown = " ".join(run(*path, "--help").output.split())
    assert f"), {', '.join(find_registered_taggers())}, or the path" in shown


def test_a_heuristic_ignores_the_dtype():
    words = ("tag", "sample", "--tagger", "gap")
    assert said(*words, "--dtype", "bfloat16") == said(*words)


def test_each_command_has_a_failure():
    assert set(FAILURES) | {("gold",), ("selection",), ("generation",)} == set(COMMANDS)


@pytest.mark.parametrize("path", FAILURES, ids=" ".join)
def test_an_error_is_one_line(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "gone" in failed(*path, *FAILURES[path])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["mine", "--help"],
        ["mine", SHORT, "-o", "out", "--tagger", "narration"],
        ["tag", SHORT, "--tagger", "gap", "-o", "out.jsonl"],
        ["view", SHORT, "--tagger", "gap", "-q", "-o", "out.html"],
    ],
    ids=lambda words: words[0],
)
def test_a_command_loads_only_what_it_needs(words, tmp_path):
    # What speakers and the classifier of speech need.
    allowed = [] if "--help" in words else ["numpy"]
    code = (
        "import sys\nfrom miner.app.cli.main import main\n"
        "main(sys.argv[1:], standalone_mode=False)\n"
        f"print('\\nloaded', [name for name in {HEAVY.split()} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == f"loaded {allowed}"


def test_mine_asks_for_a_source_or_a_query():
    done = run("mine", "-o", "x")
    assert done.exit_code == 2 and "such as --author" in done.stderr


def test_profile_as_a_table_and_as_json():
    shown = run("profile", DATA / "single_curly.html").stdout
    assert shown.startswith("single_curly: speech is opened by single-curly (confidence 0.")
    row = next(line.split() for line in shown.splitlines() if line.startswith("single-curly "))
    assert row[2:] == [row[2], "yes"] and row[2].endswith("%")
    said = json.loads(run("profile", DATA / "single_curly.html", "--json").stdout)
    assert (said["book"], said["language"], said["marks"]) == (
        "single_curly",
        "en",
        ["single-curly"],
    )
    assert said["evidence"]["single-curly"] == int(row[1])
    assert 0.5 < said["confidence"] < 1


def test_profile_lists_marks_that_cannot_be_right(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        "<html><body><p>“Come in,” said Ann.</p><p>Who is there?” said Tom.</p>"
        "<p>“It is I,” said Bo, rising.”</p></body></html>",
        encoding="utf-8",
    )
    assert (
        "marks that cannot be right as printed: 1 missing, 1 unclear" in run("profile", page).stdout
    )
    listed = run("profile", page, "--suspicious").stdout.splitlines()[-2:]
    assert listed == [
        "chapter 0, paragraph 1: missing: [“]Who is there?” said Tom.",
        "chapter 0, paragraph 2: unclear: “It is I,” said Bo, rising.”[?]",
    ]
    said = json.loads(run("profile", page, "--suspicious", "--json").stdout)
    assert said["repairs"] == {"missing": 1, "unclear": 1}
    assert [place["paragraph"] for place in said["suspicious"]] == [1, 2]


def test_profile_of_books_without_speech(tmp_path):
    shown = run("profile", DATA / "play.html")
    assert shown.exit_code == 0
    empty = tmp_path / "empty.html"
    empty.write_bytes(b"")
    assert failed("profile", empty) == f"{empty}: the file is empty, expected a book"
    assert failed("profile", DATA).startswith(f"{DATA}: found ")
    silent = tmp_path / "silent.html"
    silent.write_text("<html><body><p>It rained.</p><p>It went on.</p></body></html>")
    assert "no paragraph votes for any mark" in run("profile", silent).stdout


@pytest.fixture
def two(tmp_path):
    """Tags of the sample by two heuristics."""
    paths = [tmp_path / f"{name}.jsonl" for name in ("gap", "narration")]
    for path in paths:
        assert run("tag", "sample", "--tagger", path.stem, "-o", path).exit_code == 0
    return paths


def test_score_of_one_tagging_by_another(two):
    gold, predicted = two
    shown = run("score", "--gold", gold, "--predicted", predicted, "--resamples", 30)
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert lines[0] == "End to end: missed utterances and spurious ones count"
    assert any(line.startswith("On gold spans: the 1") for line in lines)
    signature = lines[-1]
    assert signature.startswith("unit:span|gold:gap.jsonl@")
    assert "|predicted:narration.jsonl@" in signature and "|split:all|" in signature
    said = json.loads(
        run("score", "--gold", gold, "--predicted", predicted, "--resamples", 30, "--json").stdout
    )
    assert said["signature"] == signature
    itself = run("score", "--gold", gold, "--predicted", gold, "--resamples", 5).stdout
    table = itself.split("On gold spans")[0].splitlines()
    rows = {line[:26].strip(): line[26:].split() for line in table if line[:1].isalnum()}
    for name in ("B-START", "turn pairs", "dialogues, exact", "utterances found"):
        assert rows[name] == ["1.000", "1.000", "1.000", "[1.00–1.00]"]
    assert rows["Pk, 0 is best"] == ["0.000", "[0.00–0.00]"]


def test_score_repairs_predicted_tags_and_refuses_illegal_gold(two):
    gold, predicted = two
    rows = [json.loads(line) for line in predicted.read_bytes().splitlines()]
    first = next(n for n, row in enumerate(rows) if row["tag"] == "B-START")
    rows[first]["tag"] = "I-OTHER"
    bad = predicted.with_name("bad.jsonl")
    bad.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    shown = run("score", "--gold", gold, "--predicted", bad, "--resamples", 5)
    assert "1 predicted tags may not follow the tag before; repaired for pairs" in shown.stdout
    assert failed("score", "--gold", bad, "--predicted", gold) == (
        f"{bad}:{first + 1}: found I-OTHER after no tag, expected B-START"
    )


def test_score_of_missing_files_and_splits(two, tmp_path):
    gold, _ = two
    gone = tmp_path / "gone.jsonl"
    assert failed("score", "--gold", gold, "--predicted", gone).endswith(
        f"{gone}: No such file or directory"
    )
    line = failed("score", "--gold", gold, "--predicted", gold, "--split", "test")
    assert "which has no splits" in line
    assert failed("score", "--gold", gold, "--predicted", tmp_path) == (
        f"{tmp_path}: found a folder, expected a tags file"
    )


def test_quotations_of_a_small_corpus(tmp_path, monkeypatch):
    pdnc, books = small_corpus(tmp_path)
    record = json.loads(said("quotations", "--pdnc", pdnc, "--books", books, "--json"))
    (novel,) = record["novels"]
    assert record["coverage"] == {"unit": "novels", "all": 1, "left_out": 0, "books_left_out": []}
    assert (novel["novel"], novel["id"], novel["right"]) == ("The Lighthouse", "7", 3)
    assert (novel["precision"], novel["recall"]) == (1.0, 1.0)
    assert novel["regex_f1"] == pytest.approx(6 / 7)  # it takes the "keeper" for speech
    monkeypatch.setenv("MINER_BOOKS", str(books))
    shown = run("quotations", "--pdnc", pdnc).stdout
    row = next(line for line in shown.splitlines() if line.startswith("The Lighthouse"))
    assert row.split()[2:] == ["1.000", "1.000", "1.000", "1.000", "1.000", "0.857", "0.857"]
    assert "mean of 1" in shown
    assert "0 spans missed, 0 spurious" in shown


def test_a_number_is_downloaded_once_and_kept(tmp_path, site, monkeypatch):
    site.pages["/11.html"] = answer(SAMPLE.read_bytes())
    monkeypatch.setenv("MINER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MINER_MIRROR", site.mirror)
    for n in range(2):
        out = tmp_path / f"out{n}"
        assert run("mine", "11", "--tagger", "gap", "-q", "-o", out).exit_code == 0
    assert site.paths == ["/11.html"]
    record = json.loads((tmp_path / "out1" / "run.json").read_bytes())
    assert record["books"][0]["id"] == "11"
    assert record["books"][0]["title"] == "The Lock-Keeper’s Winter"
    assert (tmp_path / "out0" / "run.json").read_bytes() == (
        tmp_path / "out1" / "run.json"
    ).read_bytes()
    assert run("tag", "11", "--tagger", "gap").exit_code == 0
    assert len(site.paths) == 1


@pytest.mark.slow
def test_workers_do_not_multiply_the_requests(tmp_path, site, monkeypatch):
    for id in (11, 12):
        site.pages[f"/{id}.html"] = answer(SAMPLE.read_bytes())
    monkeypatch.setenv("MINER_CACHE", str(tmp_path / "cache"))
    words = ["mine", "11", "sample", "12", "--tagger", "gap", "-q", "-o", tmp_path / "out"]
    done = run(*words, "--workers", 2, "--mirror", site.mirror)
    assert (done.exit_code, done.output) == (0, "")
    assert site.paths == ["/11.html", "/12.html"]
    assert site.most_open == 1
    assert site.times[1] - site.times[0] >= 2  # seconds between two requests to a host
    record = json.loads((tmp_path / "out" / "run.json").read_bytes())
    assert [book["id"] for book in record["books"]] == ["11", "sample", "12"]


def test_a_mirror_without_a_place_for_the_number(tmp_path, monkeypatch):
    monkeypatch.setenv("MINER_CACHE", str(tmp_path))
    assert "found no {id}" in failed("profile", "11", "--mirror", "http://127.0.0.1/x")


def test_an_interrupted_download_does_not_say_that_nothing_was_written(tmp_path, monkeypatch):
    found = ("11", SAMPLE)
    monkeypatch.setattr("miner.books.download.find_book", interrupted_after(lambda *_: found, 1))
    done = run("gold", "fetch", "--gold", ANNOTATIONS, "--split", "dev")
    assert done.exit_code == 130 and done.stdout.endswith(f": {SAMPLE}\n")
    assert done.stderr == "miner: interrupted\n"


def test_a_closed_pipe_ends_the_command_quietly():
    command = f"{sys.executable} -m miner tag sample --tagger gap | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")


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
