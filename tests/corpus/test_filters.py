"""Filters on books: what they refuse is set aside with the reason."""

import json

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
    assert record["filters"] == ["LanguageFilter(language='en')"]


def test_a_function_may_be_a_filter():
    def is_long(book_spans):
        return len(book_spans.spans) > 10_000 or "a short book"

    run = miner.mine_corpus(BOOKS, tagger="gap", filters=[is_long]).finish()
    assert run.entries == [] and {item.why for item in run.set_aside} == {"a short book"}
