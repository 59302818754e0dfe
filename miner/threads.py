"""How many threads compute at once: never more than the cores that a process was given.

| what computes | threads |
|---|---|
| ONNX Runtime, in this process | `threads_given()` |
| a worker of a run | its share of them: `share_of_worker()` |
| the products of our small networks in NumPy | one: `one_blas_thread()` |

Numbers that the user set (`OMP_NUM_THREADS` and those of single libraries) stay, and nothing here
changes what other parts of a program compute with. PyTorch in this process has its own number.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import Any

# OpenBLAS, MKL, PyTorch and Arrow read the first where their own is not set, tokenizers the second.
_VARIABLES = ("OMP_NUM_THREADS", "RAYON_NUM_THREADS")
_IN_SCOPE = RLock()


def threads_given() -> int:
    """Returns `OMP_NUM_THREADS`, or the cores of this process without it.

    The cores are those that affinity and a quota of its control group leave it.
    """
    first = os.environ.get(_VARIABLES[0], "").partition(",")[0].strip()  # it may be a list
    if first.isdecimal() and int(first):
        return int(first)
    from loky import cpu_count

    return cpu_count()


def share_of_worker(n_workers: int) -> dict[str, str]:
    """Returns the environment of each of `n_workers` processes, so that all share the cores."""
    share = str(max(1, threads_given() // n_workers))
    return {name: share for name in _VARIABLES if name not in os.environ}


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A scope in which BLAS computes in one thread.

    The matrices of our networks are so small that a second thread saves little or nothing. It costs
    a core, because it waits for the next product by spinning. The limit is one of the process, so
    that a thread waits while another is in the scope: else the last one to leave it might restore
    the limit of the first.
    """
    with _IN_SCOPE, _blas().limit(limits=1):
        yield


@cache
def _blas() -> Any:  # noqa: ANN401 - the library has no types
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
