"""Candidates, places of true responses, and scores: values by hand on small matrices."""

import numpy as np
import pytest

from miner.errors import InputError
from miner.lab.lessons.examples import Example
from miner.lab.lessons.selection.scoring import (
    Outcome,
    Scoring,
    mean_outcome,
    reciprocal_rank_of,
    score_method,
    score_outcome,
    subtract,
    try_method,
)
from miner.lab.lessons.selection.tasks import (
    Barred,
    count_above,
    draw_candidates,
    draw_contexts,
    other_books,
    rank_among,
    recall_of,
    same_chapter,
    similar_candidates,
)

SMALL = Scoring(shuffles=2, resamples=50)


def examples(n_books=4, n=60):
    """Examples whose context and response share a number, and "Yes." as every tenth response."""
    made = []
    for book in range(n_books):
        for number in range(n):
            answer = "Yes." if number % 10 == 0 else f"answer{book}x{number}"
            made.append(Example(f"b{book}", (f"question {book} {number}",), answer, number // 15))
    return made


class Knows:
    """A method that finds the true response, but for the books named."""

    def __init__(self, judged, wrong=()):
        self._number = {one.context[-1]: n for n, one in enumerate(judged)}
        self._answer = {one.response: n for n, one in enumerate(judged)}
        self._wrong = {one.context[-1] for one in judged if one.book in wrong}
        self._n = len(judged)
        self._judged = judged

    def encode_contexts(self, contexts):
        rows = np.zeros((len(contexts), self._n))
        for row, context in enumerate(contexts):
            response = self._judged[self._number[context[-1]]].response
            rows[row, self._answer[response]] = -1 if context[-1] in self._wrong else 1
        return rows

    def encode_responses(self, responses):
        rows = np.zeros((len(responses), self._n))
        rows[np.arange(len(responses)), [self._answer[one] for one in responses]] = 1
        return rows


def values(scores):
    return {f"{score.task} {score.measure}": score.value for score in scores}


def test_a_method_that_knows_all_is_always_right_and_one_that_knows_nothing_by_chance():
    judged = examples()
    harder = Scoring(shuffles=2, resamples=50, harder=True)
    assert set(values(score_method(Knows(judged), judged, harder)).values()) == {1.0}

    class Nothing:
        def encode_contexts(self, contexts):
            return np.ones((len(contexts), 2))

        encode_responses = encode_contexts

    found = values(score_method(Nothing(), judged, SMALL))
    assert found["1 in 2 R@1"] == pytest.approx(1 / 2)
    assert found["1 in 10 R@1"] == pytest.approx(1 / 10)
    assert found["1 in 10 R@5"] == pytest.approx(5 / 10)
    assert found["1 in 10 MRR"] == pytest.approx(sum(1 / k for k in range(1, 11)) / 10)
    assert 0.01 <= found["1-of-100 R@1"] < 0.013  # some responses are equal


def test_an_interval_is_over_books():
    judged = examples()
    found = {
        s.task: s for s in score_method(Knows(judged, ("b0",)), judged, SMALL) if "R@1" in s.measure
    }
    score = found["1 in 10"]
    assert score.value == pytest.approx(0.75, abs=0.02)
    assert score.low < 0.6 and score.high > 0.9 and score.n_books == 4
    alone = [one for one in examples(1, 200)]
    assert all(s.low is None for s in score_method(Knows(alone), alone, SMALL))


def test_the_difference_of_two_methods_is_over_the_same_draws():
    judged = examples()
    whole, half = Knows(judged), Knows(judged, ("b0", "b1"))
    first, second = (
        {f"{o.task} {o.measure}": o for o in try_method(method, judged, SMALL)}
        for method in (whole, half)
    )
    name = "1 in 10 R@1"
    over = score_outcome(subtract(first[name], second[name]), judged, SMALL)
    assert over.value == pytest.approx(0.5, abs=0.02)
    mean = score_outcome(mean_outcome([first[name], second[name]]), judged, SMALL)
    assert mean.value == pytest.approx(0.75, abs=0.02)
    other = Outcome("1 in 2", "R@1", first[name].sums, first[name].n)
    with pytest.raises(ValueError, match="expected the same"):
        subtract(first[name], other)


def test_candidates_are_of_other_books_and_never_equal_the_true_response():
    judged = examples()
    barred = Barred.of(judged)
    drawn = draw_candidates(other_books(judged), barred, 9, np.random.default_rng(0))
    assert (drawn >= 0).all()
    for one, row, number in zip(judged, drawn, barred.equal, strict=True):
        assert len(set(row.tolist())) == 9
        assert {judged[n].book for n in row}.isdisjoint({one.book})
        assert number not in barred.equal[row]


def test_a_chapter_with_too_few_has_no_candidates_and_the_rest_its_own():
    judged = [*examples(1, 30), Example("b0", ("alone?",), "alone", 9)]
    drawn = draw_candidates(same_chapter(judged), Barred.of(judged), 9, np.random.default_rng(0))
    assert drawn[-1].tolist() == [-1] * 9
    assert (drawn[:15] == -1).all()  # chapter 0 stands for no chapter
    assert ((15 <= drawn[15:30]) & (drawn[15:30] < 30)).all()


def test_candidates_alike_share_words_with_the_true_response():
    texts = ["the mill wheel", "the mill door", "a grey cat", "a black cat", "the wheel turns"]
    judged = [Example(f"b{n}", ("?",), text) for n, text in enumerate(texts)]
    found = similar_candidates(judged, Barred.of(judged), 2)
    assert sorted(found[0].tolist()) == [1, 4]
    assert found[2][0] == 3
    assert (similar_candidates(judged, Barred.of(judged), 5) == -1).all()


def test_no_turn_of_a_context_is_a_false_candidate():
    asked = [f"turn {n}" for n in range(40)]
    judged = [Example("b", tuple(asked[:n]), asked[n], 1) for n in range(1, 40)]
    barred = Barred.of(judged)
    everyone = np.arange(len(judged))
    # The response of example n is the turn n + 1 of the story, a turn of all later contexts.
    assert np.array_equal(barred.false(everyone, everyone), everyone[:, None] < everyone[None, :])
    drawn = draw_candidates(same_chapter(judged), barred, 9, np.random.default_rng(0))
    assert (drawn[:30] > everyone[:30, None]).all() and (drawn[30:] == -1).all()
    alike = similar_candidates(judged, barred, 9)
    assert (alike[:30] > everyone[:30, None]).all() and (alike[30:] == -1).all()


def test_a_turn_that_a_method_does_not_read_is_no_false_candidate_either():
    """Half of the responses are first turns of the other contexts, which the method likes most."""
    responses = [f"first {n - 50}" if n >= 50 else f"answer {n}" for n in range(100)]
    judged = [Example("b", (f"first {n}", f"{n}"), responses[n], 1) for n in range(100)]

    class LikesFirstTurns:
        def encode_contexts(self, contexts):
            assert {len(context) for context in contexts} == {1}
            own = np.array([int(context[-1]) for context in contexts])
            return np.eye(100)[own] + 2 * np.eye(150)[own + 50, :100]

        def encode_responses(self, responses_):
            return np.eye(100)[[responses.index(one) for one in responses_]]

    assert values(score_method(LikesFirstTurns(), judged, SMALL, 0))["1-of-100 R@1"] == 1


def test_contexts_have_the_lengths_of_the_ubuntu_corpus():
    whole = [tuple(map(str, range(30)))] * 4000
    lengths = [len(one) for one in draw_contexts(whole, np.random.default_rng(0))]
    assert (min(lengths), max(lengths)) == (2, 20)
    assert np.mean([length <= 4 for length in lengths]) > 0.7
    assert draw_contexts([("one",)], np.random.default_rng(0)) == [("one",)]


def test_places_are_counted_by_hand():
    contexts = np.array([[1.0, 0.0], [0.0, 1.0]])
    responses = np.array([[0.5, 0.2], [0.7, 0.2], [0.5, 0.9]])
    better, tied = rank_among(contexts, responses, np.array([0, 1]), np.array([[1, 2], [0, 2]]))
    assert better.tolist() == [1, 1] and tied.tolist() == [1, 1]
    assert recall_of(better, tied, 1).tolist() == [0, 0]
    assert recall_of(better, tied, 2).tolist() == [0.5, 0.5]
    assert reciprocal_rank_of(better, tied).tolist() == pytest.approx([(1 / 2 + 1 / 3) / 2] * 2)
    with pytest.raises(InputError, match="a score that is not a number"):
        count_above(np.array([[np.nan]]), np.array([0.0]), np.array([[True]]))
