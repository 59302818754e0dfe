"""Each metric worked by hand on three answers, and beside other programs where there are some.

The training texts are "the lamp the boat" and "the lamp the tide". Of their eight words, four are
"the" (probability 1/2, 1 bit), two "lamp" (1/4, 2 bits), and "boat" and "tide" are one each (1/8, 3
bits). Of their six pairs of words, "the lamp" and "lamp the" are two each (1/3), "the boat" and
"the tide" one each (1/6).
"""

from math import exp, isnan, log, log2, sqrt

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from scipy.spatial.distance import cosine
from scipy.stats import entropy
from sklearn.metrics.pairwise import cosine_similarity

from miner.errors import InputError
from miner.lab.lessons.embeddings import WordVectors
from miner.lab.lessons.examples import Example
from miner.lab.lessons.generation.metrics import (
    METRICS,
    UNKNOWN,
    AnswerWords,
    bleus,
    distinct,
    divergences,
    entropies,
    lengths,
    likenesses,
    make_reference,
)

TRAINING = [
    Example("1", ("Good day.", "The lamp the boat"), "yes"),
    Example("2", ("The lamp the tide",), "no"),
]
REFERENCE = make_reference(TRAINING, "by hand")
WORDS = st.lists(st.sampled_from("the lamp boat tide kettle jug".split()), min_size=1, max_size=6)


def rows(*texts):
    """A row of each text, or of each pair of a predicted text and a true one."""
    found = []
    for text in texts:
        predicted, true = (text, "the lamp") if isinstance(text, str) else text
        found.append(AnswerWords(("the", "tide"), tuple(true.split()), tuple(predicted.split())))
    return found


def listed(values):
    """The values, None for those that are skipped."""
    return [None if isnan(value) else value for value in values.tolist()]


def about(*values):
    return [value if value is None else pytest.approx(value, abs=1e-12) for value in values]


def test_the_metrics_are_the_seventeen_of_gd():
    names = "|U| Hwu Hwb Huu Hub KLu KLb AVG EXT GRE COH d1 d2 b1 b2 b3 b4".split()
    assert [metric.name for metric in METRICS] == names
    assert [metric.name for metric in METRICS if metric.less_is_better] == ["KLu", "KLb"]


# ---- the training texts


def test_probabilities_are_those_of_the_last_turns():
    assert REFERENCE.vocabulary == {"the", "lamp", "boat", "tide"}
    assert REFERENCE.probabilities[1] == {
        ("the",): 1 / 2, ("lamp",): 1 / 4, ("boat",): 1 / 8, ("tide",): 1 / 8,
    }  # fmt: skip
    assert REFERENCE.probabilities[2] == {
        ("the", "lamp"): 1 / 3, ("lamp", "the"): 1 / 3,
        ("the", "boat"): 1 / 6, ("the", "tide"): 1 / 6,
    }  # fmt: skip
    assert (REFERENCE.n_words, REFERENCE.books) == (8, ("1", "2"))
    assert REFERENCE.probability("lamp") == 1 / 4 and REFERENCE.probability("jug") == 0


def test_words_beyond_the_vocabulary_are_one_word():
    """Of "boat" and "tide", which are as frequent, the first in alphabetical order stays."""
    reference = make_reference(TRAINING, "by hand", most_words=3)
    assert reference.vocabulary == {"the", "lamp", "boat"}
    assert reference.probabilities[1][UNKNOWN,] == 1 / 8
    assert reference.probabilities[2]["the", UNKNOWN] == 1 / 6
    assert reference.known(["the", "tide", "jug"]) == ["the", UNKNOWN, UNKNOWN]
    assert reference.probability("tide") == 0
    with pytest.raises(InputError, match="^empty: found no words, expected training texts$"):
        make_reference([Example("1", (" ",), "yes")], "empty")


