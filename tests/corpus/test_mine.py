"""Mining from source to files: the rows, the way back from a row to the page, and errors."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from corpus_helpers import MINER, bytes_of, mined, record, rows, run, shards_of, started
from helpers import DATA, SAMPLE, interrupted_after, ordinary_user

import miner
from miner.books.book import parse_book
from miner.books.sources import Source, find_sources
from miner.corpus.options import MiningOptions
from miner.corpus.pipeline import SetAside, mine_source
from miner.corpus.schema import KINDS
from miner.models.load import load_tagger


def place_of(row):
    return (row["paragraph"], row["span"], row["start"], row["end"])


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return mined(tmp_path_factory.mktemp("sample"), "sample")


def test_the_pairs_of_the_sample(sample):
    files = ["README.md", "dialogues.jsonl", "pairs.jsonl", "run.json", "spans.jsonl"]
    assert sorted(path.name for path in sample.iterdir()) == files
    pairs = rows(sample, "pairs")
    assert (pairs[0]["context"], pairs[0]["response"], pairs[0]["narration"]) == (
        "Letter for you, Mr. Tarrant, and a brown one.",
        "I see it’s brown,",
        "",
    )
    assert pairs[1]["context"] == pairs[0]["response"]
    assert pairs[1]["narration"].startswith("said Josiah, who was greasing a paddle-post")
    assert "’Tis to be given into the hand, Mr. Tarrant." in " ".join(p["response"] for p in pairs)
    assert rows(sample, "spans")[0]["text"] == "The Lock-Keeper’s Winter"


@pytest.mark.parametrize(
    "words",
    [
        ["sample"],
        ["sample", "--pairs", "span"],
        ["sample", "--max-utterance-words", "12", "--min-turns", "2"],
        [DATA / "dash.htm", DATA / "guillemets_fr.html", DATA / "unclosed_pre.htm"],
    ],
    ids=["sample", "span pairs", "filters", "other marks"],
)
def test_every_row_leads_back_to_the_page(tmp_path, words):
    out = mined(tmp_path, *words)
    found, _ = find_sources([str(word) for word in words if (DATA / word).is_file()] or ["sample"])
    blocks = {
        source.id: {
            block.index: block for block in parse_book(source.path.read_bytes(), source.id).blocks
        }
        for source in found
    }
    by_place = {}  # what the spans say: (book, place) -> (dialogue, part, turn)
    texts = {}
    for row in rows(out, "spans"):
        block = blocks[row["book"]][row["paragraph"]]
        assert block.text[row["start"] : row["end"]] == row["text"] != ""
        assert block.chapter == row["chapter"]
        key = (row["book"], place_of(row))
        by_place[key] = (row["dialogue"], row["part"], row["turn"])
        texts[key] = row["text"]
        assert row["kind"] == "utterance" or by_place[key] == (None, None, None)
    turns = {}  # (book, dialogue, part, turn) -> spans of the turn
    for dialogue in rows(out, "dialogues"):
        assert dialogue["n_turns"] == len(dialogue["turns"])
        for number, turn in enumerate(dialogue["turns"]):
            name = (dialogue["book"], dialogue["dialogue"], dialogue["part"], number)
            assert name not in turns
            turns[name] = turn["spans"]
            for span in turn["spans"]:
                key = (dialogue["book"], place_of(span))
                assert by_place.pop(key) == name[1:]
                assert texts[key].strip("“”«»\"'-— \n") in turn["text"]
    assert turns
    left = [place for place in by_place.values() if place[0] is not None]
    assert left == []  # no span names a dialogue that does not have it
    pairs = rows(out, "pairs")
    assert pairs
    in_order = [
        (book, dialogue, part, span)
        for (book, dialogue, part, _), spans in turns.items()
        for span in (spans if "span" in words else [spans])
    ]
    expected = [
        (*a[:3], a[3], b[3]) for a, b in zip(in_order, in_order[1:], strict=False) if a[:3] == b[:3]
    ]
    for pair, (book, dialogue, part, context, response) in zip(pairs, expected, strict=True):
        assert (pair["book"], pair["dialogue"], pair["part"]) == (book, dialogue, part)
        if "span" in words:
            context, response = [context], [response]
        assert (pair["context_spans"], pair["response_spans"]) == (context, response)
        assert pair["paragraph"] == context[0]["paragraph"]


def test_equal_runs_write_equal_bytes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written = []
    for n, options in enumerate([(), (), ("--workers", 2)]):
        out = tmp_path / f"run{n}" / f"out{n}"
        assert run("sample", DATA, *options, "-q", "-o", out).exit_code == 1  # the play, for one
        written.append(bytes_of(out))
    assert written[0] == written[1] == written[2]
    for name in (str(tmp_path), str(DATA), "run0", time.strftime("%Y-%m-%d")):
        assert name.encode() not in b"".join(written[0].values())


def test_parquet_holds_the_rows_of_jsonl(tmp_path, sample):
    out = mined(tmp_path, "sample", "--format", "parquet")
    again = tmp_path / "again"
    assert run("sample", "--format", "parquet", "-o", again, "--workers", 2).exit_code == 0
    assert bytes_of(out) == bytes_of(again)
    for kind in KINDS:
        expected = rows(sample, kind)
        assert pq.read_table(out / f"{kind}.parquet").to_pylist() == expected != []


LOAD = """
import json, sys
from datasets import load_dataset
jsonl, parquet = sys.argv[1:]
shapes = []
for folder, format in ((jsonl, "json"), (parquet, "parquet")):
    for kind in ("spans", "dialogues", "pairs"):
        file = f"{folder}/{kind}.{'jsonl' if format == 'json' else format}"
        for rows in (load_dataset(format, data_files=file), load_dataset(folder, kind)):
            rows = rows["train"]
            shapes.append([kind, len(rows), rows.column_names, rows[0]["book"]])
    default = load_dataset(folder)["train"]
    shapes.append(["pairs", len(default), default.column_names, default[0]["book"]])
