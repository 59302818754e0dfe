"""Scores of answers: means, intervals, models side by side, what is best, what is refused."""

import json
import re
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from miner.errors import InputError
from miner.lab.lessons.embeddings import find_word_vectors
from miner.lab.lessons.examples import Example
from miner.lab.lessons.generation.answers import Answer
from miner.lab.lessons.generation.comparison import (
    RANDOM,
    TRUTH,
    Scoring,
    compare_answers,
    score_answers,
)
from miner.lab.lessons.generation.metrics import METRICS, make_reference
from miner.lab.lessons.papers import GENERATION

_THINGS = "kettle lantern ferry barrow ledger orchard saddle parcel window candle".split()
_PLACES = "cellar pantry harbour chapel stable garden attic meadow bakery tower".split()
QUICK = Scoring(resamples=200)


def training(n=60):
    return [
        Example(str(i % 4), (f"Where is the {_THINGS[i % 10]}?",), f"In the {_PLACES[i % 7]}.")
        for i in range(n)
    ]


REFERENCE = make_reference(training(), "made up")


def answered(predict, n=60, books=6):
    """Answers to the same contexts; `predict` makes the answer of a number and a true response."""
    found = []
    for i in range(n):
        book = f"b{i % books}" if books else ""
        true = f"The {_THINGS[i % 10]} is in the {_PLACES[i // 3 % 10]}, sir."
        context = ("Good day.", f"Where is the {_THINGS[i % 10]}?")
        found.append(Answer(book, context, true, predict(i, true), 1))
    return found


def dull(i, true):
    return "I do not know."


def good(i, true):
    return true if i % 5 else "I do not know, sir, what you mean by it."


def vectors_file(path, words):
    random = np.random.default_rng(0)
    lines = [f"{word} {' '.join(f'{x:.4f}' for x in random.normal(size=6))}\n" for word in words]
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    words = [*_THINGS, *_PLACES, "the", "is", "in", "where", "know", "i", "not", "sir"]
    return vectors_file(tmp_path_factory.mktemp("vectors") / "made.vec", words)


def by_name(scores):
    return {score.metric: score for score in scores}


# ---- one model


def test_scores_are_in_the_order_of_the_metrics_and_have_their_intervals(vectors):
    answers = answered(good)
    found = find_word_vectors(vectors, ["kettle", "the", "is", "in", "cellar", "harbour"])
    scores = score_answers(answers, REFERENCE, found, QUICK)
    assert [score.metric for score in scores] == [metric.name for metric in METRICS]
    for score in scores:
        assert score.low is not None and score.high is not None and score.value is not None
        # The ends of an interval of so few draws are near, where the value is that of a mean.
        assert score.low <= score.value + 1e-9 and score.value - 1e-9 <= score.high
        assert 0 < score.n <= 60


def test_a_score_is_the_mean_over_answers_and_its_interval_that_of_books():
    """The words of three books are 1, 2 and 6 on the mean of 2, 1 and 1 answers."""
    texts = ["a", "a", "a b", "a b c d e f"]
    answers = [
        Answer(book, ("So?",), "Yes.", text)
        for book, text in zip(["x", "x", "y", "z"], texts, strict=True)
    ]
    score = by_name(score_answers(answers, REFERENCE, scoring=Scoring(resamples=4000)))["|U|"]
    assert (score.value, score.n) == ((1 + 1 + 2 + 6) / 4, 4)
    # Drawn are 3 of 3 books, 27 outcomes alike: all x has 6 of 6 words, all z has 18 of 3 answers.
    # 1 of 27 outcomes is more than 2.5%, so that these are the ends.
    assert (score.low, score.high) == (1, 6)


def test_an_answer_without_a_book_is_drawn_alone():
    without = [replace(one, book="") for one in answered(good)]
    alone = [replace(one, book=str(number)) for number, one in enumerate(without)]
    assert score_answers(without, REFERENCE, scoring=QUICK) == score_answers(
        alone, REFERENCE, scoring=QUICK
    )