def test_a_reference_is_described_and_draws_responses():
    line = REFERENCE.describe()
    assert line == f"by hand@{REFERENCE.sha256[:8]}, 2 turns of 8 words, a vocabulary of 4"
    other = make_reference([*TRAINING[:1], Example("2", ("The lamp the tide",), "maybe")], "x")
    assert other.sha256 != REFERENCE.sha256
    assert sorted(REFERENCE.draw_responses(2, 0)) == ["no", "yes"]
    many = REFERENCE.draw_responses(50, 1)
    assert set(many) == {"no", "yes"} and many == REFERENCE.draw_responses(50, 1)


# ---- length and entropy


def test_entropy_by_hand():
    of = rows("the boat", "lamp the kettle", "kettle")
    assert listed(lengths(of)["|U|"]) == [2, 3, 1]
    found = entropies(of, REFERENCE)
    # the: 1 bit, boat: 3 bits; lamp: 2 bits, the: 1 bit; a kettle is in no training text.
    assert listed(found["Huu"]) == about(1 + 3, 2 + 1, None)
    assert listed(found["Hwu"]) == about((1 + 3) / 2, (2 + 1) / 2, None)
    # the boat: 1/6; lamp the: 1/3; "the kettle" is in none.
    assert listed(found["Hub"]) == about(log2(6), log2(3), None)
    assert listed(found["Hwb"]) == about(log2(6), log2(3), None)
    assert np.nanmean(found["Hwu"]) == pytest.approx((2 + 1.5) / 2)


def test_entropy_of_words_beyond_the_vocabulary_is_that_of_the_unknown_word():
    reference = make_reference(TRAINING, "by hand", most_words=3)
    found = entropies(rows("the kettle"), reference)
    assert listed(found["Huu"]) == about(1 + 3)  # as "tide", the one word that is unknown
    assert listed(found["Hub"]) == about(log2(6))


def test_entropy_of_the_training_texts_is_that_of_scipy():
    """The mean over all their words is the entropy of the distribution."""
    found = entropies(rows("the lamp the boat the lamp the tide"), REFERENCE)
    expected = entropy(list(REFERENCE.probabilities[1].values()), base=2)
    assert found["Hwu"][0] == pytest.approx(expected) == 1.75


# ---- divergence


def test_divergence_by_hand():
    of = rows(("the lamp", "the lamp"), ("the boat", "the lamp"), ("the boat", "the boat"))
    found = divergences(of, REFERENCE)
    # True: the 3/6, lamp 2/6, boat 1/6. Predicted: the 3/6, lamp 1/6, boat 2/6. So "the" has 0
    # bits, "lamp" log2(2) = 1, "boat" log2(1/2) = -1.
    assert listed(found["KLu"]) == about((0 + 1) / 2, (0 + 1) / 2, (0 - 1) / 2)
    # True: the lamp 2/3, the boat 1/3. Predicted: 1/3 and 2/3.
    assert listed(found["KLb"]) == about(1, 1, -1)
    # As all true responses have two words, the mean over them is that over the words.
    assert np.nanmean(found["KLu"]) == pytest.approx(entropy([3, 2, 1], [3, 1, 2], base=2))
    assert np.nanmean(found["KLb"]) == pytest.approx(entropy([2, 1], [1, 2], base=2))


def test_divergence_is_that_of_the_words_which_both_have():
    of = rows(("the lamp", "the lamp"), ("the lamp", "the lamp"), ("tide", "the boat"))
    # Both have "the" (true 3, predicted 2) and "lamp" (2 and 2): 3/5 and 2/5, 1/2 and 1/2.
    the, lamp = log2(3 / 5 * 2), log2(2 / 5 * 2)
    found = divergences(of, REFERENCE)
    assert listed(found["KLu"]) == about((the + lamp) / 2, (the + lamp) / 2, the)
    assert listed(found["KLb"]) == about(0, 0, None)  # "the lamp" alone is in both


def test_words_beyond_the_vocabulary_count_for_divergence_but_are_skipped_themselves():
    of = rows(("jug the jug", "the kettle"), ("the", "kettle the"), ("lamp", "kettle"))
    # True: unknown 3/5, the 2/5. Predicted: unknown 2/4, the 2/4; "lamp" is in no true response.
    the = log2(2 / 5 * 2)
    found = divergences(of, REFERENCE)
    assert listed(found["KLu"]) == about(the, the, None)
    # Both have "unknown the" and "the unknown", once each; a pair that begins so is skipped.
    assert listed(found["KLb"]) == about(0, None, None)


