"""What `miner mine` shows on a terminal."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from corpus_helpers import MINER, bytes_of, record, run
from helpers import DATA


def test_the_table_of_many_books_ends_with_their_sum(many, tmp_path):
    some = tmp_path / "some"
    some.mkdir()
    for n in range(33):
        os.link(many / "first.html", some / f"{n + 1}-h.htm")
    done = run(some, "-o", tmp_path / "out")
    assert done.exit_code == 0
    lines = [line.split() for line in done.stdout.splitlines() if line.strip()]
    ids = [path.name.removesuffix("-h.htm") for path in sorted(some.iterdir())]
    assert [line[0] for line in lines[2:32]] == ids[:30]
    assert lines[32] == ["more", "3", "in", "run.json"]
    totals = record(tmp_path / "out")["totals"]
    assert lines[33][:4] == ["all", "33", "books", f"{totals['words']:,}"]
    assert lines[34] == ["tagged", "by", "gap", "(33", "books)"]
    n_left_out = sum(sum(book["filtered"].values()) for book in record(tmp_path / "out")["books"])
    assert lines[35][:2] == ["left", "out"] and n_left_out > 0
    assert sum(int(word) for word in lines[35] if word.isdecimal()) == n_left_out
    assert lines[36][0] == "wrote"


def test_a_title_in_brackets_is_shown_as_it_is(tmp_path):
    page = (DATA / "no_boilerplate.html").read_text(encoding="utf-8")
    path = tmp_path / "[red]7.html"
    path.write_text(
        page.replace("A Question of", "A [bold]Question[/i] of :cat:"), encoding="utf-8"
    )
    done = run(path, "-o", tmp_path / "out")
    assert done.exit_code == 0
    assert "[red]7  A [bold]Question[/i] of :cat: Marmalade" in done.stdout


@pytest.mark.parametrize("columns", [80, pytest.param(120, marks=pytest.mark.slow)])
def test_tables_fit_the_terminal_and_the_bar_counts(tmp_path, columns):
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = {name: text for name, text in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    page = (DATA / "no_boilerplate.html").read_text(encoding="utf-8")
    long = tmp_path / "long.html"
    long.write_text(page.replace("A Question of", "A Question " + "of " * 40), encoding="utf-8")
    process = subprocess.Popen(
        [*MINER, "mine", "sample", long, DATA / "play.html", "-o", tmp_path / "out"]
        + ["--tagger", "gap"],
        stdout=end,
        stderr=end,
        env={**env, "TERM": "xterm"},
    )
    os.close(end)
    shown = b""
    while piece := _read(terminal):
        shown += piece
    os.close(terminal)
    assert process.wait() == 1
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode()))
    table = [line for line in lines if line.startswith(("book", "sample", "long", "all"))]
    assert len(table) == 4
    assert all(len(line) <= columns for line in table)
    assert table[0].split()[-1] == ("marks" if columns == 120 else "pairs")
    assert "…  " in table[2] and len(table[2].split()) > 6
    assert "The Lock-Keeper’s Winter" in table[1] and "A Question of of" in table[2]
    assert any("3/3 books" in line and "words" in line for line in lines)


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that nobody writes any more
        return b""


def test_quiet_and_json(tmp_path):
    done = run("sample", "gone.html", "--json", "-o", tmp_path / "out")
    said = json.loads(done.stdout)
    assert said["totals"] == record(tmp_path / "out")["totals"]
    assert [Path(path).name for path in said["files"]] == sorted(bytes_of(tmp_path / "out"))
    assert said["set_aside"] == [["gone.html", "no such file"]]
    assert done.exit_code == 1
    assert run("sample", "-q", "-o", tmp_path / "quiet").output == ""
