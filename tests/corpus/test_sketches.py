"""Sketches of books."""

import time

import numpy as np
import pytest
from copies_helpers import prose, respelt
from helpers import BOOKS, read_file

from miner.corpus.works import LARGEST, LIMIT, contain, limit_of, sketch_texts


def share(inner, outer):
    shared, comparable = contain(inner, outer)
    return shared / comparable


def test_a_sketch_is_a_sorted_sample_of_the_runs():
    sketch = sketch_texts([" ".join(prose(1, 40_000))])
    assert sketch.dtype == np.uint64
    assert np.all(sketch[1:] > sketch[:-1])
    assert sketch[-1] <= LIMIT
    assert 220 < len(sketch) < 410  # 40,000 / 128 = 312


def test_the_same_text_has_the_same_sketch_however_it_is_printed():
    words = prose(2)
    plain = sketch_texts([" ".join(words)])
    printed = sketch_texts(
        [f"“{' '.join(words[:77]).upper()},”", "_" + "—".join(words[77:]) + "_."]
    )
    assert np.array_equal(plain, printed)


@pytest.mark.parametrize("changed", [0.02, 0.1])
def test_the_share_of_respelt_words_is_seen(changed):
    words = prose(3, 30_000)
    one, other = sketch_texts([" ".join(words)]), sketch_texts([" ".join(respelt(words, changed))])
    assert share(one, other) == pytest.approx((1 - changed) ** 6, abs=0.1)


def test_a_volume_is_in_the_set_and_half_the_set_is_in_the_volume():
    words = prose(4, 30_000)
    whole, volume = sketch_texts([" ".join(words)]), sketch_texts([" ".join(words[:15_000])])
    assert share(volume, whole) > 0.97
    assert share(whole, volume) == pytest.approx(0.5, abs=0.1)


def test_unrelated_books_share_nothing():
    one, other = (sketch_texts([" ".join(prose(seed, 30_000))]) for seed in (5, 6))
    assert contain(one, other)[0] == 0


def test_a_huge_book_has_a_bounded_sketch_that_still_tells_what_is_in_it():
    words = prose(7, 600_000)
    huge = sketch_texts([" ".join(words)])
    assert len(huge) == LARGEST
    assert limit_of(huge) < LIMIT
    volume = sketch_texts([" ".join(words[100_000:200_000])])
    other = sketch_texts([" ".join(prose(8, 100_000))])
    assert limit_of(volume) == LIMIT
    assert share(volume, huge) > 0.97
    assert share(other, huge) == 0
    assert share(huge, volume) == pytest.approx(1 / 6, abs=0.03)


def test_a_book_without_text_has_an_empty_sketch():
    for texts in ([], [""], ["Five words are no run."]):
        assert len(sketch_texts(texts)) == 0
    assert contain(sketch_texts([]), sketch_texts([" ".join(prose(1))])) == (0, 0)


def test_a_sketch_is_cheap():
    words = " ".join(prose(9, 100_000))
    start = time.process_time()
    sketch_texts([words])
    # 0.06 s here; mining a novel of 100,000 words takes 5 s and more.
    assert time.process_time() - start < 0.6


@pytest.mark.skipif(not BOOKS.is_dir(), reason="no real books")
def test_two_printings_of_a_real_novel_and_two_novels():
    alice, printed_again, other = (
        sketch_texts(block.text for block in read_file(BOOKS / file, file).blocks)
        for file in ("928-h.htm", "pg11-images.html", "35-h.htm")
    )
    assert share(alice, printed_again) > 0.95
    assert contain(alice, other)[0] <= 1
