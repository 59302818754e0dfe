"""The commands around gold: books that are not at hand, files that fit together, and speakers."""

import json
import shutil

import pytest
from helpers import (
    ANNOTATIONS,
    SAMPLE,
    annotations_of_sample,
    annotations_of_two,
    failed,
    run,
    said,
    small_corpus,
)
from speaker_scenes import page, write_corpus

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
    ("speakers",): ["--resamples", 3, "--tagger", "gap"],
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


@pytest.fixture
def corpus(tmp_path):
    """The corpus of one novel, and the folder of its book."""
    books = tmp_path / "books"
    books.mkdir()
    (books / "7-h.htm").write_bytes(page())
    return ["--pdnc", write_corpus(tmp_path / "pdnc"), "--books", books, "--tagger", "gap"]


@pytest.fixture
def sample(tmp_path):
    folder = annotations_of_sample(tmp_path / "gold", chapters=[1])
    return ["--gold", folder, "--split", "sample", "--tagger", "gap", "--resamples", 3]


def test_annotations_are_scored_from_the_book_and_on_the_gold(sample):
    shown = said("speakers", *sample, "--ablate", "alone")
    assert "From the book: utterances with the right speaker (sample split)" in shown
    assert "On the spans of the gold" in shown
    assert shown.count("ours, alone") == shown.count("simple rules") == 2
    record = json.loads(said("speakers", *sample, "--json"))
    assert set(record["rows"]) == {"ours", "simple rules"}
    assert record["rows"]["ours"]["from_book"]["all"]["utterances"] == record["utterances"]


def test_the_corpus_is_scored_beside_published_figures(corpus):
    shown = said("speakers", *corpus)
    assert "published, not measured by us" in shown
    assert "--leave-one-author-out judges without them" in shown
    assert "The Key" in shown
    record = json.loads(said("speakers", *corpus, "--json"))
    assert set(record["given"]) == set(record["end_to_end"]) == {"ours", "simple rules"}
    assert record["unknowable"] == 1


def test_errors_are_written_whole_and_not_over_a_file(sample, corpus, tmp_path):
    out = tmp_path / "errors.jsonl"
    said("speakers", *sample, "--errors", 2, "-o", out)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 2 and {row["book"] for row in rows} == {"sample"}
    assert "errors.jsonl: exists already" in failed("speakers", *sample, "--errors", 2, "-o", out)
    said("speakers", *corpus, "--end-to-end", "--errors", 9, "-o", out, "--force")
    assert {json.loads(line)["book"] for line in out.read_bytes().splitlines()} <= {"7"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--errors", 3], "--errors and --out need each other"),
        (["-o", "x"], "--errors and --out need each other"),
        (["--end-to-end"], "need --pdnc"),
        (["--leave-one-author-out", "x"], "need --pdnc"),
        (["--pdnc", "x", "--leave-one-author-out", "y", "--attributor", "z"], "trains the weights"),
        (["--ablate", "everything"], "alone"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(words, why):
    done = run("speakers", *words)
    assert done.exit_code == 2 and why in " ".join(done.stderr.split())


def test_weights_that_are_none_are_refused(tmp_path):
    path = tmp_path / "weights.safetensors"
    path.write_bytes(b"none")
    assert f"{path}: cannot be loaded" in failed("speakers", "--attributor", path)


def test_one_author_is_left_out(corpus, tmp_path):
    pytest.importorskip("torch")
    from miner.annotation.annotations import read_split
    from miner.lab.gold.editions import open_edition
    from miner.lab.learning.prepared import write_prepared
    from miner.lab.training.speakers.training import KIND, examples_of, without_people
    from miner.people.features import FEATURES

    gold = annotations_of_sample(tmp_path / "gold", chapters=[1])
    edition = open_edition(*read_split(gold, "sample"), SAMPLE.read_bytes())
    path = tmp_path / "examples"
    found = list(map(without_people, examples_of(edition)))
    write_prepared(path, KIND, {}, found, FEATURES)
    shown = said("speakers", *corpus, "--leave-one-author-out", path)
    assert "trained on 1 chapters without those of its author: WREN 0" in " ".join(shown.split())