def test_without_a_common_word_there_is_no_divergence():
    found = divergences(rows(("lamp", "boat"), ("", "tide")), REFERENCE)
    assert listed(found["KLu"]) == [None, None] == listed(found["KLb"])
    found = divergences(rows(("lamp jug", "lamp boat tide"), ("jug", "boat")), REFERENCE)
    assert listed(found["KLu"]) == [0, None]  # a single common word has no divergence


# ---- likeness

VECTORS = WordVectors(
    "by hand",
    {
        "lamp": np.array([1, 0, 0], np.float32),
        "boat": np.array([0, 1, 0], np.float32),
        "tide": np.array([-2, 0, 1], np.float32),
        "jug": np.array([3, 4, 0], np.float32),
    },
    6,
)


def test_the_average_by_hand():
    of = rows(("lamp boat the", "boat"), ("jug", "lamp jug"), ("the", "lamp"))
    found = likenesses(of, REFERENCE, VECTORS)
    lamp, boat = 0.001 / (0.001 + 1 / 4), 0.001 / (0.001 + 1 / 8)
    # (lamp, boat, 0) against (0, boat, 0); "the" has no vector. A jug is in no training text and
    # so weighs 1: (3, 4, 0) against (lamp + 3, 4, 0).
    assert listed(found["AVG"]) == about(
        boat / sqrt(lamp**2 + boat**2),
        (3 * (lamp + 3) + 16) / (5 * sqrt((lamp + 3) ** 2 + 16)),
        None,
    )
    assert found["AVG"][1] == pytest.approx(1 - cosine([3, 4, 0], [lamp + 3, 4, 0]))


def test_coherence_is_the_average_beside_the_context():
    found = likenesses(rows("lamp", "boat", "tide", "the"), REFERENCE, VECTORS)
    # The context is "the tide": (-2, 0, 1).
    assert listed(found["COH"]) == about(-2 / sqrt(5), 0, 1, None)


def test_extrema_by_hand():
    of = rows(("lamp tide", "boat"), ("lamp tide jug", "tide"), ("the", "boat"))
    found = likenesses(of, REFERENCE, VECTORS)
    # lamp (1, 0, 0) and tide (-2, 0, 1) are (-2, 0, 1); with jug (3, 4, 0) they are (3, 4, 1).
    expected = cosine_similarity([[3, 4, 1]], [[-2, 0, 1]])[0, 0]
    assert listed(found["EXT"]) == about(0, expected, None)
    assert expected == pytest.approx(-5 / sqrt(26 * 5))


def test_greedy_by_hand():
    of = rows(("lamp boat", "jug"), ("lamp lamp boat", "jug lamp"), ("the", "lamp"))
    found = likenesses(of, REFERENCE, VECTORS)
    # The cosines with jug are 3/5 of lamp and 4/5 of boat. From the answer (3/5 + 4/5) / 2, from
    # the true response 4/5. In the second: (1 + 1 + 4/5) / 3, and (4/5 + 1) / 2.
    assert listed(found["GRE"]) == about((0.7 + 0.8) / 2, (2.8 / 3 + 0.9) / 2, None)


def test_a_word_that_is_like_none_counts_as_zero():
    found = likenesses(rows(("tide", "lamp"), ("tide boat", "lamp boat")), REFERENCE, VECTORS)
    # The cosine of tide and lamp is below 0. In the second, boat finds itself: (0 + 1) / 2.
    assert listed(found["GRE"]) == about(None, 0.5)
    assert found["AVG"][0] == pytest.approx(-2 / sqrt(5))


# ---- distinct n-grams


def groups(*numbers):
    return np.array(numbers, np.int64)


