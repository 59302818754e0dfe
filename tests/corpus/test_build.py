"""Many books by a checkpoint: batches fill across them, and no book is the worse for it."""

import json

import pytest
from corpus.test_mine import DATA, SAMPLE, bytes_of, record, rows, run
from encoders import save_checkpoint
from helpers import interrupted_after

import miner.corpus.build
from miner.books.sources import Source
from miner.corpus.pipeline import MiningOptions, SetAside, read_source
from miner.models.tagger.tagger import NeuralTagger

BOOKS = (DATA / "dash.htm", "sample", DATA / "play.html", DATA / "single_curly.html", "gone.htm")
ENGLISH = ("sample", "single_curly")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("many") / "tiny", window=48, margin=4)


@pytest.fixture(scope="module")
def whole(checkpoint, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "out"
    assert run(*BOOKS, "-q", "-o", out, "--tagger", checkpoint).exit_code == 1
    return out


def test_books_come_out_in_order_and_as_they_do_alone(checkpoint, whole, tmp_path):
    assert [book["id"] for book in record(whole)["books"]] == ["dash", "sample", "single_curly"]
    assert [item["file"] for item in record(whole)["set_aside"]] == ["play.html", "gone.htm"]
    for kind in ("spans", "dialogues", "pairs"):
        expected = []
        for word in (BOOKS[0], BOOKS[1], BOOKS[3]):
            alone = tmp_path / f"{kind}{len(expected)}"
            assert run(word, "-q", "-o", alone, "--tagger", checkpoint).exit_code == 0
            expected += rows(alone, kind)
        assert rows(whole, kind) == expected != []


def test_any_number_of_workers_writes_the_same_bytes(checkpoint, whole, tmp_path):
    out = tmp_path / "out"
    words = ("--workers", "3", "--tagger", checkpoint)
    assert run(*BOOKS, "-q", "-o", out, *words).exit_code == 1
    assert bytes_of(out) == bytes_of(whole)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_crash_in_the_middle_is_gone_on_with(checkpoint, whole, tmp_path, monkeypatch, after):
    out = tmp_path / "out"
    with monkeypatch.context() as context:
        context.setattr(
            NeuralTagger, "decode_book", interrupted_after(NeuralTagger.decode_book, after)
        )
        assert run(*BOOKS, "-q", "-o", out, "--tagger", checkpoint).exit_code == 130
    assert (tmp_path / "out.partial").exists() == bool(after)
    again = run(*BOOKS, "-q", "-o", out, "--resume", "--tagger", checkpoint)
    assert len(again.stderr.splitlines()) == 2
    assert bytes_of(out) == bytes_of(whole)


def test_another_checkpoint_does_not_go_on_with_it(checkpoint, tmp_path, monkeypatch):
    out = tmp_path / "out"
    with monkeypatch.context() as context:
        context.setattr(NeuralTagger, "decode_book", interrupted_after(NeuralTagger.decode_book, 1))
        assert run(*BOOKS, "-q", "-o", out, "--tagger", checkpoint).exit_code == 130
    other = save_checkpoint(tmp_path / "tiny", window=48, margin=4, seed=3)
    refused = run(*BOOKS, "-o", out, "--resume", "--tagger", other)
    assert refused.exit_code == 1 and "found a run with options" in refused.stderr
    assert (tmp_path / "out.partial").exists()


def test_reading_stays_a_few_books_ahead(checkpoint, tmp_path, monkeypatch):
    for n in range(12):
        (tmp_path / f"{n + 1}-h.htm").write_bytes(SAMPLE.read_bytes())
    events = []
    read, tagged = miner.corpus.build.read_source, NeuralTagger.decode_book
    monkeypatch.setattr("miner.corpus.build.read_source", noted(read, events, "read"))
    monkeypatch.setattr("miner.corpus.build._in_processes", in_this_process)
    monkeypatch.setattr(NeuralTagger, "decode_book", noted(tagged, events, "tagged"))
    assert run(tmp_path, "-q", "-o", tmp_path / "out", "--tagger", checkpoint).exit_code == 0
    ahead = [events[: n + 1].count("read") - events[: n + 1].count("tagged") for n in range(24)]
    assert len(events) == 24 and max(ahead) <= 4


def test_books_are_parsed_beside_the_tagging_and_before_it(checkpoint, tmp_path, monkeypatch):
    for n in range(5):
        (tmp_path / f"{n + 1}-h.htm").write_bytes(SAMPLE.read_bytes())
    events = []
    in_processes, tagged = miner.corpus.build._in_processes, NeuralTagger.decode_book

    def watched(located, options, workers):
        return in_processes((events.append("asked") or it for it in located), options, workers)

    monkeypatch.setattr("miner.corpus.build._in_processes", watched)
    monkeypatch.setattr(NeuralTagger, "decode_book", noted(tagged, events, "tagged"))
    words = ("-o", tmp_path / "out", "--workers", 1, "--tagger", checkpoint)
    assert run(tmp_path, "-q", *words).exit_code == 0
    assert events.index("tagged") >= 3 and events.count("tagged") == events.count("asked") == 5


def test_no_more_than_a_few_dozen_books_wait_for_one(checkpoint):
    options = MiningOptions(str(checkpoint))
    events = []

    def read():
        yield read_source(Source("sample", "sample", SAMPLE), options)
        for n in range(500):
            events.append(n)
            yield SetAside(str(n), "in the way")

    results = miner.corpus.build._tagged(read(), options)
    assert next(results).entry["id"] == "sample"
    assert len(events) <= 64
    assert [item.name for item in results] == [str(n) for n in range(500)]


def test_what_waited_at_the_end_of_a_group_comes_out_once(checkpoint, monkeypatch):
    monkeypatch.setattr("miner.corpus.build._MOST_WAITING", 2)
    options = MiningOptions(str(checkpoint))
    names = ["a", "-1", "-2", "b", "-3", "c", "-4"]  # groups end after -2 and after c
    read = [
        SetAside(name, "in the way")
        if name.startswith("-")
        else read_source(Source(name, name, SAMPLE), options)
        for name in names
    ]
    results = miner.corpus.build._tagged(read, options)
    found = [item.name if isinstance(item, SetAside) else item.entry["id"] for item in results]
    assert found == names


def noted(work, events, name):
    def noting(*args):
        events.append(name)
        return work(*args)

    return noting


def in_this_process(located, options, workers):
    for source in located:
        assert isinstance(source, Source)
        yield miner.corpus.build.read_source(source, options)


def test_auto_is_the_trained_tagger_for_english_and_the_gap_for_others(tmp_path):
    out = tmp_path / "out"
    books = ("sample", DATA / "guillemets_fr.html")
    assert run(*books, "-o", out, "--tagger", "auto").exit_code == 0
    english, french = record(out)["books"]
    assert english["tagger"].startswith("en@") and french["tagger"] == "gap"
    assert record(out)["options"]["tagger"] == f"auto {english['tagger']}"
    for spans in rows(out, "spans"):
        sure = spans["kind"] == "utterance" and spans["book"] == "sample"
        assert (spans["confidence"] is not None) == sure
    alone = tmp_path / "alone"
    assert run(books[1], "-q", "-o", alone, "--tagger", "gap").exit_code == 0
    assert rows(alone, "pairs") == [row for row in rows(out, "pairs") if row["book"] != "sample"]


def test_the_table_says_who_tagged(tmp_path):
    done = run("sample", DATA / "guillemets_fr.html", "-o", tmp_path / "out", "--tagger", "auto")
    english = record(tmp_path / "out")["books"][0]["tagger"]
    assert f"tagged by {english} (1 book), gap (1 book)" in done.stdout
    assert json.loads((tmp_path / "out" / "run.json").read_bytes())["libraries"]["torch"]
