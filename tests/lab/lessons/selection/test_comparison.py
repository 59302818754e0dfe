"""Methods side by side: their scores, what is said of them, what is refused, what is shown."""

import json

import numpy as np
import pytest

from miner.errors import InputError
from miner.lab.lessons.examples import Example, Part
from miner.lab.lessons.papers import SELECTION
from miner.lab.lessons.selection.comparison import DrawnBatch, compare_methods
from miner.lab.lessons.selection.methods import describe_methods, find_method
from miner.lab.lessons.selection.scoring import Scoring, score_method
from miner.lab.lessons.selection.training import (
    TrainedMethod,
    load_method,
    read_curve,
    train_method,
)

_THINGS = "kettle lantern ferry barrow ledger orchard saddle parcel window candle".split()
_PLACES = "cellar pantry harbour chapel stable garden attic meadow bakery tower".split()
SCORING = Scoring(shuffles=2, resamples=20)


def talk(n, books=("7", "8"), first=0, chapter=1):
    """Examples whose response has a word of its own that the last turn or the first has, too.

    In half of them it is the last turn, so that a method that reads all turns finds more.
    """
    examples = []
    for i in range(first, first + n):
        asked = f"Where is the {_THINGS[i % 10]} with the number {i}x?"
        before = ("Good morning to you.", asked) if i % 2 else (asked, "Well, where?")
        response = f"Number {i}x is in the {_PLACES[i // 10 % 10]}, sir."
        examples.append(Example(books[i % len(books)], before, response, chapter))
    return examples


def train(
    folder, kind="tf-idf", examples=None, history_turns=0, source="mined/pairs.jsonl", **more
):
    """The folder of a method that learned the words of `talk` from books 1 and 2."""
    method = find_method(kind)
    part = Part(examples or talk(300, ("1", "2")), source)
    validation = more.pop("validation", None)
    options = method.read_options(more)
    train_method(method, options, part, validation, folder, history_turns=history_turns)
    return folder


@pytest.fixture(scope="module")
def methods(tmp_path_factory):
    """TF-IDF of the last turn, BM25 of the last turn, TF-IDF of all turns."""
    folder = tmp_path_factory.mktemp("methods")
    return [
        train(folder / "tfidf"),
        train(folder / "bm25", "bm25"),
        train(folder / "all" / "tfidf", history_turns=None),
    ]


FOUND = Part(talk(240), "annotations, test")


def test_each_method_is_scored_as_it_is_alone(methods):
    begun, done = [], []
    compared = compare_methods(
        methods, FOUND, SCORING, begin=begun.append, progress=lambda *n: done.append(n)
    )
    names = [f"{methods[0].parent.name}/tfidf", "bm25", "all/tfidf"]
    assert [row.name for row in compared.rows] == names
    assert begun == [row.name for row in compared.rows]
    assert done.count((480, 480)) == 3
    for row, folder, turns in zip(compared.rows, methods, (0, 0, None), strict=True):
        alone = score_method(load_method(folder).method, FOUND.examples, SCORING, turns)
        assert row.scores == tuple(alone)
        assert row.record == load_method(folder).record
        assert list(row.curve) == read_curve(folder)


def test_a_method_reads_the_turns_that_it_was_trained_on(methods):
    last, _, whole = compare_methods(methods, FOUND, SCORING).rows
    # The number of the response is in the last turn of every second context.
    assert last.scores[0].value == pytest.approx(0.5, abs=0.1)
    assert whole.scores[0].value == 1


@pytest.mark.parametrize(
    ("chosen", "context"),
    [
        ([0, 1], "contexts of 1 turn"),
        ([0, 2], "contexts as long as each method reads, for 1 in 2 and 1 in 10 no longer than a "
         "length that is drawn (UD, 3.4)"),
        ([2], "contexts of all turns, for 1 in 2 and 1 in 10 no longer than a length that is drawn "
         "(UD, 3.4)"),
    ],
)  # fmt: skip
def test_the_line_says_exactly_what_was_scored(methods, chosen, context):
    found = Part(FOUND.examples, "corpus/jsonl/pairs, test", ("240 of 900 pairs",))
    compared = compare_methods([methods[n] for n in chosen], found, SCORING)
    start, _, end = compared.scored.partition("; ")
    assert start == (
        "corpus/jsonl/pairs, test, 240 of 900 pairs: 200 of 240 examples of 2 books in 2 batches "
        "of 100"
    )
    assert end.endswith(f"; {context}")
    assert "mean of 2 draws, intervals by 20 draws of books, seed 0, version" in end


