"""A fault of the program or of somebody's tagger is no bad book: the run ends and says where."""

import json
import sys
from pathlib import Path

import cloudpickle
import pytest
from click.testing import CliRunner
from corpus_helpers import bytes_of, run
from helpers import DATA

import miner
import miner.corpus.pipeline
from miner.app.cli.main import main
from miner.corpus.ray_executor import _sealed
from miner.errors import InputError
from miner.tagger.load import load_tagger

DASH, PLAY, FRENCH = DATA / "dash.htm", DATA / "play.html", DATA / "guillemets_fr.html"
TAGGERS = '''
import json
import sys
from pathlib import Path

from heuristic.gap import GapTagger
from miner.speech.tags import Tag, TaggedSpan
from miner.errors import InputError


class PanicException(BaseException):
    """As the extension modules of Rust raise it."""


def fail(error):
    raise error


FAULTS = {
    "zip": lambda tags: list(zip(tags, tags[1:], strict=True)),
    "key": lambda tags: {}["tag"],
    "file": lambda tags: open("/nowhere/model"),
    "exit": lambda tags: sys.exit("no model"),
    "panic": lambda tags: fail(PanicException("index out of bounds")),
    "few": lambda tags: tags[:5],
    "narration": lambda tags: [TaggedSpan(item.span, Tag.B_START) for item in tags],
    "order": lambda tags: [
        TaggedSpan(item.span, Tag.I_OTHER if item.span.is_utterance else Tag.O) for item in tags
    ],
    "none": lambda tags: None,
}


class Faulty:
    """Tags by gaps, and fails on the French book as long as it is not mended."""

    def __init__(self, fault):
        self.fault = fault

    def tag(self, book_spans):
        tags = GapTagger().tag(book_spans)
        if book_spans.book.id != "guillemets_fr" or Path(__file__).with_name("mended").exists():
            return tags
        if self.fault == "input":
            raise InputError("found no lexicon of this language, expected one")
        return FAULTS[self.fault](tags)


def no_tagger():
    return "tags"


def closed():
    raise OSError("no licence")
'''
SAID = {
    "zip": "ValueError: zip() argument 2 is shorter",
    "key": "KeyError: 'tag'",
    "file": "miner: /nowhere/model: No such file or directory; ",
    "exit": "RuntimeError: SystemExit (no model)",
    "panic": "RuntimeError: PanicException (index out of bounds)",
    "few": "ValueError: found 5 tagged spans from the tagger, expected ",
    "narration": "found B-START on narration, expected O",
    "order": "found I-OTHER after no tag, expected B-START",
    "none": "TypeError: found None from the tagger, expected a list of TaggedSpan",
}
WHERE = f"while mining {FRENCH} with the tagger "


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package with taggers, each of which has a fault."""
    place = tmp_path / "site"
    info = place / "faulty_taggers-1.0.dist-info"
    info.mkdir(parents=True)
    (place / "faulty_taggers.py").write_text(TAGGERS)
    (place / "faulty_syntax.py").write_text("def tag(:\n")
    (place / "faulty_exit.py").write_text("import sys\nsys.exit('no licence')\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty-taggers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[miner.taggers]\n"
        "faulty = faulty_taggers:Faulty\n"
        "gone-module = faulty_gone:Tagger\n"
        "gone-name = faulty_taggers:Gone\n"
        "syntax = faulty_syntax:Tagger\n"
        "leaves = faulty_exit:Tagger\n"
        "closed = faulty_taggers:closed\n"
        "no-tagger = faulty_taggers:no_tagger\n"
    )
    monkeypatch.syspath_prepend(str(place))
    yield place
    for name in ("faulty_taggers", "faulty_syntax", "faulty_exit"):
        sys.modules.pop(name, None)


def told(error):
    """What Python shows of an error: its kind, its text and the notes on it."""
    return "\n".join([f"{type(error).__qualname__}: {error}", *getattr(error, "__notes__", ())])


@pytest.mark.parametrize("fault", SAID)
def test_a_fault_of_a_tagger_ends_the_run_and_names_the_book_and_the_tagger(
    package, tmp_path, fault
):
    done = run(DASH, FRENCH, "--tagger", f"faulty:{fault}", "-q", "-o", tmp_path / "out")
    shown = told(done.exception) if fault != "file" else done.stderr
    assert done.exit_code == 1 and SAID[fault] in shown and f"{WHERE}faulty:{fault}" in shown
    assert not (tmp_path / "out").exists() and (tmp_path / "out.partial").exists()


@pytest.mark.parametrize(("fault", "workers"), [("zip", 1), ("exit", 2)])
def test_finished_books_are_kept_and_the_book_is_mined_when_the_fault_is_mended(
    package, tmp_path, fault, workers
):
    words = (DASH, PLAY, FRENCH, "--tagger", f"faulty:{fault}")
    out = tmp_path / "out"
    failed = run(*words, "-q", "-o", out, "--workers", workers)
    assert f"{WHERE}faulty:{fault}" in told(failed.exception)
    assert "2 books are kept in" in told(failed.exception)
    (package / "mended").touch()
    assert run(*words, "-o", out, "--resume").output.count("set aside") == 1  # the play
    whole = tmp_path / "whole"
    run(*words, "-q", "-o", whole)
    assert bytes_of(out) == bytes_of(whole)


def test_what_a_tagger_refuses_as_input_costs_the_book_alone(package, tmp_path):
    done = run(DASH, FRENCH, "--tagger", "faulty:input", "-o", tmp_path / "out")
    line = f"set aside: {FRENCH}: found no lexicon of this language, expected one"
    assert line in done.output and (tmp_path / "out").exists()


def test_a_fault_of_our_own_is_no_bad_book_either(tmp_path, monkeypatch):
    def fail(tagged):
        return list(zip(tagged.spans, (), strict=True))

    monkeypatch.setattr(miner.corpus.pipeline, "decode_dialogues", fail)
    with pytest.raises(ValueError, match="zip") as error:
        miner.mine(DASH, tagger="gap")
    assert not isinstance(error.value, InputError)
    assert f"while mining {DASH} with the tagger gap" in told(error.value)


def test_a_fault_of_a_filter_names_the_book():
    with pytest.raises(ZeroDivisionError) as error:
        miner.mine_corpus([DASH], tagger="gap", filters=lambda spans: 1 / 0).finish()
    assert f"while mining {DASH} with the tagger gap" in told(error.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gone-module", "faulty_gone:Tagger of faulty-taggers cannot be loaded: ModuleNotFound"),
        ("gone-name", "faulty_taggers:Gone of faulty-taggers cannot be loaded: AttributeError"),
        ("syntax", "faulty_syntax:Tagger of faulty-taggers cannot be loaded: SyntaxError"),
        ("leaves", "faulty_exit:Tagger of faulty-taggers cannot be loaded: SystemExit: no lic"),
        ("closed", "faulty_taggers:closed of faulty-taggers cannot be loaded: OSError: no lic"),
        ("no-tagger", "no-tagger: faulty_taggers:no_tagger gave 'tags', expected a method `tag`"),
        ("faulty", "faulty: found no argument, expected one, as in faulty:3"),
        ("closed:3", "closed:3: found '3', expected closed alone"),
    ],
)
def test_a_tagger_that_cannot_be_loaded_is_named(package, name, said):
    with pytest.raises(InputError) as error:
        load_tagger(name)
    assert str(error.value).startswith(f"{name}: ") and said in str(error.value)


def test_an_error_of_another_machine_comes_with_its_traceback():
    def fail():
        return {}["gone"]

    error = cloudpickle.loads(_sealed(fail)).error
    assert isinstance(error, KeyError) and 'return {}["gone"]' in told(error)


@pytest.mark.parametrize(
    "words",
    [
        ["--debug", "mine", "gone.htm", "-o", ""],
        ["mine", "gone.htm", "-o", "", "--debug"],
        ["gold", "--debug", "check", "--gold", "gone"],
        ["gold", "check", "--gold", "gone", "--debug"],
        ["--debug", "selection", "train", "gone"],
        ["tag", "gone.htm", "--debug"],
    ],
)
def test_debug_shows_the_traceback_of_an_error_of_the_input(words):
    with_trace = CliRunner().invoke(main, words).output
    without = CliRunner().invoke(main, [word for word in words if word != "--debug"]).output
    assert with_trace.startswith("Traceback (most recent call last):")
    assert with_trace.endswith(without) and without.count("\n") == 1


LONG = "9" * 5000  # Python reads no number of so many digits


@pytest.mark.parametrize(
    "words",
    [
        ["mine", "sample", "--tagger", f"gap:{LONG}", "-o", "out"],
        ["mine", "sample", "--history-turns", LONG, "-o", "out"],
        ["mine", LONG, "-o", "out"],
        ["mine", "--numbers", LONG, "-o", "out"],
        ["selection", "train", "tf-idf", "pairs.csv", "-o", "out"],
        ["selection", "train", "tf-idf", "pairs.jsonl", "-o", "out"],
        ["generation", "train", "n-grams", "turns.csv", "-o", "out"],
    ],
)
def test_a_number_of_thousands_of_digits_is_no_fault(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text(f"context,response,chapter\nYes.,No.,{LONG}\n")
    row = {"context": "Yes.", "response": "No.", "chapter": LONG}
    Path("pairs.jsonl").write_text(json.dumps(row))
    Path("turns.csv").write_text(f"context,response,dialogue,turn\nYes.,No.,1,{LONG}\n")
    done = CliRunner().invoke(main, words)
    assert done.exit_code and isinstance(done.exception, SystemExit), done.exception
