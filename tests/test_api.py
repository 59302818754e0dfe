"""The API of the package: what a user of the library sees."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from corpus_helpers import in_float32, rows
from helpers import DATA, ROOT

import miner
from heuristic.gap import GapTagger
from miner.errors import InputError, SetAsideWarning

FEW = (DATA / "dash.htm", DATA / "play.html", DATA / "guillemets_fr.html")


@pytest.fixture(scope="module")
def book():
    return miner.mine("sample", tagger="gap")


def run_python(code, **env):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_imports_nothing_heavy():
    code = "import miner, sys; print(*(name for name in sys.modules))"
    modules = run_python(code).split()
    assert "miner" in modules
    heavy = {"torch", "transformers", "bs4", "lxml", "numpy", "pandas", "pyarrow", "click"}
    assert not heavy & set(modules)
    assert [name for name in modules if name.startswith("miner.")] == ["miner.version"]


def test_every_name_of_the_api_is_there():
    for name in miner.__all__:
        assert getattr(miner, name).__doc__, name
        assert name in dir(miner)
    assert (Path(miner.__file__).parent / "py.typed").is_file()
    with pytest.raises(AttributeError, match="no attribute 'mnie'"):
        _ = miner.mnie


def test_a_mined_book(book):
    assert (book.id, book.title, book.language) == ("sample", "The Lock-Keeper’s Winter", "en")
    assert "Lock-Keeper" in repr(book) and len(repr(book)) < 200
    pair = book.pairs[0]
    assert pair.context.text == "Letter for you, Mr. Tarrant, and a brown one."
    assert (pair.response.text, pair.response.quoted_text) == (
        "I see it’s brown.",
        "“I see it’s brown,”",
    )
    assert pair.confidence is None
    assert [item.span for item in book.tagged.spans] == list(book.spans)
    assert book.drops["short dialogues"] == book.drops["turns in short dialogues"] > 0
    assert sum(book.drops.values()) == 2 * book.drops["short dialogues"]
    every = miner.mine("sample", tagger="gap", min_turns=1)
    assert every.pairs == book.pairs and not any(every.drops.values())
    assert pickle.loads(pickle.dumps(book)).pairs == book.pairs


@pytest.mark.parametrize("options", [{}, {"max_utterance_words": 12, "min_turns": 2}])
def test_texts_of_the_api_are_those_of_the_files(tmp_path, options):
    out = tmp_path / "out"
    book = miner.mine("sample", tagger="gap", **options)
    (again,) = miner.mine_corpus("sample", out, tagger="gap", **options)
    assert again == book
    for kind in ("spans", "dialogues", "pairs", "characters"):
        assert book.rows(kind) == rows(out, kind) != []
    pairs = book.rows()
    assert [pair.context.text for pair in book.pairs] == [row["context"] for row in pairs]
    assert [pair.response.text for pair in book.pairs] == [row["response"] for row in pairs]
    turns = [[turn["text"] for turn in row["turns"]] for row in book.rows("dialogues")]
    assert [[turn.text for turn in item.turns] for item in book.dialogues] == turns
    assert [span.text for span in book.spans] == [row["text"] for row in book.rows("spans")]


@pytest.mark.slow
def test_confidences_of_the_api_are_those_of_the_files():
    book = miner.mine("sample", min_confidence=0.5, max_utterance_words=30)
    assert [pair.confidence for pair in book.pairs] == [row["confidence"] for row in book.rows()]
    assert all(pair.confidence >= 0.5 for pair in book.pairs) and book.drops["unsure pairs"]
    assert book.entry["counts"]["pairs"] == len(book.pairs)


def test_a_page(tmp_path):
    page = miner.view_html(DATA / "dash.htm", taggers="gap")
    assert page.startswith(b"<!DOCTYPE html>") and b"Lost Property" in page
    both = miner.view_html(DATA / "dash.htm", taggers=["gap", "narration"])
    assert b"narration" in both and len(both) > len(page)


def test_tables_and_data_sets(book):
    pytest.importorskip("pandas")
    table = book.to_pandas()
    assert len(table) == len(book.pairs) and table.context[0] == book.pairs[0].context.text
    assert list(book.to_pandas("spans").columns) == list(book.rows("spans")[0])
    data = book.to_dataset("dialogues")
    first = in_float32(book.rows("dialogues")[0])
    assert len(data) == len(book.dialogues) and data[0]["turns"] == first["turns"]
    assert list(book.to_pandas("characters").name) == [one.name for one in book.characters]
    with pytest.raises(InputError, match="found rows of 'turns', expected spans, dialogues, pairs"):
        book.to_pandas("turns")


@pytest.mark.parametrize(
    ("method", "package"), [("to_pandas", "pandas"), ("to_dataset", "datasets")]
)
def test_a_package_that_is_not_installed_is_one_line(book, monkeypatch, method, package):
    monkeypatch.setitem(sys.modules, package, None)
    message = f"^found no {package}, which this needs: install the extra datasets"
    with pytest.raises(ImportError, match=message):
        getattr(book, method)()


@pytest.mark.parametrize("source", [7, "7", "07"])
def test_a_number_may_be_text_or_an_int(tmp_path, source):
    (tmp_path / "7-h.htm").write_bytes(FEW[0].read_bytes())
    for books in (tmp_path, str(tmp_path)):
        assert miner.mine(source, tagger="gap", books=books).id == "7"


def test_a_path_may_be_text_or_a_path(monkeypatch):
    path = DATA / "dash.htm"
    book = miner.mine(path, tagger="gap")
    assert miner.mine(str(path), tagger="gap") == book
    monkeypatch.chdir(DATA)
    assert miner.mine(Path("dash.htm"), tagger="gap").pairs == book.pairs
    assert miner.read_spans(str(path)).spans == miner.read_spans(path).spans == book.spans
    assert miner.read_book(path).title == book.title


def test_a_tagger_may_be_a_name_or_any_object_that_tags():
    class Mine:
        def tag(self, book_spans):
            return GapTagger().tag(book_spans)

    mine = miner.mine(FEW[0], tagger=Mine())
    assert mine.pairs == miner.mine(FEW[0], tagger="gap").pairs
    assert mine.entry["tagger"].endswith("Mine") and " at 0x" not in mine.entry["tagger"]
    assert miner.mine(FEW[0], tagger=GapTagger(7)).entry["tagger"] == repr(GapTagger(7))

    class Long(Mine):
        def __repr__(self):
            return f"Long({[*range(300)]})"  # longer than any name of a file

    assert miner.mine(FEW[0], tagger=Long()).entry["tagger"] == repr(Long())


def test_a_tagger_may_cut_the_paragraphs_itself(book):
    texts = [{}, {}]
    mined = miner.mine("sample", tagger="gd")
    for text, spans in zip(texts, (mined.spans, book.spans), strict=True):
        for span in spans:
            text[span.paragraph] = text.get(span.paragraph, "") + span.text
    assert mined.spans != book.spans and texts[0] == texts[1]
    assert mined.spans == tuple(item.span for item in mined.tagged.spans)
    assert mined.entry["counts"]["pairs"] == len(mined.pairs) > 50


class Wrong:
    """A tagger that gives what `change` makes of the tagged spans."""

    def __init__(self, change):
        self.change = change

    def tag(self, book_spans):
        return self.change(GapTagger().tag(book_spans))


MISTAKES = {
    "bytes": (lambda: miner.mine(b"<p>Yes.</p>"), TypeError, "found bytes as a book, expected a G"),
    "none": (lambda: miner.mine(None), TypeError, "found NoneType as a book"),
    "bytes to read": (lambda: miner.read_spans(b"<p>"), TypeError, "found bytes as a book"),
    "no file": (lambda: miner.mine("gone.htm", tagger="gap"), ValueError, "gone.htm: no such file"),
    "a path of no file": (
        lambda: miner.mine(Path("gone.htm"), tagger="gap"),
        ValueError,
        "gone.htm: no such file",
    ),
    "a play": (lambda: miner.mine(FEW[1], tagger="gap"), ValueError, "play.html: a play: lines"),
    "a folder": (lambda: miner.mine(DATA, tagger="gap"), ValueError, "books, expected one"),
    "a tagger": (lambda: miner.mine("sample", tagger="gpa"), ValueError, "no tagger 'gpa': expect"),
    "a class": (lambda: miner.mine("sample", tagger=GapTagger), TypeError, "an object with a meth"),
    "a number as a tagger": (lambda: miner.mine("sample", tagger=3), TypeError, "found 3 as a tag"),
    "a tagger of few": (
        lambda: miner.mine("sample", tagger=Wrong(lambda tags: tags[:5])),
        ValueError,
        "found 5 tagged spans from the tagger, expected 324, one per span, "
        "or others that make up the same paragraphs",
    ),
    "a tagger of tags": (
        lambda: miner.mine("sample", tagger=Wrong(lambda tags: [item.tag for item in tags])),
        TypeError,
        "found <Tag.O: 'O'> from the tagger, expected a TaggedSpan for each span",
    ),
    "a tagger of nothing": (
        lambda: miner.mine("sample", tagger=Wrong(lambda tags: None)),
        TypeError,
        "found None from the tagger, expected a list of TaggedSpan",
    ),
    "a long name": (lambda: miner.mine("sample", tagger="g" * 400), ValueError, "no tagger 'ggg"),
    "quotes": (lambda: miner.mine("sample", quotes="curly"), ValueError, "'curly'"),
    "turns": (lambda: miner.mine("sample", tagger="gap", min_turns=0), ValueError, "at least 1"),
    "turns as text": (
        lambda: miner.mine("sample", tagger="gap", min_turns="2"),
        TypeError,
        "found min_turns '2', expected a number",
    ),
    "turns before": (
        lambda: miner.mine("sample", tagger="gap", history_turns=-1),
        ValueError,
        "found history_turns -1, expected at least 0",
    ),
    "turns before as text": (
        lambda: miner.mine("sample", tagger="gap", history_turns="all"),
        TypeError,
        "found history_turns 'all', expected a whole number or None",
    ),
    "unsure": (
        lambda: miner.mine("sample", tagger="gap", min_confidence=0.5),
        ValueError,
        "found a least confidence of 0.5 for the tagger gap, whose tags have no confidence: expect",
    ),
    "unsure books": (
        lambda: miner.mine_corpus(FEW, tagger=GapTagger(7), min_confidence=0.5),
        ValueError,
        "whose tags have no confidence",
    ),
    "dtype": (lambda: miner.mine("sample", dtype="half"), ValueError, "found dtype 'half', expect"),
    "a format": (
        lambda: miner.mine_corpus("sample", format="xml"),
        ValueError,
        "format 'xml', exp",
    ),
    "sources": (lambda: miner.mine_corpus(None), TypeError, "found NoneType as sources, expected"),
    "bytes as sources": (lambda: miner.mine_corpus(b"1"), TypeError, "found bytes as sources"),
    "workers": (lambda: miner.mine_corpus("sample", workers=0), ValueError, "found workers 0"),
    "workers as text": (
        lambda: miner.mine_corpus("sample", workers="2"),
        TypeError,
        "found workers '2', expected a whole number",
    ),
    "no name of a folder": (
        lambda: miner.mine_corpus("sample", "", tagger="gap"),
        ValueError,
        "exists already",
    ),
}


@pytest.mark.parametrize("call", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_that_says_what_was_expected(call):
    function, kind, said = call
    with pytest.raises(kind) as error:
        function()
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_corpus_yields_its_books_and_writes_the_folder(tmp_path):
    out = tmp_path / "novels"
    run = miner.mine_corpus([*map(str, FEW), "gone.htm"], str(out), tagger="gap")
    assert not out.exists()
    with pytest.warns(SetAsideWarning) as warned:
        assert [book.id for book in run] == ["dash", "guillemets_fr"]
    (warning,) = warned
    assert warning.filename == __file__
    assert str(warning.message).startswith("2 sources were set aside: ")
    assert all(item.why in str(warning.message) for item in run.set_aside)
    assert [item.why.split(":")[0] for item in run.set_aside] == ["a play", "no such file"]
    assert sorted(run.paths) == sorted(out.iterdir())
    record = json.loads((out / "run.json").read_bytes())
    assert record["books"] == run.entries and record["totals"] == run.totals


def test_a_corpus_needs_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [book.id for book in miner.mine_corpus(FEW, tagger="gap")] == ["dash", "guillemets_fr"]
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_asked_for_is_not_mined(tmp_path):
    out = tmp_path / "novels"
    with miner.mine_corpus(FEW, out, tagger="gap") as run:
        assert next(run).id == "dash"
    assert not out.exists() and run.entries[0]["id"] == "dash" and run.set_aside == []
    done = []
    run = miner.mine_corpus(FEW, out, tagger="gap", resume=True, on_result=done.append).finish()
    assert len(done) == 3 and done[0].id == "dash" and done[0].pairs
    assert out.is_dir()


def test_a_loop_that_is_left_ends_the_run(tmp_path):
    out = tmp_path / "novels"
    for _ in miner.mine_corpus(FEW, out, tagger="gap"):
        break
    assert not out.exists()
    run = miner.mine_corpus(FEW, out, tagger="gap", resume=True)
    assert repr(run).startswith("<CorpusRun: 0 of 3 sources done; iterate over it, or call finish")
    assert repr(run.finish()) == "<CorpusRun: 3 of 3 sources done>"


def test_a_run_that_nobody_iterates_over_warns(tmp_path):
    with pytest.warns(RuntimeWarning, match="mine_corpus mined nothing: iterate over"):
        miner.mine_corpus(FEW, tmp_path / "novels", tagger="gap")


def test_numbers_of_a_table_and_entries_of_a_folder_are_sources(tmp_path):
    for n in (7, 11):
        (tmp_path / f"{n}-h.htm").write_bytes(FEW[0].read_bytes())
    numbers = numpy.array([7, 11])
    run = miner.mine_corpus(numbers, books=tmp_path, tagger="gap").finish()
    with os.scandir(tmp_path) as entries:
        assert len(miner.mine_corpus(entries, tagger="gap").finish().entries) == 2
    assert [entry["id"] for entry in run.entries] == ["7", "11"]


def test_an_error_in_the_loop_says_what_is_kept(tmp_path):
    out = tmp_path / "novels"
    with pytest.raises(ZeroDivisionError) as error:
        with miner.mine_corpus(FEW, out, tagger="gap") as run:
            for _ in run:
                raise ZeroDivisionError
    assert error.value.__notes__ == [f"1 book is kept in {out}.partial, `resume=True` continues"]


def test_a_folder_that_exists_is_refused_before_any_work(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        miner.mine_corpus("sample", tmp_path, tagger="gap")


SCRIPT = """
import miner

