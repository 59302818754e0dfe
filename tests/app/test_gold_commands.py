"""The commands around gold: books that are not at hand, and files that fit together."""

import json
import shutil

import pytest
from helpers import ANNOTATIONS, annotations_of_two, failed, run, said, small_corpus

from miner.lab.gold.editions import Coverage, note_of_few

NOTE = "figures are of 5 of 7 chapters: 1 book not at hand (7)"
FEW = (
    "5 chapters: too few to tell which is better, since 95% intervals of fewer than 10 are too "
    "narrow; tests/benchmarks/README.md has tables of more (split test)"
)
SCORING = {
    ("compare",): ["--resamples", 3, "--tagger", "gap"],
    ("gold", "sweep"): ["--resamples", 3],
    ("gold", "errors"): ["--tagger", "gap"],
    ("gold", "languages"): ["--resamples", 3, "--tagger", "gap"],
}


@pytest.fixture
def folder(tmp_path, site, quick, monkeypatch):
    """Annotations of two books, of which one is on no disk and on no mirror."""
    monkeypatch.setenv("MINER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MINER_MIRROR", site.mirror)
    monkeypatch.setattr("miner.lab.measure.compare.GAPS", (50, 150))
    return annotations_of_two(tmp_path / "two")


def left_out(done):
    """The one line on stderr, which is of book 7."""
    assert done.exit_code == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("left out: 7: http://127.0.0.1") and "404" in line
    return done.stdout


@pytest.mark.parametrize("path", SCORING, ids=" ".join)
def test_the_rest_is_scored_and_said_to_be(path, folder):
    words = [*path, "--gold", folder, "--split", "sample", *SCORING[path]]
    assert {NOTE, FEW} < set(left_out(run(*words)).splitlines())
    record = json.loads(left_out(run(*words, "--json")))
    assert record["coverage"]["left_out"] == 2
    (of_book,) = record["coverage"]["books_left_out"]
    assert of_book["book"] == "7" and "404" in of_book["why"]


@pytest.mark.parametrize("path", SCORING, ids=" ".join)
def test_with_nothing_to_score_the_command_fails(path, folder):
    (folder / "gold" / "sample.jsonl").unlink()
    cards = (folder / "books.jsonl").read_text("utf-8").splitlines()[1:]
    (folder / "books.jsonl").write_text("\n".join(cards), encoding="utf-8")
    line = failed(*path, "--gold", folder, "--split", "sample", *SCORING[path])
    assert line.startswith("found none of 1 annotated books, expected one; 7: http://127.0.0.1")


def test_confidences_are_of_the_rest(folder, tmp_path):
    tags = tmp_path / "sure.tags"
    rows = map(json.loads, said("tag", "sample", "--tagger", "gap").splitlines())
    sure = (json.dumps(row | {"confidence": 0.5}) for row in rows)
    tags.write_text("\n".join(sure), encoding="utf-8")
    words = ("gold", "confidence", "--gold", folder, "--split", "sample", "--tagger", tags)
    assert left_out(run(*words)).splitlines()[-2:] == [NOTE, FEW]
    record = json.loads(left_out(run(*words, "--json")))
    assert record["rows"][0]["pairs"] > 90 and record["coverage"]["left_out"] == 2
    words = ("score", "--gold", folder / "gold" / "sample.jsonl", "--predicted", tags)
    assert FEW in said(*words, "--resamples", 3).splitlines()
    assert json.loads(said(*words, "--resamples", 3, "--json"))["notes"] == [FEW]


@pytest.mark.parametrize(
    ("counts", "few"), [({"": 10}, ""), ({"de": 9, "fr": 30, "it": 3}, "de 9, it 3 chapters: ")]
)
def test_ten_chapters_are_not_few(counts, few):
    assert [line[: len(few)] for line in note_of_few(counts)] == [few] * bool(few)
    notes = {Coverage("chapters", n, ()).notes for n in (10, 30)}
    assert notes == {()}


def test_quotations_of_the_rest_of_a_corpus(folder, tmp_path):
    pdnc, books = small_corpus(tmp_path)
    line = failed("quotations", "--pdnc", pdnc)
    assert line.startswith("found none of 1 annotated books, expected one; 7: http://127.0.0.1")
    (pdnc / "Lamp").mkdir()
    for path in (pdnc / "Lighthouse").iterdir():
        shutil.copy(path, pdnc / "Lamp")
    with (pdnc / "PDNC-Novel-Index.csv").open("a") as index:
        index.write("The Lamp,https://www.gutenberg.org/ebooks/8,Lamp\n")
    shutil.copy(books / "7-h.htm", books / "8-h.htm")
    (books / "7-h.htm").unlink()
    words = ("quotations", "--pdnc", pdnc, "--books", books)
    shown = left_out(run(*words))
    assert "mean of 1" in shown and "The Lamp " in shown
    assert shown.splitlines()[-2:] == [
        "figures are of 1 of 2 novels: 1 book not at hand (7)",
        FEW.replace("5 chapters", "1 novel"),
    ]
    assert [item["id"] for item in json.loads(left_out(run(*words, "--json")))["novels"]] == ["8"]


def test_an_export_has_the_rest_and_fails(folder, tmp_path):
    out = tmp_path / "out.tags"
    words = ("gold", "export", "--gold", folder, "--split", "sample", "--format", "tags")
    done = run(*words, "-o", out)
    assert (done.exit_code, done.stdout) == (1, "")
    first, last = done.stderr.splitlines()
    assert first.startswith("left out: 7: ")
    assert last == f"miner: {out} has 5 of 7 chapters: 1 book not at hand (7)"
    assert {json.loads(line)["book"] for line in out.read_bytes().splitlines()} == {"sample"}


