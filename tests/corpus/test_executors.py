"""Executors: order, memory, and functions that only the user's script has."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from helpers import ROOT

from miner.corpus.executors import LocalExecutor


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
    with pytest.raises(ValueError, match=r"cannot be sent to another process .*workers=1"):
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


PARENT = """
import time
from miner.corpus.executors import LocalExecutor
results = LocalExecutor(2).map(lambda item: item, range(100))
next(results)
print("started", flush=True)
time.sleep(100)
"""


@pytest.mark.slow
def test_processes_end_when_their_parent_is_killed(tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    parent = subprocess.Popen([sys.executable, "-c", PARENT], env=env, stdout=subprocess.PIPE)
    assert parent.stdout
    assert parent.stdout.readline() == b"started\n"
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    if not children.is_file():
        parent.kill()
        parent.communicate()
        pytest.skip("no list of child processes here")
    workers = [Path("/proc", child) for child in children.read_text().split()]
    assert len(workers) >= 2 and list(tmp_path.glob("miner-*"))
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    end = time.monotonic() + 20
    while any(worker.exists() for worker in workers) or list(tmp_path.glob("miner-*")):
        assert time.monotonic() < end
        time.sleep(0.1)
    parent.stdout.close()
