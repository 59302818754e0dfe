"""Downloads from a real server on the loopback address."""

import gzip
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from helpers import BOOK, ordinary_user, touch
from loopback import (
    Site,
    answer,
    chunked,
    chunked_and_cut,
    dripping,
    dripping_headers,
    in_turn,
    reset,
    silent,
)

import miner
from miner.books.download import (
    DEFAULT_MIRROR,
    download,
    download_books,
    fetch_books,
    find_book,
    urls_from_mirror,
)
from miner.books.sources import Source, find_sources
from miner.books.web import DownloadError, Limits
from miner.errors import InputError

QUICK = Limits(timeout=2, retries=2, pause=0.01, total=5)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def refused(site, cache, what, **limits):
    """Asks for 1342 in vain; the error is one line of the promised form, the cache is empty."""
    with pytest.raises(DownloadError) as failure:
        download("1342", mirror=site.mirror, cache=cache, limits=replace(QUICK, **limits))
    line = str(failure.value)
    assert re.fullmatch(
        re.escape(f"1342: {site.url}/1342.html ") + what + ", expected an HTML book", line
    ), line
    assert not cache.exists()


# Mirrors


@pytest.mark.parametrize(
    "mirror, id, urls",
    [
        (DEFAULT_MIRROR, "1342", ["https://www.gutenberg.org/cache/epub/1342/pg1342-images.html"]),
        ("http://a/{path}/{id}-h.htm", "1342", ["http://a/1/3/4/1342/1342-h.htm"]),
        ("http://a/{path}/{id}-h.htm", "42", ["http://a/4/42/42-h.htm"]),
        ("http://a/{path}/{id}-h.htm", "5", ["http://a/0/5/5-h.htm"]),
        (
            "http://a/{id}, HTTPS://b/{id}\nhttp://c/{id}",
            "7",
            ["http://a/7", "HTTPS://b/7", "http://c/7"],
        ),
    ],
)
def test_mirror_urls(mirror, id, urls):
    assert urls_from_mirror(mirror, id) == tuple(urls)


@pytest.mark.parametrize(
    "mirror, found",
    [
        ("https://a/book.html", "mirror 'https://a/book.html': found no {id}"),
        ("https://a/{path}/", "mirror 'https://a/{path}/': found no {id}"),
        ("https://a/{id} https://b/", "mirror 'https://b/': found no {id}"),
        ("https://a/{id}/{book}", "mirror 'https://a/{id}/{book}': found {book}"),
        (" ", "mirror '': found no {id}"),
        ("file:///tmp/{id}.html", "mirror 'file:///tmp/{id}.html': expected a URL"),
        ("a.org/{id}.html", "mirror 'a.org/{id}.html': expected a URL"),
    ],
)
def test_a_mirror_that_cannot_be_used_is_refused(cache, mirror, found):
    touch(cache, "1342.html")  # even then: the next book would need it
    with pytest.raises(InputError) as failure:
        download("1342", mirror=mirror, cache=cache)
    assert str(failure.value).startswith(found)
    assert not isinstance(failure.value, DownloadError)


@pytest.mark.parametrize("id", ["", "0", "emma", "13 42", "../1342", "123456789", "-1"])
def test_an_id_that_is_no_number_is_refused(site, cache, id):
    with pytest.raises(InputError, match="not a Gutenberg number"):
        download(id, mirror=site.mirror, cache=cache)
    assert (site.paths, cache.exists()) == ([], False)


@pytest.mark.parametrize(
    "limit", [{"timeout": 0}, {"retries": -1}, {"pause": -1}, {"total": 0}, {"max_bytes": 0}]
)
def test_an_impossible_limit_is_refused(limit):
    with pytest.raises(
        InputError, match=f"{next(iter(limit))}: found .*, expected (more than 0|0 or more)"
    ):
        Limits(**limit)


# Downloads


def test_a_book_is_requested_once_and_then_read_from_the_cache(site, cache):
    site.pages["/1342.html"] = answer()
    for _ in range(2):
        path = download("01342", mirror=site.mirror, cache=cache, limits=QUICK)
        assert (path, path.read_bytes()) == (cache / "1342.html", BOOK)
    assert site.paths == ["/1342.html"]
    assert list(cache.iterdir()) == [path]
    assert find_sources(["1342"], cache=cache)[0] == [Source("1342", "1342", path)]


def test_the_mirror_is_that_of_the_environment_where_none_is_given(site, cache, monkeypatch):
    site.pages["/1342.html"] = answer()
    monkeypatch.setenv("MINER_MIRROR", site.mirror)
    assert download("1342", cache=cache, limits=QUICK).read_bytes() == BOOK
    assert site.paths == ["/1342.html"]