def test_wrong_options_are_said_once_and_before_any_book(folder, tmp_path, site):
    words = ("gold", "errors", "--gold", folder, "--split", "sample", "--tagger", "gap")
    assert "no such folder" in failed(*words, "--books", tmp_path / "gone")
    assert "found no {id}" in failed(*words, "--mirror", "http://127.0.0.1/x")
    assert "found no {id}" in failed("gold", "fetch", *words[2:6], "--mirror", "http://127.0.0.1/x")
    assert site.paths == []


def test_a_sweep_of_test_asks_for_consent(monkeypatch, folder):
    words = ("gold", "sweep", "--gold", ANNOTATIONS, "--split", "test")
    line = failed(*words)
    assert "found 15 books of test" in line and "--on-test" in line
    assert "makes all scores on test worthless" in " ".join(said("gold", "sweep", "-h").split())
    assert "found none of 15 annotated books" in failed(*words, "--on-test", "--resamples", 1)


def test_the_annotations_are_found_by_a_variable(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINER_ANNOTATIONS", str(folder))
    assert json.loads(said("gold", "stats", "--json"))["splits"]["sample"]["books"] == 2
    done = run("compare", "--split", "sample", "--tagger", "gap", "--resamples", 1, "--json")
    assert json.loads(left_out(done))["gold"] == "two"
    monkeypatch.setenv("MINER_ANNOTATIONS", str(tmp_path))
    assert failed("gold", "stats").startswith(f"{tmp_path}: found no annotations, expected")
    line = failed("compare", "--gold", "annotations")
    assert line.startswith("annotations: found no annotations") and "get its source" in line


@pytest.fixture(scope="module")
def tags(tmp_path_factory):
    """Tags of the sample, in a file that ends as the user likes."""
    path = tmp_path_factory.mktemp("tags") / "x.tags"
    said("tag", "sample", "--tagger", "gap", "-o", path)
    return path


def test_what_tag_and_mine_write_score_and_compare_read(tags, tmp_path):
    said("mine", "sample", "--tagger", "gap", "-q", "-o", tmp_path / "mined")
    mined = tmp_path / "mined" / "spans.jsonl"
    for gold in (tags, mined):
        scored = said("score", "--gold", gold, "--predicted", tags, "--resamples", 3, "--json")
        measures = json.loads(scored)["total"]["end_to_end"]["scores"]
        assert measures["turn-pair.f1"]["value"] == measures["B-START.f1"]["value"] == 1.0
        words = ("compare", "--gold", gold, "--tagger", "gap", "--resamples", 3)
        assert "gap 150           1.000" in said(*words)


def test_score_takes_what_annotate_saves(tags, tmp_path):
    """On the text of the predicted book, with the scores that the book itself gives."""
    saved = ANNOTATIONS / "gold" / "sample.jsonl"
    scored = json.loads(
        said("score", "--gold", saved, "--predicted", tags, "--resamples", 3, "--json")
    )
    words = ("compare", "--gold", ANNOTATIONS, "--split", "sample", "--tagger", "gap")
    (row,) = json.loads(said(*words, "--resamples", 3, "--json"))["rows"]
    assert scored["total"] == row["from_book"]["total"]
    assert "|gold:sample.jsonl@" in scored["signature"]

    rows = tags.read_text("utf-8").splitlines(keepends=True)
    narration = next(n for n, row in enumerate(rows) if json.loads(row)["start"])
    gap, other = tmp_path / "gap.tags", tmp_path / "other.tags"
    gap.write_text("".join(rows[: narration - 1] + rows[narration:]), encoding="utf-8")
    other.write_text(tags.read_text("utf-8").replace('"book":"sample"', '"book":"7"'), "utf-8")
    line = failed("score", "--gold", saved, "--predicted", gap)
    assert "found a span from " in line and "expected 0" in line
    assert failed("score", "--gold", saved, "--predicted", other) == (
        f"{saved}: found annotations of sample, expected those of 7"
    )
    assert "found split dev, expected none" in failed(
        *("score", "--gold", saved, "--predicted", tags, "--split", "dev")
    )
    assert failed("compare", "--gold", saved).endswith("a tags file; `miner score` takes it")


def test_a_folder_that_is_no_gold_is_named_with_what_is_wanted(tags, tmp_path):
    mined = tmp_path / "mined"
    said("mine", "sample", "--tagger", "gap", "-q", "-o", mined)
    assert failed("compare", "--gold", mined) == (
        f"{mined}: found the output of `miner mine`, expected a folder of annotations "
        f"(books.jsonl) or of MCN (gold-v2.csv), or a tags file, such as {mined / 'spans.jsonl'}"
    )
    assert failed("score", "--gold", mined, "--predicted", tags) == (
        f"{mined}: found the output of `miner mine`, expected a tags file, "
        f"such as {mined / 'spans.jsonl'}"
    )
    (mined / "spans.jsonl").unlink()  # as with --format parquet
    assert failed("compare", "--gold", mined).endswith("(gold-v2.csv), or a tags file")
    assert failed("compare", "--gold", tmp_path).startswith(f"{tmp_path}: found a folder, expected")
    assert failed("score", "--gold", ANNOTATIONS, "--predicted", tags) == (
        f"{ANNOTATIONS}: found a folder of annotations, expected a tags file"
    )
