"""Executors: order, memory, and functions that only the user's script has."""

import os
import threading

import pytest

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
