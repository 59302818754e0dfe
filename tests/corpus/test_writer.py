"""Runs that are interrupted and gone on with: to the same bytes, and never over another run."""

import json
import os
import shutil
import signal

import pyarrow.parquet as pq
import pytest
from corpus.test_mine import DATA, SAMPLE, bytes_of, record, run, started
from helpers import interrupted_after
from loopback import answer

import miner.corpus.pipeline
from miner.corpus.writer import OutputFolder, encode

SOURCES = ("sample", DATA / "dash.htm", DATA / "play.html", DATA / "guillemets_fr.html", "gone.htm")


class Stop(Exception):
    pass


def interrupted(out, monkeypatch, after, *words, sources=SOURCES):
    """A run that ended in the middle of a book."""
    with monkeypatch.context() as context:
        stopping = interrupted_after(miner.corpus.pipeline.read_spans, after)
        context.setattr("miner.corpus.pipeline.read_spans", stopping)
        done = run(*sources, "-q", "-o", out, *words)
    assert done.exit_code == 130
    return done


@pytest.fixture(params=["jsonl", "parquet"])
def whole(request, tmp_path):
    """A run without interruption: its options and bytes."""
    words = ("--format", request.param)
    out = tmp_path / "whole" / "out"
    assert run(*SOURCES, "-q", "-o", out, *words).exit_code == 1
    return words, bytes_of(out)


@pytest.mark.parametrize("after", [1, 2, 3])
def test_an_interrupted_run_is_gone_on_with_to_the_same_bytes(tmp_path, monkeypatch, whole, after):
    words, expected = whole
    out = tmp_path / "out"
    done = interrupted(out, monkeypatch, after, *words)
    said = f"{after} {'book is' if after == 1 else 'books are'} kept in {out}.partial"
    assert done.stderr == f"miner: interrupted; {said}, --resume goes on\n"
    assert not out.exists()
    monkeypatch.setattr(
        "miner.corpus.pipeline.read_spans",
        counted(miner.corpus.pipeline.read_spans, calls := []),
    )
    again = run(*SOURCES, "-q", "-o", out, "--resume", *words)
    assert again.exit_code == 1 and len(again.stderr.splitlines()) == 2
    assert bytes_of(out) == expected
    assert len(calls) == 4 - after
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "whole"]


def counted(work, calls):
    def counting(*args):
        calls.append(args)
        return work(*args)

    return counting


def test_interrupted_twice_and_into_a_folder_that_is_there(tmp_path, monkeypatch, whole):
    words, expected = whole
    out = tmp_path / "out"
    out.mkdir()
    interrupted(out, monkeypatch, 1, *words)
    interrupted(out, monkeypatch, 1, *words, "--resume")
    assert [path.name for path in out.iterdir()] == ["out.partial"]
    assert run(*SOURCES, "-q", "-o", out, "--resume", *words).exit_code == 1
    assert bytes_of(out) == expected


def test_a_run_that_was_killed_is_gone_on_with(tmp_path):
    books = tmp_path / "books"
    books.mkdir()
    for n in range(60):
        shutil.copy(SAMPLE, books / f"{n + 1}-h.htm")
    process = started(books, tmp_path, "--workers", "2")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    out = tmp_path / "deep" / "out"
    refused = run(books, "-o", out)
    line = f"miner: {out}.partial: found an interrupted run, expected --resume to go on with it"
    assert refused.stderr.startswith(line) and refused.exit_code == 1
    assert run(books, "-q", "-o", out, "--resume").exit_code == 0
    assert run(books, "-q", "-o", tmp_path / "whole").exit_code == 0
    assert bytes_of(out) == bytes_of(tmp_path / "whole")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda partial: cut(partial / "journal.jsonl", 5),
        lambda partial: cut(partial / "pairs.rows", 5),
        lambda partial: (partial / "spans.rows").write_bytes(b"?" * 9_000_000),
        lambda partial: (partial / "spans.rows").unlink(),
        lambda partial: append(partial / "dialogues.rows", b'{"half":'),
        lambda partial: append(partial / "journal.jsonl", b"[]\n"),
        lambda partial: cut(partial / "journal.jsonl", 1),
        lambda partial: (partial / "journal.jsonl").write_bytes(b""),
        lambda partial: (partial / "journal.jsonl").unlink(),
    ],
    ids=[
        "journal cut",
        "rows cut",
        "rows changed",
        "rows gone",
        "more rows",
        "noise",
        "line",
        "",
        "gone",
    ],
)
def test_what_is_not_whole_is_done_again(tmp_path, monkeypatch, spoil):
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert run(*SOURCES, "-q", "-o", whole).exit_code == 1
    interrupted(out, monkeypatch, 3)
    spoil(tmp_path / "out.partial")
    done = run(*SOURCES, "-q", "-o", out, "--resume")
    assert len(done.stderr.splitlines()) == 2, done.stderr
    assert bytes_of(out) == bytes_of(whole)


def cut(path, n):
    path.write_bytes(path.read_bytes()[:-n])


def append(path, data):
    path.write_bytes(path.read_bytes() + data)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--min-turns", "2"), "options"),
        (("--tagger", "narration"), "options"),
        (("--format", "parquet"), "options"),
    ],
)
def test_a_run_of_other_options_is_not_gone_on_with(tmp_path, monkeypatch, words, said):
    out = tmp_path / "out"
    interrupted(out, monkeypatch, 2)
    before = bytes_of(tmp_path / "out.partial")
    done = run(*SOURCES, "-o", out, "--resume", *words)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"miner: {tmp_path / 'out.partial'}: found a run with {said} ")
    assert line.endswith("--force begins anew") and done.exit_code == 1
    assert bytes_of(tmp_path / "out.partial") == before
    assert run(*SOURCES, "-q", "-o", out, "--force", *words).exit_code == 1
    assert not (tmp_path / "out.partial").exists()
    assert [book["id"] for book in record(out)["books"]] == ["sample", "dash", "guillemets_fr"]


