"""Dialogues that several books have."""

import numpy as np
import pytest
from copies_helpers import prose, respelt
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.corpus.duplicates import (
    LEAST_WORDS,
    Duplicate,
    find_duplicates,
    n_rows_of_band,
    sign_dialogues,
)
from miner.corpus.works import hash_shingles, hash_words
from miner.errors import InputError

TALK = [" ".join(prose(300 + n, 120)) for n in range(12)]


def changed(text, share, seed=0):
    return " ".join(respelt(text.split(), share, seed))


def near(text, n=1):
    """The text with its last words spelt otherwise, which changes n + 2 shingles."""
    words = text.split()
    return " ".join([*words[:-n], *(word + "x" for word in words[-n:])])


def duplicates(folder, *books, least=0.8):
    found = find_duplicates(map(sign_dialogues, books), folder, least)
    return {
        (place, each.key): (each.kept_book, each.kept_key)
        for place, of_book in enumerate(found)
        for each in of_book
    }


def test_a_dialogue_of_an_earlier_book_goes(tmp_path):
    books = [TALK[:3], [TALK[4], near(TALK[1]), TALK[5]], [TALK[2], TALK[5]]]
    assert duplicates(tmp_path, *books) == {(1, 1): (0, 1), (2, 0): (0, 2), (2, 1): (1, 2)}
    assert list(tmp_path.iterdir()) == []


def test_what_was_found_says_how_similar_it_is(tmp_path):
    books = [sign_dialogues(texts) for texts in ([TALK[0]], [near(TALK[0], 6), TALK[0]])]
    found = find_duplicates(books, tmp_path)
    first, second = found[1]
    assert second == Duplicate(1, 0, 0, 1.0)
    assert first.similarity == pytest.approx(110 / 126, abs=0.12)
    assert found[0] == []


@pytest.mark.parametrize("books", [[], [[]], [[], [TALK[0]], []], [["Yes."], ["Yes."]]])
def test_nothing_goes_from_little(tmp_path, books):
    assert duplicates(tmp_path, *books) == {}


def test_marks_case_and_line_breaks_do_not_count(tmp_path):
    printed = "“" + TALK[0].upper().replace(" ", "\n", 20).replace(" ", ", ", 9) + "!”"
    assert duplicates(tmp_path, [TALK[0]], [printed]) == {(1, 0): (0, 0)}


def test_short_dialogues_are_no_duplicates(tmp_path):
    words = prose(77, LEAST_WORDS)
    assert duplicates(tmp_path, [" ".join(words[1:])], [" ".join(words[1:])]) == {}
    assert duplicates(tmp_path, [" ".join(words)], [" ".join(words)]) == {(1, 0): (0, 0)}


def test_keys_count_the_short_dialogues_too(tmp_path):
    books = [["No.", TALK[0]], ["Yes.", "No.", TALK[1], TALK[0]]]
    assert duplicates(tmp_path, *books) == {(1, 3): (0, 1)}
    assert sign_dialogues(books[1]).keys.tolist() == [2, 3]


def test_refrains_of_one_book_stay_but_not_in_a_later_book(tmp_path):
    refrain = [TALK[0], TALK[0], near(TALK[0])]
    assert duplicates(tmp_path, refrain) == {}
    assert duplicates(tmp_path, refrain, refrain) == {
        (1, 0): (0, 0),
        (1, 1): (0, 0),
        (1, 2): (0, 2),
    }
    assert duplicates(tmp_path, refrain[:1], refrain) == {(1, n): (0, 0) for n in range(3)}
    assert duplicates(tmp_path, [TALK[1]], refrain, [TALK[0]]) == {(2, 0): (1, 0)}


def test_at_the_end_of_a_chain_a_dialogue_stays(tmp_path):
    chain = [TALK[0], near(TALK[0], 10), near(TALK[0], 22)]
    assert duplicates(tmp_path, chain[:1], chain[1:2]) == {(1, 0): (0, 0)}
    assert duplicates(tmp_path, chain[1:2], chain[2:]) == {(1, 0): (0, 0)}
    assert duplicates(tmp_path, *[[text] for text in chain]) == {(1, 0): (0, 0)}


