"""A book that needs more memory than there is: it is set aside, and the others are mined."""

import os
import signal
import tracemalloc

import pytest
from corpus_helpers import bytes_of, record, shards_of
from helpers import DATA, cpu_seconds, interrupted_after

import miner
from heuristic.gap import GapTagger
from miner.books.sources import Source
from miner.corpus.mined_book import MinedBook, MiningOptions
from miner.corpus.pipeline import mine_book

BOOKS = (DATA / "dash.htm", DATA / "guillemets_fr.html", DATA / "single_curly.html")
WHY = "needs more memory than there is"


def ids(run):
    return [entry["id"] for entry in run.entries]


def exhausting(book_spans):
    """A filter that exhausts the memory in the second book."""
    if book_spans.book.id == "guillemets_fr":
        raise MemoryError
    return True


def killing(book_spans):
    """A filter for which the system kills the process in the second book."""
    if book_spans.book.id == "guillemets_fr":
        os.kill(os.getpid(), signal.SIGKILL)
    return True


class Large:
    """A tagger that exhausts the memory in one book."""

    def __init__(self, large):
        self.large = large

    def tag(self, book_spans):
        if book_spans.book.id == self.large:
            raise MemoryError
        return GapTagger().tag(book_spans)

    def __repr__(self):
        return "Large()"


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_while_it_is_read(tmp_path, workers):
    out = tmp_path / "out"
    run = miner.mine_corpus(BOOKS, out, tagger="gap", filters=exhausting, workers=workers).finish()
    assert ids(run) == ["dash", "single_curly"]
    assert [(item.name, item.why) for item in run.set_aside] == [(str(BOOKS[1]), WHY)]
    assert record(out)["set_aside"] == [{"file": "guillemets_fr.html", "why": WHY}]


@pytest.mark.slow
def test_while_its_worker_reads_it(tmp_path):
    out = tmp_path / "out"
    run = miner.mine_corpus(BOOKS, out, tagger="gap", filters=killing, workers=2).finish()
    assert ids(run) == ["dash", "single_curly"]
    why = "its process was killed, perhaps for want of memory"
    assert [(item.name, item.why) for item in run.set_aside] == [(str(BOOKS[1]), why)]


@pytest.mark.parametrize("large", ["dash", "guillemets_fr", "single_curly"])
def test_while_it_is_tagged(large):
    run = miner.mine_corpus(BOOKS, tagger=Large(large)).finish()
    assert ids(run) == [path.stem for path in BOOKS if path.stem != large]
    assert [item.why for item in run.set_aside] == [WHY]
    whole = miner.mine_corpus(BOOKS, tagger=Large("")).finish()
    assert run.entries == [entry for entry in whole.entries if entry["id"] != large]


def test_a_resumed_run_tries_it_again(tmp_path, monkeypatch):
    out, whole = tmp_path / "out", tmp_path / "whole"
    with monkeypatch.context() as context:
        parse = miner.corpus.pipeline.parse_spans
        context.setattr("miner.corpus.pipeline.parse_spans", interrupted_after(parse, 2))
        with pytest.raises(KeyboardInterrupt):
            miner.mine_corpus(BOOKS, out, tagger=Large("guillemets_fr")).finish()
    assert len(shards_of(tmp_path / "out.partial")) == 1
    miner.mine_corpus(BOOKS, out, tagger=Large(""), resume=True).finish()
    miner.mine_corpus(BOOKS, whole, tagger=Large("")).finish()
    assert bytes_of(out) == bytes_of(whole)


# Books that only a machine writes: a form, and the bytes that each repetition of it may take.
FORMS = {
    "one-line paragraphs": ("<p>“Yes,” he said.</p>\n", 6_000),
    "headings": ("<h2>Part I</h2>\n", 4_000),
    "headings with speech": ("<h2>Part I</h2><p>“One.”</p>\n", 7_000),
    "straight marks": ('"', 800),
    "openers": ("“", 800),
}


@pytest.mark.parametrize("name", FORMS)
def test_time_and_memory_are_in_proportion_to_the_length(tmp_path, name):
    form, most = FORMS[name]
    path = tmp_path / "long.html"

    def mined(n):
        path.write_text("<html><body><p>“Yes,” he said.</p>" + form * n)
        result = mine_book(Source("long", "long", path), GapTagger(), MiningOptions("gap"))
        assert isinstance(result, MinedBook)

    mined(1)
    assert cpu_seconds(lambda: mined(2_000), 3) < 3
    tracemalloc.start()
    try:
        mined(400)
        assert tracemalloc.get_traced_memory()[1] < most * 400
    finally:
        tracemalloc.stop()
