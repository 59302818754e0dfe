"""Letters of two editions: what folds to what, what pairs with what, and what never may."""

import html
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from helpers import BOOKS, needs_books
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.annotation.alignment import Alignment, align, fold_letters

WORDS = "the a of and ship river said to her his boat was not for ever night came down".split()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don’t _stop_!", ("don", "t", "stop")),
        ("CAFÉ cafe\u0301", ("cafe", "cafe")),
        ("Phœbe’s Encyclopædia", ("phoebe", "s", "encyclopaedia")),
        ("Straße ½ 3²", ("strasse", "12", "32")),
        ("to\u00adday al\u200dso", ("today", "also")),
        ("ﬁnd İzmir Ångström Øre", ("find", "izmir", "angstrom", "ore")),
        ("— … “”", ()),
        ("", ()),
    ],
)
def test_folding(text, words):
    assert fold_letters(text).words == words


@given(st.text())
@settings(max_examples=40, deadline=None)
def test_letters_know_where_they_came_from(text):
    folded = fold_letters(text)
    assert "".join(folded.words) == folded.text
    assert len(folded.offsets) == len(folded.text)
    assert list(folded.offsets) == sorted(folded.offsets)
    for letter, offset in zip(folded.text, folded.offsets, strict=True):
        assert letter.isalnum()
        assert letter in fold_letters(text[offset]).text


@given(st.text())
@settings(max_examples=40, deadline=None)
def test_folding_twice_is_folding_once(text):
    once = fold_letters(text).text
    assert fold_letters(once).text == once


def coverage(alignment: Alignment) -> float:
    """The share of the letters of the first text that have a counterpart; 1 without letters."""
    n_paired = sum(length for _, _, length in alignment.blocks)
    return n_paired / len(alignment.a.text) if alignment.a.text else 1.0


def check(alignment: Alignment) -> None:
    """Blocks rise in both texts, pair equal letters only and do not touch."""
    for at, to, length in alignment.blocks:
        assert length > 0
        assert alignment.a.text[at : at + length] == alignment.b.text[to : to + length]
        assert at + length <= len(alignment.a.text)
    for (i, j, n), (i_next, j_next, _) in pairwise(alignment.blocks):
        assert i + n <= i_next and j + n <= j_next and (i + n, j + n) != (i_next, j_next)
    assert 0.0 <= coverage(alignment) <= 1.0


@given(st.text(), st.text())
@settings(max_examples=40, deadline=None)
def test_only_equal_letters_pair(a, b):
    check(align(a, b))


@given(st.lists(st.sampled_from(WORDS)), st.lists(st.sampled_from(WORDS)))
@settings(max_examples=40, deadline=None)
def test_only_equal_letters_pair_in_like_texts(a, b):
    check(align(" ".join(a), " ".join(b)))


@given(st.text(), st.data())
@settings(max_examples=40, deadline=None)
def test_a_text_is_its_own_edition(text, data):
    alignment = align(text, text)
    assert coverage(alignment) == 1.0
    assert len(alignment.blocks) <= 1
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    place = alignment.to_b(start, end)
    low, high = alignment.a.within(start, end)
    assert (place is None) == (low == high)
    if place:
        assert fold_letters(text[slice(*place)]).text == fold_letters(text[start:end]).text


@given(st.lists(st.sampled_from(WORDS), min_size=1), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_punctuation_and_case_do_not_matter(words, rng):
    a = " ".join(words)
    b = "".join(rng.choice([w, w.upper(), f"_{w}_"]) + rng.choice([" ", ",\n", "—"]) for w in words)
    alignment = align(a, b)
    assert coverage(alignment) == coverage(alignment.reversed()) == 1.0
    start = rng.randrange(len(words))
    before = len(" ".join(words[:start])) + (start > 0)
    place = alignment.to_b(before, before + len(words[start]))
    assert place is not None
    assert b[slice(*place)].lower() == words[start]


@given(st.integers(0, 2**32), st.integers(200, 600))
@settings(max_examples=30, deadline=None)
def test_edited_texts_larger_than_a_small_gap(seed, size):
    rng = random.Random(seed)
    vocabulary = [f"w{k}" for k in range(150)]
    words = rng.choices(vocabulary, k=size)
    other = [rng.choice(vocabulary) if rng.random() < 0.05 else word for word in words]
    del other[50 : 50 + rng.randrange(40)]
    other[150:150] = rng.choices(vocabulary, k=rng.randrange(200))
    alignment = align(" ".join(words), " ".join(other))
    check(alignment)
    check(alignment.reversed())
    assert coverage(alignment) > 0.6


def test_editions_differ_in_hyphens_spelling_and_page_numbers():
    old = "To-day the grey mare was almost lame; for ever she shewed it, towards even-\ning."
    new = (
        "CHAP. I.\n\nToday the gray mare was al{2}most lame; forever she showed it toward evening."
    )
    alignment = align(old, new)
    check(alignment)
    assert coverage(alignment) > 0.95
    start = old.index("almost")
    place = alignment.to_b(start, start + len("almost lame;"))
    assert place is not None
    assert new[slice(*place)] == "al{2}most lame"  # marks at the ends are left outside


def test_words_of_one_edition_only_have_no_place():
    a = "The bell rang twice. Nobody, in the whole of that long winter, answered. It rang again."
    b = "The bell rang twice. It rang again."
    alignment = align(a, b)
    assert alignment.to_b(a.index("Nobody"), a.index(" It rang")) is None
    assert alignment.to_b(a.index("It"), len(a)) == (b.index("It"), len(b) - 1)
    assert coverage(alignment.reversed()) == 1.0


def test_a_span_without_letters_has_no_place():
    assert align("so — so", "so — so").to_b(2, 5) is None
    assert coverage(align("", "so")) == 1.0


def test_share_says_how_much_of_a_span_must_be_found():
    a, b = "one two zzzzzzzzz qqqqqqqqq four five", "one two four five"
    alignment = align(a, b)
    whole = (4, len(a))
    assert alignment.to_b(*whole) is None
    assert alignment.to_b(*whole, share=0.3) == (4, len(b))


def test_a_passage_moved_elsewhere_is_left_unpaired():
    first = "When the tide went out the children ran down to look for shells under the pier"
    second = "Nothing had been heard of the captain since he sailed north with eleven men in May"
    tail = "and so the year ended"
    alignment = align(f"{first}. {second}. {tail}.", f"{second}. {first}. {tail}.")
    check(alignment)
    assert coverage(alignment) < 0.7


def naive_text(path: Path) -> str:
    page = path.read_bytes().decode("utf-8", errors="replace")
    page = re.sub(r"(?s)<(head|style|script)\b.*?</\1>", "", page)
    return html.unescape(re.sub(r"<[^>]+>", "", page))


@pytest.mark.slow
@needs_books
def test_two_real_editions_of_one_novel():
    plain, illustrated = (naive_text(BOOKS / name) for name in ("1342-h.htm", "pg1342-images.html"))
    alignment = align(plain, illustrated)
    check(alignment)
    assert coverage(alignment) >= 0.97
    start = plain.index(" ", len(plain) // 2)
    place = alignment.to_b(start, start + 60)
    assert place is not None
    assert (
        fold_letters(illustrated[slice(*place)]).text
        == fold_letters(plain[start : start + 60]).text
    )
