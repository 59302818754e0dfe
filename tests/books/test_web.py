"""No more is asked of gutenberg.org than it allows, whatever the number of processes."""

import json
import subprocess
import sys
import time
import traceback
from dataclasses import replace

import pytest
from helpers import BOOK, ROOT, run, touch
from loopback import Site, answer

from miner.books.addresses import RedirectError, mask_secrets, next_url, refuse_private
from miner.books.download import DEFAULT_MIRROR, Allowance, download, urls_from_mirror
from miner.books.web import BOOKS_A_DAY, MAIN_SITE, AllowanceError, DownloadError, Limits
from miner.errors import InputError

QUICK = Limits(timeout=2, retries=0, pause=0, total=5)
HERE = "127.0.0.1"
HOUR = 3600


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", HERE)


def allowance_of(folder, n=2, pause=0.0):
    return Allowance(folder, (HERE,), n, pause)


def keep_times(folder, *ages):
    """Writes the file of an allowance with requests of so many seconds ago."""
    folder.mkdir(parents=True, exist_ok=True)
    Allowance(folder).path.write_text(json.dumps([time.time() - age for age in ages]))


def fetch(site, cache, id, **options):
    site.pages[f"/{id}.html"] = answer()
    return download(id, mirror=site.mirror, cache=cache, limits=QUICK, **options)


def test_the_figures_are_those_of_gutenberg():
    default = Allowance(None)
    assert (default.books_a_day, default.pause, default.hosts) == (100, 2, MAIN_SITE)
    assert Limits().pause == 2
    assert DEFAULT_MIRROR.split("/")[2] in MAIN_SITE


def test_the_book_after_the_last_is_refused_without_a_request(site, cache):
    allowance = allowance_of(cache)
    for id in ("7", "8"):
        assert fetch(site, cache, id, allowance=allowance).read_bytes() == BOOK
    with pytest.raises(DownloadError) as failure:
        fetch(site, cache, "9", allowance=allowance)
    assert str(failure.value) == (
        "9: asked 127.0.0.1 for 2 books in 24 hours, expected at most 2, which is what its terms "
        "of use allow; wait 24 h 00 min, or give a mirror (`mirror=` or MINER_MIRROR, for example "
        "https://gutenberg.pglaf.org/cache/epub/{id}/pg{id}-images.html), or copy the books with "
        "rsync and give `books=`"
    )
    assert site.paths == ["/7.html", "/8.html"]
    assert fetch(site, cache, "7", allowance=allowance).read_bytes() == BOOK  # from the cache


def test_what_was_asked_for_a_day_ago_does_not_count(tmp_path):
    keep_times(tmp_path, 25 * HOUR, 23 * HOUR, HOUR)
    with pytest.raises(AllowanceError, match="; wait 1 h 00 min, or"):
        allowance_of(tmp_path).take(HERE)
    keep_times(tmp_path, 25 * HOUR, 24.5 * HOUR, HOUR)
    allowance_of(tmp_path).take(HERE)
    assert len(json.loads(Allowance(tmp_path).path.read_text())) == 2


def test_a_named_mirror_is_not_counted(site, cache):
    keep_times(cache, *range(BOOKS_A_DAY))
    assert fetch(site, cache, "7").read_bytes() == BOOK
    assert len(json.loads(Allowance(cache).path.read_text())) == BOOKS_A_DAY


@pytest.mark.parametrize("mirror", [None, "https://WWW.gutenberg.org/files/{id}/{id}-h.htm"])
def test_the_main_site_is_counted_even_if_it_is_named(cache, mirror):
    keep_times(cache, *range(BOOKS_A_DAY))
    with pytest.raises(DownloadError, match=r"1342: asked \S+ for 100 books in 24 hours"):
        download("1342", mirror=mirror, cache=cache, limits=QUICK)
    touch(cache, "1342.html")
    assert download("1342", mirror=mirror, cache=cache) == cache / "1342.html"


