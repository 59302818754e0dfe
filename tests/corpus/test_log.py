"""The log file of a run."""

import re
from pathlib import Path

import pytest
from corpus_helpers import run
from helpers import DATA, interrupted_after

import miner.corpus.pipeline

SOURCES = ("sample", DATA / "play.html", DATA / "dash.htm")
TIME = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ")


def lines_of(log):
    lines = log.read_text(encoding="utf-8").splitlines()
    assert all(TIME.match(line) for line in lines)
    return [TIME.sub("", line) for line in lines]


def test_a_line_for_each_book(tmp_path):
    out, log = tmp_path / "out", tmp_path / "mined.log"
    assert run(*SOURCES, "-q", "-o", out, "--log", log).exit_code == 1
    first, sample, play, dash, last = lines_of(log)
    assert first == "INFO sources to mine by gap: 3"
    said = r"[\d,]+ words, \d+ dialogues, \d+ pairs, by gap"
    assert re.fullmatch(f"INFO done: sample: 'The Lock-Keeper’s Winter', {said}", sample)
    assert play.startswith(f"WARNING set aside: {DATA / 'play.html'}: a play")
    assert dash.startswith("INFO done: dash: ")
    assert last == "INFO wrote " + ", ".join(map(str, sorted(out.iterdir())))


def test_a_resumed_run_goes_on_in_the_same_file(tmp_path, monkeypatch):
    sources = (DATA / "single_curly.html", *SOURCES[1:])
    words = (*sources, "-q", "-o", tmp_path / "out", "--log", tmp_path / "mined.log")
    with monkeypatch.context() as context:
        stopping = interrupted_after(miner.corpus.pipeline.parse_spans, 1)
        context.setattr("miner.corpus.pipeline.parse_spans", stopping)
        assert run(*words).exit_code == 130
    (shard,) = (tmp_path / "out.partial").glob("shards/*")
    shard.write_bytes(shard.read_bytes()[:-1])
    assert run(*words, "--resume").exit_code == 1
    lines = lines_of(tmp_path / "mined.log")
    kept = f"1 book is kept in {tmp_path / 'out.partial'}, --resume continues"
    assert lines[2] == f"ERROR ended: interrupted; {kept}"
    assert lines[3] == "INFO sources to mine by gap: 3"
    assert lines[4] == f"WARNING {shard}: not as it was written: it is made again"
    assert len(lines) == 9


def test_a_refusal_is_logged_too(tmp_path):
    log = tmp_path / "mined.log"
    done = run("sample", "-o", tmp_path, "--log", log)
    assert lines_of(log) == ["ERROR ended: " + done.stderr.removeprefix("miner: ").rstrip()]


@pytest.mark.parametrize(
    ("name", "reason"), [(".", "Is a directory"), ("gone/mined.log", "No such file or directory")]
)
def test_a_log_that_cannot_be_written_is_one_line_before_any_work(tmp_path, name, reason):
    done = run("sample", "-o", tmp_path / "out", "--log", tmp_path / name)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"miner: {tmp_path / name}: cannot be written: {reason}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk here that is always full")
def test_a_disk_that_is_full_is_one_line(tmp_path):
    full = "/dev/full"
    done = run("sample", "-o", tmp_path / "out", "--log", full)
    said = f"miner: {full}: cannot be written: No space left on device"
    assert done.exit_code == 1 and done.stderr.startswith(said)
    assert len(done.stderr.splitlines()) == 1