def test_a_book_of_the_default_cache_takes_no_request(tmp_path, monkeypatch):
    monkeypatch.setenv("MINER_CACHE", str(tmp_path))
    touch(tmp_path, "1342.html")
    assert download("1342") == tmp_path / "1342.html"


def test_import_is_cheap():
    code = "import sys, miner.books.download; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "miner.books.download" in loaded.stdout.split()
    assert not {"requests", "urllib3", "platformdirs"} & set(loaded.stdout.split())


def test_the_request_says_who_asks(site, cache):
    site.pages["/1342.html"] = answer()
    download("1342", mirror=site.mirror, cache=cache, limits=QUICK)
    agent = site.headers[0]["User-Agent"]
    assert agent.startswith(f"conversation-miner/{miner.__version__} (")
    assert "https://www.gutenberg.org/policy/robot_access.html" in agent


def test_the_mirror_of_the_classic_layout(site, cache):
    site.pages["/1/3/4/1342/1342-h/1342-h.htm"] = answer()
    mirror = site.url + "/{path}/{id}-h/{id}-h.htm"
    assert download("1342", mirror=mirror, cache=cache, limits=QUICK).read_bytes() == BOOK


def test_templates_are_tried_in_order_after_a_404(site, cache):
    site.pages["/b/1342"] = site.pages["/c/1342"] = answer()
    mirror = f"{site.url}/a/{{id}} {site.url}/b/{{id}},{site.url}/c/{{id}}"
    download("1342", mirror=mirror, cache=cache, limits=replace(QUICK, pause=0.1))
    assert site.paths == ["/a/1342", "/b/1342"]
    assert site.times[1] - site.times[0] >= 0.1


def test_the_next_template_is_not_tried_after_another_failure(site, cache):
    site.pages |= {"/a/1342": answer(status=403), "/b/1342": answer()}
    mirror = f"{site.url}/a/{{id}} {site.url}/b/{{id}}"
    with pytest.raises(DownloadError, match=f"1342: {site.url}/a/1342 answered 403, expected"):
        download("1342", mirror=mirror, cache=cache, limits=QUICK)
    assert site.paths == ["/a/1342"]


def test_no_template_has_the_book(site, cache):
    with pytest.raises(DownloadError) as failure:
        download("7", mirror=f"{site.url}/a/{{id}} {site.url}/b/{{id}}", cache=cache, limits=QUICK)
    assert str(failure.value) == (
        f"7: {site.url}/a/7 and {site.url}/b/7 answered 404, expected an HTML book"
    )


@pytest.mark.parametrize("status", [404, 403, 410, 204])
def test_other_statuses_are_final(site, cache, status):
    site.pages["/1342.html"] = answer(status=status)
    refused(site, cache, f"answered {status}")
    assert len(site.paths) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_failure_is_tried_again_after_longer_and_longer_pauses(site, cache, status):
    site.pages["/1342.html"] = in_turn(answer(status=status), answer(status=status), answer())
    path = download("1342", mirror=site.mirror, cache=cache, limits=replace(QUICK, pause=0.05))
    assert path.read_bytes() == BOOK
    first, second, third = site.times
    assert second - first >= 0.05
    assert third - second >= 0.1


def test_a_lasting_failure_ends_with_the_retries(site, cache):
    site.pages["/1342.html"] = answer(status=500)
    refused(site, cache, "answered 500", retries=2)
    assert len(site.paths) == 3
    refused(site, cache, "answered 500", retries=0)
    assert len(site.paths) == 4


def test_retry_after_is_respected(site, cache):
    site.pages["/1342.html"] = in_turn(answer(status=429, Retry_After="1"), answer())
    assert download("1342", mirror=site.mirror, cache=cache, limits=QUICK).read_bytes() == BOOK
    assert site.times[1] - site.times[0] >= 1


def test_retry_after_beyond_the_total_is_not_waited_for(site, cache):
    site.pages["/1342.html"] = answer(status=503, Retry_After="3600")
    what = "answered 503 and asks to wait 3600 s, longer than the 5 s allowed"
    began = time.monotonic()
    refused(site, cache, what)
    assert time.monotonic() - began < 30
    assert len(site.paths) == 1


def test_a_connection_closed_without_an_answer_is_tried_again(site, cache):
    site.pages["/1342.html"] = in_turn(lambda *_: None, answer())
    assert download("1342", mirror=site.mirror, cache=cache, limits=QUICK).read_bytes() == BOOK
    assert len(site.paths) == 2


