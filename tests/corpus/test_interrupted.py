"""Mining that is interrupted, killed or out of room: what is done is kept, nothing is half."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from corpus_helpers import LIMITED, record, run, shards_of, started
from helpers import DATA, SAMPLE, interrupted_after


def kept(errors, how, tmp_path):
    """How many books an interrupted run kept, which is what it says."""
    partial = tmp_path / "deep" / "out.partial"
    said = re.fullmatch(
        rf"miner: {how}; (\d+) books? (?:is|are) kept in (.*), --resume continues\n", errors
    )
    assert said and said[2] == str(partial)
    assert [path.name for path in partial.parent.iterdir()] == ["out.partial"]
    n = int(said[1])
    assert len(shards_of(partial)) == n
    return n


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_ctrl_c_keeps_the_books_that_are_done(many, tmp_path, workers):
    process = started(many, tmp_path, "--workers", workers)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it, too
    printed, errors = process.communicate(timeout=300)
    assert 3 <= kept(errors, "interrupted", tmp_path) < 301
    assert (process.returncode, printed) == (130, "")


@pytest.mark.parametrize("kill", [pytest.param("SIGTERM", marks=pytest.mark.slow), "SIGHUP"])
def test_a_polite_kill_and_a_closed_terminal_keep_them_too(many, tmp_path, kill):
    process = started(many, tmp_path)
    process.send_signal(getattr(signal, kill))
    assert 3 <= kept(process.communicate(timeout=300)[1], "interrupted", tmp_path) < 301
    assert process.returncode == 130


@pytest.mark.slow
@pytest.mark.parametrize("kill", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_a_trained_tagger_keeps_each_book_when_it_is_tagged(tmp_path, kill):
    books = tmp_path / "books"
    books.mkdir()
    for n in range(6):
        (books / f"{n + 1}-h.htm").write_bytes(SAMPLE.read_bytes())
    process = started(books, tmp_path, n_done=1, tagger="auto")
    process.send_signal(getattr(signal, kill))
    _, errors = process.communicate(timeout=300)
    if kill == "SIGKILL":
        assert 1 <= len(shards_of(tmp_path / "deep" / "out.partial")) < 6
    else:
        assert 1 <= kept(errors, "interrupted", tmp_path) < 6


def test_nohup_goes_on_when_the_terminal_is_closed(many, tmp_path):
    few = tmp_path / "few"
    few.mkdir()
    for n in range(6):
        os.link(many / "first.html", few / f"{n}-h.htm")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = started(few, tmp_path, n_done=1)
    finally:
        signal.signal(signal.SIGHUP, before)
    process.send_signal(signal.SIGHUP)
    assert process.communicate(timeout=300)[1] == "" and process.returncode == 0


def test_ctrl_c_before_any_book_is_done_leaves_no_trace(tmp_path, monkeypatch):
    monkeypatch.setattr("miner.corpus.pipeline.parse_spans", interrupted_after(None, 0))
    done = run("sample", "-o", tmp_path / "deep" / "out")
    assert (done.exit_code, done.output) == (130, "miner: interrupted; nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def worker_of(process):
    """The id of a worker of a process."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.is_file():
        process.kill()
        process.communicate()
        pytest.skip("no list of child processes here")
    return next(
        int(child)
        for child in children.read_text().split()
        if b"popen_loky" in Path(f"/proc/{child}/cmdline").read_bytes()
    )


@pytest.mark.slow
def test_workers_leave_ctrl_c_to_the_process_that_started_them(many, tmp_path):
    some = tmp_path / "some"
    some.mkdir()
    for n in range(40):
        os.link(many / "first.html", some / f"{n}-h.htm")
    process = started(some, tmp_path, "--workers", "2")
    os.kill(worker_of(process), signal.SIGINT)
    assert process.communicate(timeout=300)[1] == ""
    assert process.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("kill", ["SIGHUP", "SIGTERM"])
def test_workers_end_without_a_word_when_all_are_killed_politely(many, tmp_path, kill):
    process = started(many, tmp_path, "--workers", "2")
    os.killpg(process.pid, getattr(signal, kill))
    assert 3 <= kept(process.communicate(timeout=300)[1], "interrupted", tmp_path) < 301


@pytest.mark.slow
def test_a_worker_that_is_killed_once_costs_no_book(many, tmp_path):
    some = tmp_path / "some"
    some.mkdir()
    for n in range(40):
        os.link(many / "first.html", some / f"{n}-h.htm")
    process = started(some, tmp_path, "--workers", "2")
    os.kill(worker_of(process), signal.SIGKILL)
    assert process.communicate(timeout=300)[1] == ""
    assert process.returncode == 0
    assert record(tmp_path / "deep" / "out")["totals"]["books"] == 40


@pytest.mark.parametrize(
    ("format", "room"),
    [("jsonl", 2_000), pytest.param("parquet", 12_000, marks=pytest.mark.slow)],
)
def test_a_disk_without_room_leaves_no_half_file(tmp_path, format, room):
    pytest.importorskip("resource")
    out = tmp_path / "out"
    books = (DATA / "single_curly.html", DATA / "dash.htm")
    words = ["mine", *books, "-o", out, "--format", format, "--tagger", "gap"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(room), *words], capture_output=True, text=True
    )
    why = "cannot be written: File too large; nothing was written"
    assert done.stderr == f"miner: {out}: {why}\n"
    assert (done.returncode, done.stdout) == (1, "")
    assert list(tmp_path.iterdir()) == []