def test_a_failed_answer_counts_and_a_server_that_is_not_there_does_not(site, cache):
    allowance = allowance_of(cache, n=5)
    with pytest.raises(DownloadError, match="answered 404"):
        download("7", mirror=site.mirror, cache=cache, limits=QUICK, allowance=allowance)
    assert len(json.loads(allowance.path.read_text())) == 1
    site.close()
    with pytest.raises(DownloadError, match="Connection refused"):
        download("8", mirror=site.mirror, cache=cache, limits=QUICK, allowance=allowance)
    assert len(json.loads(allowance.path.read_text())) == 1


def test_requests_of_several_processes_keep_their_distance(tmp_path):
    allowance = allowance_of(tmp_path, n=9, pause=3)
    now = time.time()
    slots = [allowance.take(HERE) for _ in range(3)]  # nobody waits here
    assert [round(slot - slots[0], 6) for slot in slots] == [0, 3, 6]
    assert now <= slots[0] < now + 3


def test_a_download_waits_for_its_slot(site, cache):
    allowance = allowance_of(cache, pause=0.3)
    fetch(site, cache, "7", allowance=allowance)
    fetch(site, cache, "8", allowance=allowance)
    first, second = json.loads(allowance.path.read_text())
    assert second >= first + 0.3
    assert time.time() >= second


def test_a_clock_that_was_set_back_stops_nothing(tmp_path):
    keep_times(tmp_path, -9 * HOUR, -8 * HOUR, -7 * HOUR)
    assert allowance_of(tmp_path).take(HERE) < time.time() + 1


TAKE = """
import sys
from pathlib import Path
from miner.books.web import Allowance, AllowanceError
allowance, n = Allowance(Path(sys.argv[1]), ("here",), 25, 0), 0
for _ in range(20):
    try:
        allowance.take("here")
        n += 1
    except AllowanceError:
        pass
print(n)
"""


