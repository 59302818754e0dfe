"""The commands `miner generation`: what they show, and what they refuse."""

import json
import re

import pytest
from helpers import failed, run, said

from miner.lab.lessons.generation.answers import Answer, write_answers
from miner.lab.lessons.generation.metrics import METRICS
from miner.lab.lessons.papers import GENERATION

_THINGS = "kettle lantern ferry barrow ledger orchard saddle parcel window candle".split()
_PLACES = "cellar pantry harbour chapel stable garden attic".split()
NAMES = [metric.name for metric in METRICS]
SCORE = r"\d+\.\d+ \[\d+\.\d+–\d+\.\d+\]\*?"


def answers_of(predict, n=40):
    return [
        Answer(
            f"b{i % 5}",
            ("Good day to you.", f"Where is the {_THINGS[i % 10]}?"),
            f"The {_THINGS[i % 10]} is in the {_PLACES[i % 7]}, sir.",
            predict(i),
            2,
        )
        for i in range(n)
    ]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Answers of two models, what they were trained on, and vectors of words."""
    folder = tmp_path_factory.mktemp("files")
    write_answers(folder / "good.jsonl", answers_of(lambda i: f"In the {_PLACES[i % 7]}, sir."))
    write_answers(folder / "dull.jsonl", answers_of(lambda i: "Not I."))
    rows = "".join(
        f'a{i % 3},"Is it the {_THINGS[i % 10]}, or the {_PLACES[i % 7]}?","Yes, sir, {i}."\n'
        for i in range(50)
    )
    (folder / "train.csv").write_text(f"book,context,response\n{rows}", encoding="utf-8")
    words = ["the", "is", "in", "sir", "yes", "where", *_THINGS, *_PLACES]
    lines = [f"{word} {n % 3} {n % 5 - 2} {n % 7 + 1}\n" for n, word in enumerate(words)]
    (folder / "made.vec").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture
def words_of(files):
    """The words of a command that scores models."""
    return lambda *names: (
        *("generation", "score", *(files / f"{name}.jsonl" for name in names)),
        *("--reference", files / "train.csv", "--resamples", 20),
    )


def rows_of(shown, name):
    """The cells of a row, of all tables."""
    lines = [line for line in shown.splitlines() if line.split("  ")[0] == name]
    return [cell for line in lines for cell in re.split(r" {2,}", line.strip())[1:]]


def test_models_are_rows_and_metrics_columns(files, words_of):
    shown = said(*words_of("good", "dull"), "--vectors", files / "made.vec")
    record = json.loads(said(*words_of("good", "dull"), "--vectors", files / "made.vec", "--json"))
    assert [row["name"] for row in record["rows"]] == [
        "good.jsonl",
        "dull.jsonl",
        "random",
        "truth",
    ]
    for row in record["rows"]:
        cells = rows_of(shown, row["name"])
        assert len(cells) == 17
        for metric, score, cell in zip(METRICS, row["scores"], cells, strict=True):
            assert score["metric"] == metric.name
            if score["value"] is None:
                assert cell == "–"
                continue
            assert cell.startswith(f"{score['value']:.{metric.digits}f}")
            assert cell.endswith("*") == score["is_best"]
            assert (score["low"] is None) or re.fullmatch(SCORE, cell.replace("-", ""))
    assert any(score["is_best"] for score in record["rows"][0]["scores"])
    told = " ".join(shown.split())
    assert f"scored: {record['scored']}" in told and "answers to 40 contexts of 5 books" in told
    assert all(f"{metric.name} {metric.about}" in told for metric in METRICS)
    assert "reference train.csv@" in told and "vectors made.vec@" in told


def test_without_vectors_four_metrics_have_no_value_and_a_line_says_so(words_of):
    shown = said(*words_of("good"))
    cells = dict(zip(NAMES, rows_of(shown, "good.jsonl"), strict=True))
    assert [name for name, cell in cells.items() if cell == "–"] == ["AVG", "EXT", "GRE", "COH"]
    assert "AVG, EXT, GRE, COH have no value without vectors of words" in " ".join(shown.split())


def test_a_folder_of_texts_is_scored_beside_a_table(files, words_of, tmp_path):
    found = answers_of(lambda i: "perhaps .")
    for name, texts in (
        ("contexts", [one.context[-1] for one in found]),
        ("responses", [one.response for one in found]),
        ("predicted", [one.predicted for one in found]),
    ):
        (tmp_path / f"{name}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    words = words_of("good")
    shown = said(*words[:2], tmp_path, *words[2:])
    assert len(rows_of(shown, tmp_path.name)) == len(rows_of(shown, "good.jsonl")) == 17
    assert "40 contexts of 5 books" in " ".join(shown.split())


def test_contexts_are_shown_with_each_answer(words_of):
    record = json.loads(said(*words_of("good", "dull"), "--show", 3, "--json"))["shown"]
    shown = said(*words_of("good", "dull"), "--show", 3)
    blocks = shown.split("\ndrawn by chance")[1:]
    assert len(record) == len(blocks) == 3
    for one, block in zip(record, blocks, strict=True):
        assert (
            one["context"][0] == "Good day to you." and one["predicted"]["dull.jsonl"] == "Not I."
        )
        told = " ".join(block.split())
        assert told.startswith(f", book {one['book']}, chapter 2 before Good day to you. context ")
        assert f"response {one['response']} good.jsonl {one['predicted']['good.jsonl']}" in told
    other = json.loads(said(*words_of("good", "dull"), "--show", 3, "--seed", 1, "--json"))
    assert other["shown"] != record and "seed 1" in other["scored"]


def test_the_paper_is_beside(words_of):
    shown = said(*words_of("good"), "--papers")
    for table in GENERATION:
        assert table.source in shown
    name = "GPT2, fine-tuned, Gutenberg"
    assert rows_of(shown, name) == [cell for table in GENERATION for cell in dict(table.rows)[name]]
    record = json.loads(said(*words_of("good"), "--papers", "--json"))
    assert [len(table["rows"]) for table in record["papers"]] == [12, 12]
    assert "papers" not in json.loads(said(*words_of("good"), "--json"))


def test_a_reference_without_a_text_says_what_it_left_out(files, tmp_path):
    path = tmp_path / "train.csv"
    path.write_text("context,response\nIs it lit?,Yes.\nIs it?,\n", encoding="utf-8")
    done = run("generation", "score", files / "good.jsonl", "--reference", path)
    assert done.exit_code == 0
    assert done.stderr == "left out: train.csv: 1 pairs without a text on each side\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("GOOD", "GOOD", "--reference", "TRAIN"), "GOOD: found a second time, expected it once"),
        (("gone.jsonl", "--reference", "TRAIN"), "gone.jsonl: No such file or directory"),
        (("TRAIN", "--reference", "TRAIN"), "TRAIN: found no column predicted (book, context, "),
        (("GOOD", "--reference", "gone.csv"), "gone.csv: No such file or directory"),
        (("GOOD", "OTHER", "--reference", "TRAIN"),
         "other.jsonl: found 2 answers, expected 40 as in good.jsonl"),
        (("GOOD", "--reference", "TRAIN", "--vectors", "gone.vec"),
         "gone.vec: No such file or directory"),
        (("GOOD", "--reference", "TRAIN", "--vectors", "SEA"), "SEA: found none of the "),
        (("GOOD", "--reference", "TRAIN", "--show", 41), "found 41 contexts to show, expected "),
        (("GOOD", "--reference", "TRAIN:dev"), "TRAIN: found split 'dev', expected none"),
    ],
)  # fmt: skip
def test_a_bad_scoring_is_refused_in_one_line(files, tmp_path, words, message):
    write_answers(tmp_path / "other.jsonl", answers_of(lambda i: "Yes.")[:2])
    (tmp_path / "sea.vec").write_text("sea 1 2\n", encoding="utf-8")
    places = {
        **{"GOOD": files / "good.jsonl", "TRAIN": files / "train.csv"},
        **{"OTHER": tmp_path / "other.jsonl", "SEA": tmp_path / "sea.vec"},
    }
    for name, place in places.items():
        words = [str(word).replace(name, str(place)) for word in words]
        message = message.replace(name, str(place))
    assert failed("generation", "score", *words).startswith(message)
