"""The notebooks run from top to bottom, and what is saved in them is what running them gives."""

import ast
import base64
import re

import nbformat
import pytest
from helpers import BOOKS, needs_books
from IPython.core.inputtransformer2 import TransformerManager
from notebook_runs import PATHS, executed

NAMES = ("1-mine-a-book", "2-train-and-compare", "3-dialogue-in-fiction")
LARGEST = 300_000  # bytes
# What a machine, a person or a moment would leave behind.
PRIVATE = re.compile(r"/(?:home|Users|root|tmp|var|work|private)/|[A-Z]:\\\\|\d\d:\d\d:\d\d")
pytestmark = pytest.mark.slow
each = pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])


def saved(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(notebook):
    """What the cells printed and showed, but pictures."""
    return [
        output.get("text") or output.data.get("text/html") or output.data["text/plain"]
        for cell in code_cells(notebook)
        for output in cell.outputs
    ]


def pictures(notebook):
    return [
        base64.b64decode(output.data["image/png"])
        for cell in code_cells(notebook)
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]


@pytest.fixture(scope="module")
def rerun():
    """Each notebook run anew, once."""
    done = {}

    def run(path):
        if path not in done:
            done[path] = executed(path)
        return done[path]

    return run


def test_these_are_the_notebooks():
    assert tuple(path.stem for path in PATHS) == NAMES


@each
def test_it_runs_and_shows_what_is_saved(path, rerun):
    found, expected = rerun(path), saved(path)
    assert [cell.source for cell in found.cells] == [cell.source for cell in expected.cells]
    assert texts(found) == texts(expected)
    assert len(pictures(found)) == len(pictures(expected)) >= 2


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
            for target in re.findall(r"\]\(([^)]+)\)", cell.source):
                assert (path.parent / target).exists(), target


@needs_books
def test_dialogue_in_fiction_takes_the_novels_that_are_at_hand(tmp_path, rerun):
    """The picture of talk by chapter has a row for each book, so two more make it taller."""
    for name in ("2226-h.htm", "155-h.htm"):
        (tmp_path / name).symlink_to(BOOKS / name)
    path = PATHS[NAMES.index("3-dialogue-in-fiction")]
    heights = []
    for found in (rerun(path), executed(path, tmp_path)):
        (cell,) = [cell for cell in code_cells(found) if "plot_talks([" in cell.source]
        size = re.search(r"Figure size (\d+)x(\d+)", cell.outputs[0].data["text/plain"])
        heights.append(int(size[2]))
    assert heights[1] - heights[0] == 52