def test_several_processes_share_a_day(tmp_path):
    started = [
        subprocess.Popen(
            [sys.executable, "-c", TAKE, tmp_path], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        for _ in range(2)
    ]
    assert sum(int(process.communicate()[0]) for process in started) == 25


@pytest.mark.parametrize("content", ["", "{}", '["x"]'])
def test_a_damaged_count_is_named(cache, content):
    keep_times(cache)
    Allowance(cache).path.write_text(content)
    with pytest.raises(DownloadError, match=r"downloads.json: found .*expected a list of times; "):
        download("1342", cache=cache)


def test_an_impossible_allowance_is_refused(tmp_path):
    with pytest.raises(InputError, match="pause: found -1, expected 0 or more"):
        Allowance(tmp_path, pause=-1)


QUICK_ADDRESSES = Limits(timeout=2, retries=0, pause=0.001, total=5)
SECRET = "s3cr3t"
TALK = BOOK.replace(b"</body>", "<p>“Is it late?”</p><p>“It is.”</p></body>".encode())
PASSWORDS = [SECRET, f"%2F{SECRET}", f"{SECRET}@x", f"x/{SECRET}", f"x?{SECRET}", f"x,{SECRET}"]
PASSWORDS += [f"x {SECRET}", f"x#{SECRET}", f"[{SECRET}", f"'{SECRET}"]


@pytest.fixture(autouse=True)
def no_proxy_of_addresses(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def shown(error: BaseException) -> str:
    """All that a traceback shows, without the lines of this file."""
    return "".join(part for part in traceback.format_exception(error) if "SECRET" not in part)


# Passwords


FAULTS = {
    "404": {},
    "403": {"/1.html": answer(status=403)},
    "no book": {"/1.html": answer(b"<p>Are you human?</p>")},
    "cut": {"/1.html": answer(length=10**6)},
    "closed": {"/1.html": lambda *_: None},
    "redirect": {"/1.html": answer(status=302, Location="/2.html?key=" + SECRET)},
    "circle": {"/1.html": answer(status=302, Location="/1.html?key=" + SECRET)},
    "private": {"/1.html": answer(status=302, Location=f"http://u:{SECRET}@10.0.0.1/")},
    "file": {"/1.html": answer(status=302, Location=f"file://u:{SECRET}@h/")},
    "odd": {"/1.html": answer(status=302, Location=f"http://u:{SECRET}@h:x/")},
}


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize("fault", FAULTS)
def test_no_error_shows_a_password(site, cache, fault, password):
    site.pages |= FAULTS[fault]
    mirror = site.mirror.replace("//", f"//ann:{password}@") + "?token=" + SECRET
    site.pages |= {f"{path}?token={SECRET}": page for path, page in FAULTS[fault].items()}
    with pytest.raises(InputError) as failure:
        download("1", mirror=mirror, cache=cache, limits=QUICK_ADDRESSES)
    assert SECRET not in shown(failure.value)
    assert "127.0.0.1" in str(failure.value)


@pytest.mark.parametrize(
    "template",
    ["{}", "{} {{id}}", "{}{{id}}{{book}}", "ftp://{}/{{id}}", "{}:x/{{id}}", "[{}/{{id}}"],
)
@pytest.mark.parametrize("password", PASSWORDS)
def test_no_refusal_of_a_mirror_shows_its_password(template, password):
    mirror = template.format(f"https://ann:{password}@host")
    with pytest.raises(InputError) as failure:
        urls_from_mirror(mirror, "1")
    assert SECRET not in shown(failure.value)


def test_neither_files_nor_output_have_the_password_and_it_decides_nothing(
    site, tmp_path, monkeypatch, quick
):
    monkeypatch.setenv("MINER_CACHE", str(tmp_path / "cache"))
    site.pages[f"/7.html?key={SECRET}"] = answer(TALK)
    records = []
    for user in ("ann", "bob"):
        mirror = site.mirror.replace("//", f"//{user}:{SECRET}@") + "?key=" + SECRET
        monkeypatch.setenv("MINER_MIRROR", mirror)
        words = ["8", "7", f"https://{user}:{SECRET}@example.org/1", "--tagger", "gap"]
        done = run("mine", *words, "-o", tmp_path / user, "--log", tmp_path / f"{user}.log")
        assert (done.exit_code, SECRET in done.output) == (1, False)
        assert "set aside: 8: http://***@127.0.0.1" in done.stderr
        records.append((tmp_path / user / "run.json").read_text())
    assert site.headers[0]["Authorization"]
    assert records[0] == records[1]  # so either run may be resumed with the other mirror
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"run.json", "README.md", "ann.log"} <= {path.name for path in files}
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in files)


def test_a_password_is_masked_wherever_it_stands():
    assert mask_secrets("no secret: what? http://a/b, c") == "no secret: what? http://a/b, c"
    assert mask_secrets("see 'https://a:b@c/d' and http://e/?f=g!") == (
        "see 'https://***@c/d' and http://e/?***"
    )


# Redirects


PRIVATE = ["10.0.0.1", "169.254.169.254", "192.168.1.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"]
PRIVATE += ["[fe80::1]", "[fd00::1]", "localhost", "127.0.0.2", "127.1", "2130706433", "100.64.0.1"]


@pytest.mark.parametrize("host", PRIVATE)
def test_a_mirror_sends_nobody_to_a_private_address(site, cache, host):
    other = Site()
    port = other.url.rpartition(":")[2]
    try:
        other.pages["/1.html"] = answer()
        site.pages["/1.html"] = answer(status=302, Location=f"http://{host}:{port}/1.html")
        with pytest.raises(DownloadError, match=r"/1\.html leads to .+, expected a public address"):
            download("1", mirror=site.mirror, cache=cache, limits=QUICK_ADDRESSES)
        assert (len(site.paths), other.paths) == (1, [])
    finally:
        other.close()


@pytest.fixture
def other_port(site):
    """A server of another port, to which the mirror sends."""
    other = Site()
    other.pages["/1.html"] = answer()
    site.pages["/1.html"] = answer(status=302, Location=other.url + "/1.html")
    yield other
    other.close()


