"""Words that name books -> files on a real disk."""

import os
import tempfile
from pathlib import Path

import pytest
from helpers import BOOK, SAMPLE, ordinary_user, touch
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.books.sources import Missing, Source, cache_folder, find_sources
from miner.errors import InputError

SUFFIXES = ".htm, .html, .epub, .txt or .zip"


@pytest.mark.parametrize(
    "name, id",
    [
        ("1342-h.htm", "1342"),
        ("1342-h.html", "1342"),
        ("pg1342-images.html", "1342"),
        ("pg1342.html", "1342"),
        ("1342.html", "1342"),
        ("PG1342-IMAGES.HTML", "1342"),
        ("01342-h.htm", "1342"),
        ("emma.htm", "emma"),
        ("emma-1342-h.htm", "emma-1342-h"),
        ("1342-h-old.htm", "1342-h-old"),
        ("0.html", "0"),
        (".emma.htm", ".emma"),
        ("1342-0.txt", "1342"),
        ("1342-8.txt", "1342"),
        ("1342.txt", "1342"),
        ("pg1342.txt", "1342"),
        ("pg1342-images-3.epub", "1342"),
        ("pg1342-images.epub", "1342"),
        ("pg1342.EPUB", "1342"),
        ("1342-h.zip", "1342"),
        ("emma10.txt", "emma10"),
    ],
)
def test_id_of_a_file(tmp_path, cache, name, id):
    path = touch(tmp_path / "in", name) / name
    assert find_sources([str(path)], cache=cache) == ([Source(str(path), id, path)], [])


def test_folder_is_its_html_files_in_order_without_subfolders(tmp_path, cache):
    folder = touch(
        tmp_path / "in", "b.html", "a.htm", "C.HTM", "notes.csv", "._a.htm", "deep/d.html"
    )
    (folder / "saved.html").mkdir()
    sources, missing = find_sources([f"{folder}/"], cache=cache)
    assert [source.path.name for source in sources] == ["C.HTM", "a.htm", "b.html"]
    assert {source.word for source in sources} == {f"{folder}/"}
    assert missing == []


def test_glob_is_expanded_in_order(tmp_path, cache):
    folder = touch(tmp_path / "in", "2-h.htm", "10-h.htm", "x.html", "2-h.pdf", "deep/3-h.htm")
    sources, missing = find_sources([f"{folder}/*-h.*"], cache=cache)
    assert ([source.id for source in sources], missing) == (["10", "2"], [])
    deep, _ = find_sources([f"{folder}/**/*-h.htm"], cache=cache)
    assert [source.id for source in deep] == ["10", "2", "3"]


def test_a_file_whose_name_looks_like_a_glob_is_that_file(tmp_path, cache):
    folder = touch(tmp_path / "in", "emma[1].htm", "emma1.htm")
    sources, _ = find_sources([f"{folder}/emma[1].htm"], cache=cache)
    assert [source.path.name for source in sources] == ["emma[1].htm"]


def test_words_keep_their_order_and_a_file_comes_once(tmp_path, cache, monkeypatch):
    folder = touch(tmp_path / "in", "a.htm", "b.htm", "c.htm")
    (tmp_path / "link.htm").symlink_to(folder / "b.htm")
    monkeypatch.chdir(tmp_path)
    words = ["in/c.htm", "in", "in/../in/a.htm", "link.htm", f"{folder}/*.htm", "7", "7", "007"]
    sources, missing = find_sources(words, cache=cache)
    assert [(source.word, source.id) for source in sources] == [
        ("in/c.htm", "c"),
        ("in", "a"),
        ("in", "b"),
        ("7", "7"),
    ]
    assert missing == []


def test_two_files_of_one_number_keep_ids_apart(tmp_path, cache):
    folder = touch(tmp_path / "in", "1342-h.htm", "pg1342-images.html", "1342.html")
    sources, _ = find_sources([str(folder)], cache=cache)
    assert [(source.id, source.path.name) for source in sources] == [
        ("1342", "1342-h.htm"),
        ("1342-2", "1342.html"),
        ("pg1342-images", "pg1342-images.html"),
    ]


def test_two_files_of_one_stem_keep_ids_apart(tmp_path, cache):
    touch(tmp_path, "a/emma.htm", "b/emma.htm", "b/emma.html")
    sources, _ = find_sources([f"{tmp_path}/a", f"{tmp_path}/b"], cache=cache)
    assert [source.id for source in sources] == ["emma", "emma-2", "emma-3"]


