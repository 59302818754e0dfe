"""Filters on books: settings of a recipe, and the table of what they took."""

import json
import math
from dataclasses import replace
from functools import partial

import pytest
from dialogue_checks import book_of
from helpers import DATA

import miner
from miner.corpus.book_features import BookFeatures, add_counts, count_words, frequent_words
from miner.corpus.filters import (
    FilterLine,
    FilterSettings,
    LanguageFilter,
    describe_filters,
    find_book_reason,
    find_language_reason,
    has_rare_words,
    tabulate_filters,
)
from miner.errors import InputError
from miner.speech.dialogues import decode_dialogues
from miner.speech.filters import Amount, DialogueLimits, FilterCount, FilterCounts

BOOKS = (DATA / "dash.htm", DATA / "guillemets_fr.html")


def test_books_of_other_languages_are_set_aside(tmp_path):
    out = tmp_path / "out"
    filters = [LanguageFilter("en")]
    run = miner.mine_corpus(BOOKS, out, tagger="gap", filters=filters).finish()
    assert [entry["id"] for entry in run.entries] == ["dash"]
    record = json.loads((out / "run.json").read_bytes())
    assert record["set_aside"] == [
        {"file": "guillemets_fr.html", "why": "a book in fr, expected en"}
    ]
    assert record["filters"] == ["LanguageFilter('en')"]


def test_a_function_may_be_a_filter():
    def is_long(book_spans):
        return len(book_spans.spans) > 10_000 or "a short book"

    run = miner.mine_corpus(BOOKS, tagger="gap", filters=[is_long]).finish()
    assert run.entries == [] and {item.why for item in run.set_aside} == {"a short book"}


@pytest.mark.parametrize("answer", [False, None, "", 0])
def test_a_filter_that_gives_no_reason_is_named(answer):
    def is_liked(book_spans):
        return answer

    run = miner.mine_corpus(BOOKS[0], tagger="gap", filters=is_liked).finish()
    (item,) = run.set_aside
    assert item.why.startswith("refused by ") and item.why.endswith("is_liked")


def test_any_true_answer_but_text_takes_the_book():
    run = miner.mine_corpus(BOOKS[0], tagger="gap", filters=lambda book_spans: 1).finish()
    assert len(run.entries) == 1


def test_a_run_with_a_function_as_filter_is_resumed(tmp_path):
    out = tmp_path / "out"

    def options():  # another function of the same name each time, as in another process
        return {"tagger": "gap", "filters": [lambda book_spans: True]}

    with miner.mine_corpus(BOOKS, out, **options()) as run:
        next(run)
    miner.mine_corpus(BOOKS, out, **options(), resume=True).finish()
    assert " at 0x" not in (out / "run.json").read_text()


def test_a_filter_that_cannot_be_called_is_one_line():
    with pytest.raises(TypeError, match="found 'en' as a filter, expected a function"):
        miner.mine_corpus(BOOKS, tagger="gap", filters=["en"])


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


OFF = FilterSettings(
    own_language=False,
    max_kl_divergence=False,
    min_delimiters=False,
    max_turn_words=False,
    set_pieces=False,
    min_turns=False,
    max_rare_words=False,
)


def test_each_filter_has_a_line_with_its_value_in_the_order_in_which_they_take():
    lines = describe_filters(FilterSettings(max_turn_words=1000, min_confidence=0.7))
    assert [(line.name, line.parameter, line.unit) for line in lines] == [
        ("own_language", "", "books"),
        ("max_kl_divergence", "KL divergence above 2", "books"),
        ("min_delimiters", "under 150 marks in 10,000 words", "books"),
        ("empty_turns", "", "turns"),
        ("max_turn_words", "over 1,000 words", "turns"),
        ("set_pieces", "", "turns"),
        ("min_confidence", "confidence below 0.7", "pairs"),
        ("min_turns", "under 2 turns", "dialogues"),
        ("max_rare_words", "over 20% rare words", "dialogues"),
    ]


def test_a_filter_that_is_off_has_no_line():
    assert [line.name for line in describe_filters(OFF)] == ["empty_turns"]
    assert "min_confidence" not in [line.name for line in describe_filters(FilterSettings())]


def test_shares_are_of_what_came_to_the_filter_in_its_own_unit():
    counts = FilterCounts(
        dialogues={
            "empty_turns": FilterCount(Amount(6, 100, 500, 400), Amount()),
            "max_turn_words": FilterCount(Amount(6, 100, 500, 400), Amount(0, 2, 20, 30)),
            "min_turns": FilterCount(Amount(6, 110, 480, 370), Amount(1, 55, 60, 5)),
        }
    )
    counts = counts.add_book("own_language", 8, 20).add_book("own_language", 2, 10)
    counts = counts.add_book("min_delimiters", 1, 3).add_book("works", 50, 200)
    rows = tabulate_filters(counts, describe_filters(FilterSettings(set_pieces=False)))
    assert [(row.line.name, row.taken, row.came, row.share) for row in rows] == [
        ("own_language", Amount(2, 10, 30, 20), 10, 0.2),
        ("max_kl_divergence", Amount(), 8, 0.0),
        ("min_delimiters", Amount(1, 1, 3, 2), 8, 0.125),
        ("empty_turns", Amount(), 500, 0.0),
        ("max_turn_words", Amount(0, 2, 20, 30), 500, 0.04),
        ("min_turns", Amount(1, 55, 60, 5), 110, 0.5),
        ("max_rare_words", Amount(), 0, 0.0),
    ]


def test_another_filter_of_books_may_stand_among_the_lines():
    counts = FilterCounts().add_book("own_language", 1, 2).add_book("works", 3, 9)
    works = FilterLine("works", "other editions", "", "books")
    lines = (*describe_filters(OFF), works)
    rows = tabulate_filters(counts, lines)
    assert [(row.line.name, row.came) for row in rows] == [("empty_turns", 0), ("works", 2)]
