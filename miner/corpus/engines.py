"""Engines: the name of a place where a build works -> its executor."""

from __future__ import annotations

import os
from pathlib import Path

from miner.corpus.executors import Executor
from miner.errors import InputError

ENGINES = {
    "local": "processes of this machine",
    "ray": "Ray, on this machine or on the cluster that RAY_ADDRESS names (extra 'ray')",
}


def find_executor(engine: str, workers: int, out: Path) -> Executor | None:
    """Returns the executor of an engine; None for the local one, which each run makes itself."""
    if engine not in ENGINES:
        raise InputError(f"found engine {engine!r}, expected {' or '.join(ENGINES)}")
    if engine == "local":
        return None
    from miner.corpus.ray_executor import RayExecutor

    is_cluster = bool(os.environ.get("RAY_ADDRESS"))
    return RayExecutor(n_cpus=None if is_cluster else workers, shared=(out.absolute().parent,))