def test_distinct_by_hand():
    of = rows("the lamp", "the boat", "jug kettle jug")
    # the lamp the boat unknown unknown unknown: 4 of 7. The pairs: the lamp, the boat, twice
    # unknown unknown: 3 of 4.
    value, left_out = distinct(of, REFERENCE, 1, groups(0, 1, 2))
    assert value == 4 / 7
    # Without the first: the boat and unknown of 5 words; without the last: the, lamp, boat of 4.
    assert listed(left_out) == about(3 / 5, 3 / 5, 3 / 4)
    value, left_out = distinct(of, REFERENCE, 2, groups(0, 0, 1))
    assert value == 3 / 4 and listed(left_out) == about(1 / 2, 2 / 2)


def test_distinct_of_nothing_is_not_defined():
    value, left_out = distinct(rows("", "jug"), REFERENCE, 2, groups(0, 1))
    assert isnan(value) and listed(left_out) == [None, None]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
@given(st.lists(st.tuples(WORDS, st.integers(0, 2)), min_size=3, max_size=8))
def test_leaving_out_a_group_is_counting_the_others(texts):
    of = rows(*(" ".join(words) for words, _ in texts))
    numbers = [group for _, group in texts]
    _, left_out = distinct(of, REFERENCE, 1, groups(*numbers))
    for group, value in enumerate(listed(left_out)):
        others = [row for row, own in zip(of, numbers, strict=True) if own != group]
        alone, _ = distinct(others, REFERENCE, 1, groups(*[0] * len(others)))
        assert value is None if isnan(alone) else value == pytest.approx(alone)


# ---- BLEU


def test_bleu_by_hand():
    of = rows(
        ("the lamp burns", "the lamp burns now"),
        ("the boat burns", "the lamp burns"),
        ("yes", "no"),
        ("", "no"),
    )
    found = bleus(of)
    # All runs of the first are in the true response, which is a third longer; a share of 0 of 4
    # words is smoothed to ln(3) / (2 · 5).
    short = exp(1 - 4 / 3)
    # Two of three words, none of two pairs, smoothed, and none of one triple, smoothed to half.
    pair, triple = log(3) / 10 / 2, log(3) / 20
    assert listed(found["b1"]) == about(short, 2 / 3, 0, 0)
    assert listed(found["b2"]) == about(short, sqrt(2 / 3 * pair), 0, 0)
    assert listed(found["b3"]) == about(short, (2 / 3 * pair * triple) ** 0.33, 0, 0)
    quadruple = log(3) / 40
    assert listed(found["b4"]) == about(
        short * (log(3) / 10) ** 0.25, (2 / 3 * pair * triple * quadruple) ** 0.25, 0, 0
    )


@given(WORDS, WORDS)
def test_bleu_is_that_of_nltk_for_each_weight_alone(predicted, true):
    found = bleus(rows((" ".join(predicted), " ".join(true))))
    weights = [(1, 0, 0, 0), (0.5, 0.5, 0, 0), (0.33, 0.33, 0.33, 0), (0.25,) * 4]
    for n, of_n in enumerate(weights, 1):
        alone = sentence_bleu(
            [true], predicted, of_n, smoothing_function=SmoothingFunction().method4
        )
        assert found[f"b{n}"][0] == pytest.approx(alone, abs=1e-12)


def test_bleu_of_a_true_response_is_below_1_if_it_has_too_few_words():
    found = bleus(rows(*((text, text) for text in ("a", "a b", "a b c", "a b c d"))))
    assert listed(found["b1"]) == listed(found["b2"]) == about(1, 1, 1, 1)
    # No triple among two words; none smoothed of a single word, whose other shares are left out.
    assert listed(found["b3"]) == about(1, (log(2) / 10) ** 0.33, 1, 1)
    assert listed(found["b4"])[2:] == about((log(3) / 10) ** 0.25, 1)


# ---- what holds for all texts


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_true_responses_are_like_themselves(texts):
    of = rows(*((" ".join(words), " ".join(words)) for words in texts))
    found = divergences(of, REFERENCE) | likenesses(of, REFERENCE, VECTORS)
    for name in ("KLu", "KLb"):
        assert all(value in (None, pytest.approx(0, abs=1e-12)) for value in listed(found[name]))
    for name in ("AVG", "EXT", "GRE"):
        assert all(value in (None, pytest.approx(1)) for value in listed(found[name]))
