"""Queries in a small catalogue of our own, and in the real one."""

import json
from functools import partial
from io import StringIO

import pytest
from helpers import SHARED, failed, run, said
from loopback import answer
from rich.console import Console

import miner
import miner.books.catalog
from miner.app.tables import tabulate_texts
from miner.books.catalog import CatalogQuery, read_catalog
from miner.books.catalog_search import count_languages, find_texts, find_title, search_catalog
from miner.books.web import Limits
from miner.errors import InputError

CATALOG = """\
Text#,Type,Issued,Title,Language,Authors,Subjects,LoCC,Bookshelves
50,Text,2004-01-01,Geese: A Handbook,en,"Marsh, Tobin, 1820-1890",Geese -- Handbooks,\
SF,Browsing: Science
7,Text,2001-01-01,Der Fährmann,de,"Bell, Ännchen, 1801-1870",Ferries -- Fiction; Rivers,\
PT,Browsing: Fiction
8,Text,2001-01-01,"Le Passeur
et l'oie",fr; de,"Bell, Ann, 1801-1870; Marsh, Tobin, 1820-1890",Ferries -- Juvenile fiction,PQ; PZ,
9,Sound,2001-01-01,The Ferry,en,"Bell, Ann, 1801-1870",Ferries -- Fiction,PR,
11,Sound,2001-01-01,Another Ferry,en,"Bell, Ann, 1801-1870",Ferries -- Fiction,PR,
10,Image,2001-01-01,A Ferry,en,"Bell, Ann, 1801-1870",Ferries -- Fiction,PR,
40,Text,2003-01-01,"The Ferry; Or, Geese on the River",en,"Bell, Ann, 1801-1870",\
Nonfiction; England,PR,Browsing: Fiction
"""


@pytest.fixture
def catalog(tmp_path, monkeypatch):
    path = tmp_path / "pg_catalog.csv"
    path.write_text(CATALOG, encoding="utf-8")
    monkeypatch.setenv("MINER_CATALOG", str(path))
    return path


def found(catalog, **fields):
    return " ".join(search_catalog(CatalogQuery(**fields), catalog).ids)


@pytest.mark.parametrize(
    ("fields", "ids"),
    [
        ({}, "7 8 40 50"),
        ({"language": "de"}, "7 8"),  # one of its languages is enough
        ({"language": " DE "}, "7 8"),
        ({"language": ("de", "en")}, "7 8 40 50"),
        ({"language": "nl"}, ""),
        ({"author": "ann bell"}, "8 40"),
        ({"author": "BELL, Ann"}, "8 40"),
        ({"author": "bell annchen"}, "7"),  # accents do not count
        ({"author": "ann tobin"}, ""),  # of two authors
        ({"author": ["Marsh", "Ännchen"]}, "7 8 50"),
        ({"author": "marsh 1890"}, "8 50"),
        ({"title": "geese ferry"}, "40"),  # in any order, across the semicolon
        ({"title": "passeur loie"}, "8"),  # across the line break
        ({"title": "gees"}, ""),  # whole words
        ({"subject": "fiction"}, "7 8"),  # and not "Nonfiction"
        ({"subject": "rivers ferries"}, "7"),  # of two subjects
        ({"bookshelf": "fiction"}, "7 40"),
        ({"bookshelf": "Browsing: science"}, "50"),
        ({"locc": "p"}, "7 8 40"),  # and the classes below it
        ({"locc": ["PZ", "SF"]}, "8 50"),
        ({"first": 8}, "8 40 50"),
        ({"last": 40}, "7 8 40"),
        ({"first": 8, "last": 40, "language": "en"}, "40"),
        ({"limit": 2}, "7 8"),
        ({"limit": 9}, "7 8 40 50"),
    ],
)
def test_texts_fit_a_query(catalog, fields, ids):
    assert found(catalog, **fields) == ids


def test_what_is_left_out_is_counted(catalog):
    result = search_catalog(CatalogQuery(subject="ferries", limit=1), catalog)
    assert result.ids == ("7",)
    assert dict(result.left_out) == {"Sound": 2, "Image": 1, "beyond the limit": 1}
    assert list(result.describe_left_out()) == [
        "3 entries that are no texts (Sound 2, Image 1)",
        "1 text beyond the limit of 1",
    ]
    assert result.n_searched == 7
    assert search_catalog(CatalogQuery(language="de"), catalog).left_out == ()


