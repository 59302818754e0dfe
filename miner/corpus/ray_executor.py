"""Where books are mined: on the machines of a Ray cluster, or in Ray on this one.

Books are tasks of Ray Core. Ray Data, which is made of the same tasks, is not used. It takes all
items before it begins, it leaves a row out without a word when its process dies, with all rows of
its block, and a block for each book costs it 11 times as much time as a task
(`tests/benchmarks/bench_engines.py`).
"""

from __future__ import annotations

import math
import os
import signal
import socket
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from miner.corpus.executors import KILLED, Executor, Lost, pickle_function, sendable
from miner.errors import InputError
from miner.extras import import_extra
from miner.files import printable, writing
from miner.version import __version__

if TYPE_CHECKING:
    from types import ModuleType

    from ray import ObjectRef

Item = TypeVar("Item")
Result = TypeVar("Result")
ENGINES = {
    "local": "processes of this machine",
    "ray": "Ray, on this machine or on the cluster that RAY_ADDRESS names (extra 'ray')",
}
RETRIES = 3  # of a book whose process or machine dies, before it is taken for the cause
_AHEAD = 2  # books under way for each CPU, so that no CPU waits for work
_PATIENCE = 10  # seconds
_LOCAL = "local"
# Ray reads these when it is imported or started. A user's own values stay.
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # what it prints of workers; what they cost is in the results
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # the future behaviour, without the warning
    "RAY_worker_niceness": "0",  # else any other process of a busy machine goes before the books
    "RAY_task_oom_retries": str(RETRIES),  # else a book that exhausts the memory is tried for ever
}


@dataclass(frozen=True, slots=True)
class RayExecutor:
    """Works on the machines of a Ray cluster, or on this one if there is none.

    Books go to any machine of the cluster, so every path must lead to the same file on all of them.
    All must have the same version of this package. Ray stays up until this process ends, and the
    maps that follow need not wait for it.
    """

    # of a cluster ("10.0.0.1:6379"); "auto" for the one that this machine is part of, "local" for
    # this machine alone. None: RAY_ADDRESS, or "local" where that is not set. A Ray that this
    # process has started already is used as it is.
    address: str | None = None
    n_cpus: int | None = None  # processes on this machine alone; None for as many as it has cores
    # folders that all machines must see, among them that of the output. This is checked before the
    # first book of every map.
    shared: tuple[Path, ...] = ()

    def map(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result | Lost]:
        """The results in the order of the items.

        An item whose process or machine dies is tried again, up to `RETRIES` times.
        """
        pickled = pickle_function(function, "the local engine with workers=1")
        ray = self._connect()
        call = _sender(ray, pickled)
        waiting = deque[Any]()
        try:
            for item in items:
                waiting.append(call(item))
                if len(waiting) > _AHEAD * _count(ray, "CPU"):
                    yield _take(ray, waiting.popleft())
            while waiting:
                yield _take(ray, waiting.popleft())
        finally:
            for ref in waiting:
                ray.cancel(ref, force=True)

    def _connect(self) -> ModuleType:
        """The package, connected, with machines that can do the work."""
        for name, value in _SETTINGS.items():
            os.environ.setdefault(name, value)
        ray = import_extra("ray", "ray")
        if not ray.is_initialized():
            with _own_signals():
                self._start(ray)
        _check_machines(ray, self.shared)
        return ray

    def _start(self, ray: ModuleType) -> None:
        address = self.address or os.environ.get("RAY_ADDRESS") or _LOCAL
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if address == _LOCAL:
            options |= {"num_cpus": self.n_cpus, "include_dashboard": False}
        elif self.n_cpus is not None:
            raise InputError(
                f"found {self.n_cpus} CPUs for the cluster at {address}, which has its own: "
                "expected them for this machine alone"
            )
        try:
            _reach(address)
            ray.init(address, **options)
        except (OSError, ValueError, OverflowError, RuntimeError) as error:
            why = str(error).strip().partition("\n")[0]
            raise ConnectionError(f"found no Ray cluster at {address}: {why}") from error


def find_executor(engine: str, workers: int, out: Path) -> Executor | None:
    """Returns the executor of an engine; None for the local one, which each run makes itself."""
    if engine not in ENGINES:
        raise InputError(f"found engine {engine!r}, expected {' or '.join(ENGINES)}")
    if engine == "local":
        return None
    is_cluster = bool(os.environ.get("RAY_ADDRESS"))
    return RayExecutor(n_cpus=None if is_cluster else workers, shared=(out.absolute().parent,))


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keeps the handler of SIGTERM, in whose place Ray puts one that ends the process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _reach(address: str) -> None:
    """Raises an error if nobody answers at host and port, for which Ray would wait for minutes."""
    host, _, port = address.rpartition(":")
    if host and "/" not in host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()


