"""Word counts: what a word is, exact sums in any order, divergence, rare words, bytes."""

import math
import random
import tracemalloc

import numpy as np
import pytest

from miner.corpus import word_counts
from miner.corpus.word_counts import (
    NO_WORDS,
    WordCounts,
    add_counts,
    count_words,
    frequent_words,
    hash_words,
    kl_divergence,
    share_of_rare_words,
    split_words,
)
from miner.errors import InputError


def as_dict(counts):
    return dict(zip(counts.hashes.tolist(), counts.counts.tolist(), strict=True))


def expected(words):
    """The counts of words that are given with their numbers."""
    hashes = hash_words(words).tolist()
    return dict(zip(hashes, words.values(), strict=True))


@pytest.mark.parametrize(
    "text, words",
    [
        ("“Don’t _go_,” said Mr. O'Neil.", ["don", "t", "go", "said", "mr", "o", "neil"]),
        ("L’abbé, où est-il?", ["l", "abbé", "où", "est", "il"]),
        ("Schön! »ÄPFEL« für 3,50 Mark", ["schön", "äpfel", "für", "mark"]),
        ("—¿Señor?—dijo Ana.", ["señor", "dijo", "ana"]),
        ("– Jó napot, Őfelsége!", ["jó", "napot", "őfelsége"]),
        ("Perché no? È così.", ["perché", "no", "è", "così"]),
        ("„’t Is één huis”", ["t", "is", "één", "huis"]),
        ("Não, coração…", ["não", "coração"]),
        ("1866 — * * *", []),
    ],
)
def test_a_word_is_a_run_of_letters_in_every_language(text, words):
    assert split_words(text) == words
    assert count_words([text]).n_words == len(words)


def test_words_are_counted_over_all_texts_whatever_stands_around_them():
    counts = count_words(["The lamp, the LAMP!", "Lamp", "a--lamp", ""])
    assert as_dict(counts) == expected({"the": 2, "lamp": 4, "a": 1})
    assert counts.n_words == 7 and counts.n_distinct == 3
    assert count_words([]).to_bytes() == NO_WORDS.to_bytes()


def test_hashes_are_the_same_everywhere():
    # As `printf lamp | b2sum -l 64` prints them, the lowest byte first.
    found = hash_words(["lamp", "abbé"]).astype("<u8").tobytes()
    assert found.hex() == "2afc15e301f7046ba00e56a742b9f00a"


def books_of(n, seed=0):
    draw = random.Random(seed)
    return [
        count_words([" ".join(draw.choice("abcdefgh") + draw.choice("xyz") for _ in range(40))])
        for _ in range(n)
    ]


@pytest.mark.parametrize("fewest", [1, 30, 1 << 20])
def test_sums_are_exact_in_any_order_and_however_many_wait(monkeypatch, fewest):
    monkeypatch.setattr(word_counts, "_FEWEST_WAITING", fewest)
    books = books_of(50)
    total: dict[int, int] = {}
    for book in books:
        for word, count in as_dict(book).items():
            total[word] = total.get(word, 0) + count
    added = add_counts(books)
    assert as_dict(added) == total
    assert add_counts(books[::-1]).to_bytes() == added.to_bytes()
    assert add_counts([add_counts(books[:7]), add_counts(books[7:])]).to_bytes() == added.to_bytes()
    assert as_dict(books[0]) != total  # nothing is added in place


def test_the_sum_of_no_counts_is_empty():
    assert add_counts([]).n_words == 0
    assert add_counts([NO_WORDS, NO_WORDS]).n_distinct == 0


def test_memory_does_not_grow_with_the_number_of_books(monkeypatch):
    monkeypatch.setattr(word_counts, "_FEWEST_WAITING", 1 << 12)
    hashes = np.arange(1, 20_001, dtype=np.uint64)

    def peak(n_books):
        tracemalloc.start()
        add_counts(
            WordCounts(hashes[n % 20 :: 20].copy(), np.ones(1000, np.int64)) for n in range(n_books)
        )
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(1000) < 1.3 * peak(100)
    assert peak(100) < 80 * 20_000