def test_a_book_to_download_and_the_sample_keep_their_names(tmp_path, cache):
    touch(tmp_path, "a/1342-h.htm", "a/sample.html")
    sources, _ = find_sources([f"{tmp_path}/a", "1342", "sample"], cache=cache)
    assert [source.id for source in sources] == ["1342-h", "sample-2", "1342", "sample"]
    assert sources[2].path is None


NAMES = ["1-h.htm", "pg1.html", "1.html", "1-h.html", "1-2.htm", "1-2.html", "sample.html"]


@settings(max_examples=40, deadline=None)
@given(
    names=st.sets(st.sampled_from([f"{folder}/{name}" for folder in "ab" for name in NAMES])),
    words=st.permutations(["a", "b", "1", "sample"]),
)
def test_no_file_is_lost_and_ids_are_distinct(names, words):
    with tempfile.TemporaryDirectory() as folder:
        for half in "ab":
            (Path(folder) / half).mkdir()
        touch(Path(folder), *names)
        given_words = [
            word if len(word) > 1 or word == "1" else f"{folder}/{word}" for word in words
        ]
        sources, _ = find_sources(given_words, cache=Path(folder) / "none")
        found = {str(s.path.relative_to(folder)) for s in sources if s.word.startswith(folder)}
    assert found == names
    assert len({source.id for source in sources}) == len(sources)


def test_sample_is_the_packaged_file(cache):
    assert find_sources(["sample"], cache=cache) == ([Source("sample", "sample", SAMPLE)], [])


def test_words_that_name_nothing_are_reported_and_the_others_found(tmp_path, cache, monkeypatch):
    monkeypatch.chdir(touch(tmp_path, "good.htm", "notes.pdf", "a.csv", "novels/readme.pdf"))
    words = [
        "emma.htm",
        "novels/",
        "good.htm",
        "notes.pdf",
        "a.csv",
        "x*.htm",
        "0",
        "123456789",
        "",
        "٣",
    ]
    words += ["good.htm/a.htm", os.devnull]
    sources, missing = find_sources(words, cache=cache)
    assert [source.id for source in sources] == ["good"]
    assert [str(line) for line in missing] == [
        "emma.htm: no such file",
        f"novels/: holds no {SUFFIXES} file; .pdf files are not read, expected the HTML file or "
        "the Gutenberg number",
        "notes.pdf: .pdf files are not read, expected the HTML file or the Gutenberg number",
        f"a.csv: not a book, expected a name ending in {SUFFIXES}",
        f"x*.htm: matches no {SUFFIXES} file",
        "0: not a Gutenberg number, expected 1 to 99999999",
        "123456789: not a Gutenberg number, expected 1 to 99999999",
        "'': an empty word, expected a file, a folder or a Gutenberg number",
        "٣: not a Gutenberg number, expected 1 to 99999999",
        "good.htm/a.htm: no such file",
        f"{os.devnull}: neither a file nor a folder",
    ]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no Unix permissions here")
def test_an_unreadable_folder_is_reported_and_the_others_found(cache):
    with tempfile.TemporaryDirectory() as name:
        folder = touch(Path(name), "good.htm", "shut/a.htm")
        folder.chmod(0o755)
        (folder / "shut").chmod(0)
        words = [f"{folder}/shut", f"{folder}/shut/a.htm", f"{folder}/good.htm"]
        with ordinary_user():
            sources, missing = find_sources(words, cache=folder)
        (folder / "shut").chmod(0o755)
    assert [source.id for source in sources] == ["good"]
    assert missing == [Missing(word, "cannot be read: Permission denied") for word in words[:2]]


def test_a_name_too_long_for_the_disk_is_reported(cache):
    _, missing = find_sources(["x" * 5000], cache=cache)
    assert missing == [Missing("x" * 5000, "cannot be read: File name too long")]


def test_a_word_that_is_nothing_else_is_a_title(tmp_path, cache, monkeypatch):
    monkeypatch.chdir(touch(tmp_path, "emma.htm", "Emma", "notes.pdf"))
    asked = []

    def number_from_title(title):
        asked.append(title)
        if title == "Lost":
            raise InputError("nobody wrote it")
        return "158"

    words = ["Can You Forgive Her?", "Lost", "Emma", "notes.pdf", "gone.txt", "a/b", "x*", "0", " "]
    sources, missing = find_sources(words, cache=cache, number_from_title=number_from_title)
    assert sources == [Source("Can You Forgive Her?", "158", None)]
    assert asked == ["Can You Forgive Her?", "Lost"]
    assert [line.word for line in missing] == words[1:]
    assert missing[0] == Missing("Lost", "no such file; nobody wrote it")
    touch(cache, "158.html")
    found, _ = find_sources(["Persuasion"], cache=cache, number_from_title=number_from_title)
    assert found == [Source("Persuasion", "158", cache / "158.html")]