print(json.dumps(shapes))
"""


@pytest.mark.slow
def test_datasets_opens_the_output_as_it_is(tmp_path, sample):
    parquet = mined(tmp_path, "sample", "--format", "parquet")
    env = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD, sample, parquet], env=env, capture_output=True, text=True
    )
    assert loaded.returncode == 0, loaded.stderr
    shapes = json.loads(loaded.stdout)
    assert len(shapes) == 14
    for kind, n_rows, columns, book in shapes:
        expected = rows(sample, kind)
        assert (n_rows, columns, book) == (len(expected), list(expected[0]), "sample")


def test_long_turns_and_short_dialogues_are_left_out_and_counted(tmp_path, sample):
    out = mined(tmp_path, "sample", "--max-utterance-words", "20", "--min-turns", "3")
    before, after = rows(sample, "dialogues"), rows(out, "dialogues")
    turns = [turn for dialogue in before for turn in dialogue["turns"]]
    kept = [turn for dialogue in after for turn in dialogue["turns"]]
    assert all(len(turn["text"].split()) <= 20 for turn in kept)
    assert all(dialogue["n_turns"] >= 3 for dialogue in after)
    assert any(dialogue["part"] for dialogue in after)
    (entry,) = record(out)["books"]
    drops = entry["filtered"]
    assert drops["long turns"] > 0 and drops["short dialogues"] > 0
    assert len(kept) == len(turns) - drops["long turns"] - drops["turns in short dialogues"]
    spans = rows(out, "spans")
    assert len(spans) == len(rows(sample, "spans"))  # the stream stays whole
    assert sum(row["kind"] == "utterance" and row["turn"] is None for row in spans) > 0


def test_pairs_by_span_pair_the_spans_of_a_turn(tmp_path, sample):
    pairs = rows(mined(tmp_path, "sample", "--pairs", "span"), "pairs")
    assert (pairs[0]["context"], pairs[0]["response"]) == (
        "Letter for you, Mr. Tarrant,",
        "and a brown one.",
    )
    assert "said the postman" in pairs[0]["narration"]
    assert len(pairs) > len(rows(sample, "pairs"))


def test_quotes_overrule_what_was_inferred(tmp_path):
    page = DATA / "single_curly.html"
    inferred = mined(tmp_path / "a", page)
    given = mined(tmp_path / "b", page, "--quotes", "double-curly")
    assert record(inferred)["books"][0]["typography"]["marks"] == ["single-curly"]
    assert record(given)["books"][0]["typography"]["marks"] == ["double-curly"]
    said = [row["text"] for row in rows(given, "spans") if row["kind"] == "utterance"]
    assert said and all(text.startswith("“") for text in said)
    bad = run(page, "--quotes", "tripel", "-o", tmp_path / "c")
    assert bad.exit_code == 1
    assert "tripel" in bad.output and "double-curly" in bad.output
    assert len(bad.output.splitlines()) == 1


def test_the_run_record_says_what_was_done(sample):
    run = record(sample)
    assert list(run) == [
        *("miner", "python", "libraries", "options", "totals", "books", "set_aside"),
    ]
    assert run["miner"] == miner.__version__
    assert run["options"] == {
        "tagger": "gap",
        "quotes": [],
        "pairs_by_span": False,
        "max_utterance_words": None,
        "min_turns": 1,
        "min_confidence": 0.0,
        "format": "jsonl",
        "dtype": "float32",
    }
    (book,) = run["books"]
    digest = subprocess.run(["sha256sum", SAMPLE], capture_output=True, text=True, check=True)
    assert book["sha256"] == digest.stdout.split()[0]
    assert (book["id"], book["file"], book["title"]) == (
        "sample",
        "sample.html",
        "The Lock-Keeper’s Winter",
    )
    spans, dialogues = rows(sample, "spans"), rows(sample, "dialogues")
    assert book["counts"] == {
        "utterances": sum(row["kind"] == "utterance" for row in spans),
        "quoted_not_speech": sum(row["quoted"] for row in spans),
        "dialogues": len(dialogues),
        "turns": sum(row["n_turns"] for row in dialogues),
        "pairs": len(rows(sample, "pairs")),
    }
    assert min(book["counts"].values()) > 0
    assert book["dropped_words"]["licence"] > 100
    assert run["totals"] == {"books": 1, "words": book["words"], **book["counts"]}
    assert book["chapters"] == 5


def test_the_record_counts_span_pairs_and_sums_books(tmp_path):
    out = mined(tmp_path, "sample", DATA / "dash.htm", "--pairs", "span")
    run = record(out)
    for book in run["books"]:
        pairs = [row for row in rows(out, "pairs") if row["book"] == book["id"]]
        assert book["counts"]["pairs"] == len(pairs)
    assert [book["id"] for book in run["books"]] == ["sample", "dash"]
    assert run["totals"]["books"] == 2
    assert run["totals"]["pairs"] == len(rows(out, "pairs"))


PLAY = "a play: lines are headed by their speakers' names, not set in quotation marks"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.html", b"", "the file is empty"),
        ("b.html", b"GIF89a\x00\x01\x02" + bytes(range(256)) * 20, "the file is binary"),
        ("c.html", b"Chapter I. The first words of a plain text.", "the file is not HTML"),
        ("d.html", (DATA / "no_dialogue.html").read_bytes(), "no dialogue: found no speech"),
        ("e.html", (DATA / "play.html").read_bytes(), PLAY),
        (
            "f.html",
            (DATA / "play.html").read_bytes().replace(b"<p>LETTY. ", "<p>“Yes.” ".encode(), 1),
            PLAY,
        ),
        ("gone.html", None, "no such file"),
    ],
)
def test_a_book_that_cannot_be_mined_is_one_line_and_the_others_are_mined(
    tmp_path, name, content, why
):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    out = tmp_path / "out"
    done = run(path, "sample", "-o", out)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"set aside: {path}: {why}")
    assert [book["id"] for book in record(out)["books"]] == ["sample"]
    (entry,) = record(out)["set_aside"]
    assert entry["file"] == name and entry["why"].startswith(why)
    alone = tmp_path / "deep" / "alone"
    nothing = run(path, "-o", alone)
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    assert nothing.stderr == done.stderr
    assert not alone.parent.exists()


def test_a_file_set_aside_from_a_folder_is_named_itself(tmp_path):
    done = run(DATA, "-o", tmp_path / "out")
    assert f"set aside: {DATA / 'play.html'}: {PLAY}" in done.stderr.splitlines()


def test_words_that_name_no_book(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    Path("shut.html").symlink_to("nowhere.html")
    Path("round.html").symlink_to("round.html")
    done = run("empty", "sample", "shut.html", "round.html", "0", "-q", "-o", "out")
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        "set aside: empty: holds no .htm or .html file",
        "set aside: shut.html: no such file",
        "set aside: round.html: cannot be read: Too many levels of symbolic links",
        "set aside: 0: not a Gutenberg number, expected 1 to 99999999",
    ]
    assert len(rows(Path("out"), "pairs")) > 50


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no Unix permissions here")
def test_a_file_that_may_not_be_read():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        path = folder / "7-h.htm"
        path.write_bytes(SAMPLE.read_bytes())
        path.chmod(0)
        with ordinary_user():
            given = mine_source(Source(name, "7", path), load_tagger("gap"), MiningOptions("gap"))
    assert given == SetAside(str(path), "cannot be read: Permission denied")


def test_a_number_that_the_mirror_does_not_have(tmp_path, site):
    done = run(
        *("99", "sample", "--mirror", site.mirror, "-o", tmp_path / "out"),
        MINER_CACHE=str(tmp_path / "cache"),
    )
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line == f"set aside: 99: {site.url}/99.html answered 404, expected an HTML book"
    assert site.paths == ["/99.html"]
    assert [book["id"] for book in record(tmp_path / "out")["books"]] == ["sample"]


def test_file_names_that_are_not_utf_8_are_mined(tmp_path):
    name = os.fsdecode(b"M\xe9rim\xe9e.html")
    books = tmp_path / "books"
    books.mkdir()
    (books / name).write_bytes(SAMPLE.read_bytes())
    (books / os.fsdecode(b"Caf\xe9.html")).write_bytes(b"<p>Nothing.</p>")
    done = run(books, "-o", tmp_path / "out")
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"set aside: {books}/Caf\ufffd.html: ")
    made = record(tmp_path / "out")
    assert [(book["id"], book["file"]) for book in made["books"]] == [
        ("M\ufffdrim\ufffde", "M\ufffdrim\ufffde.html")
    ]
    assert [item["file"] for item in made["set_aside"]] == ["Caf\ufffd.html"]
    assert {row["book"] for row in rows(tmp_path / "out", "pairs")} == {"M\ufffdrim\ufffde"}


def test_a_page_nested_too_deeply_is_set_aside(tmp_path):
    deep = tmp_path / "deep.html"
    deep.write_text("<div>" * 3000 + "<p>“Yes,” he said.</p>" + "</div>" * 3000)
    done = run(deep, "sample", "-o", tmp_path / "out")
    assert done.exit_code == 1
    said = "its elements are nested too deeply to parse"
    assert done.stderr.splitlines() == [f"set aside: {deep}: {said}"]
    assert [book["id"] for book in record(tmp_path / "out")["books"]] == ["sample"]


def test_an_unknown_tagger_is_one_line_before_any_work(tmp_path):
    out = tmp_path / "out"
    done = run("sample", "sample", "gone.html", "--tagger", "gone.jsonl", "-o", out)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "miner: no tagger 'gone.jsonl': "
        "expected one of auto, gap, narration, tuned-gap, a file of tags, or a checkpoint"
    ]
    assert not out.exists()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A folder with enough books to stop a run in the middle."""
    folder = tmp_path_factory.mktemp("many")
    first = folder / "first.html"
    first.write_bytes(SAMPLE.read_bytes())
    for n in range(300):
        os.link(first, folder / f"{n}-h.htm")
    return folder