def test_divergence_is_that_of_the_formula_in_nats():
    book, other = count_words(["a a a b"]), count_words(["b b c c"])
    total = add_counts([book, other])  # a 3, b 3, c 2 of 8
    wanted = 3 / 4 * math.log((3 / 4) / (3 / 8)) + 1 / 4 * math.log((1 / 4) / (3 / 8))
    assert kl_divergence(book, total) == pytest.approx(wanted, abs=1e-15)
    assert kl_divergence(total, total) == 0
    assert kl_divergence(NO_WORDS, total) == 0


def test_divergence_is_refused_where_the_book_is_not_among_all_books():
    with pytest.raises(ValueError, match="^found 1 words of the book that the counts of all books"):
        kl_divergence(count_words(["a z"]), count_words(["a b"]))
    with pytest.raises(ValueError, match="found 2 words"):
        kl_divergence(count_words(["a z"]), NO_WORDS)


def test_frequent_words_are_those_with_most_counts_and_ties_go_by_hash():
    total = count_words(["often often often twice twice x y z"])
    ones = sorted(hash_words(["x", "y", "z"]).tolist())
    taken = frequent_words(total, 3).tolist()
    assert taken == sorted([*hash_words(["often", "twice"]).tolist(), ones[0]])
    assert len(frequent_words(total, 100)) == 5
    with pytest.raises(InputError, match="found 0 frequent words, expected at least 1"):
        frequent_words(total, 0)


def test_the_share_of_rare_words_counts_each_word_as_often_as_it_is_there():
    frequent = frequent_words(count_words(["the the lamp lamp burns"]), 2)
    assert share_of_rare_words("The lamp burns, the LAMP burns low.", frequent) == 3 / 7
    assert share_of_rare_words("…!", frequent) == 0
    assert share_of_rare_words("Zounds", np.empty(0, np.uint64)) == 1
    # A hash above all of the frequent ones is looked for, too.
    assert share_of_rare_words("one two three four five six", frequent) == 1


def test_bytes_give_the_counts_again_with_nine_bytes_for_most_words():
    counts = count_words(["a b " * 300 + "c " * 255 + "d " * 254, "e"])
    data = counts.to_bytes()
    read = WordCounts.from_bytes(data)
    assert as_dict(read) == expected({"a": 300, "b": 300, "c": 255, "d": 254, "e": 1})
    assert read.to_bytes() == data == add_counts([counts]).to_bytes()
    assert len(data) == 17 + 5 * 9 + 3 * 8
    assert WordCounts.from_bytes(NO_WORDS.to_bytes()).n_distinct == 0


@pytest.mark.parametrize(
    "change, message",
    [
        (
            lambda data: b"\x02" + data[1:],
            "found word counts of version b'\\x02', expected b'\\x01'",
        ),
        (lambda data: b"", "found word counts of version b'', expected b'\\x01'"),
        (lambda data: data[:-1], "found 42 bytes of word counts that are not whole"),
        (lambda data: data + b"\0", "found 44 bytes of word counts that are not whole"),
        (lambda data: data[:9], "found 9 bytes of word counts that are not whole"),
        (
            lambda data: data[:33] + b"\x01" + data[34:],
            "found 43 bytes of word counts that are not",
        ),
    ],
)
def test_bytes_that_are_no_counts_are_refused(change, message):
    data = count_words(["a " * 300 + "b"]).to_bytes()
    with pytest.raises(InputError) as error:
        WordCounts.from_bytes(change(data))
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "hashes, counts", [([2, 1], [1, 1]), ([1, 1], [1, 1]), ([1, 2], [1, 0]), ([1, 2], [1])]
)
def test_counts_check_themselves(hashes, counts):
    with pytest.raises(ValueError, match="found"):
        WordCounts(np.array(hashes, np.uint64), np.array(counts, np.int64))