def _count(ray: ModuleType, resource: str, least: int = 1) -> int:
    """How many CPUs or GPUs the cluster has now."""
    return max(least, int(ray.cluster_resources().get(resource, 0)))


def _check_machines(ray: ModuleType, shared: Iterable[Path]) -> None:
    """Raises an error if a machine cannot do the work."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def look(probes: list[str]) -> tuple[str, list[bool]]:
        # Sent as it stands, because the package may not be there.
        try:
            from miner.version import __version__ as found
        except ImportError:
            found = ""
        return found, [os.path.isfile(probe) for probe in probes]

    nodes = [node for node in ray.nodes() if node["Alive"]]
    folders = [Path(folder).absolute() for folder in shared]
    probes = [folder / f".shared.{uuid4().hex}" for folder in folders]
    try:
        for probe in probes:
            with writing(probe.parent):
                probe.write_bytes(b"")
        task = ray.remote(num_cpus=0, max_retries=0)(look)
        looking = []
        for node in nodes:
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=True)
            looking.append(task.options(scheduling_strategy=there).remote([*map(str, probes)]))
        for node, ref in zip(nodes, looking, strict=True):
            try:
                version, seen = ray.get(ref)
            except _deaths(ray):  # it left just now
                continue
            name = node["NodeManagerAddress"]
            if version != __version__:
                raise InputError(
                    f"found conversation-miner {version or 'missing'} on machine {name}, "
                    f"expected {__version__} as here"
                )
            for folder, is_seen in zip(folders, seen, strict=True):
                if not is_seen:
                    raise InputError(
                        f"{printable(folder)}: not the same folder on machine {name}, "
                        "expected a folder on a disk that all machines share"
                    )
    finally:
        for probe in probes:
            probe.unlink(missing_ok=True)


def _deaths(ray: ModuleType) -> tuple[type[Exception], ...]:
    """The errors of a process or a machine that died, and not of the function."""
    errors = ray.exceptions
    return (
        errors.WorkerCrashedError,
        errors.OutOfMemoryError,
        errors.NodeDiedError,
        errors.ObjectLostError,
        errors.RayActorError,
    )


def _sender(ray: ModuleType, pickled: bytes) -> Callable[[Any], ObjectRef]:
    """Starts a task for an item, with the function that is sent once to each machine."""
    import cloudpickle

    function, here = ray.put(pickled), (os.getcwd(), tuple(sys.path))
    # The CPUs share the GPUs evenly. Ray ends a process that had a GPU unless it is told not to.
    share = min(1.0, _count(ray, "GPU", 0) / _count(ray, "CPU"))
    options = {"num_cpus": 1, "max_retries": RETRIES, "max_calls": 0}
    task = ray.remote(**options, num_gpus=math.floor(share * 10_000) / 10_000)(_outcome)
    return lambda item: task.remote([function], *here, cloudpickle.dumps(item))


def _take(ray: ModuleType, ref: ObjectRef) -> Any:  # noqa: ANN401 - what the function gave
    """What a task gave, or the error that stands for it."""
    try:
        return _opened(ray.get(ref))
    except _deaths(ray):
        return ChildProcessError(KILLED)


@dataclass(frozen=True, slots=True)
class _Raised:
    """An error of the function in the place of its result."""

    error: Exception


def _opened(outcome: bytes) -> Any:  # noqa: ANN401 - what the function gave
    import cloudpickle

    found = cloudpickle.loads(outcome)
    if not isinstance(found, _Raised):
        return found
    if isinstance(found.error, MemoryError):
        return found.error
    raise found.error


def _outcome(function: list[ObjectRef], folder: str, path: tuple[str, ...], item: bytes) -> bytes:
    """What a function gives for an item, in the process of a task."""
    import cloudpickle

    return _sealed(lambda: _load(function[0], folder, path)(cloudpickle.loads(item)))


def _sealed(call: Callable[[], Any]) -> bytes:
    """What a call gives, pickled. Ray would wrap an error in others and in their tracebacks."""
    import cloudpickle

    try:
        return cloudpickle.dumps(call())
    except Exception as error:
        sent = sendable(error)
        if not isinstance(error, InputError | OSError):
            sent.add_note("".join(traceback.format_exception(error)).rstrip())
        return cloudpickle.dumps(_Raised(sent))


@lru_cache(maxsize=1)
def _load(function: ObjectRef, folder: str, path: tuple[str, ...]) -> Callable[..., Any]:
    """The function, loaded once in each process, since it may hold a tagger.

    Names of files and modules are those of the process that asks, with its folder and its path.
    """
    import cloudpickle
    import ray

    if os.path.isdir(folder):  # else relative paths lead nowhere, as errors will say
        os.chdir(folder)
    sys.path += [place for place in path if place not in sys.path]
    return cloudpickle.loads(ray.get(function))
