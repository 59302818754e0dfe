"""What the documents show is what the commands print, and what they name exists."""

import re
import subprocess
import sys
import tomllib
from functools import cache

import click
import pytest
from click.testing import CliRunner
from documents import BLOCK, DOCUMENTS, assert_same_output, blocks, read
from helpers import BOOKS, CORPUS, MCN, ROOT, needs_books

import miner.lab.lessons.selection.methods
import train
from miner.app.cli.main import main

BENCHMARKS = ROOT / "tests" / "benchmarks"
TRAIN = ROOT / "train.py"
README = ROOT / "README.md"
CONTRIBUTING = ROOT / ".github" / "CONTRIBUTING.md"
CHANGELOG = ROOT / ".github" / "CHANGELOG.md"
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
FOLDERS = {"BOOKS": BOOKS, "PDNC": CORPUS, "MCN": MCN, "annotations": ROOT / "annotations"}

OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")

each_document = pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)


def snippets(path):
    """Every command line and every piece of inline code of a document."""
    lines = [line.strip() for line in "".join(blocks(path, "sh")).replace("\\\n", "").splitlines()]
    shown = [text.split("\n", 1)[0].removeprefix("$ ") for text in blocks(path, "console")]
    inline = re.findall(r"`([^`]+)`", BLOCK.sub("", read(path)))
    parts = [part for line in lines for part in line.split(" && ")]
    return [" ".join(one.split()) for one in (*parts, *shown, *inline)]


# ---- the form of the documents


def test_the_readme_is_short():
    text = read(README)
    assert len(text.splitlines()) <= 150
    assert len(text.encode()) <= 12 * 1024


@each_document
def test_lines_are_short(path):
    text = read(path) if path == README else re.sub(r"(?ms)^```console$.*?^```$", "", read(path))
    assert [line for line in text.splitlines() if len(line) >= 120] == []


def test_the_readme_has_one_test_command():
    """`.ci/run` runs the line that this finds."""
    assert len(re.findall(r"^python3 -m venv .*pytest.*$", read(README), re.MULTILINE)) == 1


@each_document
def test_relative_links_exist(path):
    for link in re.findall(r"\]\((?!\w+:)([^)]+)\)", BLOCK.sub("", read(path))):
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.+)$", read(target), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}
            assert anchor in slugs, link


# ---- the commands that they name


def command_of(words):
    """The `miner` command that the words call, and the words after it."""
    command = main
    while isinstance(command, click.Group) and words and re.fullmatch(r"[a-z]\w*", words[0]):
        assert words[0] in command.commands, f"miner has no command {words[0]!r}"
        command, words = command.commands[words[0]], words[1:]
    return command


@cache
def options_of(command):
    own = {flag for param in command.params for flag in (*param.opts, *param.secondary_opts)}
    if isinstance(command, click.Group):
        own = own.union(*(options_of(one) for one in command.commands.values()))
    return own


@cache
def options_of_script(path):
    """All that it names, since scripts read their options in several ways."""
    return options_of(train.main) if path == TRAIN else set(OPTION.findall(read(path)))


def find_script(name):
    """The script of that path, or of that name in the folder of the benchmarks."""
    found = [path for path in (ROOT / name, BENCHMARKS / name) if path.is_file()]
    assert found, f"found no script {name}"
    return found[0]


@each_document
def test_commands_and_options_exist(path):
    known = options_of(main).union(*map(options_of_script, [TRAIN, *BENCHMARKS.glob("*.py")]))
    for snippet in snippets(path):
        words = snippet.removeprefix(".venv/bin/").split()
        named = set(OPTION.findall(snippet))
        is_of_the_past = path == CHANGELOG and words[0] != "miner"
        script = re.search(r"(?:python|accelerate launch) (\S+\.py)\b|^(\w+\.py) --", snippet)
        if words[0] == "miner":
            known_here = options_of(command_of(words[1:]))
        elif script:
            known_here = options_of_script(find_script(script[1] or script[2]))
        else:
            known_here = known if words[0].startswith("--") else named
        assert is_of_the_past or named <= known_here | {"--help"}, snippet


def test_the_readme_names_every_command():
    named = {one.split()[1] for one in snippets(README) if re.match(r"miner [a-z]", one)}
    assert named == set(main.commands)


# ---- the outputs that they show


def shown_outputs(path):
    return [
        re.fullmatch(r"\$ miner (.+)\n((?s:.*))", text).groups() for text in blocks(path, "console")
    ]


def test_near_numbers_and_texts_pass_and_others_do_not():
    shown = "auto 0.747 [0.68–0.80] 1,452\n@b67f4bd1 155 2 0.833 0.898 0.900 0.900"
    near = "auto  0.746 [0.68–0.79] 1,450\n\n@b67f4bd1 155 2 0.750 0.899 0.900 0.900"
    assert_same_output(near, shown, has_model=True)
    for part, other in (("0.746", "0.740"), ("1,450", "1,400"), ("auto", "gap"), ("b67f", "b68f")):
        with pytest.raises(AssertionError):
            assert_same_output(near.replace(part, other), shown, has_model=True)
    with pytest.raises(AssertionError):
        assert_same_output(near, shown, has_model=False)