def test_two_turns_are_not_cut_and_so_nothing_is_said_of_it(tmp_path):
    two = train(tmp_path / "two", history_turns=1)
    assert compare_methods([two], FOUND, SCORING).scored.endswith("; contexts of 2 turns")


def refused(folders, found=FOUND, error=ValueError):
    """The line with which a comparison is refused, before any method is scored."""
    begun = []
    with pytest.raises(error) as raised:
        compare_methods(folders, found, SCORING, begin=begun.append)
    assert begun == [] and "\n" not in str(raised.value)
    return str(raised.value)


def test_a_book_that_was_trained_or_chosen_on_is_refused_and_so_are_few_examples(methods, tmp_path):
    same = Part(talk(240, ("8", "2")), "annotations, test")
    assert refused(methods[1:], same) == (
        "bm25 on annotations, test: found 1 book of the training (2), expected others"
    )
    chosen = train(tmp_path / "chosen", validation=Part(talk(100, ("8",)), "other, dev"))
    assert "1 book of the training (8)" in refused([chosen])
    assert refused(methods, Part(talk(99), "few.csv")) == (
        "few.csv: found 99 examples, expected at least 100, as a batch has"
    )


def test_the_pairs_that_were_trained_on_are_refused_where_no_book_tells_it(tmp_path):
    examples = talk(240, ("",))
    folder = train(tmp_path / "m", examples=examples)
    assert refused([folder], Part(examples, "pairs.csv")) == (
        "m on pairs.csv: found the pairs that it was trained on, expected others"
    )
    others = Part(talk(240, ("",), first=300), "others.csv")
    assert compare_methods([folder], others, SCORING).notes == (
        "240 of 240 examples name no book: nothing tells whether a method was trained on it",
        "trained on pairs that name no book, perhaps on those scored: m",
    )


def test_a_folder_without_a_method_is_refused(methods, tmp_path):
    broken = train(tmp_path / "m")
    (broken / "curve.jsonl").write_text('{"n_pairs": 3}\n')
    with pytest.raises(InputError, match=r"curve.jsonl:1: found another row, expected a step "):
        compare_methods([broken], FOUND, SCORING)
    line = f"{tmp_path}: found no method.json, expected a folder of `miner selection train`"
    assert refused([methods[0], tmp_path]) == line
    (tmp_path / "method.json").write_text("{}")
    assert refused([tmp_path]) == (
        f"{tmp_path}/method.json: found another record, expected that of a method "
        "(Object missing required field `options`)"
    )


def test_a_task_without_all_examples_is_noted(methods):
    """A chapter of eight examples has no nine false responses."""
    examples = talk(232) + talk(8, first=232, chapter=2)
    found = Part(examples, "x.csv")
    harder = Scoring(shuffles=2, resamples=20, harder=True)
    compared = compare_methods(methods[:1], found, harder)
    (row,) = compared.rows
    of_chapter = next(one for one in row.scores if one.task == "1 in 10 of the chapter")
    assert of_chapter.is_harder and of_chapter.n_examples == 232
    assert not any(one.is_harder for one in row.scores if one.task in ("1-of-100", "1 in 10"))
    n = row.scores[0].n_examples
    assert f"1 in 10 of the chapter: 232 of {n} examples, " in compared.notes[0]
    assert len(compared.notes) == 1
    # Examples that name no chapter have no false responses of the same one.
    none = Part(talk(120, chapter=0), "x.csv")
    compared = compare_methods(methods[:1], none, harder)
    assert "1 in 10 of the chapter" not in {one.task for one in compared.rows[0].scores}
    (note,) = compared.notes
    assert note.startswith("1 in 10 of the chapter: not scored, as all examples have too few ")


def test_the_record_of_a_comparison_is_json(methods):
    compared = compare_methods(methods, FOUND, SCORING, n_shown=2)
    record = json.loads(json.dumps(compared.to_json()))
    assert record["scored"] == compared.scored
    assert [row["scores"][0]["value"] for row in record["rows"]] == [
        row.scores[0].value for row in compared.rows
    ]
    assert record["rows"][0]["curve"][0]["n_pairs"] == 300
    assert [len(one["choices"]) for one in record["shown"]] == [3, 3]


# ---- contexts that are shown


class Table:
    """A method whose scores are given: context i has row i, the response of j column j."""

    def __init__(self, scores):
        self.scores = scores

    def encode_contexts(self, contexts):
        return np.array([self.scores[int(context[-1])] for context in contexts])

    def encode_responses(self, responses):
        return np.eye(len(responses))


