"""Words as numbers."""

import numpy as np
import pytest

from miner.corpus.works import fold, fold_words, hash_shingles, hash_words, mix


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("To-day, he said.", "today he SAID"),
        ("to\u2010day to\xadday", "today today"),
        ("don’t don't", "dont dont"),
        ("_so_ _very_ good", "so very good"),
        ("Æsop’s œuvre, naïve rôle", "aesops oeuvre naive role"),
        ("Straße", "STRASSE"),
        ("one--two—three", "one two three"),
    ],
)
def test_spellings_of_one_word_are_one(one, other):
    assert fold_words(one) == fold_words(other)
    assert np.array_equal(*hash_words([one, other]))


def test_words_that_differ_have_different_numbers():
    numbers = hash_words(["the mill by the weir and 2 millers"])[0]
    assert len(numbers) == 8
    assert len(set(numbers.tolist())) == 7  # "the" twice


def test_numbers_are_the_same_on_every_machine():
    # Where these change, sketches and signatures of older runs no longer fit.
    assert hash_words(["mill weir"])[0].tolist() == [12901546797544725962, 11710896231379491926]
    assert hash_shingles(hash_words(["the old mill"])[0], 3).tolist() == [464047799073005522]


def test_shingles_are_the_runs_of_words_in_their_order():
    words = hash_words(["a b c d a b c"])[0]
    shingles = hash_shingles(words, 3)
    assert len(shingles) == 5
    assert shingles[0] == shingles[4]
    assert len(set(shingles.tolist())) == 4
    assert hash_shingles(words[:3][::-1], 3)[0] != shingles[0]
    assert len(hash_shingles(words, 8)) == 0


def test_mixing_keeps_numbers_apart_and_its_argument_as_it_is():
    numbers = np.arange(1000, dtype=np.uint64)
    mixed = mix(numbers)
    assert len(np.unique(mixed)) == 1000
    assert numbers[1] == 1
    assert abs(np.mean(mixed < np.uint64(2**63)) - 0.5) < 0.05


def test_half_a_character_is_a_word_too():
    assert len(hash_words(["a\ud800b"])[0]) >= 1
    assert fold("\ud800") == "\ud800"
