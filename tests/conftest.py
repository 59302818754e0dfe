"""Fixtures that several test files use."""

import gc
import os
import signal
import socket
import sys
import tempfile
import time
from functools import partial

# Workers share the cores, and so do the commands that they start: threads of their own would only
# stand in one another's way. Set before anything imports NumPy or torch, which read it then.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["OMP_NUM_THREADS"] = "1"

import pytest
from loopback import Site

import miner.books.download
import miner.books.web
from miner.books.web import Limits

# Or each worker compiles the tests anew, and each command that they start the package.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell starts what runs in its background with Ctrl-C ignored, and so would every process that
# the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# `nohup` starts it with a hangup ignored.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser):
    parser.addoption(
        "--budget",
        type=float,
        metavar="SECONDS",
        help="skip the tests that have not begun after this many seconds",
    )


def pytest_xdist_make_scheduler(config, log):
    """Fast tests of a file stay in one process, so that what they share is made once.

    Slow ones take minutes, and are handed out one by one.
    """
    if config.getoption("markexpr") == "slow":
        return None
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is imported stays until the end, so that looking for garbage among it finds none."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_configure(config):
    config.stash[_BEGUN] = time.monotonic()
    if not hasattr(config, "workerinput"):  # workers find there what another has made
        folder = tempfile.TemporaryDirectory(prefix="shared_by_tests.")
        config.add_cleanup(folder.cleanup)
        os.environ["SHARED_BY_TESTS"] = folder.name


_BEGUN = pytest.StashKey[float]()


def pytest_runtest_setup(item):
    budget = item.config.getoption("--budget")
    if budget and time.monotonic() - item.config.stash[_BEGUN] > budget:
        pytest.skip(f"the budget of {budget:g} s is spent")


def pytest_collection_modifyitems(items):
    """Puts the longest test first, and those of one real book together, which parses it once."""

    def order(item):
        file = item.callspec.params.get("file") if hasattr(item, "callspec") else None
        return item.path.name != "test_installed.py", file is None, str(file)

    items.sort(key=order)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """Whoever runs the tests may have set where books lie; the tests say it themselves."""
    for name in ("MINER_BOOKS", "MINER_MIRROR", "MINER_CACHE", "MINER_ANNOTATIONS"):
        monkeypatch.delenv(name, raising=False)
    # A word that names nothing is looked up as a title; no test may download the catalogue.
    monkeypatch.setenv("MINER_CATALOG", os.devnull)


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """No test reaches another machine, and none finds what another test learned of hosts."""
    look_up = socket.getaddrinfo

    def look_up_here(host, port, family=0, type=0, proto=0, flags=0):
        if host not in ("localhost", b"localhost"):  # an address needs no server of names
            flags |= socket.AI_NUMERICHOST
        return look_up(host, port, family, type, proto, flags)

    monkeypatch.setattr(socket, "getaddrinfo", look_up_here)
    monkeypatch.setattr(miner.books.web, "_not_reached", {})
    monkeypatch.setattr(miner.books.web, "_last_request", {})


@pytest.fixture
def cache(tmp_path):
    """A folder for downloaded books, not made yet."""
    return tmp_path / "cache" / "books"


@pytest.fixture
def quick(monkeypatch):
    """Requests to this machine's server, with next to no pause; users get the polite one."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    quick = partial(miner.books.download.download, limits=Limits(pause=0.01))
    monkeypatch.setattr(miner.books.download, "download", quick)


@pytest.fixture
def site():
    """A server on this machine, whose pages a test sets."""
    site = Site()
    yield site
    site.close()