def choices(scores, n=3, history_turns=0, responses=None):
    """What a method with these scores chooses for the first n contexts of a batch."""
    examples = tuple(
        Example("7", ("before", str(i)), (responses or {}).get(i, str(i)))
        for i in range(len(scores))
    )
    record = {"history_turns": history_turns}
    trained = TrainedMethod(None, "table", record, Table(np.asarray(scores, float)))  # pyright: ignore
    return DrawnBatch(examples, n).choose(trained, "table")


def test_the_choice_is_the_response_with_the_highest_score_and_the_place_that_of_the_true_one():
    one, other, third = choices([[3, 2, 1, 0], [3, 2, 1, 4], [9, 9, 9, 8], [0, 0, 0, 0]])
    assert (one.response, one.is_true, one.place) == ("0", True, 1)
    assert (other.response, other.is_true, other.place) == ("3", False, 3)
    # The third shares its score with two others, so that its place is the middle one of three.
    assert (third.response, third.is_true, third.place) == ("0", False, 2)


def test_a_response_with_the_same_words_is_true():
    scores = [[1, 5, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    (first,) = choices(scores, n=1, responses={0: "Yes!", 1: "yes"})
    assert (first.is_true, first.place) == (True, 1)


def test_a_turn_of_the_context_is_no_candidate(methods):
    """A conversation of one book is in the batch as a whole: responses are the next contexts."""
    said = [f"The {thing} is in the {place}." for thing in _THINGS for place in _PLACES]
    turns = [*said, said[0].upper()]
    examples = tuple(
        Example("9", tuple(turns[max(0, n - 2) : n + 1]), turns[n + 1]) for n in range(100)
    )
    drawn = DrawnBatch(examples, 100)
    shown = drawn.show([drawn.choose(load_method(methods[0]), "tf-idf")], 0)
    for n, one in enumerate(shown):
        (choice,) = one.choices
        # All turns are responses; the first, too, since the last response repeats it.
        assert one.n_candidates == 100 - min(n + 1, 3)
        assert choice.response not in examples[n].context and choice.place <= one.n_candidates


def test_a_true_response_that_repeats_a_turn_stays_a_candidate(methods):
    examples = (Example("9", ("Yes.", "The kettle?"), "Yes!"), *talk(99))
    drawn = DrawnBatch(examples, 1)
    (shown,) = drawn.show([drawn.choose(load_method(methods[0]), "tf-idf")], None)
    assert shown.n_candidates == 100


def test_the_contexts_of_a_comparison_are_drawn_from_one_batch(methods):
    compared = compare_methods(methods, FOUND, SCORING, n_shown=10)
    assert len(compared.shown) == 10
    of_book = {one.response: one for one in FOUND.examples}
    for shown in compared.shown:
        assert shown.n_candidates == 100
        assert shown.example == of_book[shown.example.response]  # the longest reads both turns
        assert [one.method for one in shown.choices] == [row.name for row in compared.rows]
        for one in shown.choices:
            assert one.is_true == (one.response == shown.example.response)
            assert (one.place == 1) == one.is_true
        assert shown.choices[2].is_true  # all turns tell
    assert any(not one.choices[0].is_true for one in compared.shown)
    again = compare_methods(methods, FOUND, SCORING, n_shown=10)
    assert again.shown == compared.shown
    other = compare_methods(methods, FOUND, Scoring(2_000, 1, 10, seed=1), n_shown=10)
    assert other.shown != compared.shown
    (shown,) = compare_methods(methods[:2], FOUND, SCORING, n_shown=1).shown
    assert len(shown.example.context) == 1  # a turn that no method reads is not shown
    with pytest.raises(InputError, match="found 101 contexts to show, expected at most 100"):
        compare_methods(methods[:1], FOUND, SCORING, n_shown=101)


# ---- the papers


def test_the_tables_of_the_papers_are_whole_and_name_methods_of_this_package():
    known = describe_methods()
    for table in SELECTION:
        for name, values, here in table.rows:
            assert len(values) == len(table.columns), name
            assert all(0 < value < 1 for value in values) and here in known
    of_cd, of_ud = ({name: values for name, values, _ in table.rows} for table in SELECTION)
    assert of_cd["polyai-encoder"] == (0.613, 0.306, 0.842)
    assert of_ud["LSTM"] == (0.878, 0.604, 0.745, 0.926)
