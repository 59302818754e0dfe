"""Networks compute in the cores that they were given, and none of them waits for another."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import NamedTuple

import numpy as np
import pytest
from helpers import SAMPLE
from threadpoolctl import ThreadpoolController

from miner.corpus.executors import LocalExecutor
from miner.people import attributor
from miner.people.attributor import Decider
from miner.speech.read import parse_spans
from miner.tagger.checkpoint import load_checkpoint
from miner.tagger.head import Head
from miner.tagger.load import CHECKPOINTS, load_tagger
from miner.threads import one_blas_thread, share_of_worker, threads_given

BLAS = ThreadpoolController().select(user_api="blas")


@pytest.fixture(autouse=True)
def no_numbers_of_the_user(monkeypatch):
    for name in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


def blas_threads():
    """The threads of NumPy's BLAS, and of others that were loaded before it was asked."""
    return [one["num_threads"] for one in BLAS.info()]


def count_threads(_=None):
    """The threads of each kind in a process."""
    return threads_given(), *blas_threads()


class Watched(np.ndarray):
    """A matrix that notes how many threads BLAS has when it is multiplied."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if ufunc is np.matmul:
            THREADS.append(blas_threads())
        return getattr(ufunc, method)(*map(np.asarray, inputs), **options)


THREADS = []


class WatchedDecider(NamedTuple):
    """Decides as another decider does, and says how many threads it has."""

    inner: Decider

    def decide(self, chapter, continues):
        THREADS.append(blas_threads())
        return self.inner.decide(chapter, continues)


class WatchedRuntime:
    """Computes with another runtime whose weights and vectors are watched."""

    def __init__(self, runtime, config):
        weights = {name: weight.view(Watched) for name, weight in runtime._head._weights.items()}
        head = Head(weights, config, runtime.size)
        self.score_structure, self.score_text = head.score_structure, head.score_text
        self.size, self.tokens_at_once = runtime.size, runtime.tokens_at_once
        self.encode = lambda *windows: runtime.encode(*windows).view(Watched)


def sample():
    return parse_spans(SAMPLE.read_bytes(), "sample")


def find_speakers():
    ours = attributor.attributor_of("en")
    book = sample()
    replace(ours, decider=WatchedDecider(ours.decider)).attribute(
        book, load_tagger("gap").tag(book)
    )


def tag():
    tagger = load_checkpoint(CHECKPOINTS / "en", "cpu")
    replace(tagger, runtime=WatchedRuntime(tagger.runtime, tagger.config)).tag(sample())


@pytest.mark.parametrize("work", [find_speakers, tag])
def test_small_products_are_computed_in_one_thread(work):
    THREADS.clear()
    with BLAS.limit(limits=2):  # whatever a run of tests in several processes has set
        work()
        assert set(blas_threads()) == {2}
    assert len(THREADS) >= 5
    assert all(set(found) == {1} for found in THREADS)


def test_after_the_scope_blas_has_its_own_number_whoever_was_in_it_at_once():
    before, inside = blas_threads(), Barrier(3)

    def compute(_):
        inside.wait()
        with one_blas_thread(), one_blas_thread():
            return blas_threads()

    with ThreadPoolExecutor(3) as pool:
        for _ in range(20):
            assert list(pool.map(compute, range(3))) == [[1] * len(before)] * 3
            assert blas_threads() == before


@pytest.mark.parametrize("n", range(1, 6))
def test_workers_have_no_more_threads_than_there_are_cores(n):
    shares = share_of_worker(n)
    assert shares
    assert all(int(share) * n <= max(n, threads_given()) for share in shares.values())


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3])
def test_workers_compute_with_their_share(n):
    (found,) = LocalExecutor(n).map(count_threads, [None])
    assert all(threads * n <= max(n, threads_given()) for threads in found)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_only_the_cores_that_a_process_may_use_count():
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert threads_given() == 1
        assert set(share_of_worker(4).values()) == {"1"}
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize(("value", "n"), [("3", 3), ("3,2", 3), (" 5 ", 5)])
def test_the_users_number_stays_here_and_in_workers(monkeypatch, value, n):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert threads_given() == n
    assert "OMP_NUM_THREADS" not in share_of_worker(2)


@pytest.mark.parametrize("value", ["", "0", "many"])
def test_what_is_no_number_of_threads_is_passed_over(monkeypatch, value):
    here = threads_given()
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert threads_given() == here
