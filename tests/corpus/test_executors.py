"""Executors: order, memory, and functions that only the user's script has."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helpers import ROOT, wait_until

from miner.corpus.executors import LocalExecutor
from miner.errors import InputError


@pytest.mark.parametrize("n", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_results_come_in_order_and_items_are_taken_as_needed(n):
    taken = []
    items = (taken.append(item) or item for item in range(40))
    results = LocalExecutor(n).map(lambda item: (item, os.getpid()), items)
    assert taken == []
    first, process = next(results)
    assert first == 0 and (process == os.getpid()) == (n == 0)
    assert len(taken) <= 1 + 2 * n
    assert [item for item, _ in results] == list(range(1, 40))


def test_a_function_that_cannot_be_sent_is_one_line():
    lock = threading.Lock()
    with pytest.raises(InputError, match=r"cannot be sent to another process .*workers=1"):
        next(LocalExecutor(1).map(lambda item: lock, [1]))


@pytest.mark.slow
def test_classes_and_errors_of_a_script_come_back():
    class Box:
        def __init__(self, item):
            self.item = item

    class TwoWords(Exception):
        """Cannot be unpickled from its one argument."""

        def __init__(self, first, second):
            super().__init__(f"{first} {second}")

    def put(item):
        if item == 2:
            raise TwoWords("too", "large")
        return Box(item)

    results = LocalExecutor(1).map(put, range(3))
    assert [next(results).item, next(results).item] == [0, 1]
    with pytest.raises(RuntimeError, match="TwoWords: too large$"):
        next(results)


@pytest.mark.slow
def test_a_function_is_sent_once_to_each_process():
    class Counting:
        n = 0

        def __call__(self, item):
            self.n += 1
            return self.n

    assert list(LocalExecutor(1).map(Counting(), range(4))) == [1, 2, 3, 4]


@pytest.mark.parametrize("n", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_an_item_that_ends_its_process_costs_no_other(n):
    def work(item):
        if item == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if item == 5:
            raise MemoryError
        return item

    found = list(LocalExecutor(n).map(work, range(8)))
    lost = {2: found[2], 5: found[5]}
    assert str(lost[2]) == "its process was killed, perhaps for want of memory"
    assert isinstance(lost[2], ChildProcessError) and isinstance(lost[5], MemoryError)
    assert [lost.get(n, n) for n in range(8)] == found


PARENT = """
import time
from miner.corpus.executors import LocalExecutor
results = LocalExecutor(2).map(lambda item: item, range(100))
next(results)
print("started", flush=True)
time.sleep(100)
"""


@pytest.mark.slow
@pytest.mark.parametrize("after", ["the first result", "the folder"])
def test_processes_end_when_their_parent_is_killed(tmp_path, after):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert parent.stdout
    if after == "the folder":  # before any worker could know of it
        wait_until(lambda: list(tmp_path.glob("miner-*/function")))
    else:
        assert parent.stdout.readline() == b"started\n"
        assert len(others(parent.pid)) >= 2 and list(tmp_path.glob("miner-*"))
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    wait_until(lambda: not others(parent.pid) and not list(tmp_path.iterdir()))
    parent.stdout.close()


def others(session):
    """The living processes of a session without its first."""
    if not Path("/proc/self/stat").is_file():
        pytest.skip("no list of processes here")
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(words[3]) == session and words[0] != "Z" and stat.parent.name != str(session):
            found.append(stat.parent.name)
    return found
