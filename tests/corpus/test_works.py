"""Works: words as numbers, sketches, keys, and which books are copies of others."""

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
    LARGEST,
    LIMIT,
    BookRecord,
    Copy,
    author_key,
    contain,
    find_copies,
    find_leaks,
    find_overlaps,
    fold,
    fold_words,
    hash_shingles,
    hash_words,
    limit_of,
    mix,
    sketch_texts,
    work_key,
)
from miner.errors import InputError


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


SAME_WORK = [
    [
        ("The Portrait of a Lady — Volume 1", "James, Henry, 1843-1916"),
        ("The Portrait of a Lady Volume 2 (of 2)", "Henry James"),
        ("The Portrait of a Lady", "James, Henry, 1843-1916; Roe, Ann [Illustrator]"),
        ("Portrait of a Lady, Complete", "Mr. Henry James"),
    ],
    [
        ("Moby Dick; Or, The Whale", "Melville, Herman, 1819-1891"),
        ("Moby-Dick", "Herman Melville"),
        ("MOBY DICK or The Whale", "Herman Melville"),
        ("Moby Dick (Illustrated Edition)", "Melville, Herman"),
    ],
    [
        ("Ivanhoe A Romance", "Walter Scott"),
        ("Ivanhoe: A Romance", "Scott, Walter, Sir, 1771-1832"),
    ],
    [
        ("The History of Don Quixote, Volume 2, Part 37", "Cervantes Saavedra, Miguel de"),
        ("The History of Don Quixote", "Miguel de Cervantes Saavedra"),
    ],
    [("A Book of Fairy Tales", "Ann Reed"), ("Book of Fairy Tales, Second Edition", "Reed, Ann")],
    [("The Mill, with 40 Illustrations", "Ann Reed"), ("The Mill in Three Volumes", "Reed, Ann")],
    [("Uarda : a Romance of Ancient Egypt — Volume 01", "Ebers, Georg"), ("Uarda", "G. Ebers")],
    # de, fr, es, it, pt, nl, hu
    [("Die Mühle. Zweiter Band", "Anna Ried"), ("Die Mühle - Roman", "Ried, Anna")],
    [("Mühle, 2. Teil", "Anna Ried"), ("Die Mühle (Vollständige Ausgabe)", "Ried, Anna")],
    [("Les misérables Tome I: Fantine", "Hugo, Victor"), ("Les Misérables", "Victor Hugo")],
    [("Le moulin, première partie", "Anne Ru"), ("Le Moulin: Édition illustrée", "Ru, Anne")],
    [("El molino (tomo segundo)", "Ana Ruiz"), ("El molino, novela", "Ruiz, Ana")],
    [("I mulini, vol. 1", "Anna Rossi"), ("I mulini. Romanzo", "Rossi, Anna")],
    [("Il mulino, parte prima", "Anna Rossi"), ("Il mulino; edizione illustrata", "Rossi, Anna")],
    [("O moinho, volume II", "Ana Reis"), ("O Moinho: romance", "Reis, Ana")],
    [("De molen. Eerste deel", "Anna Riet"), ("De Molen: Een Haagsche roman", "Riet, Anna")],
    [("A malom (1. kötet)", "Anna Rét"), ("A malom, második rész", "Rét, Anna")],
    [("Az arany ember (1. rész) Regény", "Mór Jókai"), ("Az arany ember", "Jókai, Mór")],
]


@pytest.mark.parametrize("editions", SAME_WORK, ids=lambda editions: editions[0][0])
def test_editions_and_volumes_of_a_work_have_one_key(editions):
    keys = {work_key(title, author, str(id)) for id, (title, author) in enumerate(editions)}
    assert len(keys) == 1
    assert not keys.pop().startswith("book ")


def test_different_works_have_different_keys():
    titles = [
        "Emma", "The Mill", "The Mills", "A Tale of Two Cities", "A Tale of Two Towns", "The Story",
        "The Jungle Book", "The Second Jungle Book", "King Henry IV", "King Henry V", "Something",
        "One", "Volume", "The First Men", "The Making of a Novel", "Roman", "Persuasion",
    ]  # fmt: skip
    keys = {title: work_key(title, "Ann Reed", "1") for title in titles}
    assert len(set(keys.values())) == len(titles), keys
    assert work_key("Emma", "Jane Austen", "1") != work_key("Emma", "Ann Reed", "1")


@pytest.mark.parametrize(
    ("title", "author"),
    [("", "Ann Reed"), ("The Mill", ""), (" ", " "), ("...", "Ann Reed"), ("The Mill", "(?)")],
)
def test_without_a_title_or_an_author_the_book_is_its_work(title, author):
    assert work_key(title, author, "77") == "book 77"


@pytest.mark.parametrize(
    "title", ["Volume 1", "Part Two", "Complete", "The", "A Novel", "(1)", "Or"]
)
def test_a_title_of_such_words_alone_is_a_title(title):
    key = work_key(title, "Ann Reed", "7")
    assert key == "book 7" or key.startswith("reed: ") and key != "reed: "


SAME_AUTHOR = [
    ["Dickens, Charles, 1812-1870", "Charles Dickens", "DICKENS, Charles", "Mr. Charles Dickens"],
    ["Brontë, Emily, 1818-1848", "Emily Bronte"],
    ["Twain, Mark, 1835-1910", "Mark Twain (Samuel Clemens)"],
    ["Dumas, Alexandre, 1802-1870", "Alexandre Dumas, Pere", "Alexandre Dumas père"],
    ["Orczy, Emmuska Orczy, Baroness, 1865-1947", "Baroness Orczy"],
    ["Lennep, J. van (Jacob)", "J. Van Lennep"],
    ["Pérez Galdós, Benito, 1843-1920", "Benito Pérez Galdós"],
    ["Bosboom-Toussaint, A. L. G.", "Anna Louisa Geertruida Bosboom-Toussaint"],
    ["Collodi, Carlo", "C. Collodi--Pseudonym of Carlo Lorenzini"],
    [
        "Roe, Ann [Illustrator]; Reed, Ann",
        "Reed, Ann; Roe, Ann [Translator]",
        "Ann Reed and Al Roe",
    ],
    ["Reed, Ann [Editor]", "Ann Reed, Jr.", "Ann Reed Jr"],
]


@pytest.mark.parametrize("names", SAME_AUTHOR, ids=lambda names: names[0])
def test_an_author_has_one_key_however_the_name_is_given(names):
    assert len({author_key("Some title", name, "1") for name in names}) == 1


@pytest.mark.parametrize("nobody", ["", "Various", "Anonymous", "Unknown"])
def test_books_of_nobody_are_not_of_one_author(nobody):
    assert author_key("The Mill", nobody, "1") != author_key("The Weir", nobody, "2")


def test_other_books_do_not_change_a_key():
    assert work_key("The Mill", "Ann Reed", "1") == work_key("The Mill", "Ann Reed", "2")
    assert author_key("The Mill", "Ann Reed", "1") == author_key("The Weir", "Ann Reed", "2")


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
