"""Which books are copies of others."""

import random
import time

import numpy as np
import pytest
from copies_helpers import prose, record, respelt
from helpers import BOOKS, read_file
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.corpus.works import (
    COPY,
    COPY_OF_WORK,
    BookRecord,
    Copy,
    contain,
    find_copies,
    find_leaks,
    find_overlaps,
    sketch_texts,
)
from miner.errors import InputError

MILL, WEIR, FERRY = prose(1, 12_000), prose(2, 9_000), prose(3, 9_000)


def gone(*books):
    return {id: copy.kept for id, copy in find_copies(books).items()}


def test_unrelated_books_stay():
    assert gone(record("1", MILL), record("2", WEIR), record("3", FERRY)) == {}
    assert gone() == {}


def test_the_larger_of_two_editions_stays():
    plain = record("1", MILL)
    with_introduction = record("2", [*prose(9, 1500), *respelt(MILL, 0.02)])
    copies = find_copies([plain, with_introduction])
    assert list(copies) == ["1"]
    assert copies["1"].kept == "2"
    assert copies["1"].share == pytest.approx(0.98**6, abs=0.12)


def test_volumes_go_for_the_complete_set_and_stay_without_it():
    first, second = MILL[:6000], MILL[6000:]
    volumes = [record("1", first, "A Mill, volume 1"), record("2", second, "A Mill, volume 2")]
    assert gone(*volumes) == {}
    assert volumes[0].work == volumes[1].work
    assert gone(*volumes, record("3", MILL)) == {"1": "3", "2": "3"}


def test_a_novella_goes_for_the_collection_that_has_it():
    collection = record("5", [*WEIR, *MILL[:3000], *FERRY], "Three Stories", "Bo Hill")
    assert gone(record("1", MILL[:3000]), collection) == {"1": "5"}


def test_of_two_that_hold_each_other_the_one_that_holds_more_stays():
    more_words = record("1", [*MILL, *prose(8, 300)])
    holds_more = record("2", [*MILL, *WEIR[:200]])
    tale = record("3", [*WEIR[:200], *MILL[:150]], "A Weir", "Bo Hill")
    assert gone(more_words, holds_more) == {"2": "1"}
    assert gone(more_words, holds_more, tale) == {"1": "2", "3": "2"}


def test_a_book_is_decided_after_those_that_have_its_text():
    # By what they hold alone, the novel would stay, and with it all that the omnibus has of it.
    tales = [record("1", WEIR[:900], "A Weir"), record("2", WEIR[900:1800], "A Ferry")]
    novel = record("3", [*MILL, *WEIR[:1800]])
    omnibus = record("4", [*MILL, *FERRY, *prose(60, 6000)], "An Omnibus")
    assert gone(*tales, novel) == {"1": "3", "2": "3"}
    assert gone(*tales, novel, omnibus) == {"3": "4"}


def test_ties_go_to_the_lower_number_and_numbers_go_before_names():
    assert gone(record("10", MILL), record("9", MILL)) == {"10": "9"}
    assert gone(record("a", MILL), record("10", MILL)) == {"a": "10"}
    other_title = record("7", MILL, "Another", "Name")
    assert gone(record("10", MILL), other_title) == {"10": "7"}


def test_one_key_makes_a_book_a_copy_that_is_none_without_it():
    spelt_otherwise = respelt(MILL, 0.14)
    shared, n = contain(record("1", spelt_otherwise).sketch, record("2", MILL).sketch)
    assert COPY_OF_WORK < shared / n < COPY
    assert gone(record("2", spelt_otherwise, "The Mill"), record("1", MILL, "A Mill")) == {"2": "1"}
    assert gone(record("2", spelt_otherwise, "A Weir"), record("1", MILL, "A Mill")) == {}


def test_a_book_of_which_a_third_is_elsewhere_stays():
    assert gone(record("1", [*MILL[:4000], *WEIR]), record("2", MILL, "Other")) == {}


def test_what_goes_goes_for_a_book_that_stays_and_not_for_one_that_goes():
    part, half, whole = MILL[:3000], MILL[:6000], MILL
    assert gone(record("1", part), record("2", half), record("3", whole)) == {"1": "3", "2": "3"}


def test_a_text_too_short_for_a_sketch_stays():
    assert gone(record("1", MILL[:200]), record("2", MILL), record("3", MILL[:200])) == {}
    empty = BookRecord("4", "", "", "", 0, np.empty(0, dtype=np.uint64))
    assert gone(empty, record("2", MILL)) == {}


