"""Queries as values: what they hold, and what they refuse."""

import pickle

import pytest

from miner.books.catalog import CatalogQuery, numbers_from_text
from miner.errors import InputError


def test_a_query_is_a_value():
    query = CatalogQuery(language="de", subject=["a", "b"], first=7, limit=3)
    assert pickle.loads(pickle.dumps(query)) == query == CatalogQuery(**query.to_json())
    assert len({query, CatalogQuery(language=("de",), subject=("a", "b"), first=7, limit=3)}) == 1
    assert str(query) == 'language de, subject "a" or "b", numbers 7-, limit 3'
    assert (str(CatalogQuery()), CatalogQuery().to_json()) == ("all texts", {})
    assert CatalogQuery().is_empty and not query.is_empty


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        (
            {"language": "German"},
            ValueError,
            "language: found 'German', expected a code such as de",
        ),
        ({"language": "x"}, ValueError, "language: found 'x', expected a code such as en"),
        ({"author": ""}, ValueError, "author: found '', expected words"),
        ({"title": ["Emma", "?!"]}, ValueError, "title: found '?!', expected words"),
        ({"locc": "9"}, ValueError, "locc: found '9', expected a class of the Library of Congress"),
        ({"first": 0}, ValueError, "first: found 0, expected 1 or more"),
        ({"limit": 0}, ValueError, "limit: found 0, expected 1 or more"),
        ({"first": 9, "last": 3}, ValueError, "numbers: found 9-3, expected the lower number"),
        ({"first": None}, TypeError, "first: found None, expected a whole number"),
        ({"limit": "9"}, TypeError, "limit: found '9', expected a whole number"),
        ({"last": True}, TypeError, "last: found True, expected a whole number"),
        ({"author": 7}, TypeError, "author: found 7, expected a text or several"),
        ({"subject": [7]}, TypeError, "subject: found 7, expected a text"),
    ],
)
def test_a_query_checks_itself(fields, error, message):
    with pytest.raises(error) as failure:
        CatalogQuery(**fields)
    assert str(failure.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("100-200", (100, 200)),
        (" 7 - 9 ", (7, 9)),
        ("5-", (5, None)),
        ("-5", (1, 5)),
        ("5", (5, 5)),
    ],
)
def test_a_range_of_numbers(text, numbers):
    assert numbers_from_text(text) == numbers


@pytest.mark.parametrize("text", ["", "-", "a-b", "1-2-3", "1.5", "123456789"])
def test_what_is_no_range_is_refused(text):
    with pytest.raises(InputError, match="numbers: found '.*', expected a range such as 100-200"):
        numbers_from_text(text)