def test_no_server(site, cache):
    site.close()
    refused(site, cache, "could not be read: Connection refused")


def test_a_silent_server(site, cache):
    site.pages["/1342.html"] = silent
    refused(site, cache, r"could not be read: nothing came for 0\.1 s", timeout=0.1, retries=1)
    assert len(site.paths) == 2


@pytest.mark.parametrize("slowly", [dripping, dripping_headers])
def test_a_drip_ends_with_the_total(site, cache, slowly):
    site.pages["/1342.html"] = slowly
    began = time.monotonic()
    refused(site, cache, r"took longer than 0\.3 s", total=0.3)
    assert 0.3 <= time.monotonic() - began < 30
    assert len(site.paths) == 1


def test_no_work_continues_after_the_total_time(site, cache):
    def stream(handler, site):
        answer(length=10**9)(handler, site)
        while not site.closing.wait(0.01):
            handler.wfile.write(b"x" * 10_000)

    site.pages["/1342.html"] = answer(status=500)
    refused(site, cache, r"took longer than 0\.3 s", total=0.3, pause=0.2)
    assert len(site.paths) == 2
    site.pages["/1342.html"] = stream
    refused(site, cache, r"took longer than 0\.3 s", total=0.3)
    time.sleep(0.3)
    assert (len(site.paths), site.open_now) == (3, 0)


def test_a_body_shorter_than_declared(site, cache):
    site.pages["/1342.html"] = answer(length=100_000)
    refused(site, cache, rf"broke off: .*\b{len(BOOK)} bytes read.*")


def test_a_connection_reset_in_the_body(site, cache):
    site.pages["/1342.html"] = reset
    refused(site, cache, "broke off: Connection reset by peer")
    assert len(site.paths) == 1


def test_a_compressed_book_is_counted_as_sent(site, cache):
    packed = gzip.compress(BOOK * 50)
    site.pages["/1342.html"] = answer(packed, Content_Encoding="gzip")
    assert download("1342", mirror=site.mirror, cache=cache, limits=QUICK).read_bytes() == BOOK * 50


def test_a_compressed_book_cut_short(site, cache):
    packed = gzip.compress(BOOK * 50)
    site.pages["/1342.html"] = answer(packed[:-20], length=len(packed), Content_Encoding="gzip")
    refused(site, cache, rf"broke off: .*\b{len(packed) - 20} bytes read.*")


def test_a_chunked_book(site, cache):
    site.pages["/1342.html"] = chunked
    assert (
        download("1342", mirror=site.mirror, cache=cache, limits=QUICK).read_bytes() == BOOK[:-16]
    )


def test_a_chunked_book_cut_short(site, cache):
    site.pages["/1342.html"] = chunked_and_cut
    refused(site, cache, "broke off: .+")


def test_a_book_without_length_is_whole_if_it_is_closed(site, cache):
    site.pages["/1342.html"] = in_turn(answer(BOOK[:-16], length=""), answer(length=""))
    refused(site, cache, f"broke off after {len(BOOK) - 16} bytes: found no '</html'")
    assert download("1342", mirror=site.mirror, cache=cache, limits=QUICK).read_bytes() == BOOK


@pytest.mark.parametrize(
    "body",
    [
        b"%PDF-1.4\n" + bytes(9000),
        b"The ferry was late again, and nobody minded.",
        b"",
        b"<pdf:x/><head>",
    ],
)
def test_a_page_that_is_not_html_is_refused_even_with_the_type_html(site, cache, body):
    site.pages["/1342.html"] = answer(body, Content_Type="text/html")
    start = re.escape(repr(body[:12]))
    refused(site, cache, f"sent {len(body):,} bytes that start {start}")


@pytest.mark.parametrize(
    "start", [b"<p>A fragment.", b"\xef\xbb\xbf<?xml?>\n<!DOCTYPE HTML>", b"<HTML lang='en'>"]
)
def test_html_is_known_by_its_beginning_and_not_by_its_type(site, cache, start):
    body = start + BOOK
    site.pages["/1342.html"] = answer(body, Content_Type="application/octet-stream")
    assert download("1342", mirror=site.mirror, cache=cache, limits=QUICK).read_bytes() == body


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"<html><p>Are you human?</p></html>", "a page without Gutenberg's header and footer"),
        (BOOK + b"<p>[EBook #84]</p>", "book 84 and not 1342"),
        (BOOK.replace("“My dear Mr. Otway,”".encode(), b""), "a page that is no book: the file .*"),
    ],
)
def test_a_page_that_is_not_the_book_is_refused(site, cache, body, fault):
    site.pages["/1342.html"] = in_turn(answer(body), answer(BOOK + b"<p>[eBook #1342]</p>"))
    refused(site, cache, f"sent {fault}")
    assert download("1342", mirror=site.mirror, cache=cache, limits=QUICK).is_file()


