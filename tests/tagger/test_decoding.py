"""Decoding and marginals agree with trying every allowed sequence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models_helpers import sequences, sums

from miner.speech.tags import TAGS, Tag, repair_tags
from miner.tagger.decoding import ALLOWED, FIRST, marginals, viterbi

ALLOWED_AFTER = {
    Tag.B_START: {Tag.B_START, Tag.I_START, Tag.B_OTHER},
    Tag.I_START: {Tag.B_START, Tag.I_START, Tag.B_OTHER},
    Tag.B_OTHER: {Tag.B_START, Tag.B_OTHER, Tag.I_OTHER},
    Tag.I_OTHER: {Tag.B_START, Tag.B_OTHER, Tag.I_OTHER},
}


def by_trying(scores):
    """The probability of each tag at each utterance."""
    totals = sums(scores)
    weights = np.exp(totals - totals.max())
    shares = np.array(
        [
            [weights[sequences(len(scores))[:, n] == tag].sum() for tag in range(len(TAGS))]
            for n in range(len(scores))
        ]
    )
    return shares / weights.sum()


def tables(low, high, longest=6):
    row = st.lists(st.floats(low, high), min_size=4, max_size=4)
    return st.lists(row, min_size=1, max_size=longest).map(np.array)


def test_the_table_of_successors():
    assert TAGS == (Tag.B_START, Tag.I_START, Tag.B_OTHER, Tag.I_OTHER)
    for row, before in zip(ALLOWED, TAGS, strict=True):
        assert {tag for tag, may in zip(TAGS, row, strict=True) if may} == ALLOWED_AFTER[before]
    assert FIRST.tolist() == [True, False, False, False]


def test_the_number_of_allowed_sequences():
    # One beginning, and three successors to every tag.
    assert [len(sequences(n)) for n in range(1, 7)] == [3 ** (n - 1) for n in range(1, 7)]


@given(tables(-20, 20))
@settings(max_examples=30, deadline=None)
def test_the_best_sequence_is_the_best_of_all(scores):
    found = viterbi(scores)
    assert repair_tags(found) == found
    total = sum(row[TAGS.index(tag)] for row, tag in zip(scores, found, strict=True))
    assert total == pytest.approx(sums(scores).max())


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_best_sequence_tag_by_tag(n, kind):
    for seed in range(5):
        scores = np.random.default_rng([n, seed]).normal(0, 3, (n, 4)).astype(kind)
        best = sequences(n)[sums(scores).argmax()]
        assert [TAGS.index(tag) for tag in viterbi(scores)] == best.tolist()


@given(tables(-20, 20))
@settings(max_examples=30, deadline=None)
def test_marginals_are_the_shares_of_all_sequences(scores):
    found = marginals(scores)
    assert found.shape == scores.shape
    assert found == pytest.approx(by_trying(scores), abs=1e-9)


@pytest.mark.parametrize("n", range(1, 7))
def test_marginals_of_scores_of_a_model(n):
    scores = np.random.default_rng(n).normal(0, 2, (n, 4)).astype(np.float32)
    assert marginals(scores) == pytest.approx(by_trying(scores.astype(float)), abs=1e-6)


@given(tables(-1e4, 1e4, longest=40))
@settings(max_examples=30, deadline=None)
def test_any_scores_give_an_allowed_sequence_and_probabilities(scores):
    found = viterbi(scores)
    assert len(found) == len(scores)
    assert repair_tags(found) == found
    shares = marginals(scores)
    assert np.isfinite(shares).all()
    assert (shares >= 0).all() and (shares <= 1 + 1e-9).all()
    assert shares.sum(axis=1) == pytest.approx(1)
    # Nothing but B-START can begin, and I-OTHER cannot be second.
    assert shares[0].tolist() == [1, 0, 0, 0]
    assert len(scores) == 1 or shares[1, TAGS.index(Tag.I_OTHER)] == 0


@pytest.mark.parametrize("tag", range(4))
def test_extreme_scores(tag):
    scores = np.full((12, 4), -1e4)
    scores[:, tag] = 1e4
    with np.errstate(all="raise", under="ignore"):
        shares = marginals(scores)
        found = viterbi(scores)
    assert np.isfinite(shares).all()
    assert shares.sum(axis=1) == pytest.approx(1)
    assert repair_tags(found) == found
    expected = {
        Tag.B_START: [Tag.B_START] * 12,
        Tag.I_START: [Tag.B_START, *[Tag.I_START] * 11],
        Tag.B_OTHER: [Tag.B_START, *[Tag.B_OTHER] * 11],
        # Any second tag but I-OTHER costs the same, and only B-OTHER leads to I-OTHER.
        Tag.I_OTHER: [Tag.B_START, Tag.B_OTHER, *[Tag.I_OTHER] * 10],
    }[TAGS[tag]]
    assert found == expected
    assert [TAGS[n] for n in shares.argmax(axis=1)] == expected


def test_forbidden_tags_have_probability_0_at_any_score():
    scores = np.zeros((3, 4))
    scores[:, TAGS.index(Tag.I_OTHER)] = 500
    shares = marginals(scores)
    assert shares[:2, TAGS.index(Tag.I_OTHER)].tolist() == [0, 0]
    assert shares[0].tolist() == [1, 0, 0, 0]
    # B-OTHER at the second opens the way to I-OTHER at the third.
    assert shares[1, TAGS.index(Tag.B_OTHER)] == pytest.approx(1)
    assert viterbi(scores) == [Tag.B_START, Tag.B_OTHER, Tag.I_OTHER]


def test_equal_scores_are_counted_by_hand():
    # Three utterances: 9 sequences. The second is S, s or R in 3 each; the third after S or s is
    # S, s, R and after R is S, R, r.
    shares = marginals(np.zeros((3, 4)))
    assert shares[1] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert shares[2] == pytest.approx([3 / 9, 2 / 9, 3 / 9, 1 / 9])


def test_no_utterance():
    assert viterbi(np.zeros((0, 4))) == []
    assert marginals(np.zeros((0, 4))).shape == (0, 4)


@given(tables(-5, 5), st.floats(-100, 100))
@settings(max_examples=25, deadline=None)
def test_a_constant_added_to_all_tags_of_an_utterance_changes_nothing(scores, added):
    moved = scores.copy()
    moved[-1] += added
    assert marginals(moved) == pytest.approx(marginals(scores), abs=1e-9)


def test_if_both_i_tags_have_the_same_score_decoding_is_greedy_after_the_first():
    # The tagger gives such scores: the previous tags decide which of the two I- tags it is.
    outcomes = np.random.default_rng(9).normal(0, 2, (400, 3))
    tags = viterbi(outcomes[:, [0, 2, 1, 2]])
    kinds = {Tag.B_START: 0, Tag.B_OTHER: 1, Tag.I_START: 2, Tag.I_OTHER: 2}
    assert [kinds[tag] for tag in tags[1:]] == outcomes[1:].argmax(axis=1).tolist()
    assert tags[0] is Tag.B_START