@pytest.mark.parametrize(
    "word",
    [
        "pg1342",
        "PG01342",
        "https://www.gutenberg.org/ebooks/1342",
        "http://gutenberg.org/ebooks/1342.html.images",
        "www.gutenberg.org/files/1342/1342-h/1342-h.htm",
        "https://www.gutenberg.org/cache/epub/1342/pg1342-images.html",
        "https://www.gutenberg.org/files/1342/",
        "https://m.gutenberg.org/ebooks/1342?lang=en#top",
        "https://www.gutenberg.org/files/1342/1342-0.txt",
        "https://www.gutenberg.org/ebooks/1342.txt.utf-8",
        "https://www.gutenberg.org/ebooks/1342.epub3.images",
        "https://www.gutenberg.org/files/1342/1342-h.zip",
    ],
)
def test_ways_to_write_a_number(cache, word):
    assert find_sources([word], cache=cache) == ([Source(word, "1342", None)], [])
    path = touch(cache, "1342.html") / "1342.html"
    assert find_sources([word, "1342"], cache=cache) == ([Source(word, "1342", path)], [])


@pytest.mark.parametrize(
    ("page", "suffix"),
    [
        ("ebooks/1342.pdf", ".pdf"),
        ("ebooks/1342.rdf", ".rdf"),
        ("cache/epub/1342/pg1342-images.mobi", ".mobi"),
    ],
)
def test_an_address_of_another_form_says_what_to_give(cache, page, suffix):
    _, (missing,) = find_sources([f"https://www.gutenberg.org/{page}"], cache=cache)
    assert missing.why == f"{suffix} files are not read, expected the number 1342"


@pytest.mark.parametrize(
    "word",
    [
        "https://www.gutenberg.org/ebooks/author/68",
        "https://www.gutenberg.org/ebooks/123456789",
        "https://books.example/ebooks/1342",
        "https://books.example/gutenberg.org/ebooks/1342",
    ],
)
def test_an_address_that_names_no_book_is_refused(cache, word):
    sources, (missing,) = find_sources([word], cache=cache)
    assert sources == []
    assert str(missing) == (
        f"{word}: not the address of a book at gutenberg.org, "
        "expected one such as https://www.gutenberg.org/ebooks/1342"
    )


def test_files_that_are_not_read_say_what_to_give(tmp_path, cache, monkeypatch):
    monkeypatch.chdir(touch(tmp_path, *("in/pg84.mobi", "in/1342-0.pdf", "in/notes.AZW3")))
    expected = "files are not read, expected the HTML file or the Gutenberg number"
    _, missing = find_sources(["in/1342-0.pdf", "in/notes.AZW3", "in", "in/*.mobi"], cache=cache)
    assert [str(line) for line in missing] == [
        f"in/1342-0.pdf: .pdf {expected} (1342)",
        f"in/notes.AZW3: .azw3 {expected}",
        f"in: holds no {SUFFIXES} file; .azw3 and .mobi and .pdf {expected} (1342, 84)",
        f"in/*.mobi: matches no {SUFFIXES} file; .mobi {expected} (84)",
    ]
    touch(tmp_path, "in/emma.htm")
    sources, missing = find_sources(["in"], cache=cache)
    assert ([source.id for source in sources], missing) == (["emma"], [])


FORMS = [
    ("1342-h.htm", "pg1342-images-3.epub", "pg1342.epub", "1342-0.txt", "1342.txt", "1342-h.zip"),
    ("1342-h.zip", "pg1342-images-3.epub", "1342-0.txt", "1342.zip"),
    ("pg1342-images-3.epub", "pg1342-images.epub", "pg1342.epub", "1342-0.txt", "1342-0.zip"),
    ("1342-0.txt", "pg1342.txt", "1342-8.txt", "1342.txt", "1342-0.zip"),
    ("emma.epub", "emma.txt"),
    ("emma.html", "emma.epub", "emma.txt", "emma.zip"),
]


@pytest.mark.parametrize("names", FORMS)
def test_several_forms_of_a_book_in_a_folder_are_one_book(tmp_path, cache, names):
    folder = touch(tmp_path / "in", *names)
    for word in (str(folder), f"{folder}/*"):
        assert [source.path.name for source in find_sources([word], cache=cache)[0]] == [names[0]]
    last = str(folder / names[-1])
    assert [source.path.name for source in find_sources([last], cache=cache)[0]] == [names[-1]]


