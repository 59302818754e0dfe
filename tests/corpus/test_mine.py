"""Mining from source to files: the rows, the way back from a row to the page, and errors."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from corpus_helpers import bytes_of, in_float32, mined, record, rows, run
from helpers import DATA, SAMPLE, ordinary_user

import miner
from miner.books.book import parse_book
from miner.books.sources import Source, find_sources
from miner.corpus.mined_book import MiningOptions, SetAside
from miner.corpus.pipeline import mine_book
from miner.corpus.schema import KINDS
from miner.files import digest_of
from miner.speech.kinds import UNSAID_KINDS
from miner.tagger.load import load_tagger, weight_signatures

DASH = DATA / "dash.htm"  # of few words


def place_of(row):
    return (row["paragraph"], row["span"], row["start"], row["end"])


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return mined(tmp_path_factory.mktemp("sample"), "sample")


def test_the_pairs_of_the_sample(sample):
    files = [*(f"{kind}.jsonl" for kind in KINDS), "README.md", "run.json"]
    assert sorted(path.name for path in sample.iterdir()) == sorted(files)
    pairs = rows(sample, "pairs")
    assert (pairs[0]["context"], pairs[0]["response"]) == (
        "Letter for you, Mr. Tarrant, and a brown one.",
        "I see it’s brown.",
    )
    (inside,) = pairs[0]["context_narration_inside"]
    assert inside["text"].startswith("said the postman, one grey forenoon")
    assert pairs[0]["context"][inside["at"] :] == "and a brown one."
    assert pairs[1]["context"] == pairs[0]["response"]
    assert pairs[1]["context_narration_after"].startswith(
        "said Josiah, who was greasing a paddle-post"
    )
    assert "’Tis to be given into the hand, Mr. Tarrant." in " ".join(p["response"] for p in pairs)
    assert rows(sample, "spans")[0]["text"] == "CHAPTER I. The Brown Envelope"


def letters(text):
    return "".join(filter(str.isalnum, text.casefold()))


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
                assert letters(texts[key]) in letters(turn["text"])
            assert turn["raw"] == " ".join(
                texts[dialogue["book"], place_of(span)] for span in turn["spans"]
            )
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


@pytest.mark.slow
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
        expected = in_float32(rows(sample, kind))
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


LOAD_DEFAULT = """
import sys
from datasets import load_dataset
for folder in sys.argv[1:]:
    rows = load_dataset(folder)["train"]
    print(len(rows), *rows.column_names[-2:])
