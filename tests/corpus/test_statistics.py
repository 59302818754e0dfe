"""Lengths of dialogues and turns are counted exactly, and add up in any order."""

import json
import statistics
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miner.corpus.statistics import (
    LengthStatistics,
    languages_of,
    measure_rows,
    shares_at_least,
    splits_of,
    statistics_of_language,
    statistics_of_split,
    sum_statistics,
)


def dialogue(book, *texts):
    return {"book": book, "turns": [{"text": text} for text in texts]}


ROWS = [
    dialogue("1", "Is the ferry in?", "Not yet."),
    dialogue("1", "Well?", "It came at four,  sir,\nwith nobody in it.", "Nobody?"),
    dialogue("2", *["Yes."] * 20),
]


def test_the_columns_are_those_of_gd():
    found = measure_rows(ROWS)
    assert (found.n_books, found.n_dialogues, found.n_turns, found.n_pairs) == (2, 3, 25, 22)
    assert found.n_words == 4 + 2 + 1 + 9 + 1 + 20
    assert found.mean_words == 37 / 25 and found.mean_turns == 25 / 3
    assert found.n_long == 1
    assert found.deviation == pytest.approx(statistics.pstdev([2, 3, 20]))
    assert found.turns_of_dialogues == ((2, 1), (3, 1), (20, 1))
    assert found.words_of_turns == ((1, 22), (2, 1), (4, 1), (9, 1))


def test_nineteen_turns_are_not_long():
    assert measure_rows([dialogue("1", *["Yes."] * 19)]).n_long == 0


def test_without_a_dialogue_there_is_nothing():
    empty = measure_rows([])
    assert empty == LengthStatistics() == sum_statistics([])
    assert (empty.mean_words, empty.mean_turns, empty.deviation) == (0, 0, 0)
    assert shares_at_least(empty.turns_of_dialogues) == []


def test_a_turn_without_words_is_a_turn():
    found = measure_rows([dialogue("1", "", "Ay.")])
    assert (found.n_turns, found.n_words, found.words_of_turns) == (2, 1, ((0, 1), (1, 1)))


@given(st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=30), max_size=6))
def test_parts_add_up_in_any_order(books):
    rows = [
        dialogue(str(number), *["ay " * n for n in lengths]) for number, lengths in enumerate(books)
    ]
    parts = [measure_rows([row]) for row in rows]
    whole = measure_rows(rows)
    assert sum_statistics(parts) == sum_statistics(reversed(parts)) == whole
    lengths = [len(book) for book in books]
    if books:
        assert whole.deviation == pytest.approx(statistics.pstdev(lengths))
        assert dict(shares_at_least(whole.turns_of_dialogues)) == {
            n: sum(one >= n for one in lengths) / len(lengths) for n in set(lengths)
        }


def test_three_parts_give_the_same_record_in_every_order():
    parts = [measure_rows([row | {"book": str(n)}]) for n, row in enumerate(ROWS)]
    records = {json.dumps(sum_statistics(order).to_json()) for order in permutations(parts)}
    assert len(records) == 1 and '"dialogues_of_20_turns_or_more": 1,' in records.pop()


def test_histograms_that_disagree_are_refused():
    with pytest.raises(ValueError, match="found words of 1 turns, expected those of 2"):
        LengthStatistics(1, ((2, 1),), ((5, 1),))


def test_sums_by_split_and_by_language():
    one, other = measure_rows(ROWS[:2]), measure_rows(ROWS[2:])
    by = {("test", "en"): one, ("train", "nl"): one, ("train", "en"): other}
    assert splits_of(by) == ["train", "test"]
    assert statistics_of_split(by, "train") == one + other
    assert statistics_of_language(by, "nl") == one
    assert languages_of(by) == ["en", "nl"]  # 3 dialogues, then 2
