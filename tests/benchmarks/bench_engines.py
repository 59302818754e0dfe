"""Tasks of Ray, as `RayExecutor` uses them, and Ray Data: time of an item, and cost of a kill.

    python tests/benchmarks/bench_engines.py [--n 400]

1. Seconds for n items that do nothing, on two CPUs, for each item alone and for blocks of some:
   what the engine itself takes.
2. Which results are missing when the process of one item of forty is killed again and again.
3. How many items were taken when the first result came.
"""

from __future__ import annotations

import argparse
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from miner.corpus.ray_executor import RayExecutor


def by_tasks(function: Callable[[int], int], items: Iterable[int]) -> Iterator[Any]:
    return RayExecutor("local", n_cpus=2).map(function, items)


def by_ray_data(n_in_block: int) -> Callable[..., Iterator[int]]:
    """Ray Data over blocks of some items, in order; blocks whose process died are left out."""

    def work(function: Callable[[int], int], items: Iterable[int]) -> Iterator[int]:
        import ray.data

        listed = list(items)  # it takes no iterator
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.max_errored_blocks = -1
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        logging.getLogger("ray.data").propagate = False
        n_blocks = max(1, len(listed) // n_in_block)
        rows = ray.data.from_items(listed, override_num_blocks=n_blocks)
        found = rows.map(lambda row: {"item": function(row["item"])}, max_retries=3)
        return (row["item"] for row in found.iter_rows())

    return work


ENGINES = {
    "tasks of Ray": by_tasks,
    "Ray Data, blocks of 1": by_ray_data(1),
    "Ray Data, blocks of 4": by_ray_data(4),
    "Ray Data, blocks of 20": by_ray_data(20),
}


def killing(item: int) -> int:
    if item == 7:
        os._exit(1)
    return item


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=400)
    options = parser.parse_args()
    for engine in ENGINES.values():
        list(engine(lambda item: item, range(40)))  # starts what has to be started
    for name, engine in ENGINES.items():
        start = time.perf_counter()
        assert list(engine(lambda item: item, range(options.n))) == [*range(options.n)]
        each = (time.perf_counter() - start) / options.n * 1000
        taken: list[int] = []
        next(engine(lambda item: item, (taken.append(item) or item for item in range(options.n))))
        kept = [item for item in engine(killing, range(40)) if isinstance(item, int)]
        missing = [item for item in range(40) if item not in kept]
        print(
            f"{name:<24} {each:6.1f} ms an item; taken at the first result: {len(taken):>4};"
            f" missing after a kill: {missing}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