def test_one_book_has_no_interval():
    scores = score_answers(answered(good, books=1), REFERENCE, scoring=QUICK)
    assert {(score.low, score.high) for score in scores} == {(None, None)}
    assert by_name(scores)["b1"].value is not None
    none = score_answers(answered(good), REFERENCE, scoring=Scoring(resamples=0))
    assert {(score.low, score.high) for score in none} == {(None, None)}


def test_the_interval_of_distinct_words_is_that_of_the_jackknife():
    answers = [
        Answer(book, ("So?",), "Yes.", text)
        for book, text in (("x", "where is"), ("y", "where are"), ("z", "where where"))
    ]
    reference = make_reference([Example("", ("where is are",), "yes")], "made up")
    score = by_name(score_answers(answers, reference, scoring=QUICK))["d1"]
    # where is are, of six words. Without x: 2 of 4; without y: 2 of 4; without z: 3 of 4.
    left_out = [2 / 4, 2 / 4, 3 / 4]
    mean = sum(left_out) / 3
    error = sqrt(2 / 3 * sum((one - mean) ** 2 for one in left_out))
    assert score.value == 3 / 6
    assert score.low == pytest.approx(0.5 - 1.96 * error)
    assert score.high == pytest.approx(0.5 + 1.96 * error)


def test_empty_answers_have_a_length_of_zero_and_are_skipped_elsewhere():
    answers = answered(lambda i, true: "" if i < 20 else true)
    found = by_name(score_answers(answers, REFERENCE, scoring=QUICK))
    assert (found["|U|"].n, found["b1"].n, found["Hwu"].n) == (60, 60, 40)
    assert found["b1"].value == pytest.approx(40 / 60)
    none = by_name(score_answers(answered(lambda i, true: ""), REFERENCE, scoring=QUICK))
    assert none["|U|"].value == none["b4"].value == 0
    for name in ("Hwu", "KLu", "d1", "AVG"):
        assert (none[name].value, none[name].low, none[name].n) == (None, None, 0)
    with pytest.raises(InputError, match="^found no answers, expected at least one$"):
        score_answers([], REFERENCE)


# ---- models side by side


def test_models_stand_beside_random_and_true_responses(vectors):
    begun, done = [], []
    compared = compare_answers(
        {"good": answered(good), "dull": answered(dull)},
        REFERENCE,
        vectors,
        QUICK,
        begin=begun.append,
        progress=lambda *n: done.append(n),
    )
    assert [row.name for row in compared.rows] == ["good", "dull", RANDOM, TRUTH]
    assert [row.is_model for row in compared.rows] == [True, True, False, False]
    assert begun == ["good", "dull", RANDOM, "vectors of words"]
    assert done.count((60, 60)) == 3
    truth = by_name(compared.rows[-1].scores)
    for name in ("AVG", "EXT", "GRE", "b1", "b2", "b3", "b4"):
        assert truth[name].value == pytest.approx(1)
    assert truth["KLu"].value == truth["KLb"].value == 0
    drawn = [
        replace(one, predicted=text)
        for one, text in zip(answered(good), REFERENCE.draw_responses(60, 0), strict=True)
    ]
    alone = by_name(score_answers(drawn, REFERENCE, scoring=QUICK))
    random = by_name(compared.rows[-2].scores)
    assert random["b1"] == alone["b1"] and random["Hwu"] == alone["Hwu"]
    of_good = by_name(score_answers(answered(good), REFERENCE, scoring=QUICK))
    assert by_name(compared.rows[0].scores)["d1"] == of_good["d1"]


def test_the_best_of_models_is_marked_where_intervals_are_apart(vectors):
    models = {"good": answered(good), "dull": answered(dull)}
    better, dull_row, random, truth = compare_answers(models, REFERENCE, vectors, QUICK).rows
    assert {"b1", "b4", "d1", "|U|", "AVG"} <= better.best and not dull_row.best
    assert not random.best and not truth.best  # the truth is better than both
    for number, metric in enumerate(METRICS):
        one, other = better.scores[number], dull_row.scores[number]
        if metric.less_is_better:
            one, other = other, one
        if None in (one.low, other.high):
            continue
        assert (metric.name in better.best) == (one.low > other.high)  # pyright: ignore


