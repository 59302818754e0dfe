"""A build on a full disk: one line, nothing half, and what is done is kept."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest
from build_helpers import digests, recipe_of
from click.testing import CliRunner
from corpus_helpers import LIMITED
from shelf import write_shelf

from miner.app.cli.main import main
from miner.app.cli.terminal import BuildBar
from miner.corpus.build import build_corpus

resource = pytest.importorskip("resource")
N_BOOKS = 4


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A recipe, and the corpus that it becomes where there is room."""
    folder = tmp_path_factory.mktemp("shelf")
    recipe = recipe_of(folder, write_shelf(folder / "books", N_BOOKS, chapters=1), "convokit = {}")
    build_corpus(recipe, folder / "corpus")
    return recipe, folder / "corpus"


@contextmanager
def filling():
    """Yields a function after whose call no file takes another byte, until the block ends."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("stage", "n_done"),
    [
        ("mining", 2),
        ("counting words", 1),  # the words of the corpus are written then
        ("comparing dialogues", 1),
        ("comparing dialogues", N_BOOKS),  # all are signed; what is compared is written then
        ("choosing dialogues", 1),
        ("writing", 1),
        ("writing", None),  # all are written, but the files beside them are not
    ],
)
def test_what_is_done_is_kept(built, tmp_path, monkeypatch, stage, n_done):
    recipe, expected = built
    out, partial = tmp_path / "out", tmp_path / "out.partial"

    def look(name, n, of):
        if name == stage and n == (of if n_done is None else n_done):
            fill()

    with filling() as fill, monkeypatch.context() as context:
        context.setattr(
            BuildBar, "show_mining", lambda _, progress: look("mining", progress.n_done, N_BOOKS)
        )
        context.setattr(BuildBar, "show_stage", lambda _, progress: look(*progress))
        done = CliRunner().invoke(main, ["build", str(recipe), "-o", str(out)])
    n_kept = len([*partial.glob("shards/*.shard")])
    assert n_kept == (2 if stage == "mining" else N_BOOKS)
    kept = f"{n_kept} books are kept in {partial}, --resume continues"
    assert done.output == f"miner: {out}: cannot be written: File too large; {kept}\n"
    assert done.exit_code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out.partial"]
    assert not [*partial.rglob("*.part"), *partial.glob("stages/.database*")]
    build_corpus(recipe, out, resume=True)
    assert digests(out) == digests(expected)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_full_folder_for_temporary_files_costs_no_book(built, tmp_path):
    recipe, _ = built
    out, temporary = tmp_path / "out", tmp_path / "temporary"
    temporary.mkdir()
    words = [sys.executable, "-c", LIMITED, "200000", "build", recipe, "-o", out, "-q"]
    env = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    why = "cannot be written: File too large; nothing was written"
    assert done.stderr == f"miner: {temporary}: {why}\n"
    assert (done.returncode, done.stdout) == (1, "")
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]