class Mine:
    def tag(self, book_spans):
        return miner.load_tagger("gap").tag(book_spans)

for book in miner.mine_corpus(["tests/data/dash.htm", "sample"], workers=2, tagger=Mine()):
    print(book.id, len(book.pairs))
"""


@pytest.mark.slow
def test_workers_need_no_guard_around_a_script(tmp_path, book):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, path],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stderr == ""
    assert done.stdout.split("\n")[1] == f"sample {len(book.pairs)}"


@pytest.mark.slow
def test_the_examples_of_the_docstrings():
    """In a process of its own, where `miner` is imported as a user imports it."""
    names = "miner.corpus.pipeline miner.corpus.run miner.corpus.mined_book miner.app.viewer.page"
    code = (
        "import doctest, importlib, miner\n"
        f"for name in '{names} miner.corpus.reading miner.tagger.load'.split():\n"
        "    found = doctest.testmod(importlib.import_module(name))\n"
        "    assert found.attempted and not found.failed, name\n"
        "assert not doctest.testmod(miner).failed"
    )
    run_python(code)


def test_folder_and_catalogue_are_those_of_the_environment(tmp_path, monkeypatch):
    (tmp_path / "99-h.htm").write_bytes(FEW[0].read_bytes())
    catalog = tmp_path / "pg_catalog.csv"
    catalog.write_text(
        "Text#,Type,Issued,Title,Language,Authors,Subjects,LoCC,Bookshelves\n"
        "99,Text,2000-01-01,The Lock-Keeper’s Winter,en,Anonymous,,,\n"
    )
    monkeypatch.setenv("MINER_BOOKS", str(tmp_path))
    monkeypatch.setenv("MINER_CATALOG", str(catalog))
    by_number = miner.mine(99, tagger="gap")
    assert miner.mine("the lock-keeper's winter", tagger="gap").pairs == by_number.pairs
    with miner.mine_corpus(["The Lock-Keeper’s Winter", "99"], tagger="gap") as run:
        assert [book.id for book in run] == ["99"]
