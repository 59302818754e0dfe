"""Settings of the filters, and which books they leave out."""

import math
from dataclasses import replace
from functools import partial

import pytest
from dialogue_checks import book_of

from miner.corpus.book_features import BookFeatures, add_counts, count_words, frequent_words
from miner.corpus.filters import (
    FilterSettings,
    find_book_reason,
    find_language_reason,
    has_rare_words,
)
from miner.errors import InputError
from miner.speech.dialogues import decode_dialogues
from miner.speech.filters import DialogueLimits

SETTINGS = FilterSettings()


def test_the_defaults_are_those_of_the_paper():
    assert SETTINGS == FilterSettings(
        own_language=True,
        max_kl_divergence=2.0,
        min_words_for_kl=20_000,
        min_delimiters=150,
        max_turn_words=100,
        set_pieces=True,
        min_confidence=None,
        min_turns=2,
        max_rare_words=0.2,
        n_frequent_words=100_000,
    )
    assert SETTINGS.limits == DialogueLimits(100, 0.0, 2)


@pytest.mark.parametrize("off", [False, None])
def test_each_filter_can_be_switched_off(off):
    names = ("max_kl_divergence", "min_delimiters", "max_turn_words", "min_confidence")
    names += ("min_turns", "max_rare_words", "own_language", "set_pieces")
    settings = FilterSettings(**dict.fromkeys(names, off))
    assert {getattr(settings, name) for name in names[:6]} == {None}
    assert (settings.own_language, settings.set_pieces) == (False, False)
    assert settings.limits == DialogueLimits(None, 0.0, 1)
    assert settings.rare_by(frequent_words(count_words(["a"]), 1)) is None


@pytest.mark.parametrize(
    "name, value, expected",
    [
        ("max_kl_divergence", -1, "a number of at least 0, or false"),
        ("max_kl_divergence", "2", "a number of at least 0, or false"),
        ("max_kl_divergence", True, "a number of at least 0, or false"),
        ("max_kl_divergence", math.nan, "a number of at least 0, or false"),
        ("max_kl_divergence", math.inf, "a number of at least 0, or false"),
        ("min_words_for_kl", False, "a whole number of at least 0"),
        ("min_words_for_kl", 0.5, "a whole number of at least 0"),
        ("min_delimiters", [150], "a number of at least 0, or false"),
        ("max_turn_words", 0, "a whole number of at least 1, or false"),
        ("max_turn_words", 99.5, "a whole number of at least 1, or false"),
        ("min_confidence", 1.01, "a number from 0 to 1, or false"),
        ("min_turns", True, "a whole number of at least 1, or false"),
        ("max_rare_words", 20, "a number from 0 to 1, or false"),
        ("n_frequent_words", None, "a whole number of at least 1"),
        ("own_language", "en", "true or false"),
        ("set_pieces", 1, "true or false"),
    ],
)
def test_a_wrong_value_is_refused_with_its_field(name, value, expected):
    with pytest.raises(InputError) as error:
        FilterSettings(**{name: value})
    assert str(error.value) == f"{name}: found {value!r}, expected {expected}"


USUAL = count_words(["the lamp is lit " * 5000])  # 20,000 words
UNUSUAL = count_words(["ye lampe ys lyt " * 5000])
TOTAL = add_counts([USUAL] * 30 + [UNUSUAL])
BOOK = BookFeatures(USUAL, 20_000, 300, "en", 1.0)


def reason_of(facts, **settings):
    return find_book_reason(facts, FilterSettings(**settings), TOTAL)


def test_a_book_of_unusual_words_goes_unless_it_is_short():
    assert reason_of(BOOK) == ""
    unusual = replace(BOOK, words=UNUSUAL)  # its divergence is ln 31
    assert reason_of(unusual) == "max_kl_divergence"
    assert reason_of(replace(unusual, n_words=19_999)) == ""
    assert reason_of(replace(unusual, n_words=19_999), min_words_for_kl=19_999) != ""
    assert reason_of(unusual, max_kl_divergence=math.log(31) + 1e-9) == ""
    assert reason_of(unusual, max_kl_divergence=False) == ""


def test_a_book_with_little_speech_goes_however_short_it_is():
    assert reason_of(replace(BOOK, n_delimiters=299)) == "min_delimiters"
    assert reason_of(replace(BOOK, n_words=200, n_delimiters=3)) == ""
    assert reason_of(replace(BOOK, n_words=200, n_delimiters=2)) == "min_delimiters"
    assert reason_of(replace(BOOK, n_delimiters=0), min_delimiters=False) == ""


def test_unusual_words_are_judged_before_speech():
    assert reason_of(replace(BOOK, words=UNUSUAL, n_delimiters=0)) == "max_kl_divergence"


def test_a_book_in_another_language_than_it_claims_goes():
    reason = partial(find_language_reason, settings=SETTINGS)
    spanish = replace(BOOK, language="es")
    assert reason(spanish, "en") == "own_language"
    assert reason(spanish, "es") == ""
    assert reason(spanish, "") == ""  # it claims none
    assert reason(spanish, "volapük") == ""  # nobody can tell
    assert reason(replace(BOOK, language=""), "en") == ""
    assert find_language_reason(spanish, "en", FilterSettings(own_language=False)) == ""


def test_a_dialogue_goes_if_more_than_a_share_of_its_words_is_rare():
    (dialogue,) = decode_dialogues(book_of("SRRRR"))
    turns = []
    for turn, text in zip(dialogue.turns, ["The lamp", "is", "lit", "the", "lampe"], strict=True):
        span = replace(turn.spans[0], text=f"“{text}”")
        turns.append(replace(turn, spans=(span,)))
    dialogue = replace(dialogue, turns=tuple(turns))  # 1 of 6 words is rare
    frequent = frequent_words(USUAL, 4)
    assert has_rare_words(dialogue, frequent, 0.16)
    assert not has_rare_words(dialogue, frequent, 1 / 6)
    is_rare = FilterSettings(max_rare_words=0.16).rare_by(frequent)
    assert is_rare is not None and is_rare(dialogue)
    assert not SETTINGS.rare_by(frequent)(dialogue)