def test_texts_below_the_least_similarity_stay(tmp_path):
    other = changed(TALK[0], 0.2)  # about a third of the shingles
    assert duplicates(tmp_path, [TALK[0]], [other]) == {}
    half = near(TALK[0], 36)  # 80 of 156 shingles
    assert duplicates(tmp_path, [TALK[0]], [half]) == {}
    assert duplicates(tmp_path, [TALK[0]], [near(TALK[0], 24)], least=0.5) == {(1, 0): (0, 0)}
    assert duplicates(tmp_path, [TALK[0]], [near(TALK[0])], least=1) == {}
    assert duplicates(tmp_path, [TALK[0]], [TALK[0]], least=1) == {(1, 0): (0, 0)}


def test_most_near_copies_are_found_and_few_others(tmp_path):
    texts = [" ".join(prose(1000 + n, 100)) for n in range(300)]
    copies = [changed(text, 0.01 + n % 7 / 100, n) for n, text in enumerate(texts)]

    def jaccard(one, other):
        one, other = (
            set(hash_shingles(hash_words([text])[0], 3).tolist()) for text in (one, other)
        )
        return len(one & other) / len(one | other)

    similarity = np.array([jaccard(*pair) for pair in zip(texts, copies, strict=True)])
    found = duplicates(tmp_path, texts, copies)
    assert all(key == kept for (_, key), (_, kept) in found.items())
    is_found = np.array([(1, n) in found for n in range(300)])
    assert (similarity > 0.87).sum() > 30 < (similarity < 0.73).sum()
    assert is_found[similarity > 0.87].mean() > 0.97
    assert is_found[similarity < 0.73].mean() < 0.05


def test_signatures_are_the_same_on_every_machine():
    # Where these change, signatures of older runs no longer fit.
    values = sign_dialogues(["the old mill by the weir " * 2 + "is silent in the snow " * 2]).values
    assert values.shape == (1, 128)
    assert values[0, :4].tolist() == [60380, 14102, 61209, 9172]


@pytest.mark.parametrize("least", [0.8, 0.5, 1.0])
def test_bands_find_pairs_that_are_just_similar_enough(least):
    n = n_rows_of_band(least)
    assert 1 - (1 - least**n) ** (128 // n) >= 0.9
    assert n == 128 or 1 - (1 - least ** (n + 1)) ** (128 // (n + 1)) < 0.9


@pytest.mark.parametrize("least", [0.49, 1.01, float("nan")])
def test_a_similarity_out_of_range_is_refused(tmp_path, least):
    with pytest.raises(InputError, match="^found a least similarity of .*, expected 0.5 to 1$"):
        find_duplicates([], tmp_path, least)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OSError, match="cannot be written") as caught:
        find_duplicates([], tmp_path / "none")
    assert caught.value.filename == str(tmp_path / "none")


VARIANTS = [variant for text in TALK[:3] for variant in (text, near(text), near(text, 9), "Yes.")]
SIGNED = sign_dialogues(VARIANTS)
ROW_OF = dict(zip(SIGNED.keys.tolist(), SIGNED.values, strict=True))


@given(st.lists(st.lists(st.integers(0, len(VARIANTS) - 1), max_size=4), max_size=5))
@settings(max_examples=25, deadline=None)
def test_what_goes_has_a_copy_that_stays_and_no_two_that_stay_are_copies(tmp_path_factory, books):
    folder = tmp_path_factory.mktemp("work")
    found = duplicates(folder, *[[VARIANTS[number] for number in book] for book in books])

    def similarity(one, other):
        one, other = ROW_OF[one], ROW_OF[other]
        return np.mean(one == other)

    signed = [
        (place, key, number)
        for place, book in enumerate(books)
        for key, number in enumerate(book)
        if number in ROW_OF
    ]
    number_of = {(place, key): number for place, key, number in signed}
    for (place, key), (kept_place, kept_key) in found.items():
        assert kept_place < place
        assert (kept_place, kept_key) not in found
        assert similarity(number_of[place, key], number_of[kept_place, kept_key]) >= 0.8
    stay = [entry for entry in signed if entry[:2] not in found]
    for place, _, number in stay:
        for other_place, _, other in stay:
            # Above 0.9, bands find every pair but one in thousands.
            assert place == other_place or similarity(number, other) < 0.9
