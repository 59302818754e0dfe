"""Which split a book is in."""

from collections import Counter

import pytest
from copies_helpers import prose, record
from hypothesis import given
from hypothesis import strategies as st

from miner.corpus.recipe import (
    SPLITS,
    SplitSettings,
    divide_books,
    explain_empty_splits,
    read_split_list,
    split_of,
)
from miner.corpus.works import BookRecord, find_leaks
from miner.errors import InputError


def book(id, title=None, author="Ann Reed"):
    return BookRecord(str(id), title or f"Title {id}", author, "en", 1000, None)


BOOKS = [book(id) for id in range(2000)]


def shares(books, settings):
    return Counter(split_of(each, settings) for each in books)


def test_shares_are_those_of_the_settings():
    counts = shares(BOOKS, SplitSettings())
    assert set(counts) == {"train", "validation", "test"}
    assert counts["train"] / 2000 == pytest.approx(0.90, abs=0.02)
    assert counts["test"] / 2000 == pytest.approx(0.05, abs=0.015)


@pytest.mark.parametrize("out", ["train", "validation", "test"])
def test_a_share_of_nothing_leaves_a_split_out(out):
    settings = SplitSettings(**{"train": 50, "validation": 50, "test": 50, out: 0})
    assert out not in settings.names
    assert set(shares(BOOKS, settings)) == set(settings.names)
    assert set(shares(BOOKS, SplitSettings(train=100, validation=0, test=0))) == {"train"}


def test_a_hash_of_nine_to_one_is_possible():
    counts = shares(BOOKS, SplitSettings(train=90, validation=0, test=10))
    assert counts["test"] / 2000 == pytest.approx(0.10, abs=0.02)


def test_the_split_of_a_book_is_the_same_on_every_machine():
    # Where these change, books of older corpora move.
    found = [split_of(each, SplitSettings(train=40, validation=30, test=30)) for each in BOOKS[:8]]
    assert found == ["train", "test", "validation", "test", "validation", "train", "train", "test"]


def test_a_growing_corpus_moves_no_book():
    few = divide_books(BOOKS[5:50], SplitSettings()).splits
    many = divide_books(BOOKS[::-1], SplitSettings()).splits
    assert all(many[id] == split for id, split in few.items())


SPREAD = {"train": 34, "validation": 33, "test": 33}


def test_editions_volumes_and_translations_of_a_work_are_in_one_split():
    for n in range(40):
        editions = [
            book(10 * n, f"Mill {n}x", "Ann Reed"),
            book(10 * n + 1, f"The Mill {n}x — Volume 2", "Reed, Ann, 1800-1870"),
            book(10 * n + 2, f"Mill {n}x: A Romance", "Reed, Ann; Roe, Al [Translator]"),
        ]
        assert len(shares(editions, SplitSettings(**SPREAD))) == 1
    # By book nothing but the id counts.
    same = [book(id, "The Mill") for id in range(60)]
    assert len(shares(same, SplitSettings("book", **SPREAD))) == 3
    assert len(shares(same, SplitSettings("work", **SPREAD))) == 1


def test_all_books_of_an_author_are_in_one_split():
    for surname in ("Dickens", "Reed", "Roe", "Hill", "Moor"):
        names = [f"{surname}, Charles, 1812-1870", f"Charles {surname}", f"Mr. {surname}"]
        books = [book(id, None, name) for id, name in enumerate(names * 5)]
        assert len(shares(books, SplitSettings("author", **SPREAD))) == 1
    assert len(shares(BOOKS[:60], SplitSettings("author", **SPREAD))) == 1
    anybody = [book(id, None, "Various") for id in range(60)]
    assert len(shares(anybody, SplitSettings("author", **SPREAD))) == 3


@given(st.sampled_from(["work", "book", "author"]), st.integers(0, 100), st.integers(0, 100))
def test_every_book_has_one_of_the_splits_that_are_not_left_out(by, one, other):
    train, validation = min(one, other), abs(one - other)
    settings = SplitSettings(by, train, validation, 100 - train - validation)
    splits = divide_books(BOOKS[:30], settings).splits
    assert list(splits) == [each.id for each in BOOKS[:30]]
    assert set(splits.values()) <= set(settings.names)