def test_models_of_other_groups_do_not_compete(vectors):
    models = {"good": answered(good), "dull": answered(dull)}
    groups = {"good": "fine-tuned", "dull": "zero-shot"}
    compared = compare_answers(models, REFERENCE, vectors, QUICK, groups=groups)
    assert [row.group for row in compared.rows] == ["fine-tuned", "zero-shot", "", ""]
    assert not any(row.best for row in compared.rows)  # each is alone in its group
    same = {"a": answered(good), "b": answered(good)}
    assert not any(row.best for row in compare_answers(same, REFERENCE, None, QUICK).rows)


def test_the_line_says_exactly_what_was_scored(vectors):
    models = {"good": answered(good)}
    line = compare_answers(models, REFERENCE, vectors, Scoring(30, 5)).scored
    assert re.fullmatch(
        r"answers to 60 contexts of 6 books@[0-9a-f]{8}; reference made up@[0-9a-f]{8}, 60 turns "
        r"of \d+ words, a vocabulary of 14; vectors made.vec@[0-9a-f]{8} \(6 numbers, none for \d+ "
        r"of \d+ different words\); words and BLEU of NLTK [\d.]+, smoothing 4; intervals by 30 "
        r"draws of books, of d1 and d2 by leaving out each; seed 5, version \S+",
        line,
    )
    same = compare_answers({"dull": answered(dull)}, REFERENCE, vectors, Scoring(30, 5)).scored
    assert same.split("; ")[:2] == line.split("; ")[:2]
    unnamed = compare_answers({"a": answered(good, books=0)}, REFERENCE, None, Scoring(30)).scored
    assert "60 contexts of books without an id@" in unnamed and "30 draws of answers" in unnamed
    assert "; no vectors of words; " in unnamed


def test_notes_say_what_the_scores_do_not_tell():
    def notes(answers, **more):
        return list(compare_answers({"m": answers}, REFERENCE, None, QUICK, **more).notes)

    first = "AVG, EXT, GRE, COH have no value without vectors of words"
    assert notes(answered(good)) == [first]
    in_reference = [replace(one, book="1") for one in answered(good)]
    assert notes(in_reference) == [
        first,
        "1 of the books answered is in the reference",
        "all contexts are of one book: no intervals, and no value is marked as best",
    ]
    assert notes(answered(lambda i, true: " " if i < 3 else true, books=0)) == [
        first,
        "60 of 60 contexts name no book: the intervals take each for one of its own, and nothing "
        "tells whether it is in the reference",
        "m: 3 of 60 answers are empty",
    ]


def test_models_may_read_more_turns_or_fewer_and_one_may_name_the_books():
    short = [replace(one, context=one.context[-1:], book="", chapter=0) for one in answered(good)]
    models = {"short": short, "long": answered(dull)}
    compared = compare_answers(models, REFERENCE, None, QUICK, n_shown=60)
    assert "60 contexts of 6 books" in compared.scored
    for shown, one in zip(compared.shown, answered(good), strict=True):
        assert (shown.answer.context, shown.answer.book) == (one.context, one.book)
        assert shown.answer.chapter == 1
        assert shown.predicted == (("short", one.predicted), ("long", "I do not know."))
    few = [
        compare_answers(models, REFERENCE, None, Scoring(1, seed), n_shown=5).shown
        for seed in (0, 0, 1)
    ]
    assert few[0] == few[1] != few[2] and len(few[0]) == 5


def test_the_record_is_json(vectors):
    models = {"good": answered(good), "dull": answered(dull)}
    compared = compare_answers(models, REFERENCE, vectors, QUICK, n_shown=2)
    record = json.loads(json.dumps(compared.to_json()))
    assert [row["name"] for row in record["rows"]] == ["good", "dull", RANDOM, TRUTH]
    best = {score["metric"] for score in record["rows"][0]["scores"] if score["is_best"]}
    assert best == compared.rows[0].best
    assert record["shown"][0]["predicted"]["dull"] == "I do not know."


def changed(number, **fields):
    answers = answered(dull)
    answers[number] = replace(answers[number], **fields)
    return answers