def test_a_book_that_changed_is_done_again_with_all_after_it(tmp_path, monkeypatch):
    books = [tmp_path / f"{n}.html" for n in range(4)]
    for path in books:
        shutil.copy(SAMPLE, path)
    out = tmp_path / "out"
    interrupted(out, monkeypatch, 3, sources=books)
    books[1].write_bytes((DATA / "dash.htm").read_bytes())
    assert run(*books, "-q", "-o", out, "--resume").exit_code == 0
    assert run(*books, "-q", "-o", tmp_path / "whole").exit_code == 0
    assert bytes_of(out) == bytes_of(tmp_path / "whole")


@pytest.mark.usefixtures("quick")
def test_downloaded_books_are_kept_and_failed_downloads_tried_again(tmp_path, monkeypatch, site):
    page, out = SAMPLE.read_bytes(), tmp_path / "out"
    site.pages |= {f"/{n}.html": answer(page) for n in (11, 13)}
    words = (*("11", "12", "13", "sample", "-q", "-o", out), "--mirror", site.mirror)
    cache = {"MINER_CACHE": str(tmp_path / "cache")}
    with monkeypatch.context() as context:
        stopping = interrupted_after(miner.corpus.pipeline.read_spans, 2)
        context.setattr("miner.corpus.pipeline.read_spans", stopping)
        assert "3 books are kept" in run(*words, **cache).stderr
    monkeypatch.setattr(
        "miner.corpus.pipeline.read_spans",
        counted(miner.corpus.pipeline.read_spans, calls := []),
    )
    with monkeypatch.context() as context:  # gone on with, and stopped again at once
        context.setattr("miner.corpus.pipeline.read_spans", interrupted_after(None, 0))
        assert "3 books are kept" in run(*words, "--resume", **cache).stderr
    assert site.paths == ["/11.html", "/12.html", "/13.html", "/12.html"]
    site.pages["/12.html"] = answer(page)
    assert run(*words, "--resume", **cache).exit_code == 0
    assert [book["id"] for book in record(out)["books"]] == ["11", "12", "13", "sample"]
    assert [call[1] for call in calls] == ["12", "13", "sample"]
    assert site.paths == ["/11.html", "/12.html", "/13.html", "/12.html", "/12.html"]


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_disk_that_is_full_at_the_end_costs_no_book(tmp_path, monkeypatch, format):
    whole, out = tmp_path / "whole", tmp_path / "out"
    words = ("-q", "--format", format)
    assert run(*SOURCES, "-o", whole, *words).exit_code == 1
    with monkeypatch.context() as context:
        context.setattr("miner.corpus.writer._card", full)
        done = run(*SOURCES, "-o", out, *words)
    assert done.exit_code == 1 and "5 books are kept" in done.stderr
    monkeypatch.setattr(
        "miner.corpus.pipeline.read_spans",
        counted(miner.corpus.pipeline.read_spans, calls := []),
    )
    assert run(*SOURCES, "-o", out, "--resume", *words).exit_code == 1
    assert bytes_of(out) == bytes_of(whole)
    assert calls == []


def full(*_):
    raise OSError(28, "No space left on device")


def test_there_need_be_nothing_to_go_on_with(tmp_path):
    out = tmp_path / "out"
    assert run("sample", "-q", "-o", out, "--resume").exit_code == 0
    done = run("sample", "-q", "-o", out, "--resume")
    assert "exists already" in done.stderr and done.exit_code == 1


def test_two_runs_do_not_write_to_one_place(tmp_path):
    out = tmp_path / "out"
    with OutputFolder(out, "jsonl") as first:
        first.add({"book": 1}, {kind: b"{}\n" for kind in ("spans", "dialogues", "pairs")})
        with (
            pytest.raises(ValueError, match="another run is writing to it"),
            OutputFolder(out, "jsonl", resume=True),
        ):
            raise AssertionError("the block must not start")
        first.finish({"miner": "0"})
    assert (out / "pairs.jsonl").read_bytes() == b"{}\n"
    assert "lock" not in bytes_of(out)


def test_a_row_group_a_book(tmp_path):
    out = tmp_path / "out"
    assert run("sample", DATA / "dash.htm", "-o", out, "--format", "parquet").exit_code == 0
    assert pq.ParquetFile(out / "pairs.parquet").num_row_groups == 2


def test_notes_are_of_the_books_that_are_kept(tmp_path):
    out, head = tmp_path / "out", {"version": 1}
    rows = {kind: encode(kind, [], "jsonl") for kind in ("spans", "dialogues", "pairs")}
    with pytest.raises(Stop) as error, OutputFolder(out, "jsonl", head=head) as folder:
        for n in range(3):
            folder.add({"book": n}, rows | {"pairs": json.dumps({"n": n}).encode() + b"\n"})
        raise Stop
    assert error.value.__notes__ == [f"3 books are kept in {out}.partial, --resume goes on"]
    with OutputFolder(out, "jsonl", resume=True, head=head) as folder:
        assert folder.notes == [{"book": 0}, {"book": 1}, {"book": 2}]
        folder.cut(1)
        folder.add({"book": 7}, rows | {"pairs": b'{"n":7}\n'})
        folder.finish({"miner": "0"})
    assert (out / "pairs.jsonl").read_bytes() == b'{"n": 0}\n{"n":7}\n'
