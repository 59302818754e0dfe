"""What `miner mine` shows on a terminal."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from corpus_helpers import MINER, bytes_of, record, run
from helpers import DATA, SAMPLE, said

import miner
from miner.app.cli.terminal import CountBar
from miner.errors import InputError


@pytest.mark.slow
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
    n_known = totals["utterances"] - totals["utterances_without_speaker"]
    assert lines[35][:3] == [f"{n_known:,}", "of", f"{totals['utterances']:,}"]
    n_left_out = sum(sum(book["filtered"].values()) for book in record(tmp_path / "out")["books"])
    assert lines[36][:2] == ["left", "out"] and n_left_out > 0
    assert sum(int(word) for word in lines[36] if word.isdecimal()) == n_left_out
    assert lines[37][0] == "wrote"


def test_a_title_in_brackets_is_shown_as_it_is(tmp_path):
    page = (DATA / "dash.htm").read_text(encoding="utf-8")
    path = tmp_path / "[red]7.html"
    path.write_text(page.replace("The Lost Property", "The [bold]Lost[/i] :cat:"), encoding="utf-8")
    done = run(path, "-o", tmp_path / "out")
    assert done.exit_code == 0
    assert "[red]7  The [bold]Lost[/i] :cat: Office" in done.stdout


@pytest.mark.parametrize("columns", [80, 100, pytest.param(125, marks=pytest.mark.slow)])
def test_tables_fit_the_terminal_and_the_bar_counts(tmp_path, columns):
    page = (DATA / "dash.htm").read_text(encoding="utf-8")
    long = tmp_path / "long.html"
    long.write_text(page.replace("The Lost", "The Lost " + "of " * 40), encoding="utf-8")
    code, lines = on_terminal(columns, "sample", long, DATA / "play.html", "-o", tmp_path / "out")
    assert code == 1
    table = [line for line in lines if line.startswith(("book", "sample", "long", "all"))]
    assert len(table) == 4
    assert all(len(line) <= columns for line in table)
    assert table[0].split()[-1] == ("marks" if columns == 125 else "pairs")
    assert ("speakers" in table[0]) == (columns > 80)
    assert "…  " in table[2] and len(table[2].split()) > 6
    assert "The Lock-Keeper’s Winter" in table[1] and "The Lost of of" in table[2]
    assert any("3/3 books" in line and "words" in line for line in lines)
    assert sum("set aside" in line for line in lines) == 1  # the log says it nowhere else


def test_one_book_has_a_bar_with_its_speed_and_the_time_left(tmp_path):
    code, lines = on_terminal(80, DATA / "dash.htm", "-o", tmp_path / "out")
    bars = [line for line in lines if "mining" in line]
    words = f"{record(tmp_path / 'out')['totals']['words']:,} words"
    assert code == 0 and all(len(line) <= 80 for line in bars)
    assert re.search(rf"1/1 book, {words}, [\d,]+ words/s, 0:00:00 left", bars[-1])


def test_quiet_has_no_bar(tmp_path):
    assert on_terminal(80, DATA / "dash.htm", "-q", "-o", tmp_path / "out") == (0, [""])


def on_terminal(columns, *words):
    """The exit code of a run on a terminal, and all lines that it showed there."""
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = {name: text for name, text in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(
        [*MINER, "mine", *words, "--tagger", "gap"],
        stdout=end,
        stderr=end,
        env={**env, "TERM": "xterm"},
    )
    os.close(end)
    shown = b""
    while piece := _read(terminal):
        shown += piece
    os.close(terminal)
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    return process.wait(), re.split(r"[\r\n]+", text)


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


def test_standard_output_is_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("sample", "-o", "-")
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("miner: -o -: found standard output, expected a folder")
    assert said("tag", "sample", "--tagger", "gap", "-o", "-") == said(
        "tag", "sample", "--tagger", "gap"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_confidence_asked_of_a_heuristic_is_refused_before_mining(tmp_path):
    done = run("gone.html", "sample", "--min-confidence", "0.5", "-o", tmp_path / "out")
    (line,) = done.stderr.splitlines()
    assert line.startswith("miner: found a least confidence of 0.5 for the tagger gap")
    tags = tmp_path / "tags.jsonl"
    assert said("tag", "sample", "--tagger", "gap", "-o", tags) == ""
    done = run("sample", "--min-confidence", "0.5", "--tagger", tags, "-o", tmp_path / "out")
    assert f"for the tagger {tags}, whose tags have no confidence" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_confidence_asked_of_auto_sets_aside_the_books_of_a_heuristic(tmp_path):
    words = ("sample", DATA / "swedish_dash.html", "--min-confidence", "0.5")
    done = run(*words, "-q", "-o", tmp_path / "out", "--tagger", "auto")
    why = "found tags without confidence, expected those of a checkpoint"
    assert done.stderr == f"set aside: {DATA / 'swedish_dash.html'}: {why}\n"
    assert [book["id"] for book in record(tmp_path / "out")["books"]] == ["sample"]


NAME = "two\nlines \x1b[31mred\u2028.html"


def test_a_file_name_of_two_lines_is_one_line_in_each_message(tmp_path):
    path, log = tmp_path / NAME, tmp_path / "log"
    path.write_bytes(SAMPLE.read_bytes())
    (tmp_path / f"play {NAME}").write_bytes((DATA / "play.html").read_bytes())
    done = run(tmp_path, "-o", tmp_path / "out", "--log", log)
    (line,) = done.stderr.split("\n")[:-1]
    shown = r"two\nlines \x1b[31mred\u2028"
    assert line.startswith(f"set aside: {tmp_path}/play {shown}.html: a play")
    assert [book["id"] for book in record(tmp_path / "out")["books"]] == [shown]
    assert shown in done.stdout and "\x1b" not in done.stdout
    assert len(log.read_text().splitlines()) == 4
    refused = run("sample", "-o", tmp_path / f"gone {NAME}" / "\n" / "out", "--force")
    assert refused.exit_code == 0  # the folder is made
    refused = run("sample", "-o", tmp_path / f"gone {NAME}" / "\n" / "out")
    (line,) = refused.stderr.split("\n")[:-1]
    assert line.startswith(f"miner: {tmp_path}/gone {shown}.html/\\n/out: exists already")
    with pytest.raises(InputError, match=r"two\\nlines.*: a play") as error:
        miner.mine(tmp_path / f"play {NAME}", tagger="gap")
    assert "\n" not in str(error.value)


def test_where_stderr_is_no_terminal_a_line_now_and_then_says_how_far_it_is(capsys):
    with CountBar("answering", quiet=False, pause=0) as bar:
        for done in range(3):
            bar.show(done, 2000)
    with CountBar("silent", quiet=True, pause=0) as bar:
        bar.show(1, 2)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert re.fullmatch(r"answering: 1 of 2,000, [\d,.]+/s, \d+:\d\d:\d\d left", lines[0])
