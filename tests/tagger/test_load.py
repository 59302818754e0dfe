"""Taggers by name, and tags from a file: only on the book that they were made from."""

import json
import os
import pickle
from dataclasses import replace

import pytest
from helpers import SAMPLE, run

from heuristic.gap import TUNED_GAP, GapTagger
from heuristic.narration import NarrationTagger
from miner.errors import InputError
from miner.speech.kinds import SpanKind
from miner.speech.read import parse_spans
from miner.tagger.load import (
    CHECKPOINTS,
    AutoTagger,
    CheckpointTagger,
    choose_one_tagger,
    load_tagger,
)

COLUMNS = ["book", "chapter", "paragraph", "span", "start", "end"]
COLUMNS += ["kind", "text", "tag", "confidence", "continues"]
COLUMNS += ["speaker", "speaker_confidence", "addressees"]

SPANS = parse_spans(SAMPLE.read_bytes(), "sample")


@pytest.fixture
def tags(tmp_path):
    """The tags file of the sample, and its rows."""
    path = tmp_path / "tags.jsonl"
    done = run("tag", "sample", "--tagger", "gap", "-o", path)
    assert (done.exit_code, done.output) == (0, "")
    return path, [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def mined_pairs(tmp_path, path):
    out = tmp_path / "out"
    done = run("mine", "sample", "--tagger", path, "-q", "-o", out, "--force")
    assert (done.exit_code, done.output) == (0, "")
    record = json.loads((out / "run.json").read_bytes())
    assert record["options"]["tagger"].startswith(f"{path.name}@")
    return [json.loads(line) for line in (out / "pairs.jsonl").read_bytes().splitlines()]


def refused(tmp_path, path):
    """The line of a run that the tags of `path` set aside or stopped."""
    out = tmp_path / "refused"
    done = run("mine", "sample", "--tagger", path, "-o", out)
    assert (done.exit_code, done.stdout, out.exists()) == (1, "", False)
    (line,) = done.stderr.splitlines()
    return line


def test_columns_and_their_order(tags):
    _, rows = tags
    assert all(list(row) == COLUMNS for row in rows)
    assert {row["tag"] for row in rows} == {"B-START", "I-START", "B-OTHER", "I-OTHER", "O"}
    assert {row["confidence"] for row in rows} == {None}
    kinds = {row["kind"] for row in rows}
    assert {"utterance", "narration"} < kinds <= set(SpanKind)
    assert {row["tag"] for row in rows if row["kind"] != "utterance"} == {"O"}


def test_standard_output_has_the_bytes_of_the_file(tags):
    path, _ = tags
    assert run("tag", "sample", "--tagger", "gap").stdout_bytes == path.read_bytes()
    assert run("tag", "sample", "--tagger", "narration").stdout_bytes != path.read_bytes()
    assert run("tag", "sample", "--tagger", "gap:5").stdout_bytes != path.read_bytes()


def test_tags_that_come_back_unchanged_make_the_same_dialogues(tags, tmp_path):
    path, _ = tags
    assert run("mine", "sample", "--tagger", "gap", "-q", "-o", tmp_path / "gap").exit_code == 0
    again = mined_pairs(tmp_path, path)
    mined = (tmp_path / "gap" / "pairs.jsonl").read_bytes().splitlines()
    assert again == [json.loads(line) for line in mined]


def test_a_corrected_tag_is_what_is_mined(tags, tmp_path):
    path, rows = tags
    before = mined_pairs(tmp_path, path)
    place = [n for n, row in enumerate(rows) if row["tag"] == "B-OTHER"][3]
    pair = next(
        pair
        for pair in before
        if pair["response_spans"][0]["paragraph"] == rows[place]["paragraph"]
    )
    rows[place]["tag"] = "B-START"
    for row in rows[place + 1 :]:
        if row["tag"] in ("B-START", "B-OTHER"):
            break
        row["tag"] = row["tag"].replace("I-OTHER", "I-START")
    write(path, rows)
    after = mined_pairs(tmp_path, path)  # in the same process: the file is read again
    assert len(after) == len(before) - 1
    assert pair["response_spans"] not in [pair["response_spans"] for pair in after]


def test_a_span_corrected_to_narration_is_not_mined(tags, tmp_path):
    path, rows = tags
    place = [n for n, row in enumerate(rows) if row["tag"] == "I-OTHER"][0]
    rows[place] |= {"kind": "narration", "tag": "O"}
    write(path, rows)
    said = " ".join(pair["response"] for pair in mined_pairs(tmp_path, path))
    assert rows[place]["text"].strip("“” ") not in said


def test_tags_of_another_book(tags, tmp_path):
    path, rows = tags
    write(path, [row | {"book": "11"} for row in rows])
    assert refused(tmp_path, path) == (
        f"set aside: sample: {path}: found tags of 11, expected tags of sample"
    )


def test_tags_of_another_text(tags, tmp_path):
    path, rows = tags
    place = [n for n, row in enumerate(rows) if row["kind"] == "utterance"][1]
    row = rows[place]
    old = row["text"]
    rows[place] = row | {"text": "x" * len(old)}
    write(path, rows)
    assert refused(tmp_path, path) == (
        f"set aside: sample: {path}: sample, paragraph {row['paragraph']}, span {row['span']}: "
        f"found {('x' * len(old))[:40]!r}, expected {old[:40]!r}"
    )
    write(path, rows[:-1])
    line = refused(tmp_path, path)
    assert f"found {len(rows) - 1} spans of sample, expected the {len(rows)} " in line


def test_tags_in_an_illegal_order(tags, tmp_path):
    path, rows = tags
    place = [n for n, row in enumerate(rows) if row["tag"] == "B-START"][0]
    rows[place]["tag"] = "I-OTHER"
    write(path, rows)
    assert refused(tmp_path, path) == (
        f"miner: {path}:{place + 1}: found I-OTHER after no tag, expected B-START"
    )


def test_a_file_without_tags(tmp_path):
    path = tmp_path / "tags.jsonl"
    path.write_text("book,tag\n")
    assert refused(tmp_path, path).startswith(f"miner: {path}:1: found bad JSON")
    path.write_text("")
    assert refused(tmp_path, path) == (
        f"set aside: sample: {path}: found tags of no book, expected tags of sample"
    )


def test_a_tagger_by_its_name(tmp_path):
    assert load_tagger("gap:7") == GapTagger(7)
    assert load_tagger("narration") == NarrationTagger()
    assert load_tagger("tuned-gap") == GapTagger(TUNED_GAP, "tuned-gap")
    os.makedirs(tmp_path / "folder")
    for name in ("Gap", "", str(tmp_path / "folder")):
        with pytest.raises(
            InputError,
            match="expected one of auto, gap, gd, narration, tuned-gap, a file of tags, or a check",
        ):
            load_tagger(name)


def test_tag_replaces_a_file_only_with_force(tags):
    path, _ = tags
    before = path.read_bytes()
    done = run("tag", "sample", "-o", path, "--tagger", "narration")
    assert (done.exit_code, done.stderr.splitlines()) == (
        1,
        [f"miner: {path}: exists already, expected a new name (or --force to replace it)"],
    )
    assert path.read_bytes() == before
    assert run("tag", "sample", "-o", path, "--tagger", "narration", "--force").exit_code == 0
    assert path.read_bytes() != before


@pytest.mark.parametrize("tagger", ["gap", "auto"])
def test_an_unknown_dtype_is_one_line(tagger):
    with pytest.raises(InputError, match="found dtype 'half', expected float32 or bfloat16"):
        load_tagger(tagger, dtype="half")


def test_a_tagger_of_tags_travels_by_its_path(tags):
    path, _ = tags
    tagger = load_tagger(path)
    assert len(pickle.dumps(tagger)) < 1000
    assert pickle.loads(pickle.dumps(tagger)).tag(SPANS) == tagger.tag(SPANS)


def test_auto_takes_the_tagger_of_the_language(monkeypatch):
    """Of two languages with checkpoints and one without; the checkpoints are heuristics here."""
    heuristics = {"en": NarrationTagger(), "de": GapTagger(5), "fr": GapTagger()}

    class Heuristic(CheckpointTagger):
        def tag(self, book_spans, on_words=None):
            return heuristics[self.path.name].tag(book_spans)

    monkeypatch.setattr("miner.tagger.load.CheckpointTagger", Heuristic)
    monkeypatch.setattr("miner.tagger.load.CHECKPOINT_OF", {"en": "en", "de": "de"})
    found = []
    for language, tagger in heuristics.items():
        typography = replace(SPANS.typography, language=language)
        found.append(AutoTagger().tag(replace(SPANS, typography=typography)))
        assert found[-1] == tagger.tag(SPANS)
    assert len({tuple(item.tag for item in tags) for tags in found}) == 3


@pytest.mark.parametrize("word", ["gone.html", "0"])
def test_a_missing_book_is_one_line(word):
    done = run("tag", word)
    assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert done.stderr.startswith(f"miner: {word}: ")


def test_auto_is_one_tagger_for_languages_that_share_it():
    seven = choose_one_tagger("auto", ["de", "pt", "de"])
    assert seven == str(CHECKPOINTS / "multilingual")
    assert choose_one_tagger("gap", ["de", "en"]) == "gap"
    with pytest.raises(InputError, match="found the taggers en, multilingual .*, expected one"):
        choose_one_tagger("auto", ["en", "de"])