"""


@pytest.mark.slow
def test_datasets_opens_the_rows_of_the_other_formats(tmp_path, sample):
    folders = []
    for format in ("csv", "convokit", "chat"):
        (tmp_path / format).mkdir()
        folders.append(mined(tmp_path / format, "sample", "--format", format))
    env = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD_DEFAULT, *folders], env=env, capture_output=True, text=True
    )
    assert loaded.returncode == 0, loaded.stderr
    dialogues = rows(sample, "dialogues")
    assert loaded.stdout.splitlines() == [
        f"{len(rows(sample, 'pairs'))} context_spans response_spans",
        f"{sum(row['n_turns'] for row in dialogues)} vectors timestamp",
        f"{len(dialogues)} messages personas",
    ]


def test_long_turns_and_short_dialogues_are_left_out_and_counted(tmp_path, sample):
    (tmp_path / "all").mkdir()
    every = mined(tmp_path / "all", "sample", "--min-turns", "1")
    out = mined(tmp_path, "sample", "--max-utterance-words", "20", "--min-turns", "3")
    before, after = rows(every, "dialogues"), rows(out, "dialogues")
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
    assert "said the postman" in pairs[0]["context_narration_after"]
    assert len(pairs) > len(rows(sample, "pairs"))


def test_quotes_overrule_what_was_inferred(tmp_path):
    page = tmp_path / "page.html"
    text = (DATA / "single_curly.html").read_text(encoding="utf-8")
    said = "<p>“Come in,” said Ann.</p><p>“No,” said Tom. “I must go.”</p>"
    page.write_text(text.replace("<p>‘", f"{said}<p>‘", 1), encoding="utf-8")
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
        *("miner", "python", "libraries", "weights", "options"),
        *("totals", "books", "set_aside", "files"),
    ]
    assert run["weights"] == weight_signatures()
    files = [*(f"{kind}.jsonl" for kind in KINDS), "README.md"]
    assert run["files"] == {name: digest_of(sample / name) for name in files}
    assert run["miner"] == miner.__version__
    assert run["options"] == {
        "tagger": "gap",
        "quotes": [],
        "pairs_by_span": False,
        "max_utterance_words": None,
        "min_turns": 2,
        "min_confidence": 0.0,
        "format": "jsonl",
        "dtype": "float32",
        "characters": None,
        "history_turns": 0,
        "front_matter": False,
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
        "quoted_not_speech": sum(row["kind"] in UNSAID_KINDS for row in spans),
        "dialogues": len(dialogues),
        "turns": sum(row["n_turns"] for row in dialogues),
        "pairs": len(rows(sample, "pairs")),
        "characters": len(rows(sample, "characters")),
        "speakers": sum(
            row["kind"] != "unnamed" and row["utterances"] > 0 for row in rows(sample, "characters")
        ),
        "utterances_without_speaker": sum(
            row["kind"] == "utterance" and row["speaker"] is None for row in spans
        ),
    }
    assert min(n for name, n in book["counts"].items() if "without" not in name) > 0
    assert book["dropped_words"]["licence"] > 100
    assert run["totals"] == {"books": 1, "words": book["words"], **book["counts"]}
    assert [chapter["number"] for chapter in book["chapters"]] == [1, 2, 3, 4, 5]


def test_the_record_counts_span_pairs_and_sums_books(tmp_path):
    out = mined(tmp_path, DATA / "single_curly.html", DASH, "--pairs", "span")
    run = record(out)
    for book in run["books"]:
        pairs = [row for row in rows(out, "pairs") if row["book"] == book["id"]]
        assert book["counts"]["pairs"] == len(pairs)
    assert [book["id"] for book in run["books"]] == ["single_curly", "dash"]
    assert run["totals"]["books"] == 2
    assert run["totals"]["pairs"] == len(rows(out, "pairs"))


PLAY = (
    "a play: lines are headed by their speakers' names, not set in quotation marks; "
    "plays are not mined"
)


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
    done = run(path, DASH, "-o", out)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"set aside: {path}: {why}")
    assert [book["id"] for book in record(out)["books"]] == ["dash"]
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
    done = run("empty", DASH, "shut.html", "round.html", "0", "-q", "-o", "out")
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        "set aside: empty: holds no .htm, .html, .epub, .txt or .zip file",
        "set aside: shut.html: no such file",
        "set aside: round.html: cannot be read: Too many levels of symbolic links",
        "set aside: 0: not a Gutenberg number, expected 1 to 99999999",
    ]
    assert len(rows(Path("out"), "pairs")) > 5


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no Unix permissions here")
def test_a_file_that_may_not_be_read():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        path = folder / "7-h.htm"
        path.write_bytes(SAMPLE.read_bytes())
        path.chmod(0)
        with ordinary_user():
            given = mine_book(Source(name, "7", path), load_tagger("gap"), MiningOptions("gap"))
    assert given == SetAside(str(path), "cannot be read: Permission denied", is_lasting=False)


def test_a_number_that_the_mirror_does_not_have(tmp_path, site):
    done = run(
        *("99", DASH, "--mirror", site.mirror, "-o", tmp_path / "out"),
        MINER_CACHE=str(tmp_path / "cache"),
    )
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line == f"set aside: 99: {site.url}/99.html answered 404, expected an HTML book"
    assert site.paths == ["/99.html"]
    assert [book["id"] for book in record(tmp_path / "out")["books"]] == ["dash"]


def test_file_names_that_are_not_utf_8_are_mined(tmp_path):
    name = os.fsdecode(b"M\xe9rim\xe9e.html")
    books = tmp_path / "books"
    books.mkdir()
    (books / name).write_bytes(DASH.read_bytes())
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


def test_what_is_doubtful_in_a_book_is_told_and_recorded(tmp_path):
    damaged = tmp_path / "damaged.html"
    damaged.write_bytes(SAMPLE.read_bytes().replace(b"</h2>", b"\xff</h2>", 1))
    out = tmp_path / "out"
    done = run(damaged, "sample", "-o", out)
    line = "bytes that are no text in UTF-8: 1, read as U+FFFD"
    assert (done.exit_code, done.stderr) == (0, f"warning: damaged.html: {line}\n")
    assert [book["warnings"] for book in record(out)["books"]] == [[line], []]
    assert run(damaged, "-q", "-o", tmp_path / "quiet").output == ""
    with_it, without = (
        [row for row in rows(out, "pairs") if row["book"] == book] for book in ("damaged", "sample")
    )
    assert [row | {"book": ""} for row in with_it] == [row | {"book": ""} for row in without]


def test_a_title_sends_the_terminal_no_commands(tmp_path):
    book = tmp_path / "evil.html"
    book.write_bytes(SAMPLE.read_bytes().replace(b"The Lock", b"\x1b[2J&#27;]0;The Lock"))
    done = run(book, "-o", tmp_path / "out")
    assert done.exit_code == 0
    assert "\x1b" not in done.output and "\ufffd[2J\ufffd]0;The Lock" in done.output
    assert "\ufffd[2J\ufffd]0;The Lock" in record(tmp_path / "out")["books"][0]["title"]


def test_a_book_that_is_lost_in_a_comment_is_set_aside_and_says_so(tmp_path):
    book = tmp_path / "open.html"
    page = SAMPLE.read_bytes()
    book.write_bytes(page.replace(b"<h2", b"<!-- <h2", 3))
    done = run(book, DASH, "-o", tmp_path / "out")
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"set aside: {book}: ") and "unclosed markup 1,392)" in line
    paragraphs = page.split(b"</p>")
    paragraphs[40] = b"<!--" + paragraphs[40]
    paragraphs[52] += b"-->"
    book.write_bytes(b"</p>".join(paragraphs))
    done = run(book, "-o", tmp_path / "more")
    assert (done.exit_code, len(done.stderr.splitlines())) == (0, 1)
    lost = record(tmp_path / "more")["books"][0]["dropped_words"]["unclosed markup"]
    assert done.stderr == (
        "warning: open.html: words lost in a tag, a comment or an element that is not closed: "
        f"about {lost}\n"
    )


def test_a_newline_in_a_file_name_breaks_no_message(tmp_path):
    books = tmp_path / "books"
    books.mkdir()
    (books / "a\nb.html").write_bytes(DASH.read_bytes())
    (books / "c\rd\x1b[2J.html").write_bytes(b"<p>Nothing.</p>")
    done = run(books, "gone\n.htm", "-o", tmp_path / "out")
    shown, gone = done.stderr.splitlines()
    assert shown.startswith(rf"set aside: {books}/c\rd\x1b[2J.html: no dialogue")
    assert gone == r"set aside: gone\n.htm: no such file"
    assert r"a\nb" in done.stdout
    assert record(tmp_path / "out")["books"][0]["file"] == r"a\nb.html"


def test_a_file_too_large_is_set_aside_unread(tmp_path):
    path = tmp_path / "zeros.html"
    with path.open("wb") as file:
        file.truncate(10**12)  # no disk has room for it, but it takes none
    done = run(path, DASH, "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert done.stderr == (
        f"set aside: {path}: zeros.html has 1,000,000,000,000 bytes, "
        "expected a book of at most 67,108,864 bytes\n"
    )


def test_a_page_nested_too_deeply_is_set_aside(tmp_path):
    deep = tmp_path / "deep.html"
    deep.write_text("<div>" * 3000 + "<p>“Yes,” he said.</p>" + "</div>" * 3000)
    done = run(deep, DASH, "-o", tmp_path / "out")
    assert done.exit_code == 1
    said = "its elements are nested more than 300 levels deep"
    assert done.stderr.splitlines() == [f"set aside: {deep}: {said}"]
    assert [book["id"] for book in record(tmp_path / "out")["books"]] == ["dash"]


def test_an_unknown_tagger_is_one_line_before_any_work(tmp_path):
    out = tmp_path / "out"
    done = run("sample", "sample", "gone.html", "--tagger", "gone.jsonl", "-o", out)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "miner: no tagger 'gone.jsonl': "
        "expected one of auto, gap, gd, narration, tuned-gap, a file of tags, or a checkpoint"
    ]
    assert not out.exists()