def run(command, folder, monkeypatch):
    """What a command prints in a folder; on standard error it may print nothing."""
    words = command.split()
    for name, path in FOLDERS.items():
        if name in words and not path.is_dir():
            pytest.skip(f"needs {name}: {path}")
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(main, [str(FOLDERS.get(word, word)) for word in words])
    assert (done.stderr, done.exit_code) == ("", 0), done.exception
    return done.stdout.replace(f"{MCN.name},", "MCN,")


def test_the_first_command_prints_what_the_readme_shows(tmp_path, monkeypatch):
    command, shown = FIRST
    assert f".venv/bin/miner {command}" in blocks(README, "sh")[0]
    assert_same_output(run(command, tmp_path, monkeypatch), shown, has_model=False)


FIRST = shown_outputs(README)[0]
OTHERS = [one for path in DOCUMENTS for one in shown_outputs(path) if one != FIRST]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "shown"), OTHERS, ids=[command for command, _ in OTHERS])
def test_other_commands_print_what_the_documents_show(command, shown, tmp_path, monkeypatch):
    assert_same_output(
        run(command, tmp_path, monkeypatch), shown, has_model="auto" in command.split()
    )


# ---- the examples


@pytest.mark.slow
@needs_books
def test_the_python_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MINER_BOOKS", str(BOOKS))
    monkeypatch.chdir(tmp_path)
    (example,) = blocks(README, "python")
    exec(compile(example, str(README), "exec"), {"__name__": "example"})
    assert len(re.findall(r"(?m)^.+ -> .+ [01]\.\d+$", capsys.readouterr().out)) > 1000
    assert (tmp_path / "novels" / "pairs.jsonl").stat().st_size


def test_the_example_of_a_language_is_found_and_mined(tmp_path):
    (tmp_path / "languages").mkdir()
    code = next(block for block in blocks(CONTRIBUTING, "python") if '"""Romanian."""' in block)
    (tmp_path / "languages" / "ro.py").write_text(code, encoding="utf-8")
    page = (
        "<h2>CAPITOLUL I</h2><p>Corabia nu a mai venit în seara aceea, și de pe mal se auzea că "
        "la moară nu se doarme.</p><p>—Ce faci?</p><p>—Nu știu ce să mai fac cu ea.</p>"
        "<p>„Moara” de pe deal era și ea pe întuneric, că așa se cade.</p>"
    )
    (tmp_path / "7-h.htm").write_text(f"<html><body>{page}</body></html>", encoding="utf-8")
    script = (
        "import miner.languages\n"
        f"miner.languages.__path__.append({str(tmp_path / 'languages')!r})\n"
        "import miner\n"
        f"book = miner.read_spans({str(tmp_path / '7-h.htm')!r})\n"
        "print(book.language, *(span.text for span in book.spans if span.is_utterance), sep='|')\n"
        "print(*sorted({(block.kind.value, block.chapter) for block in book.book.blocks}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    said, blocks_of_book = done.stdout.splitlines()
    assert said == "ro|—Ce faci?|—Nu știu ce să mai fac cu ea."
    assert blocks_of_book == "('heading', 1) ('paragraph', 1)"


def test_the_example_of_a_heuristic_is_found_and_tags(tmp_path, monkeypatch):
    config = blocks(CONTRIBUTING, "toml")[0]
    code = next(block for block in blocks(CONTRIBUTING, "python") if "ChapterTagger" in block)
    (tmp_path / "my_taggers.py").write_text(code, encoding="utf-8")
    registered = tomllib.loads(config)["project"]["entry-points"]["miner.taggers"]
    package = tmp_path / "my_taggers-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: my-taggers\nVersion: 1.0\n")
    lines = ["[miner.taggers]", *(f"{name} = {value}" for name, value in registered.items())]
    (package / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    (name,) = registered
    out = tmp_path / "tags.jsonl"
    done = CliRunner().invoke(main, ["tag", "sample", "--tagger", name, "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert read(out).count('"B-START"') == 5  # the chapters of the sample


def test_the_example_of_a_learner_is_found_and_scored(tmp_path, monkeypatch):
    (tmp_path / "methods").mkdir()
    code = next(block for block in blocks(CONTRIBUTING, "python") if '"""Echo' in block)
    (tmp_path / "methods" / "echo.py").write_text(code, encoding="utf-8")
    path = [*miner.lab.lessons.selection.methods.__path__, str(tmp_path / "methods")]
    monkeypatch.setattr(miner.lab.lessons.selection.methods, "__path__", path)
    for book in ("7", "11"):
        rows = [f"{n:04b} is it?,{n:04b} it was.,{book}" for n in range(100)]
        (tmp_path / f"{book}.csv").write_text("\n".join(["context,response,book", *rows]))
    echo = tmp_path / "echo"
    for words in (
        ["train", "echo", tmp_path / "7.csv", "-o", echo],
        ["score", echo, tmp_path / "11.csv", "--json"],
    ):
        done = CliRunner().invoke(main, ["selection", *map(str, words)])
        assert done.exit_code == 0, done.output
    assert '"1-of-' in done.output