def test_a_query_that_finds_nothing_is_one_line(catalog):
    with pytest.raises(InputError) as failure:
        find_texts(CatalogQuery(language="en", subject="ferries"), catalog)
    assert str(failure.value) == (
        'found no text in pg_catalog.csv with language en, subject "ferries", expected one or more '
        "among its 7 entries; left out 3 entries that are no texts (Sound 2, Image 1)"
    )


def test_languages_are_counted_the_most_frequent_first(catalog):
    assert count_languages(read_catalog(catalog)) == {"en": 5, "de": 2, "fr": 1}


def test_the_api_has_queries(catalog):
    assert miner.search_catalog(miner.CatalogQuery(author="marsh")).ids == ("8", "50")


# The real catalogue

REAL = SHARED / "catalog" / "pg_catalog.csv"
needs_catalog = pytest.mark.skipif(not REAL.is_file(), reason=f"no real catalogue at {REAL}")


@needs_catalog
def test_queries_in_the_real_catalogue():
    texts = search_catalog(CatalogQuery(), REAL)
    assert (len(texts.entries), texts.n_searched) == (7536, 7660)
    assert sum(n for _, n in texts.left_out) == 7660 - 7536
    assert list(texts.entries) == sorted(texts.entries)
    assert found(REAL, author="jane austen") == "105 121 141 158 161 946 1212 1342"
    german = search_catalog(CatalogQuery(language="de", subject="fiction", limit=5), REAL)
    assert german.ids == ("2174", "2188", "2190", "2313", "2314")
    assert dict(german.left_out) == {"beyond the limit": 35}


# The command


def test_the_command_shows_a_table(catalog):
    done = run("catalog", "--subject", "ferries")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["number", "title", "author", "in", "subject"]
    assert lines[3].split("  ")[0] == "8" and "Le Passeur et l'oie" in lines[3]
    assert lines[-1].startswith("2 texts of 7 entries in pg_catalog.csv of 20")
    assert done.stderr == "left out: 3 entries that are no texts (Sound 2, Image 1)\n"


def test_the_command_counts_texts_by_language_without_options(catalog):
    done = run("catalog")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["code", "language", "texts", "speech"]
    assert rows[2:5] == [
        ["de", "German", "2", "known"],
        ["en", "English", "2", "known"],
        ["fr", "French", "1", "known"],
    ]
    assert rows[-1][:5] == ["4", "texts", "of", "7", "entries"]
    assert "left out: 3 entries" in done.stderr


def test_the_command_prints_numbers_to_pipe(catalog):
    assert said("catalog", "--numbers", "-40", "--ids", "--language", "de") == "7\n8\n"
    done = run("catalog", "--ids", "--limit", "2")
    assert done.stdout == "7\n8\n"
    assert "left out: 2 texts beyond the limit of 2" in done.stderr


def test_the_command_prints_json(catalog):
    record = json.loads(said("catalog", "--language", "de", "--author", "tobin", "--json"))
    assert record["query"] == {"language": ["de"], "author": ["tobin"]}
    assert (record["found"], record["left_out"]) == (1, {})
    assert record["texts"][0]["title"] == "Le Passeur\net l'oie"
    assert record["texts"][0]["languages"] == ["fr", "de"]
    record = json.loads(run("catalog", "--json").stdout)
    assert record["languages"] == {"de": 2, "en": 2, "fr": 1}
    assert "texts" not in record


