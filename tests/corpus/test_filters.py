"""Filters on books: what they refuse is set aside with the reason."""

import json

import pytest
from helpers import DATA

import miner
from miner.corpus.filters import LanguageFilter

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
