"""Runs that are interrupted and resumed: they end in the same bytes and spare every other run."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from corpus_helpers import bytes_of, counted, mined, record, rows, run, shards_of, started
from helpers import DATA, SAMPLE, interrupted_after
from loopback import answer

import miner
import miner.corpus.pipeline
from miner.books.sources import Source
from miner.corpus.output import OutputFolder
from miner.corpus.store import Shard, shard_name
from miner.errors import InputError

FEW = (DATA / "dash.htm", DATA / "guillemets_fr.html", DATA / "play.html")
SOURCES = (DATA / "single_curly.html", *FEW, "gone.htm")


def interrupted(out, monkeypatch, after, *words, sources=SOURCES):
    """A run that ended in the middle of a book."""
    with monkeypatch.context() as context:
        stopping = interrupted_after(miner.corpus.pipeline.parse_spans, after)
        context.setattr("miner.corpus.pipeline.parse_spans", stopping)
        done = run(*sources, "-q", "-o", out, *words)
    assert done.exit_code == 130
    return done


@pytest.fixture(scope="module", params=["jsonl", "parquet"])
def whole(request, tmp_path_factory):
    """A run without interruption: its options and bytes."""
    words = ("--format", request.param)
    out = tmp_path_factory.mktemp("whole") / "out"
    assert run(*SOURCES, "-q", "-o", out, *words).exit_code == 1
    return words, bytes_of(out)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """The bytes of a run with few sources and without interruption."""
    out = tmp_path_factory.mktemp("few") / "out"
    assert run(*FEW, "-q", "-o", out).exit_code == 1
    return bytes_of(out)


@pytest.mark.parametrize("after", [1, 3])
def test_a_resumed_run_ends_in_the_same_bytes(tmp_path, monkeypatch, whole, after):
    words, expected = whole
    out = tmp_path / "out"
    done = interrupted(out, monkeypatch, after, *words)
    said = f"{after} {'book is' if after == 1 else 'books are'} kept in {out}.partial"
    assert done.stderr == f"miner: interrupted; {said}, --resume continues\n"
    assert not out.exists()
    monkeypatch.setattr(
        "miner.corpus.pipeline.parse_spans",
        counted(miner.corpus.pipeline.parse_spans, calls := []),
    )
    again = run(*SOURCES, "-q", "-o", out, "--resume", *words)
    assert again.exit_code == 1 and len(again.stderr.splitlines()) == 2
    assert bytes_of(out) == expected
    assert len(calls) == 4 - after
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_interrupted_twice_and_into_a_folder_that_is_there(tmp_path, monkeypatch, whole):
    words, expected = whole
    out = tmp_path / "out"
    out.mkdir()
    interrupted(out, monkeypatch, 1, *words)
    interrupted(out, monkeypatch, 1, *words, "--resume")
    assert [path.name for path in out.iterdir()] == ["out.partial"]
    assert run(*SOURCES, "-q", "-o", out, "--resume", *words).exit_code == 1
    assert bytes_of(out) == expected


@pytest.mark.slow
def test_a_run_that_was_killed_is_resumed(tmp_path):
    books = tmp_path / "books"
    books.mkdir()
    for n in range(60):
        shutil.copy(SAMPLE, books / f"{n + 1}-h.htm")
    process = started(books, tmp_path, "--workers", "2")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    out = tmp_path / "deep" / "out"
    refused = run(books, "-o", out)
    line = f"miner: {out}.partial: found an interrupted run, expected --resume to continue it"
    assert refused.stderr.startswith(line) and refused.exit_code == 1
    assert run(books, "-q", "-o", out, "--resume").exit_code == 0
    assert run(books, "-q", "-o", tmp_path / "whole").exit_code == 0
    assert bytes_of(out) == bytes_of(tmp_path / "whole")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda partial: cut(shards_of(partial)[1], 5),
        lambda partial: shards_of(partial)[1].write_bytes(b""),
        lambda partial: cut(partial / "head.json", 5),
        lambda partial: (partial / "head.json").unlink(),
        lambda partial: shutil.rmtree(partial / "shards"),
    ],
    ids=["cut", "empty", "head-cut", "head-gone", "no-shards"],
)
def test_half_a_write_is_mined_again(tmp_path, monkeypatch, few, spoil):
    out = tmp_path / "out"
    interrupted(out, monkeypatch, 2, sources=FEW)
    spoil(tmp_path / "out.partial")
    done = run(*FEW, "-q", "-o", out, "--resume")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert bytes_of(out) == few


def cut(path, n):
    path.write_bytes(path.read_bytes()[:-n])


@pytest.mark.parametrize(
    "words", [("--min-turns", "3"), ("--tagger", "narration"), ("--format", "parquet")]
)
def test_a_run_with_other_options_is_not_resumed(tmp_path, monkeypatch, words):
    out = tmp_path / "out"
    interrupted(out, monkeypatch, 2, sources=FEW)
    partial = tmp_path / "out.partial"
    before = {path: path.read_bytes() for path in shards_of(partial)}
    done = run(*FEW, "-o", out, "--resume", *words)
    (line,) = done.stderr.splitlines()
    what = "libraries" if "parquet" in words else "options"
    assert line.startswith(f"miner: {partial}: found a run with {what} ")
    assert done.exit_code == 1
    assert {path: path.read_bytes() for path in shards_of(partial)} == before
    assert run(*FEW, "-q", "-o", out, "--force", *words).exit_code == 1
    assert not partial.exists()
    assert [book["id"] for book in record(out)["books"]] == ["dash", "guillemets_fr"]


def test_a_book_that_changed_is_mined_again_and_no_other(tmp_path, monkeypatch):
    books = [tmp_path / f"{n}.html" for n in range(4)]
    for path in books:
        shutil.copy(DATA / "guillemets_fr.html", path)
    out = tmp_path / "out"
    interrupted(out, monkeypatch, 3, sources=books)
    books[1].write_bytes((DATA / "dash.htm").read_bytes())
    reading = counted(miner.corpus.pipeline.parse_spans, calls := [])
    monkeypatch.setattr("miner.corpus.pipeline.parse_spans", reading)
    assert run(*books, "-q", "-o", out, "--resume").exit_code == 0
    assert [call[1] for call in calls] == ["1", "3"]
    assert run(*books, "-q", "-o", tmp_path / "whole").exit_code == 0
    assert bytes_of(out) == bytes_of(tmp_path / "whole")


def test_a_book_that_changed_is_told_by_its_content(tmp_path, monkeypatch):
    """Not by its size and its times: the one may stay, and the others change with a copy."""
    books = [tmp_path / "0.html", tmp_path / "1.html", tmp_path / "2.html"]
    for path in books:
        shutil.copy(DATA / "dash.htm", path)
    out = tmp_path / "out"
    interrupted(out, monkeypatch, 2, sources=books)
    os.utime(books[0], (0, 0))
    times = (books[1].stat().st_atime_ns, books[1].stat().st_mtime_ns)
    page = books[1].read_bytes()
    books[1].write_bytes(page.replace(b"e", b"a", 1))
    os.utime(books[1], ns=times)
    assert books[1].stat().st_size == len(page)
    reading = counted(miner.corpus.pipeline.parse_spans, calls := [])
    monkeypatch.setattr("miner.corpus.pipeline.parse_spans", reading)
    assert run(*books, "-q", "-o", out, "--resume").exit_code == 0
    assert [call[1] for call in calls] == ["1", "2"]


def test_books_that_are_done_are_found_in_any_order(tmp_path, monkeypatch):
    out = tmp_path / "out"
    interrupted(out, monkeypatch, 2, sources=FEW)
    reading = counted(miner.corpus.pipeline.parse_spans, calls := [])
    monkeypatch.setattr("miner.corpus.pipeline.parse_spans", reading)
    assert run(SOURCES[0], *FEW[::-1], "-q", "-o", out, "--resume").exit_code == 1
    assert [call[1] for call in calls] == ["single_curly", "play"]
    ids = [book["id"] for book in record(out)["books"]]
    assert ids == ["single_curly", "guillemets_fr", "dash"]


@pytest.mark.usefixtures("quick")
def test_downloaded_books_are_kept_and_failed_downloads_tried_again(tmp_path, monkeypatch, site):
    page, out = FEW[0].read_bytes(), tmp_path / "out"
    site.pages |= {f"/{n}.html": answer(page) for n in (11, 13)}
    words = (*("11", "12", "13", SOURCES[0], "-q", "-o", out), "--mirror", site.mirror)
    cache = {"MINER_CACHE": str(tmp_path / "cache")}
    with monkeypatch.context() as context:
        stopping = interrupted_after(miner.corpus.pipeline.parse_spans, 2)
        context.setattr("miner.corpus.pipeline.parse_spans", stopping)
        assert "2 books are kept" in run(*words, **cache).stderr
    monkeypatch.setattr(
        "miner.corpus.pipeline.parse_spans",
        counted(miner.corpus.pipeline.parse_spans, calls := []),
    )
    with monkeypatch.context() as context:  # resumed, and stopped again at once
        context.setattr("miner.corpus.pipeline.parse_spans", interrupted_after(None, 0))
        assert "2 books are kept" in run(*words, "--resume", **cache).stderr
    assert site.paths == ["/11.html", "/12.html", "/13.html", "/12.html"]
    site.pages["/12.html"] = answer(page)
    assert run(*words, "--resume", **cache).exit_code == 0
    assert [book["id"] for book in record(out)["books"]] == ["11", "12", "13", "single_curly"]
    assert [call[1] for call in calls] == ["12", "single_curly"]
    assert site.paths == ["/11.html", "/12.html", "/13.html", "/12.html", "/12.html"]


@pytest.mark.parametrize("format", ["jsonl", "convokit"])
def test_a_disk_that_is_full_at_the_end_costs_no_book(tmp_path, monkeypatch, format):
    whole, out = tmp_path / "whole", tmp_path / "out"
    words = ("-q", "--format", format)
    assert run(*SOURCES, "-o", whole, *words).exit_code == 1
    with monkeypatch.context() as context:
        context.setattr("miner.corpus.output._card", full)
        done = run(*SOURCES, "-o", out, *words)
    assert done.exit_code == 1 and "4 books are kept" in done.stderr
    monkeypatch.setattr(
        "miner.corpus.pipeline.parse_spans",
        counted(miner.corpus.pipeline.parse_spans, calls := []),
    )
    assert run(*SOURCES, "-o", out, "--resume", *words).exit_code == 1
    assert bytes_of(out) == bytes_of(whole)
    assert calls == []


def full(*_):
    raise OSError(28, "No space left on device")


def test_resume_starts_a_run_where_there_is_none(tmp_path):
    out = tmp_path / "out"
    assert run(FEW[0], "-q", "-o", out, "--resume").exit_code == 0
    done = run(FEW[0], "-q", "-o", out, "--resume")
    assert "exists already" in done.stderr and done.exit_code == 1


def test_two_runs_do_not_write_to_one_place(tmp_path):
    out = tmp_path / "out"
    with OutputFolder(out) as first:
        first.shards.add("a.shard", Shard(set_aside=("a", "no dialogue")))
        with (
            pytest.raises(InputError, match="another run is writing to it"),
            OutputFolder(out, resume=True),
        ):
            raise AssertionError("the block must not start")
        with pytest.raises(InputError, match="another run is writing to it"):
            OutputFolder(out)  # not "found an interrupted run"
        first.finish(["a.shard"], "jsonl", {"miner": "0"})
    assert (out / "pairs.jsonl").read_bytes() == b""
    assert "lock" not in bytes_of(out)


def test_a_failed_run_leaves_the_earlier_output(tmp_path):
    out = tmp_path / "out"
    assert run(FEW[0], "-q", "-o", out).exit_code == 0
    before = bytes_of(out)
    with pytest.raises(KeyboardInterrupt), OutputFolder(out, force=True):
        assert (out / "out.partial").is_dir()
        raise KeyboardInterrupt
    assert bytes_of(out) == before


def test_an_empty_folder_is_filled_from_inside(tmp_path):
    """It may be a disk of its own. No file can be renamed into it from outside."""
    out = tmp_path / "out"
    out.mkdir()
    with OutputFolder(out) as folder:
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
        assert [path.name for path in out.iterdir()] == ["out.partial"]
        paths = folder.finish([], "jsonl", {"miner": "0"})
    assert sorted(paths) == sorted(out.iterdir())


def test_a_run_is_resumed_after_its_folder_was_made(tmp_path, monkeypatch):
    out = tmp_path / "out"
    interrupted(out, monkeypatch, 2, sources=FEW)
    out.mkdir()
    reading = counted(miner.corpus.pipeline.parse_spans, calls := [])
    monkeypatch.setattr("miner.corpus.pipeline.parse_spans", reading)
    assert run(*FEW, "-q", "-o", out, "--resume").exit_code == 1
    assert [call[1] for call in calls] == ["play"]
    assert list(tmp_path.iterdir()) == [out] and record(out)["totals"]["books"] == 2


def test_a_run_that_was_killed_between_two_files_is_resumed(tmp_path, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    with monkeypatch.context() as context:
        moving = interrupted_after(os.replace, len(FEW) + 2)  # the shards, then two files
        context.setattr("os.replace", moving)
        assert run(*FEW, "-q", "-o", out).exit_code == 130
    assert len(bytes_of_files(out)) == 2
    assert run(*FEW, "-q", "-o", out, "--resume").exit_code == 1
    assert run(*FEW, "-q", "-o", tmp_path / "whole").exit_code == 1
    assert bytes_of(out) == bytes_of(tmp_path / "whole")


@pytest.fixture(scope="module")
def dash():
    return miner.mine(FEW[0], tagger="gap")


@pytest.mark.parametrize("n", [0, 3, 5, 6, 10])  # it removes five files, then moves six
def test_a_run_that_was_killed_while_it_replaced_another_format_is_resumed(
    tmp_path, monkeypatch, dash, n
):
    out, whole = tmp_path / "out", tmp_path / "whole"

    def write(out, format, **options):
        with OutputFolder(out, **options) as folder:
            folder.shards.add("a.shard", Shard.of(dash))
            folder.finish(["a.shard"], format, {"miner": "0", "options": {"format": format}})

    write(out, "convokit")
    write(whole, "jsonl")
    with monkeypatch.context() as context:
        kill_at_file(context, n, out)
        with pytest.raises(KeyboardInterrupt):
            write(out, "jsonl", force=True)
    assert (out / "out.partial").is_dir() and (out / "run.json").is_file()
    write(out, "jsonl", resume=True)
    assert bytes_of(out) == bytes_of(whole)


def kill_at_file(context, n, out):
    """A Ctrl-C after n files of the folder were removed or replaced."""
    left = [n]

    def killing(work, path_of):
        def some(*args, **options):
            if Path(path_of(args)).parent == out:
                if not left[0]:
                    raise KeyboardInterrupt
                left[0] -= 1
            return work(*args, **options)

        return some

    context.setattr(Path, "unlink", killing(Path.unlink, lambda args: args[0]))
    context.setattr("os.replace", killing(os.replace, lambda args: args[1]))


def bytes_of_files(out):
    return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}


@pytest.mark.parametrize("words", [(), ("--force",), ("--resume",)])
@pytest.mark.parametrize("name", ["out.partial", "out.partial/notes.txt"])
def test_files_of_something_else_are_not_removed(tmp_path, words, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    done = run("sample", "-o", tmp_path / "out", *words)
    line = f"miner: {path}: found a file of something else, expected to keep finished books there"
    assert (done.exit_code, done.output) == (1, line + "\n")
    assert path.read_text() == "mine"


def test_a_book_that_could_not_be_read_is_tried_again(tmp_path, monkeypatch):
    book = tmp_path / "7-h.htm"
    shutil.copy(SOURCES[0], book)
    words = (DATA / "dash.htm", book, DATA / "guillemets_fr.html")
    out = tmp_path / "out"
    with monkeypatch.context() as context:
        context.setattr(
            "miner.corpus.pipeline.parse_spans",
            interrupted_after(unreadable(miner.corpus.pipeline.parse_spans, "7"), 2),
        )
        assert "1 book is kept" in run(*words, "-q", "-o", out).stderr
    assert run(*words, "-q", "-o", out, "--resume").exit_code == 0
    assert [entry["id"] for entry in record(out)["books"]] == ["dash", "7", "guillemets_fr"]


def test_a_file_that_cannot_be_read_has_no_shard(tmp_path):
    assert shard_name(Source("7", "7", tmp_path)) == ""


def unreadable(work, id):
    """`work` on books of which the disk does not give one."""

    def reading(content, found, quotes, **options):
        if found == id:
            raise OSError(5, "Input/output error")
        return work(content, found, quotes, **options)

    return reading


def test_a_run_that_came_first_is_not_overwritten(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(OSError, match="cannot be written"), OutputFolder(out) as folder:
        out.mkdir()
        (out / "run.json").write_text("theirs")
        folder.finish([], "jsonl", {})
    assert bytes_of(out) == {"run.json": b"theirs"}
    assert list(tmp_path.iterdir()) == [out]


def test_the_card_names_the_characters_and_the_statistics(tmp_path):
    out = mined(tmp_path, DATA / "dash.htm")
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "config_name: characters\n    data_files: characters.jsonl\n" in card
    assert "| `characters.jsonl` | " in card
    n_turns = sum(len(row["turns"]) for row in rows(out, "dialogues"))
    (line,) = [line for line in card.splitlines() if line.startswith("| train | ")]
    assert line.split(" | ")[3] == str(n_turns)


@pytest.mark.parametrize("tagger", ["gap", "gap:200"])
def test_the_card_quotes_what_was_measured_of_its_own_tagger_only(tmp_path, tagger):
    card = (mined(tmp_path, FEW[0], "--tagger", tagger) / "README.md").read_text("utf-8")
    assert ("Nothing was measured" in card) == (tagger != "gap")
    assert ("predicted:gap|split:test" in card) == (tagger == "gap")