def test_forms_in_folders_of_a_mirror_are_one_book(tmp_path, cache):
    folder = touch(tmp_path / "in", "7/7-0.txt", "7/7-h/7-h.htm", "a/emma.txt", "b/emma.txt")
    sources, _ = find_sources([f"{folder}/**/*.*"], cache=cache)
    assert [source.path.name for source in sources] == ["7-h.htm", "emma.txt", "emma.txt"]


@pytest.mark.parametrize("content", [b"<p>Are you human?</p>", BOOK + b"[eBook #84]", b""])
def test_a_cached_file_that_is_not_the_book_does_not_count(cache, content):
    touch(cache, "1342.html")
    (cache / "1342.html").write_bytes(content)
    assert find_sources(["1342"], cache=cache) == ([Source("1342", "1342", None)], [])
    (cache / "1342.html").write_bytes(BOOK + b"[eBook #1342]")
    assert find_sources(["1342"], cache=cache)[0][0].path == cache / "1342.html"


def test_a_newline_in_a_word_breaks_no_message(tmp_path, cache):
    _, (missing,) = find_sources(["emma\n.htm"], cache=cache)
    assert str(missing) == r"emma\n.htm: no such file"
    sources, _ = find_sources([str(touch(tmp_path, "a\nb.htm") / "a\nb.htm")], cache=cache)
    assert sources[0].id == r"a\nb"


LOCAL = [
    "1342-h.htm",
    "1342-h.html",
    "pg1342-images.html",
    "pg1342.html",
    "1342.html",
    "1342/1342-h.htm",
    "1342/pg1342-images.html",
    "1342-h/1342-h.htm",
    "1/3/4/1342/1342-h.htm",
    "1/3/4/1342/1342-h/1342-h.htm",
    "1/3/4/1342/1342-h/1342-h.html",
    "cache/epub/1342/pg1342-images.html",
    "epub/1342/pg1342-images.html",
    "files/1342/1342-h/1342-h.htm",
    "1342-h.zip",
    "1342/pg1342-images-3.epub",
    "cache/epub/1342/pg1342.epub",
    "1342-0.txt",
    "1342.txt",
    "1/3/4/1342/1342-0.txt",
    "1342.zip",
]


@pytest.mark.parametrize("n", range(len(LOCAL)))
def test_number_is_looked_up_locally_in_order_of_names(tmp_path, cache, n):
    touch(cache, "1342.html")
    books = touch(tmp_path / "books", *LOCAL[n:])
    sources, missing = find_sources(["1342"], books, cache)
    assert (sources, missing) == ([Source("1342", "1342", books / LOCAL[n])], [])


def test_a_copy_of_a_mirror_is_a_folder_of_books(tmp_path, cache):
    """Both modules of Gutenberg's rsync servers, with files of other forms beside the books."""
    mirror = touch(
        tmp_path / "mirror",
        "0/5/5-h/5-h.htm",
        "4/42/42-h/42-h.htm",
        "1/3/4/1342/1342-0.txt",
        "1/3/4/1342/old/1342-h.htm",
        "cache/epub/1342/pg1342-images.html",
        "cache/epub/1342/pg1342-images-3.epub",
    )
    sources, missing = find_sources(["5", "42", "1342", "13"], mirror, cache)
    assert [source.path and str(source.path.relative_to(mirror)) for source in sources] == [
        "0/5/5-h/5-h.htm",
        "4/42/42-h/42-h.htm",
        "cache/epub/1342/pg1342-images.html",
        None,
    ]
    assert missing == []


def test_number_is_looked_up_in_the_cache_next_and_else_left_to_download(tmp_path, cache):
    books = touch(tmp_path / "books", "13420-h.htm")
    assert find_sources(["01342"], books, cache)[0] == [Source("01342", "1342", None)]
    touch(cache, "1342.html")
    assert find_sources(["01342"], books, cache)[0] == [
        Source("01342", "1342", cache / "1342.html")
    ]


def test_a_books_folder_that_is_none_is_refused(tmp_path, cache):
    with pytest.raises(InputError, match=r"nowhere: no such folder, expected a folder of"):
        find_sources(["1342"], tmp_path / "nowhere", cache)


def test_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINER_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    touch(tmp_path, "1342.html")
    assert find_sources(["1342"])[0][0].path == tmp_path / "1342.html"
    monkeypatch.delenv("MINER_CACHE")
    assert cache_folder().parts[-2:] == ("conversation-miner", "books")
    assert cache_folder().is_absolute()
