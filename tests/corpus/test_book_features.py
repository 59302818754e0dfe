"""What is counted in a book: its words, exact sums of them, divergence, rare words, delimiters."""

import math
import random
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from helpers import DATA

from miner.books.book import BlockKind
from miner.corpus import book_features
from miner.corpus.book_features import (
    NO_WORDS,
    BookFeatures,
    WordCounts,
    add_counts,
    count_delimiters,
    count_words,
    find_features,
    frequent_words,
    hash_words,
    kl_divergence,
    share_of_rare_words,
    split_words,
)
from miner.errors import InputError
from miner.speech.read import parse_spans


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
    assert as_dict(count_words([])) == {}


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
    monkeypatch.setattr(book_features, "_FEWEST_WAITING", fewest)
    books = books_of(50)
    total: dict[int, int] = {}
    for book in books:
        for word, count in as_dict(book).items():
            total[word] = total.get(word, 0) + count
    added = add_counts(books)
    assert as_dict(added) == total
    for other in (books[::-1], [add_counts(books[:7]), add_counts(books[7:])]):
        again = add_counts(other)
        assert np.array_equal(again.hashes, added.hashes)
        assert np.array_equal(again.counts, added.counts)
    assert as_dict(books[0]) != total  # nothing is added in place


def test_the_sum_of_no_counts_is_empty():
    assert add_counts([]).n_words == 0
    assert add_counts([NO_WORDS, NO_WORDS]).n_distinct == 0


def test_memory_does_not_grow_with_the_number_of_books(monkeypatch):
    monkeypatch.setattr(book_features, "_FEWEST_WAITING", 1 << 12)
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


@pytest.mark.parametrize(
    "hashes, counts", [([2, 1], [1, 1]), ([1, 1], [1, 1]), ([1, 2], [1, 0]), ([1, 2], [1])]
)
def test_counts_check_themselves(hashes, counts):
    with pytest.raises(ValueError, match="found"):
        WordCounts(np.array(hashes, np.uint64), np.array(counts, np.int64))


PAGE = """<html lang="{language}"><head><title>The Lamp</title></head><body>
<h1>THE LAMP</h1><h2>CHAPTER I</h2>
{body}
</body></html>"""
STORY = """<p>Mara stood on the stair of the lighthouse with one hand on the rail, and looked up at
the dark room above her where the lamp should have been.</p>
<p>“Is it lit?” she asked. “Tobin, answer me.”</p>
<p>“It was,” said he, “until the oil ran out.</p>
<p>“And then the ‘keeper’ went to bed.”</p>
"""


def spans_of(body, language="en", quotes=()):
    page = PAGE.format(language=language, body=body)
    return parse_spans(page.encode(), "7", quotes, classified=False)


def test_words_are_those_of_all_blocks():
    book_spans = spans_of(STORY + '<p class="footnote">[Footnote 1: A lamp of whale oil.]</p>')
    features = find_features(book_spans)
    assert features.n_words == book_spans.book.n_words == 64
    assert features.words.n_words == count_words(b.text for b in book_spans.book.blocks).n_words
    whale = count_words(["whale"]).hashes[0]
    assert whale in features.words.hashes


def test_delimiters_are_two_for_each_opening_mark_of_the_book():
    # Five openings; the nested marks are no marks of this book's speech.
    assert count_delimiters(spans_of(STORY)) == 10
    # An apostrophe is no mark.
    text = "<p>'Don't go,' said the 'keeper'.</p><p>'I won't,' said Mara.</p>" * 3
    assert count_delimiters(spans_of(text, quotes=("single-straight",))) == 2 * 9


def test_marks_around_what_is_no_speech_are_delimiters_too():
    book_spans = spans_of(STORY + "<p>Her father wrote the ballad called “The Lamp” there.</p>")
    assert [span.text for span in book_spans.spans if span.quoted] == ["“The Lamp”"]
    assert count_delimiters(book_spans) == 12


def test_a_dash_that_opens_speech_counts_for_its_end_too():
    text = "<p>—Ven aquí —dijo Ana—, que es tarde.</p><p>Nadie vino.</p>" * 4
    assert count_delimiters(spans_of(text, "es", ("dash",))) == 2 * 4


def test_delimiters_stand_in_10_000_words():
    features = find_features(spans_of(STORY))
    assert features.delimiters_per_10_000_words == 10_000 * 10 / features.n_words
    empty = BookFeatures(count_words([]), 0, 0, "", 0.0)
    assert empty.delimiters_per_10_000_words == 0


def test_letters_and_verse_are_named_by_their_blocks():
    poem = "<div class='poem'><p>The lamp is out,<br>the stair is long,<br>and nobody</p></div>"
    features = find_features(spans_of(STORY + poem + "<p>Then nobody spoke for a long time.</p>"))
    assert features.set_pieces == (6,)
    assert find_features(spans_of(STORY)).set_pieces == ()


def test_the_language_is_that_of_the_paragraphs_whatever_the_file_claims():
    spanish = (
        "<p>El viejo molinero estaba junto a la ventana y miraba el patio, donde los niños jugaban "
        "con el perro desde la mañana.</p><p>—Hoy va a llover —dijo en voz baja.</p>"
    )
    book_spans = spans_of(spanish, "en", ("dash",))
    features = find_features(book_spans)
    assert book_spans.book.language == "en"
    assert (features.language, features.language_confidence) == ("es", 1.0)
    french = parse_spans((DATA / "guillemets_fr.html").read_bytes(), "clef")
    assert find_features(french).language == "fr"


def test_verse_and_letters_show_the_language_where_there_is_no_paragraph():
    prose = spans_of(STORY)
    verse = tuple(replace(block, kind=BlockKind.VERSE) for block in prose.book.blocks)
    in_verse = replace(prose, book=replace(prose.book, blocks=verse))
    assert find_features(in_verse).language == "en"
    assert find_features(in_verse).set_pieces == tuple(range(len(verse)))