def test_many_editions_of_one_work_leave_one():
    # More than have a run before it counts as a phrase.
    editions = [record(str(n), respelt(MILL, 0.001, seed=n)) for n in range(20)]
    same = [record(str(n), WEIR) for n in range(40, 60)]
    copies = find_copies([*editions, *same, record("99", FERRY)])
    assert len(copies) == 38
    assert "99" not in copies
    kept = {copy.kept for copy in copies.values()}
    assert len(kept) == 2
    assert kept > {"40"}


def test_phrases_of_many_books_make_no_copy():
    phrase = prose(50, 400)
    books = [record(str(n), [*prose(100 + n, 4000), *phrase]) for n in range(30)]
    assert gone(*books) == {}


def test_the_order_of_the_books_does_not_count():
    books = [record(str(n), respelt(MILL, n / 100, seed=n)) for n in range(6)]
    books += [record("10", MILL[:5000]), record("11", WEIR), record("12", [*WEIR, *MILL[5000:]])]
    expected = find_copies(books)
    for seed in range(3):
        random.Random(seed).shuffle(books)
        assert find_copies(books) == expected
    assert list(expected) == sorted(expected, key=int)


def test_two_books_with_one_id_are_refused():
    with pytest.raises(InputError, match="^found two books with the id 7, expected one$"):
        find_copies([record("7", MILL), record("7", WEIR)])


PARTS = [prose(200 + n, 900) for n in range(5)]


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4, unique=True), max_size=8))
@settings(max_examples=20, deadline=None)
def test_every_text_that_goes_stays_elsewhere_and_none_stays_twice(contents):
    books = [
        record(str(id), [word for part in parts for word in PARTS[part]], f"Title {id}")
        for id, parts in enumerate(contents)
    ]
    by_id = {book.id: book for book in books}
    copies = find_copies(books)
    for id, copy in copies.items():
        assert copy.kept not in copies
        shared, n = contain(by_id[id].sketch, by_id[copy.kept].sketch)
        assert shared / n >= COPY
        assert copy == Copy(copy.kept, shared / n)
    stay = [book for book in books if book.id not in copies]
    for one in stay:
        for other in stay:
            shared, n = contain(one.sketch, other.sketch)
            assert one is other or shared < 3 or shared / n < COPY


def test_overlaps_are_found_once_with_both_shares():
    books = [record("1", MILL[:6000]), record("2", MILL), record("3", WEIR)]
    (overlap,) = find_overlaps(books, 0.3)
    assert (overlap.first, overlap.second) == (0, 1)
    assert overlap.first_in_second > 0.95
    assert overlap.second_in_first == pytest.approx(0.5, abs=0.12)
    assert overlap.share == overlap.first_in_second
    assert list(find_overlaps(books, 0.3)) == [overlap]


def test_leaks_are_the_books_of_two_splits_that_share_text():
    books = [record("1", MILL[:6000]), record("2", MILL), record("3", WEIR), record("4", WEIR)]
    assert find_leaks(books, dict.fromkeys("1234", "train")) == []
    found = find_leaks(books, {"1": "train", "2": "test", "3": "train"})
    assert [(leak.book, leak.split, leak.other, leak.other_split) for leak in found] == [
        ("1", "train", "2", "test")
    ]
    assert found[0].share > 0.95
    stay = [book for book in books if book.id not in find_copies(books)]
    assert find_leaks(stay, {"2": "train", "3": "test", "4": "validation"}) == []


def test_time_grows_with_the_number_of_books():
    draw = np.random.default_rng(0)

    def corpus(n):
        return [
            BookRecord(
                str(id), f"Title {id}", "Ann Reed", "en", 300 * 128,
                np.unique(draw.integers(0, 2**57, size=300, dtype=np.uint64)),
            )
            for id in range(n)
        ]  # fmt: skip

    times = []
    for n in (300, 1800):
        books = corpus(n)
        start = time.process_time()
        assert find_copies(books) == {}
        times.append(time.process_time() - start)
    assert times[1] < 18 * times[0] + 0.3  # 36 times as long if every pair were looked at


@pytest.mark.slow
@pytest.mark.skipif(not BOOKS.is_dir(), reason="no real books")
def test_of_all_real_books_only_the_two_that_are_there_twice_are_copies():
    books = []
    for path in sorted(BOOKS.glob("*.htm*")):
        book = read_file(path, path.stem)
        texts = [block.text for block in book.blocks]
        n_words = sum(len(text.split()) for text in texts)
        sketch = sketch_texts(texts)
        books.append(BookRecord(path.stem, book.title, book.author, book.language, n_words, sketch))
    found = {id: copy.kept for id, copy in find_copies(books).items()}
    assert found == {"928-h": "pg11-images", "1342-h": "pg1342-images"}
    # Two unrelated books share less than a fiftieth.
    assert all(overlap.share > 0.9 for overlap in find_overlaps(books, 0.02))