def test_the_command_fails_in_one_line(catalog):
    assert failed("catalog", "--title", "quaternions") == (
        'found no text in pg_catalog.csv with title "quaternions", expected one or more among '
        "its 7 entries"
    )
    assert failed("catalog", "--language", "German").startswith("language: found 'German'")
    assert failed("catalog", "--refresh").startswith("MINER_CATALOG: found ")
    for words in (["--numbers", "x"], ["--ids", "--json"], ["--limit", "0"]):
        assert run("catalog", *words).exit_code == 2


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_a_table_fits_a_terminal(catalog, width):
    (table,) = tabulate_texts(search_catalog(CatalogQuery(), catalog), width)
    file = StringIO()
    Console(file=file, width=width).print(table)
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) == 2 + 4  # no cell is broken
    assert [line.split()[0] for line in lines[2:]] == ["7", "8", "40", "50"]
    assert "Passe" in lines[3] and ("Ferries" in lines[3]) == (width >= 100)


def test_a_long_table_says_how_many_texts_it_does_not_show(tmp_path, monkeypatch):
    rows = "".join(f'{n},Text,2001-01-01,Ferry {n},en,"Bell, Ann",,,\n' for n in range(1, 302))
    path = tmp_path / "pg_catalog.csv"
    path.write_text(CATALOG.splitlines()[0] + "\n" + rows)
    monkeypatch.setenv("MINER_CATALOG", str(path))
    lines = said("catalog", "--language", "en").splitlines()
    assert lines[-2].startswith("101 more texts: --limit shows as many as it says, --ids and")
    assert sum("Ferry" in line for line in lines) == 200
    limited = said("catalog", "--limit", "301")
    assert limited.count("Ferry") == 301 and "more texts" not in limited


def test_the_command_refreshes_the_catalogue(tmp_path, site, monkeypatch):
    monkeypatch.delenv("MINER_CATALOG")
    monkeypatch.setenv("MINER_CACHE", str(tmp_path))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    kept = tmp_path / "pg_catalog.csv"
    kept.write_text(CATALOG.splitlines()[0] + "\n", encoding="utf-8")
    here = partial(
        miner.books.catalog.refresh_catalog, url=f"{site.url}/c.csv", limits=Limits(pause=0.01)
    )
    monkeypatch.setattr(miner.books.catalog, "refresh_catalog", here)
    assert failed("catalog", "--language", "de", "--refresh").endswith(f" is kept in {kept}")
    site.pages["/c.csv"] = answer(CATALOG.encode())
    assert said("catalog", "--language", "de", "--ids", "--refresh") == "7\n8\n"
    assert kept.read_text(encoding="utf-8") == CATALOG
    assert said("catalog", "--language", "de", "--ids") == "7\n8\n"
    assert site.paths == ["/c.csv", "/c.csv"]


CATALOG_TITLES = """\
Text#,Type,Issued,Title,Language,Authors,Subjects,LoCC,Bookshelves
1,Sound,2001-01-01,The Ferry,en,"Bell, Ann, 1801-1870",,,
40,Text,2003-01-01,"The Ferry; Or, Geese on the River",en,"Bell, Ann, 1801-1870; Otway [Editor]",,,
9,Text,2002-01-01,"The Ferry
With forty pictures",en,"Bell, Ann, 1801-1870",,,
50,Text,2004-01-01,"Geese: A Handbook",en,"Marsh, Tobin",,,
51,Text,2004-01-01,Geese,en,"Reed, Mara",,,
60,Text,2004-01-01,"L\u2019\u00c9t\u00e9 & l'hiver",fr,"Ros\u00e9, A.",,,
70,Text,2004-01-01,Poems,en,"One, A.",,,
71,Text,2004-01-01,Poems,en,"Two, B.",,,
72,Text,2004-01-01,Poems,en,"Three, C.",,,
73,Text,2004-01-01,"Poems: In Four Books",en,"Four, D.",,,
74,Text,2004-01-01,Poems,en,,,,
75,Text,2004-01-01,Poems,en,"Five, E.",,,
76,Text,2004-01-01,Poems,en,"Six, F.",,,
90,Text,2004-01-01,The Keeper's Adventures on Land,en,"Bell, Ann",,,
85,Text,2004-01-01,"The Keeper's Adventures on Land, HTML Edition",en,"Bell, Ann",,,
95,Text,2004-01-01,"The Keeper's Adventures on Land, Chapters 01 to 05",en,"Bell, Ann",,,
91,Text,2004-01-01,Keeper Adams,en,"Tark, B.",,,
92,Image,2004-01-01,The Keeper,en,"Tark, B.",,,
80,Text,2004-01-01,Cut short"""


