"""Titles to numbers, by a small catalogue in the form of Gutenberg's own."""

import pytest
from helpers import SHARED, failed

import miner
from miner.books.catalog import CatalogQuery
from miner.books.catalog_search import find_title, search_catalog
from miner.errors import InputError

CATALOG = """\
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
def catalog(tmp_path):
    path = tmp_path / "pg_catalog.csv"
    path.write_text(CATALOG, encoding="utf-8")
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
def test_a_title_has_a_number(catalog, title, number):
    assert find_title(title, catalog) == number


def test_texts_by_several_authors_are_listed(catalog):
    with pytest.raises(InputError) as failure:
        find_title("poems", catalog)
    assert str(failure.value) == (
        "found 6 authors of texts with the title 'poems', expected one of the numbers: "
        "70 Poems (One, A.); 71 Poems (Two, B.); 72 Poems (Three, C.); 74 Poems (no author); "
        "75 Poems (Five, E.); `miner catalog --title poems` shows all"
    )


def test_several_works_with_its_words_are_listed(catalog):
    with pytest.raises(InputError) as failure:
        find_title("Keeper", catalog)
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
def test_the_catalogue_is_searched_by_the_same_words(catalog, word, numbers):
    assert search_catalog(CatalogQuery(title=word), catalog).ids == numbers


@pytest.mark.parametrize(
    "call",
    [
        lambda words: miner.mine(words),
        lambda words: miner.read_book(words),
        lambda words: str(miner.mine_corpus([words], tagger="gap").finish().set_aside),
        lambda words: failed("profile", words),
    ],
)
def test_every_way_to_name_a_book_takes_words_of_its_title(catalog, call, monkeypatch):
    monkeypatch.setenv("MINER_CATALOG", str(catalog))
    try:
        said = call("keeper")
    except InputError as error:
        said = str(error)
    assert "91 Keeper Adams (Tark, B.); 85 The Keeper's" in str(said)


@pytest.mark.parametrize(
    ("title", "closest"),
    [
        ("The Fery", ", expected one such as 'The Ferry'"),
        ("Quaternions", ""),
        ("?!", ""),
        ("", ""),
    ],
)
def test_an_unknown_title_is_refused_with_the_closest(catalog, title, closest):
    with pytest.raises(InputError) as failure:
        find_title(title, catalog)
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