@pytest.mark.parametrize("there", [b"<p>Are you human?</p>", BOOK + b"[Etext #84]"])
def test_a_file_of_the_cache_that_is_not_the_book_is_downloaded_again(site, cache, there):
    path = touch(cache, "1342.html") / "1342.html"
    path.write_bytes(there)
    site.pages["/1342.html"] = in_turn(answer(status=404), answer())
    with pytest.raises(DownloadError) as failure:
        download("1342", mirror=site.mirror, cache=cache, limits=QUICK)
    assert f"expected an HTML book; {path} was no help, it is " in str(failure.value)
    assert path.read_bytes() == there
    assert download("1342", mirror=site.mirror, cache=cache, limits=QUICK) == path
    assert path.read_bytes() == BOOK


@pytest.mark.parametrize("headers", [{}, {"Content_Encoding": "gzip"}])
def test_a_page_too_large_is_refused_unpacked_too(site, cache, headers):
    body = BOOK + b"x" * 100_000
    site.pages["/1342.html"] = answer(gzip.compress(body) if headers else body, **headers)
    refused(site, cache, "sent more than the 50,000 bytes allowed", max_bytes=50_000)
    assert download(
        "1342", mirror=site.mirror, cache=cache, limits=replace(QUICK, max_bytes=len(body))
    )


def test_redirects_are_followed(site, cache):
    site.pages["/1342.html"] = answer(b"", status=302, Location="/there")
    site.pages["/there"] = answer()
    assert download("1342", mirror=site.mirror, cache=cache, limits=QUICK).read_bytes() == BOOK
    assert site.paths == ["/1342.html", "/there"]


def test_a_redirect_in_circles_is_refused(site, cache):
    site.pages["/1342.html"] = answer(b"", status=301, Location="/1342.html")
    refused(site, cache, "leads to more than 10 other addresses")
    assert len(site.paths) == 11


def test_requests_to_one_host_keep_their_distance(site, cache):
    site.pages |= {"/1.html": answer(), "/3.html": answer()}
    for id in "123":
        try:
            download(id, mirror=site.mirror, cache=cache, limits=replace(QUICK, pause=0.15))
        except DownloadError:
            assert id == "2"
    gaps = [after - before for before, after in zip(site.times, site.times[1:], strict=False)]
    assert len(gaps) == 2
    assert min(gaps) >= 0.15


def test_another_host_and_a_cached_book_wait_for_nothing(site, cache):
    other = Site()
    try:
        site.pages["/1.html"] = other.pages["/2.html"] = answer()
        began = time.monotonic()
        for id, mirror in (("1", site.mirror), ("2", other.mirror), ("1", site.mirror)):
            download(id, mirror=mirror, cache=cache, limits=replace(QUICK, pause=20))
        assert time.monotonic() - began < 15
        assert len(other.paths) == 1
    finally:
        other.close()


