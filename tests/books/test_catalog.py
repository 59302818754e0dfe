"""The file of Gutenberg's catalogue: which it is, how it is renewed, and its entries."""

import gzip
import os
import pickle

import pytest
from loopback import answer, in_turn

from miner.books.catalog import (
    CatalogEntry,
    CatalogQuery,
    find_catalog,
    numbers_from_text,
    read_catalog,
    refresh_catalog,
)
from miner.books.catalog_search import find_title
from miner.books.web import DownloadError, Limits
from miner.errors import InputError

QUICK = Limits(retries=0, pause=0.01)
HEAD = "Text#,Type,Issued,Title,Language,Authors,Subjects,LoCC,Bookshelves\n"
ROW = """\
9,Text,2002-01-01,"The Ferry
With forty pictures",en; fr,"Bell, Ann, 1801-1870; Otway [Editor]",Ferries -- Fiction; Geese,\
PR; PZ,Shelf
"""
CATALOG = HEAD + ROW


@pytest.fixture
def catalog(tmp_path):
    path = tmp_path / "pg_catalog.csv"
    path.write_text(CATALOG, encoding="utf-8")
    return path


@pytest.fixture
def unnamed(monkeypatch):
    monkeypatch.delenv("MINER_CATALOG")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def test_an_entry_has_all_columns(catalog):
    (entry,) = read_catalog(catalog)
    assert entry == CatalogEntry(
        9,
        "Text",
        "2002-01-01",
        "The Ferry\nWith forty pictures",
        ("en", "fr"),
        ("Bell, Ann, 1801-1870", "Otway [Editor]"),
        ("Ferries -- Fiction", "Geese"),
        ("PR", "PZ"),
        ("Shelf",),
    )
    assert str(entry) == ("9 The Ferry With forty pictures (Bell, Ann, 1801-1870; Otway [Editor])")
    assert entry.to_json()["authors"] == entry.authors


def test_rows_without_a_number_and_short_rows_do_no_harm(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f"{HEAD}x,Text\n,,\n7,Text,2001-01-01,Cut short")
    (entry,) = read_catalog(path)
    assert (entry.number, entry.title, entry.languages) == (7, "Cut short", ())


def test_another_table_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("Text#,Title\n1,Emma\n")
    with pytest.raises(InputError, match="x.csv: found no column Type, Authors, expected"):
        find_title("Emma", path)


def test_the_catalogue_is_the_named_one_or_else_downloaded_once(catalog, cache, site, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("MINER_CATALOG", str(catalog))
    assert find_catalog(cache=cache) == catalog
    monkeypatch.delenv("MINER_CATALOG")
    site.pages["/catalog.csv"] = answer(CATALOG.encode(), Content_Type="text/csv")
    for _ in range(2):
        path = find_catalog(cache=cache, url=f"{site.url}/catalog.csv", limits=QUICK)
        assert (path, path.read_text(encoding="utf-8")) == (cache / "pg_catalog.csv", CATALOG)
    assert site.paths == ["/catalog.csv"]


def test_a_catalogue_that_is_none_is_not_kept(cache, site, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("MINER_CATALOG")
    site.pages["/catalog.csv"] = answer()
    with pytest.raises(DownloadError, match="sent .* bytes .*, expected Gutenberg's catalogue$"):
        find_catalog(cache=cache, url=f"{site.url}/catalog.csv", limits=QUICK)
    assert not cache.exists()
    monkeypatch.setenv("MINER_CATALOG", str(cache))
    with pytest.raises(InputError, match=f"found no file {cache}, expected a pg_catalog.csv"):
        find_catalog()


def test_a_packed_catalogue_is_read(catalog, cache, unnamed, monkeypatch):
    cache.mkdir(parents=True)
    packed = cache / "pg_catalog.csv.gz"
    packed.write_bytes(gzip.compress(CATALOG.encode()))
    assert find_catalog(cache=cache) == packed
    assert list(read_catalog(packed)) == list(read_catalog(catalog))
    monkeypatch.setenv("MINER_CATALOG", str(packed))
    assert find_catalog() == packed


@pytest.mark.parametrize("content", [b"Text#", gzip.compress(CATALOG.encode())[:-9]])
def test_a_damaged_packed_catalogue_is_named(tmp_path, content):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"x.csv.gz: found a damaged file \(.*\), expected"):
        list(read_catalog(path))


def test_a_field_without_end_is_named(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f'{HEAD}7,Text,2001-01-01,"{"x" * 200_000}')
    with pytest.raises(InputError, match=r"x.csv: found a damaged file \(field larger than"):
        list(read_catalog(path))


def test_a_catalogue_is_refreshed_on_request(cache, site, unnamed):
    newer = HEAD + ROW + ROW.replace("9,Text", "10,Text", 1)
    site.pages["/c.csv"] = in_turn(answer(CATALOG.encode()), answer(newer.encode()))
    url = f"{site.url}/c.csv"
    assert refresh_catalog(cache=cache, url=url, limits=QUICK) == cache / "pg_catalog.csv"
    assert find_catalog(cache=cache, url=url, limits=QUICK).read_text() == CATALOG
    refresh_catalog(cache=cache, url=url, limits=QUICK)
    assert find_catalog(cache=cache, url=url, limits=QUICK).read_text() == newer
    assert site.paths == ["/c.csv", "/c.csv"]


@pytest.mark.parametrize(
    "page", [answer(b"<html>"), answer(status=404), answer(b"Text#", length=9)]
)
def test_a_failed_refresh_keeps_the_old_catalogue_and_says_so(catalog, cache, site, unnamed, page):
    cache.mkdir(parents=True)
    kept = cache / "pg_catalog.csv"
    kept.write_text(CATALOG)
    os.utime(kept, (10**9, 10**9))
    site.pages["/c.csv"] = page
    with pytest.raises(DownloadError) as failure:
        refresh_catalog(cache=cache, url=f"{site.url}/c.csv", limits=QUICK)
    assert str(failure.value).endswith(f"; the catalogue of 2001-09-09 is kept in {kept}")
    assert kept.read_text() == CATALOG
    assert list(cache.iterdir()) == [kept]


def test_a_first_download_that_fails_keeps_nothing(cache, site, unnamed):
    with pytest.raises(DownloadError, match="answered 404, expected Gutenberg's catalogue$"):
        refresh_catalog(cache=cache, url=f"{site.url}/c.csv", limits=QUICK)
    assert not cache.exists()


def test_a_named_catalogue_is_not_refreshed(catalog, monkeypatch):
    monkeypatch.setenv("MINER_CATALOG", str(catalog))
    with pytest.raises(InputError, match="MINER_CATALOG: found .*, expected it to be unset"):
        refresh_catalog()


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
