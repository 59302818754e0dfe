"""`miner speakers`: tables, records, errors to be read, and what does not go together."""

import json

import pytest
from helpers import annotations_of_sample, annotations_of_two, failed, run, said
from speaker_scenes import page, write_corpus


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
    shown = said("speakers", *sample, "--ablate", "greedy")
    assert "From the book: utterances with the right speaker (sample split)" in shown
    assert "On the spans of the gold" in shown
    assert shown.count("ours, greedy") == shown.count("simple rules") == 2
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
        (["--ablate", "everything"], "greedy"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(words, why):
    done = run("speakers", *words)
    assert done.exit_code == 2 and why in " ".join(done.stderr.split())


def test_weights_that_are_none_are_refused(tmp_path):
    path = tmp_path / "weights.safetensors"
    path.write_bytes(b"none")
    assert f"{path}: cannot be loaded" in failed("speakers", "--attributor", path)


def test_a_book_that_is_not_at_hand_is_left_out_and_said_to_be(tmp_path, site, monkeypatch):
    monkeypatch.setenv("MINER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MINER_MIRROR", site.mirror)
    gold = annotations_of_two(tmp_path / "two")
    done = run("speakers", "--gold", gold, "--split", "sample", "--tagger", "gap", "--resamples", 3)
    assert done.exit_code == 0 and done.stderr.startswith("left out: 7:")
    assert "figures are of 5 of 7 chapters: 1 book not at hand (7)" in done.stdout
    assert "5 chapters: too few to tell which is better" in done.stdout


def test_one_author_is_left_out(corpus, tmp_path):
    pytest.importorskip("torch")
    from miner.annotation.annotations import read_split
    from miner.lab.gold.editions import read_local_editions
    from miner.lab.training.speakers.examples import examples_of, write_examples

    gold = annotations_of_sample(tmp_path / "gold", chapters=[1])
    (edition,) = read_local_editions(read_split(gold, "sample"))
    path = tmp_path / "examples.npz"
    write_examples(path, list(examples_of(edition)), {})
    shown = said("speakers", *corpus, "--leave-one-author-out", path)
    assert "trained on 1 chapters without those of its author: WREN 0" in " ".join(shown.split())
