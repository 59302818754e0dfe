"""Taggers side by side on the same gold: a tags file, and the gold of MCN."""

import json

import pytest
from helpers import MCN, book, needs_mcn, run

from heuristic.gap import TUNED_GAP
from miner.files import json_line
from miner.lab.gold.editions import note_of_few
from miner.lab.gold.mcn import strip_tags
from miner.lab.measure.compare import compare
from miner.speech.tag_files import read_tag_file, row_from_span
from miner.tagger.load import load_tagger


@pytest.fixture
def gold(tmp_path):
    """Tags by the narration heuristic of spans that it reads from a tags file, used as gold."""
    path = tmp_path / "gold.jsonl"
    assert run("tag", "sample", "--tagger", "narration", "-o", path).exit_code == 0
    (tagged,) = read_tag_file(path).books
    # The file has no breaks between scenes; without them the heuristic begins a dialogue less.
    rows = (
        row_from_span(tagged.book, item)
        for item in load_tagger("narration").tag(strip_tags(tagged))
    )
    path.write_bytes(b"".join(map(json_line, rows)))
    return path


def test_a_tagger_is_right_on_its_own_tags(gold):
    named = [(name, load_tagger(name)) for name in ("gap", "narration", str(gold))]
    comparison = compare(gold, named, "all", resamples=10)
    gap, narration, stored = (row.scores.total.end_to_end for row in comparison.rows)
    assert [row.name for row in comparison.rows] == ["gap", "narration", str(gold)]
    assert narration["B-START.f1"].value == stored["B-START.f1"].value == 1.0
    assert gap["B-START.precision"].value < 0.5 and gap["B-START.recall"].value == 1.0
    assert stored["accuracy"].value == 1.0
    assert gap["utterance.f1"].value == 1.0  # all tag the spans of the gold
    assert comparison.notes == note_of_few({"": 5})


def test_the_taggers_see_the_spans_and_not_the_tags(gold):
    (tagged,) = read_tag_file(gold).books
    book_spans = strip_tags(tagged)
    assert [item.span for item in tagged.spans] == list(book_spans.spans)
    for span in book_spans.spans:
        block = next(b for b in book_spans.book.blocks if b.index == span.paragraph)
        assert block.text[span.start : span.end] == span.text


def test_a_table_for_people_and_json_for_programs(gold):
    shown = run("compare", "--gold", gold, "--resamples", 20)
    assert shown.exit_code == 0
    lines = [line.strip() for line in shown.stdout.splitlines()]
    assert lines[0] == "All on the same labels (gold.jsonl, all split)"
    for unit in ("B-START", "turn pairs", "span pairs (MCN's)"):
        place = lines.index(unit)
        assert lines[place + 1].startswith("gap 150 ")
        assert lines[place + 2].startswith(f"tuned-gap {TUNED_GAP} ")
        assert lines[place + 3].startswith("narration ")
    assert "1.000 [1.00–1.00]  1.000 [1.00–1.00]" in lines[lines.index("B-START") + 3]
    signature = next(line for line in lines if line.startswith("narration: unit:span|gold:gold."))
    assert "|bs:20|seed:0|" in signature
    said = json.loads(run("compare", "--gold", gold, "--resamples", 20, "--json").stdout)
    assert (said["gold"], said["split"]) == ("gold.jsonl", "all")
    assert [row["name"] for row in said["rows"]] == [
        "gap 150",
        f"tuned-gap {TUNED_GAP}",
        "narration",
    ]
    assert said["rows"][2]["signature"] in signature


def test_taggers_are_chosen(gold):
    said = run("compare", "--gold", gold, "--tagger", "gap:5", "--json")
    assert [row["name"] for row in json.loads(said.stdout)["rows"]] == ["gap 5"]


def test_errors_of_the_command_are_one_line(gold, tmp_path):
    for words, part in (
        (["--gold", gold, "--split", "test"], "which has no split 'test', expected all"),
        (["--gold", tmp_path / "gone.jsonl"], "gone.jsonl: No such file or directory"),
        (["--gold", gold, "--tagger", "best"], "no tagger 'best': expected one of auto"),
    ):
        done = run("compare", *words)
        assert (done.exit_code, done.stdout) == (1, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith("miner: ") and part in line
    assert run("compare").exit_code == 2


def test_several_books_are_tagged_one_by_one(tmp_path):
    path = tmp_path / "two.jsonl"
    books = [book("SRSR", "1"), book("SRR", "2")]
    path.write_bytes(
        b"".join(json_line(row_from_span(b.book, item)) for b in books for item in b.spans)
    )
    comparison = compare(path, [("gap", load_tagger("gap"))], "all", resamples=0)
    (row,) = comparison.rows
    assert list(row.scores.books) == ["1", "2"]
    assert row.scores.total.end_to_end["B-START.recall"].value == pytest.approx(2 / 3)


@needs_mcn
def test_the_table_of_mcn_on_the_same_tags():
    named = [("gap 150", load_tagger("gap")), ("narration", load_tagger("narration"))]
    comparison = compare(MCN, named, resamples=50)
    rounded = {
        row.name: tuple(
            round(row.scores.total.end_to_end[f"B-START.{part}"].value, 3)
            for part in ("precision", "recall")
        )
        for row in comparison.rows
    }
    assert rounded == {
        "MCN heuristic": (0.909, 0.370),
        "MCN model": (0.613, 0.704),
        "gap 150": (0.710, 0.815),
        "narration": (1.0, 0.519),
    }
    readme = {row.name: row.readme for row in comparison.rows}
    assert readme["MCN heuristic"] == (0.50, 0.89) and readme["MCN model"] == (0.70, 0.93)
    assert readme["gap 150"] is None
    note, few = comparison.notes
    assert note_of_few({"": comparison.rows[0].scores.total.n_chapters}) == (few,)
    assert note.startswith("narration differs from MCN's own heuristic in 111 of 1740 ")
    assert "in 92 the utterance follows narration inside its paragraph" in note


@pytest.mark.slow
@needs_mcn
def test_compare_on_the_folder_of_mcn():
    shown = run("compare", "--gold", MCN, "--resamples", 20)
    assert shown.exit_code == 0
    first = shown.stdout.split("All on the same labels")[0]
    assert first.startswith(f"The table of MCN again ({MCN.name}, gold-v2, test split)")
    assert "MCN model      0.704" in first and "0.50" in first
    train = json.loads(
        run("compare", "--gold", MCN, "--split", "train", "--json", "--resamples", 5).stdout
    )
    assert [row["name"] for row in train["rows"]] == [
        "MCN heuristic",
        "gap 150",
        f"tuned-gap {TUNED_GAP}",
        "narration",
    ]
    assert {row["readme"] and 1 for row in train["rows"]} == {None}
    wrong = run("compare", "--gold", MCN, "--split", "dev")
    assert wrong.exit_code == 1
    assert "found no split 'dev', expected one of ['test', 'train', 'validation']" in wrong.stderr
