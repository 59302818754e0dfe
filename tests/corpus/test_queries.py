"""Books named by a query, a title, a number or an address: all lead to the same files."""

import json

import pytest
from corpus_helpers import bytes_of, mined, record, run
from helpers import DATA, failed, said

import miner
from miner.errors import InputError

SMALL, OTHER = DATA / "dash.htm", DATA / "guillemets_fr.html"
CATALOG = """\
Text#,Type,Issued,Title,Language,Authors,Subjects,LoCC,Bookshelves
7,Text,2001-01-01,The Lock-Keeper’s Winter,en,"Bell, Ann, 1801-1870",Rivers -- Fiction,PR,
8,Text,2001-01-01,Poems,en; de,"Bell, Ann, 1801-1870",Poetry,PR,
9,Sound,2001-01-01,Rivers,en,"Bell, Ann, 1801-1870",Rivers -- Fiction,PR,
11,Text,2001-01-01,Poems,en,"Otway, B.",Rivers -- Fiction,PR,
12,Text,2001-01-01,The Ferry,en,"Otway, B.",Rivers -- Fiction,PR,
"""


@pytest.fixture
def books(tmp_path, monkeypatch):
    """A folder with the books 7, 8 and 11 in three layouts, and a catalogue of them."""
    catalog = tmp_path / "pg_catalog.csv"
    catalog.write_text(CATALOG, encoding="utf-8")
    monkeypatch.setenv("MINER_CATALOG", str(catalog))
    folder = tmp_path / "books"
    for name in ("7-h.htm", "8/pg8-images.html", "1/11/11-h/11-h.htm"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(SMALL.read_bytes())
    return folder


def ids(out):
    return [entry["id"] for entry in record(out)["books"]]


def test_a_query_is_a_source(books, tmp_path):
    out = tmp_path / "out"
    words = ("--subject", "fiction", "--limit", "2", "--books", books, "-o", out)
    done = run(*words)
    assert done.exit_code == 0
    assert done.stderr == (
        "left out: 1 entry that is no text (Sound 1)\nleft out: 1 text beyond the limit of 2\n"
    )
    assert ids(out) == ["7", "11"]
    assert record(out)["catalog"] == [
        {
            "query": {"subject": ["fiction"], "limit": 2},
            "found": 2,
            "left_out": {"Sound": 1, "beyond the limit": 1},
        }
    ]
    assert run(*words, "--force", "-q").output == ""


def test_a_query_stands_beside_other_sources(books, tmp_path):
    out = mined(tmp_path, OTHER, "8", "--author", "bell", "--books", books)
    assert ids(out) == ["guillemets_fr", "8", "7"]


def test_python_takes_queries(books, tmp_path):
    query = miner.CatalogQuery(language="de")
    with miner.mine_corpus(query, tagger="gap", books=books) as corpus:
        assert [book.id for book in corpus] == ["8"]
        assert [search.ids for search in corpus.searches] == [("8",)]
    out = tmp_path / "out"
    miner.mine_corpus(["7", query], out, tagger="gap", books=books).finish()
    assert ids(out) == ["7", "8"]
    assert "catalog" not in record(mined(tmp_path, OTHER))


def test_a_query_that_finds_nothing_is_one_line_and_writes_nothing(books, tmp_path):
    done = run("--title", "quaternions", "-o", tmp_path / "out")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        'miner: found no text in pg_catalog.csv with title "quaternions", expected one or more '
        "among its 5 entries\n"
    )
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="found no text in pg_catalog.csv with language nl"):
        miner.mine_corpus(miner.CatalogQuery(language="nl"), tagger="gap")


def test_mine_needs_a_source_or_a_query(tmp_path):
    done = run("-o", tmp_path / "out")
    assert done.exit_code == 2
    assert "Missing argument 'SOURCE...', or an option that chooses from the" in done.stderr


def test_a_text_of_a_query_that_cannot_be_had_is_set_aside(books, tmp_path, site, quick):
    done = run(
        "--author", "otway", "--books", books, "--mirror", site.mirror, "-o", tmp_path / "out", "-q"
    )
    assert done.exit_code == 1
    assert done.stderr.startswith("set aside: 12: ") and "404" in done.stderr
    assert ids(tmp_path / "out") == ["11"]


WAYS = [
    "7",
    "pg7",
    "the lock-keeper's winter",
    "https://www.gutenberg.org/ebooks/7",
    "gutenberg.org/files/7/7-h/7-h.htm",
    "https://www.gutenberg.org/cache/epub/7/pg7-images.html",
]


def test_a_book_may_be_named_in_many_ways(books, tmp_path):
    first, *others = [
        bytes_of(mined(tmp_path / str(n), way, "--books", books)) for n, way in enumerate(WAYS)
    ]
    assert all(other == first for other in others)
    assert json.loads(first["run.json"])["books"][0]["id"] == "7"


@pytest.mark.parametrize("way", WAYS)
def test_a_command_of_one_book_takes_the_same_words(books, way):
    assert said("profile", way, "--books", books).startswith("7: speech is opened by ")


def test_a_title_that_fits_several_says_which(books, tmp_path):
    several = "found 2 authors of texts with the title 'Poems', expected one of the numbers: "
    several += "8 Poems (Bell, Ann, 1801-1870); 11 Poems (Otway, B.); "
    several += "`miner catalog --title Poems` shows all"
    assert failed("profile", "Poems", "--books", books) == f"Poems: no such file; {several}"
    done = run("Poems", OTHER, "--books", books, "-q", "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert done.stderr == f"set aside: Poems: no such file; {several}\n"
    assert ids(tmp_path / "out") == ["guillemets_fr"]