def test_no_text_of_one_split_is_in_another():
    texts = [prose(400 + n, 2000) for n in range(12)]
    volumes = [
        record(f"{n}{half}", text[1000 * half :][:1100], f"Mill {n}x, volume {half + 1}")
        for n, text in enumerate(texts)
        for half in (0, 1)
    ]
    editions = [record(f"{n}9", text, f"The Mill {n}x") for n, text in enumerate(texts)]
    books = [*volumes, *editions]
    splits = divide_books(books, SplitSettings(**SPREAD)).splits
    assert len(set(splits.values())) == 3
    assert find_leaks(books, splits) == []
    by_book = divide_books(books, SplitSettings("book", **SPREAD)).splits
    assert find_leaks(books, by_book) != []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": "title"}, "by: found 'title', expected one of work, book, author"),
        ({"unlisted": "no"}, "unlisted: found 'no', expected one of error, hash"),
        ({"train": -5, "test": 100}, "train: found -5 percent, expected 0 to 100"),
        ({"test": 101}, "test: found 101 percent, expected 0 to 100"),
        ({"test": float("nan")}, "test: found nan percent, expected 0 to 100"),
        ({"test": "5"}, "test: found '5', expected a number of percent"),
        ({"test": True}, "test: found True, expected a number of percent"),
        (
            {"train": 80},
            "found splits of 90 percent (train 80, validation 5, test 5), expected 100",
        ),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(InputError) as caught:
        SplitSettings(**settings)
    assert str(caught.value) == message


def test_thirds_are_whole():
    third = 100 / 3
    settings = SplitSettings(train=third, validation=third, test=third)
    assert len(shares(BOOKS, settings)) == 3


def listed(tmp_path, text):
    path = tmp_path / "splits.csv"
    path.write_text(text, encoding="utf-8")
    return read_split_list(path)


def test_a_fixed_list_goes_before_the_hash(tmp_path):
    fixed = listed(
        tmp_path, "\ufeffbook,split\r\n0,test\n\n1, validation\n900000,train\nx y,test\n"
    )
    assert fixed == {"0": "test", "1": "validation", "900000": "train", "x y": "test"}
    division = divide_books(BOOKS[:2], SplitSettings(), fixed)
    assert division.splits == {"0": "test", "1": "validation"}
    assert division.unused == ("900000", "x y")
    assert divide_books(BOOKS[:2], SplitSettings()).unused == ()


def test_a_book_that_a_fixed_list_lacks_is_an_error_or_has_its_hash(tmp_path):
    fixed = listed(tmp_path, "book,split\n0,test\n")
    with pytest.raises(InputError, match="^the list of splits has no book 1 and 2 more, expected "):
        divide_books(BOOKS[:4], SplitSettings(), fixed)
    with pytest.raises(InputError, match="^the list of splits has no book 1, expected every book "):
        divide_books(BOOKS[:2], SplitSettings(), fixed)
    division = divide_books(BOOKS[:4], SplitSettings(unlisted="hash"), fixed)
    assert division.splits["0"] == "test"
    assert division.splits["3"] == split_of(BOOKS[3], SplitSettings())
    with pytest.raises(InputError, match="no book 0"):
        divide_books(BOOKS[:1], SplitSettings(), {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "splits.csv:1: found '', expected 'book,split'"),
        ("id,split\n1,test\n", "splits.csv:1: found 'id,split', expected 'book,split'"),
        ("book,split\n1,dev\n", "splits.csv:2: found split 'dev', expected one of train, "),
        ("book,split\n1\n", "splits.csv:2: found 1 columns, expected book and split"),
        ("book,split\n1,test\n1,test\n", "splits.csv:3: found book 1 twice, expected each book "),
        ("book,split\n ,test\n", "splits.csv:2: found no book, expected each book once"),
    ],
)
def test_a_bad_list_is_refused_with_its_line(tmp_path, text, message):
    with pytest.raises(InputError) as caught:
        listed(tmp_path, text)
    assert message in str(caught.value)


@pytest.mark.parametrize("by", ["work", "book", "author"])
@pytest.mark.parametrize("gone", SPLITS)
def test_every_split_without_a_book_is_explained(by, gone):
    settings = SplitSettings(by)
    assert explain_empty_splits(SPLITS, settings, 3) == ""
    line = explain_empty_splits([name for name in SPLITS if name != gone], settings, 14)
    assert line.startswith(f"no book is in {gone} ({getattr(settings, gone):g}%): ")
    assert f"of the {by} divides 14 books" in line
    assert ('by = "work"' in line) == (by == "author")
    shares = {"train": 50, "validation": 50, "test": 50, gone: 0}
    left_out = SplitSettings(by, **shares)  # nobody asked for it
    assert explain_empty_splits([name for name in SPLITS if name != gone], left_out, 14) == ""