@pytest.mark.parametrize(
    ("models", "more", "message"),
    [
        ({}, {}, "found no models, expected at least one"),
        ({"a": []}, {}, "a: found no answers, expected at least one"),
        ({TRUTH: answered(good)}, {}, "found a model that is named truth, expected another name "),
        ({RANDOM: answered(good)}, {}, "found a model that is named random, expected another "),
        ({"a": answered(good), "b": answered(dull)[1:]}, {},
         "b: found 59 answers, expected 60 as in a"),
        ({"a": answered(good), "b": changed(2, context=("Why?",))}, {},
         "b: found 'Why?' as context 3, expected 'Where is the ferry?' as in a"),
        ({"a": answered(good), "b": changed(1, response="No.")}, {},
         "b: found 'No.' as response 2, expected 'The lantern is in the cellar, sir.' as in a"),
        ({"a": answered(good)}, {"groups": {"b": "x"}}, "found a group of 'b', expected one of a"),
        ({"a": answered(good)}, {"n_shown": 61},
         "found 61 contexts to show, expected at most 60, as there are"),
    ],
)  # fmt: skip
def test_a_bad_comparison_is_refused_in_one_line(models, more, message):
    with pytest.raises(InputError) as raised:
        compare_answers(models, REFERENCE, None, QUICK, **more)
    assert str(raised.value).startswith(message) and "\n" not in str(raised.value)


# ---- vectors of words


def test_vectors_of_a_file_are_described(tmp_path):
    path = tmp_path / "some.vec"
    path.write_text("3 2\nlamp 1 2\nboat 0 0\ntide 3 4\n", encoding="utf-8")
    found = find_word_vectors(path, ["lamp", "boat", "jug", "lamp"])
    assert {word: row.tolist() for word, row in found.of_word.items()} == {"lamp": [1, 2]}
    assert re.fullmatch(
        r"some.vec@[0-9a-f]{8} \(2 numbers, none for 2 of 3 different words\)", found.describe()
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("sea 1 2\n", "found none of the 2 words"),
        ("lamp 0 0\n", "found vectors of zeros only, expected others"),
        ("lamp nan 1\n", "found a vector of 'lamp' that is not of numbers, expected numbers only"),
        ("lamp 1 2\nboat 1\n", "found 1 numbers after the word, expected 2 as in the lines"),
    ],
)
def test_a_bad_file_of_vectors_is_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "some.vec"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        find_word_vectors(path, ["lamp", "boat"])
    line = str(raised.value)
    assert line.startswith(str(path)) and message in line and "\n" not in line
    with pytest.raises(OSError, match="gone.vec"):
        find_word_vectors(tmp_path / "gone.vec", ["lamp"])


def test_an_encoder_gives_each_word_the_vector_that_it_has_alone(tmp_path):
    pytest.importorskip("sentence_transformers")
    from encoders import encoder

    folder = encoder()
    done = []
    found = find_word_vectors(folder, ["lamp", "boat"], lambda *n: done.append(n))
    alone = find_word_vectors(str(folder), ["boat"])
    assert np.allclose(found.of_word["boat"], alone.of_word["boat"], atol=1e-6)
    assert np.linalg.norm(found.of_word["lamp"]) == pytest.approx(1, abs=1e-5)
    assert done[-1] == (2, 2) and found.source.startswith(f"{folder}@")
    with pytest.raises(InputError, match=r"gone: found no sentence encoder \([^\n]+$"):
        find_word_vectors(tmp_path / "gone", ["lamp"])


# ---- the paper


def test_the_tables_of_the_paper_are_whole():
    for table in GENERATION:
        assert table.columns == tuple(metric.name for metric in METRICS)
        assert len(table.rows) == 12
        assert all(len([float(cell) for cell in cells]) == 17 for _, cells in table.rows)
    daily, persona = ({name: cells for name, cells in table.rows} for table in GENERATION)
    assert daily["Transformer, zero-shot, Gutenberg"][:3] == ("7.5", "6.92", "11.7")
    assert daily["GPT2, baseline"][-1] == ".130" and daily["truth"][10] == ".572"
    assert persona["GPT2, fine-tuned, Opensubtitles"][5:7] == (".32", ".71")
    assert persona["random"][:2] == ("11.6", "8.51")