@pytest.fixture
def catalog_of_titles(tmp_path):
    path = tmp_path / "pg_catalog.csv"
    path.write_text(CATALOG_TITLES, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("title", "number"),
    [
        ("The Ferry", "9"),  # the lowest of one author's texts; 1 is a recording
        ("the  ferry!", "9"),
        ("The Ferry, or Geese on the River", "40"),
        ("The Ferry: with forty pictures", "9"),
        ("Geese", "51"),  # in full, before "Geese: A Handbook"
        ("Geese, a handbook", "50"),
        ("L'ete and lhiver", "60"),
        ("CUT SHORT", "80"),
        ("Keeper on land", "85"),  # its words, in one work
        ("adventures: KEEPER'S", "85"),
        ("handbook", "50"),
        ("hiver \u00e9t\u00e9", "60"),
    ],
)
def test_a_title_has_a_number(catalog_of_titles, title, number):
    assert find_title(title, catalog_of_titles) == number


def test_texts_by_several_authors_are_listed(catalog_of_titles):
    with pytest.raises(InputError) as failure:
        find_title("poems", catalog_of_titles)
    assert str(failure.value) == (
        "found 6 authors of texts with the title 'poems', expected one of the numbers: "
        "70 Poems (One, A.); 71 Poems (Two, B.); 72 Poems (Three, C.); 74 Poems (no author); "
        "75 Poems (Five, E.); `miner catalog --title poems` shows all"
    )


def test_several_works_with_its_words_are_listed(catalog_of_titles):
    with pytest.raises(InputError) as failure:
        find_title("Keeper", catalog_of_titles)
    assert str(failure.value) == (
        "found no text with the title 'Keeper', but 2 with its words, expected one of the numbers: "
        "91 Keeper Adams (Tark, B.); 85 The Keeper's Adventures on Land, HTML Edition (Bell, Ann); "
        "`miner catalog --title Keeper` shows all"
    )


@pytest.mark.parametrize(
    ("word", "numbers"),
    [
        ("keeper", ("85", "90", "91", "95")),
        ("keepers", ("85", "90", "95")),
        ("Keeper's", ("85", "90", "95")),
    ],
)
def test_the_catalogue_is_searched_by_the_same_words(catalog_of_titles, word, numbers):
    assert search_catalog(CatalogQuery(title=word), catalog_of_titles).ids == numbers


@pytest.mark.parametrize(
    "call",
    [
        lambda words: miner.mine(words),
        lambda words: miner.read_book(words),
        lambda words: str(miner.mine_corpus([words], tagger="gap").finish().set_aside),
        lambda words: failed("profile", words),
    ],
)
def test_every_way_to_name_a_book_takes_words_of_its_title(catalog_of_titles, call, monkeypatch):
    monkeypatch.setenv("MINER_CATALOG", str(catalog_of_titles))
    try:
        said = call("keeper")
    except InputError as error:
        said = str(error)
    assert "91 Keeper Adams (Tark, B.); 85 The Keeper's" in str(said)


@pytest.mark.parametrize(
    ("title", "closest"),
    [("The Fery", ", expected one such as 'The Ferry'"), ("Quaternions", ""), ("?!", ""), ("", "")],
)
def test_an_unknown_title_is_refused_with_the_closest(catalog_of_titles, title, closest):
    with pytest.raises(InputError) as failure:
        find_title(title, catalog_of_titles)
    assert str(failure.value) == f"found no text with the title {title!r}{closest}"


@pytest.mark.skipif(not (SHARED / "catalog").is_dir(), reason="needs the shared catalogue")
@pytest.mark.parametrize(
    ("title", "number"),
    [
        ("Pride and Prejudice", "1342"),
        ("Dracula", "345"),
        ("Frankenstein", "84"),
        ("Emma", "158"),
        ("Alice in Wonderland", "11"),
        ("Tale of Two Cities", "98"),
    ],
)
def test_titles_in_the_real_catalogue(title, number):
    assert find_title(title, SHARED / "catalog" / "pg_catalog.csv") == number
