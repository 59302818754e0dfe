"""Many books by a checkpoint: each is tagged as it is alone, and kept when it is done."""

from itertools import accumulate

import pytest
from corpus_helpers import bytes_of, record, rows, run
from encoders import exported, save_checkpoint
from helpers import DATA, SAMPLE, interrupted_after

import miner
from miner.corpus.executors import LocalExecutor
from miner.corpus.mining import Progress
from miner.tagger.tagger import NeuralTagger

BOOKS = (DATA / "dash.htm", "sample", DATA / "play.html", DATA / "single_curly.html", "gone.htm")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("many") / "tiny", window=48, margin=4)


@pytest.fixture(scope="module")
def whole(checkpoint, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "out"
    mined = miner.mine_corpus(BOOKS, out, tagger=checkpoint).finish()
    assert len(mined.entries) == 3
    return out


def interrupt(monkeypatch, n):
    """Makes a checkpoint get a Ctrl-C at the book after the n-th."""
    stopping = interrupted_after(NeuralTagger.tag, n)
    monkeypatch.setattr(NeuralTagger, "tag", lambda *given: stopping(*given))


def test_books_come_out_in_order_and_as_they_do_alone(checkpoint, whole):
    assert [book["id"] for book in record(whole)["books"]] == ["dash", "sample", "single_curly"]
    assert [item["file"] for item in record(whole)["set_aside"]] == ["play.html", "gone.htm"]
    alone = [miner.mine(BOOKS[n], tagger=checkpoint) for n in (0, 1, 3)]
    for kind in ("spans", "dialogues", "pairs"):
        assert rows(whole, kind) == [row for book in alone for row in book.rows(kind)] != []


@pytest.mark.slow
def test_the_record_names_the_libraries_that_computed_the_tags(whole, tmp_path):
    plain = {"beautifulsoup4", "lxml"}
    by_torch = {"torch", "transformers", "tokenizers", "numpy"}
    assert record(whole)["libraries"].keys() == plain | by_torch
    miner.mine_corpus(["sample"], tmp_path / "gap", tagger="gap").finish()
    assert record(tmp_path / "gap")["libraries"].keys() == plain
    miner.mine_corpus(["sample"], tmp_path / "onnx", tagger=exported()).finish()
    by_onnx = {"onnxruntime", "tokenizers", "numpy"}
    assert record(tmp_path / "onnx")["libraries"].keys() == plain | by_onnx


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_workers_writes_the_same_bytes(checkpoint, whole, tmp_path, workers):
    out = tmp_path / "out"
    words = ("--workers", workers, "--tagger", checkpoint)
    assert run(*BOOKS, "-q", "-o", out, *words).exit_code == 1
    assert bytes_of(out) == bytes_of(whole)


@pytest.mark.parametrize("after", [0, 2])
def test_an_interrupted_run_is_resumed(checkpoint, whole, tmp_path, monkeypatch, after):
    out = tmp_path / "out"
    options = {"tagger": checkpoint}
    with monkeypatch.context() as context:
        interrupt(context, after)
        with pytest.raises(KeyboardInterrupt):
            miner.mine_corpus(BOOKS, out, **options).finish()
    assert (tmp_path / "out.partial").exists() == bool(after)
    miner.mine_corpus(BOOKS, out, **options, resume=True).finish()
    assert bytes_of(out) == bytes_of(whole)


def test_another_checkpoint_does_not_resume_it(checkpoint, tmp_path, monkeypatch):
    out = tmp_path / "out"
    with miner.mine_corpus(BOOKS, out, tagger=checkpoint) as run_of:
        next(run_of)
    other = save_checkpoint(tmp_path / "tiny", window=48, margin=4, seed=3)
    refused = run(*BOOKS, "-o", out, "--resume", "--tagger", other)
    assert refused.exit_code == 1 and "found a run with options" in refused.stderr
    assert (tmp_path / "out.partial").exists()


def test_progress_moves_inside_a_book(checkpoint, whole):
    states = []
    miner.mine_corpus(BOOKS, tagger=checkpoint, on_progress=states.append).finish()
    ends = [0, *accumulate(book["words"] for book in record(whole)["books"])]
    assert states[-1] == Progress(5, 5, ends[-1], ends[-1])
    done = [state.n_words for state in states]
    assert done == sorted(done) and set(done) - set(ends)


def test_a_book_is_kept_before_the_next_one_is_tagged(checkpoint, tmp_path):
    for n in range(3):
        (tmp_path / f"{n + 1}-h.htm").write_bytes(SAMPLE.read_bytes())
    words = miner.mine("sample", tagger="gap").n_words

    def interrupt_in_the_second(progress):
        if progress.n_words > 1.5 * words:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as error:
        miner.mine_corpus(
            tmp_path,
            tmp_path / "out",
            tagger=checkpoint,
            on_progress=interrupt_in_the_second,
        ).finish()
    kept = f"1 book is kept in {tmp_path / 'out.partial'}, `resume=True` continues"
    assert error.value.__notes__ == [kept]


@pytest.mark.parametrize(("workers", "n_processes"), [(1, 0), (2, 2), (32, 3)])
def test_there_are_no_more_processes_than_books(monkeypatch, workers, n_processes):
    started = []
    map_of = LocalExecutor.map

    def noting(self, function, items):
        started.append(self.n_processes)
        return map_of(LocalExecutor(), function, items)

    monkeypatch.setattr(LocalExecutor, "map", noting)
    books = [DATA / "single_curly.html", DATA / "dash.htm", DATA / "play.html"]
    miner.mine_corpus(books, tagger="gap", workers=workers).finish()
    assert started == [n_processes]


@pytest.mark.slow
def test_auto_tags_by_the_language_of_the_book(tmp_path):
    out = tmp_path / "out"
    books = ("sample", DATA / "guillemets_fr.html", DATA / "swedish_dash.html")
    done = run(*books, "-o", out, "--tagger", "auto")
    assert done.exit_code == 0
    english, french, swedish = (book["tagger"] for book in record(out)["books"])
    assert english.startswith("en@") and french.startswith("multilingual@") and swedish == "gap"
    assert f"tagged by {english} (1 book), {french} (1 book), gap (1 book)" in done.stdout
    assert record(out)["options"]["tagger"] == f"auto {english}, {french}"
    libraries = record(out)["libraries"]
    assert {"onnxruntime", "tokenizers", "numpy"} < libraries.keys() and "torch" not in libraries
    for spans in rows(out, "spans"):
        has_confidence = spans["kind"] == "utterance" and spans["book"] != "swedish_dash"
        assert (spans["confidence"] is not None) == has_confidence
    alone = miner.mine(books[2], tagger="gap")
    assert alone.rows() == [row for row in rows(out, "pairs") if row["book"] == "swedish_dash"]