def test_requests_are_made_one_at_a_time_and_a_book_once(site, cache):
    def slow(handler, site):
        site.closing.wait(0.05)
        answer()(handler, site)

    site.pages = dict.fromkeys(("/1.html", "/2.html"), slow)
    options = {"mirror": site.mirror, "cache": cache, "limits": QUICK}
    threads = [threading.Thread(target=download, args=(id,), kwargs=options) for id in "1212"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert site.most_open == 1
    assert sorted(site.paths) == ["/1.html", "/2.html"]


def test_a_book_appears_in_the_cache_whole(site, cache):
    # Large enough to be seen while it is written.
    body = BOOK.replace(b"<body>", b"<style>%s</style><body>" % (b"x" * 4_000_000))
    site.pages["/1342.html"] = answer(body)
    path, sizes = cache / "1342.html", []

    def watch():
        while not sizes or sizes[-1] != len(body):
            if path.exists():
                sizes.append(path.stat().st_size)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    download("1342", mirror=site.mirror, cache=cache, limits=QUICK)
    watcher.join(2)
    assert set(sizes) == {len(body)}
    assert list(cache.iterdir()) == [path]


def test_a_book_that_cannot_be_put_in_its_place_leaves_nothing(site, cache):
    site.pages["/1342.html"] = answer()
    (cache / "1342.html").mkdir(parents=True)
    with pytest.raises(DownloadError, match=f"^1342: {cache}/1342.html: found a folder, expected"):
        download("1342", mirror=site.mirror, cache=cache, limits=QUICK)
    assert list(cache.iterdir()) == [cache / "1342.html"]


def test_a_cache_that_is_no_folder_costs_no_request(site, tmp_path):
    site.pages["/1342.html"] = answer()
    cache = touch(tmp_path, "file") / "file"
    with pytest.raises(DownloadError) as failure:
        download("1342", mirror=site.mirror, cache=cache, limits=QUICK)
    assert str(failure.value) == f"1342: {cache}/1342.html: cannot be written: Not a directory"
    assert site.paths == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no Unix permissions here")
def test_an_unwritable_cache(site):
    site.pages |= {"/7.html": answer(), "/1342.html": answer()}
    with tempfile.TemporaryDirectory() as name:
        cache = Path(name)
        download("7", mirror=site.mirror, cache=cache, limits=QUICK)
        cache.chmod(0o555)
        with ordinary_user(), pytest.raises(DownloadError) as failure:
            download("1342", mirror=site.mirror, cache=cache, limits=QUICK)
        assert (
            str(failure.value) == f"1342: {cache}/1342.html: cannot be written: Permission denied"
        )
        assert site.paths == ["/7.html"]
        assert list(cache.iterdir()) == [cache / "7.html"]


# Many books, and one by its title


def test_many_books_are_downloaded_one_by_one(tmp_path):
    asked = []

    def find(id):
        asked.append(id)
        if id == "13":
            raise PermissionError(13, "Permission denied", "13-h.htm")
        if id == "12":
            raise InputError("12: no such number")
        return tmp_path / id

    found = download_books(["11", "12", "13"], find)
    assert next(found) == ("11", tmp_path / "11")
    assert asked == ["11"]
    assert next(found) == ("12", "no such number")
    assert "Permission denied" in next(found)[1]
    assert next(found, None) is None


def test_books_that_can_be_had_are_on_this_disk_or_downloaded(site, tmp_path, monkeypatch):
    monkeypatch.setenv("MINER_CACHE", str(tmp_path / "cache"))
    books = touch(tmp_path / "books", "11-h.htm")
    site.pages["/1342.html"] = answer()
    found = fetch_books(["1342", "11"], books, mirror=site.mirror, limits=QUICK)
    assert list(found.items()) == [
        ("1342", tmp_path / "cache" / "1342.html"),
        ("11", books / "11-h.htm"),
    ]
    assert site.paths == ["/1342.html"]


def test_the_first_book_that_cannot_be_downloaded_ends_the_downloads(site, tmp_path, monkeypatch):
    monkeypatch.setenv("MINER_CACHE", str(tmp_path / "cache"))
    books = touch(tmp_path / "books", "11-h.htm")
    site.pages["/1342.html"] = answer()
    found = fetch_books(["12", "1342", "11"], books, mirror=site.mirror, limits=QUICK)
    assert found == {"11": books / "11-h.htm"}
    assert site.paths == ["/12.html"]


def test_one_book_by_its_title(tmp_path, monkeypatch):
    catalog = tmp_path / "catalog.csv"
    catalog.write_text('Text#,Type,Title,Authors\n42,Text,"The Ferry; or, Geese","Bell, Ann"\n')
    monkeypatch.setenv("MINER_CATALOG", str(catalog))
    monkeypatch.setenv("MINER_CACHE", str(touch(tmp_path / "cache", "42.html")))
    path = tmp_path / "cache" / "42.html"
    assert find_book("the ferry") == (Source("the ferry", "42", path), path)
    with pytest.raises(InputError, match="^The Fery: no such file; found no text .* 'The Ferry'$"):
        find_book("The Fery")
    with pytest.raises(InputError, match="^ferry.htm: no such file$"):
        find_book("ferry.htm")
    monkeypatch.setenv("MINER_CATALOG", str(tmp_path / "none.csv"))
    with pytest.raises(InputError) as failure:
        find_book("the ferry")
    assert str(failure.value) == (
        "the ferry: no such file; there is no catalogue of titles: MINER_CATALOG: found no file "
        f"{tmp_path}/none.csv, expected a pg_catalog.csv"
    )


def test_one_book_is_one(tmp_path):
    folder = touch(tmp_path, "1-h.htm", "2-h.htm")
    with pytest.raises(InputError, match=f"^{folder}: found 2 books, expected one$"):
        find_book(str(folder))
