"""No more is asked of gutenberg.org than it allows, whatever the number of processes."""

import json
import subprocess
import sys
import time

import pytest
from helpers import BOOK, ROOT, touch
from loopback import answer

from miner.books.download import DEFAULT_MIRROR, Allowance, download
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
