"""The notebooks run from top to bottom, and what is saved in them is what running them gives."""

import ast
import base64
import itertools
import re
from functools import cache

import nbformat
import pytest
from helpers import BOOKS, needs_books, read_file
from IPython.core.inputtransformer2 import TransformerManager
from notebook_runs import NO_MIRROR, OF_REAL_BOOKS, PATHS, books_of, executed, run_cells

NAMES = ("1-mine-a-book", "2-train-and-compare", "3-dialogue-in-fiction", "4-who-speaks")
LARGEST = 300_000  # bytes
# What a machine, a person or a moment would leave behind.
PRIVATE = re.compile(r"/(?:home|Users|root|tmp|var|work|private)/|[A-Z]:\\\\|\d\d:\d\d:\d\d")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
each = pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])


def saved(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(notebook):
    """What the cells printed and showed, but pictures.

    What a cell prints in one go comes in as many pieces as the kernel's clock makes of it.
    """
    found = []
    for cell in code_cells(notebook):
        for kind, outputs in itertools.groupby(cell.outputs, lambda output: output.get("name")):
            if kind is not None:
                found.append("".join(output.text for output in outputs))
            else:
                found += [
                    output.data.get("text/html") or output.data["text/plain"] for output in outputs
                ]
    return found


def pictures(notebook):
    return [
        base64.b64decode(output.data["image/png"])
        for cell in code_cells(notebook)
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]


@cache
def run_on_the_sample(path):
    """A notebook run anew without any book, once."""
    return executed(path)


def first_line(notebook):
    return texts(notebook)[0].splitlines()[0]


def assert_alike(found, expected):
    """The same words, and numbers that another processor may change a little."""
    assert NUMBER.sub("#", found) == NUMBER.sub("#", expected)
    for one, other in zip(NUMBER.findall(found), NUMBER.findall(expected), strict=True):
        n = float(one.replace(",", ""))
        assert n == pytest.approx(float(other.replace(",", "")), rel=0.05, abs=2)


def test_these_are_the_notebooks():
    assert tuple(path.stem for path in PATHS) == NAMES


@pytest.mark.parametrize("name", [NAMES[0], *NAMES[2:]])
def test_without_books_its_code_runs_on_the_sample_and_says_so(name, monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("MINER_BOOKS", raising=False)
    monkeypatch.setenv("MINER_CACHE", str(tmp_path))
    monkeypatch.setenv("MINER_MIRROR", NO_MIRROR)
    run_cells(PATHS[NAMES.index(name)])
    said = capsys.readouterr().out
    assert said.startswith("The figures are of") and "The Lock-Keeper’s Winter" in said
    assert re.search("could (not )?be had here", said)


@pytest.mark.slow
@each
def test_without_books_it_runs_on_the_sample_and_says_so(path):
    found = run_on_the_sample(path)
    assert first_line(found).startswith("The figures are of")
    assert "The Lock-Keeper’s Winter" in first_line(found)
    assert re.search("could (not )?be had here", texts(found)[0])
    assert len(pictures(found)) >= 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=[needs_books] if books_of(p) else [], id=p.stem) for p in PATHS],
)
def test_running_it_shows_what_is_saved(path):
    books = books_of(path)
    found, expected = executed(path, books) if books else run_on_the_sample(path), saved(path)
    assert [cell.source for cell in found.cells] == [cell.source for cell in expected.cells]
    assert len(pictures(found)) == len(pictures(expected)) >= 2
    for one, other in zip(texts(found), texts(expected), strict=True):
        assert_alike(one, other)


def test_saved_figures_of_real_books_quote_nothing():
    """A quotation has marks; the titles of the books have none."""
    for path in PATHS:
        if path.stem in OF_REAL_BOOKS:
            assert "The Lock-Keeper’s Winter" not in first_line(saved(path))
            for text in texts(saved(path)):
                assert not re.search("[“”]", text)


@pytest.mark.slow
@needs_books
def test_no_seven_words_of_a_book_are_saved():
    ids = [path for name in ("1342", "84", "55", "45") for path in BOOKS.glob(f"{name}-h.htm")]
    books = [" ".join(block.text for block in read_file(path, "1").blocks) for path in ids]
    text = " ".join(" ".join(books).split())
    assert len(ids) == 4 and "It is a truth universally acknowledged, that" in text
    for path in PATHS:
        words = " ".join(texts(saved(path))).split()
        runs = {" ".join(words[n : n + 7]) for n in range(len(words) - 6)}
        assert not [run for run in runs if run in text]


@each
def test_nothing_went_wrong_in_what_is_saved(path):
    notebook = saved(path)
    nbformat.validate(notebook)
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for output in [output for cell in cells for output in cell.outputs]:
        assert output.output_type in ("execute_result", "display_data", "stream")
        assert output.get("name") != "stderr"
    for picture in pictures(notebook):
        assert picture.startswith(b"\x89PNG") and len(picture) > 4000


@each
def test_it_defines_nothing(path):
    """What is worth a function is worth a place in the library."""
    for cell in code_cells(saved(path)):
        body = cell.source.removeprefix("%%capture log\n")
        for node in ast.walk(ast.parse(TransformerManager().transform_cell(body))):
            assert not isinstance(
                node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.While | ast.Try
            )


@each
def test_it_says_in_words_what_one_sees(path):
    """After each picture, before the next but one, there is a text."""
    cells = saved(path).cells
    bare = 0
    for cell in cells:
        if cell.cell_type == "markdown":
            assert len(cell.source) > 10 and "SEE_" not in cell.source
            bare = 0
        else:
            bare += any("image/png" in output.get("data", {}) for output in cell.outputs)
        assert bare <= 2
    assert cells[0].source.startswith("# ")


@each
def test_it_is_small_and_tells_nothing_of_a_machine(path):
    assert path.stat().st_size < LARGEST
    notebook = saved(path)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert set(notebook.metadata.language_info) == {"name"}
    for cell in notebook.cells:
        assert cell.metadata == {}
        assert not PRIVATE.search(cell.source)
    for text in texts(notebook):
        assert not PRIVATE.search(text), text


@each
def test_its_links_lead_somewhere(path):
    for cell in saved(path).cells:
        if cell.cell_type == "markdown":
            for target in re.findall(r"\]\(([^)#]+)", cell.source):
                assert (path.parent / target).exists(), target


@pytest.mark.slow
@needs_books
def test_dialogue_in_fiction_takes_the_novels_that_are_at_hand(tmp_path):
    for name in ("928-h.htm", "35-h.htm"):
        (tmp_path / name).symlink_to(BOOKS / name)
    said = texts(executed(PATHS[NAMES.index("3-dialogue-in-fiction")], tmp_path))[0]
    assert said.startswith("The figures are of 2 books: Alice’s Adventures in Wonderland, 1865")
    assert "10 of the 12 novels could not be had here." in said