@pytest.mark.parametrize("is_asked_again", [False, True])
def test_a_mirror_sends_nobody_to_another_port_of_its_own(
    site, other_port, cache, monkeypatch, is_asked_again
):
    """A name may mean another address when it is asked again: then the first check sees nothing."""
    if is_asked_again:
        monkeypatch.setattr("miner.books.addresses.refuse_private", lambda url: None)
    with pytest.raises(DownloadError, match=r"leads to 127\.0\.0\.1 at 127\.0\.0\.1, expected"):
        download("1", mirror=site.mirror, cache=cache, limits=QUICK_ADDRESSES)
    assert other_port.paths == []


def test_a_private_mirror_sends_to_itself_with_its_password(site, cache):
    site.pages["/1.html"] = answer(status=302, Location=site.url + "/2.html")
    site.pages["/2.html"] = answer(status=302, Location="/3.html")
    site.pages["/3.html"] = answer()
    mirror = site.mirror.replace("//", "//ann:bee@")
    assert download("1", mirror=mirror, cache=cache, limits=QUICK_ADDRESSES).read_bytes() == BOOK
    assert len({headers["Authorization"] for headers in site.headers}) == 1
    assert site.headers[0]["Authorization"]


def test_a_redirect_without_end_is_not_read(site, cache):
    def endless(handler, site):
        answer(status=302, length=10**12, Location="/2.html")(handler, site)
        for _ in range(10_000):
            handler.wfile.write(b"x" * 10_000)

    site.pages |= {"/1.html": endless, "/2.html": answer()}
    limits = replace(QUICK_ADDRESSES, max_bytes=50_000)
    assert download("1", mirror=site.mirror, cache=cache, limits=limits).read_bytes() == BOOK


@pytest.mark.parametrize(
    ("url", "location", "there"),
    [
        ("https://a.org/1", "/2", "https://a.org/2"),
        ("http://a.org/1", "https://b.org/2", "https://b.org/2"),
        ("http://a.org/1", "http://b.org/2", "http://b.org/2"),
        ("https://a.org/1", "http://a.org/1", None),
        ("https://a.org/1", "HTTP://b.org/", None),
        ("https://a.org/1", "ftp://a.org/", None),
        ("https://a.org/1", "file:///etc/hostname", None),
        ("https://a.org/1", "http:///x", None),
        ("https://a.org/1", "https://[::1/", None),
    ],
)
def test_a_redirect_keeps_https(url, location, there):
    if there:
        assert next_url(url, location) == there
        return
    with pytest.raises(RedirectError, match="^leads to "):
        next_url(url, location)


@pytest.mark.parametrize("host", ["8.8.8.8", "[2606:4700::1111]"])
def test_a_public_address_is_none_of_those(host):
    refuse_private(f"https://{host}/")


# Odd URLs


ODD = ["https://", "http:///{id}", "https://[::1/{id}", "http://h:99999/{id}", "http://h:x/{id}"]
ODD += ["http://a..b/{id}", f"http://{'a' * 70}.invalid/{{id}}", "http://\u2100.invalid/{id}"]
ODD += ["http://xn--\u00e4.invalid/{id}", "http://*/{id}", "http://.x/{id}", "http://%/{id}", ":"]
ODD += [
    "http://a:b@/{id}",
    "http://\0/{id}",
    "http://[{id}]/",
    "http://h:{id}x/",
    "http://\ud800/{id}",
]
ODD += ["//{id}", "http:{id}", "http://127.0.0.1:1/\ud800{id}", "http://127.0.0.1:1/\0\x1b{id}"]


@pytest.mark.parametrize("mirror", ODD)
def test_an_odd_mirror_is_one_line(cache, mirror, monkeypatch):
    with pytest.raises(InputError) as failure:
        download("1", mirror=mirror, cache=cache, limits=QUICK_ADDRESSES)
    assert "\n" not in str(failure.value)
    monkeypatch.setenv("MINER_CACHE", str(cache))
    monkeypatch.setattr("miner.books.download.Limits", lambda: QUICK_ADDRESSES)
    done = run("profile", "1", "--mirror", mirror)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("miner: ")