def kept(errors, how, tmp_path):
    """How many books an interrupted run kept, which is what it says."""
    partial = tmp_path / "deep" / "out.partial"
    said = re.fullmatch(
        rf"miner: {how}; (\d+) books are kept in (.*), --resume continues\n", errors
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
    printed, errors = process.communicate(timeout=60)
    assert 3 <= kept(errors, "interrupted", tmp_path) < 301
    assert (process.returncode, printed) == (130, "")


@pytest.mark.slow
def test_a_polite_kill_keeps_them_too(many, tmp_path):
    process = started(many, tmp_path)
    process.terminate()
    assert 3 <= kept(process.communicate(timeout=60)[1], "interrupted", tmp_path) < 301
    assert process.returncode == 130


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
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 0


@pytest.mark.slow
def test_a_killed_worker_ends_the_run_with_one_line(many, tmp_path):
    process = started(many, tmp_path, "--workers", "2")
    os.kill(worker_of(process), signal.SIGKILL)
    printed, errors = process.communicate(timeout=60)
    kept(errors, "one of 2 workers was killed, perhaps for want of memory.*", tmp_path)
    assert (process.returncode, printed) == (1, "")


LIMITED = """
import resource, signal, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from miner.app.cli.main import main
main(sys.argv[2:])
"""


@pytest.mark.parametrize(
    ("format", "room"),
    [("jsonl", 2_000), pytest.param("parquet", 12_000, marks=pytest.mark.slow)],
)
def test_a_disk_without_room_leaves_no_half_file(tmp_path, format, room):
    pytest.importorskip("resource")
    out = tmp_path / "out"
    words = ["mine", "sample", DATA / "dash.htm", "-o", out, "--format", format, "--tagger", "gap"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(room), *words], capture_output=True, text=True
    )
    why = "cannot be written: File too large; nothing was written"
    assert done.stderr == f"miner: {out}: {why}\n"
    assert (done.returncode, done.stdout) == (1, "")
    assert list(tmp_path.iterdir()) == []


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
    assert lines[35][0] == "wrote"


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
