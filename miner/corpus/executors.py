"""Where books are read: in this process, or in others beside it."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp
from typing import Any, Protocol, TypeVar

from miner.errors import InputError
from miner.files import writing
from miner.threads import share_of_worker

Item = TypeVar("Item")
Result = TypeVar("Result")
Lost = MemoryError | ChildProcessError  # in the place of a result
KILLED = "its process was killed, perhaps for want of memory"


class Executor(Protocol):
    """Calls a function for many items, somewhere."""

    def map(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result | Lost]:
        """The results in the order of the items."""
        ...


def closable(results: Iterator[Result]) -> Generator[Result, None, None]:
    """The results, whose processes end when the generator is closed."""
    yield from results


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Works on this machine: in `n_processes` other processes, or in this one if that is 0.

    The processes are loky's. Unlike those of the standard library they do not run the user's script
    again, and they take functions and taggers that the script defines. They end when this process
    ends, even if it is killed. joblib's `Parallel` is not used, because its generators take all
    items at once, however slowly the results are read.
    """

    n_processes: int = 0

    def map(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result | Lost]:
        """The results in the order of the items."""
        if self.n_processes:
            return self._map_in_processes(function, items)
        return map(function, items)

    def _map_in_processes(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result | Lost]:
        pickled = pickle_function(function, "workers=1")
        unread = iter(items)
        with _shared_folder() as folder:
            function_file = folder / "function"
            with writing(folder):
                function_file.write_bytes(pickled)
            while True:
                left = deque[Item]()
                yield from _map_until_killed(self.n_processes, function_file, unread, left)
                if not left:
                    return
                # One process was killed, and loky ends the others with it. Which item was to blame
                # shows when each has a process for itself.
                for item in left:
                    lost = deque[Item]()
                    yield from _map_until_killed(1, function_file, [item], lost)
                    if lost:
                        yield ChildProcessError(KILLED)


def _map_until_killed(
    n_processes: int, function_file: Path, items: Iterable[Item], left: deque[Item]
) -> Iterator[Any]:
    """The results in the order of the items, up to the first whose process is killed.

    `left` has the items that were taken and have no result.
    """
    from loky import ProcessPoolExecutor

    futures = deque[Future[Path]]()
    pool = ProcessPoolExecutor(
        n_processes,
        initializer=_end_with,
        initargs=(os.getpid(),),
        env=share_of_worker(n_processes),
    )

    def take() -> Any:  # noqa: ANN401 - what the function gave
        try:
            path = futures.popleft().result()
            result = pickle.loads(path.read_bytes())
            path.unlink()
        except MemoryError as error:
            result = error
        left.popleft()
        return result

    try:
        for item in items:
            left.append(item)
            with _signals_blocked():
                futures.append(pool.submit(_store_result, function_file, item))
            # Twice as many as processes, so that no process waits for work.
            if len(futures) > 2 * n_processes:
                yield take()
        while futures:
            yield take()
    except BrokenExecutor:
        return
    finally:
        # A second Ctrl-C leaves no process. This ends the waiting calls, too. Do not cancel them
        # before: a thread of loky would now and then fail on a cancelled call, with a traceback.
        with _signals_blocked():
            pool.shutdown(kill_workers=True)


@contextmanager
def _shared_folder() -> Iterator[Path]:
    """A folder for what the processes tell one another. It is removed even if all are killed."""
    from multiprocessing import resource_tracker

    from loky.backend import resource_tracker as loky_tracker

    # Both start with the first process otherwise, and their start unblocks interrupts. They are
    # processes that outlive the others; loky's removes the folders that it knows.
    with _signals_blocked():
        resource_tracker.ensure_running()
        loky_tracker.ensure_running()
    with TemporaryDirectory(prefix="miner-") as folder:
        loky_tracker.register(folder, "folder")
        try:
            yield Path(folder)
        finally:
            loky_tracker.unregister(folder, "folder")


def _end_with(parent: int) -> None:
    """Ends this process when its parent is gone.

    A parent that was killed cannot end its workers, and they would wait for work for ever.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        # A polite signal would wait for ever: these processes block it.
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

    threading.Thread(target=watch, daemon=True).start()


def _store_result(function_file: Path, item: object) -> Path:
    """The file of a result, in the folder of the function's file.

    Results do not come through a pipe: a process killed in the middle of one blocks the others.
    """
    import cloudpickle

    function = _load_function(function_file)
    try:
        result = function(item)
    except Exception as error:
        # The parent would take an error that it cannot load for the end of the process.
        if (sent := sendable(error)) is error:
            raise
        raise sent from error
    with writing(function_file.parent):
        handle, name = mkstemp(dir=function_file.parent)
        with os.fdopen(handle, "wb") as file:
            cloudpickle.dump(result, file)
    return Path(name)


def pickle_function(function: Callable[..., Any], instead: str) -> bytes:
    """A function as another process can load it."""
    from cloudpickle import dumps

    try:
        return dumps(function)
    except Exception as error:  # objects may raise anything when they are pickled
        raise InputError(
            f"cannot be sent to another process ({error}), expected {instead} "
            "or a tagger and filters that can be pickled"
        ) from error


def sendable(error: Exception) -> Exception:
    """The error, or one that names it if it cannot be sent from one process to another."""
    import cloudpickle

    try:
        cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:  # objects may raise anything when they are pickled
        told = RuntimeError(f"{type(error).__qualname__}: {error}")
        for note in getattr(error, "__notes__", ()):
            told.add_note(note)
        return told
    return error


@lru_cache(maxsize=1)
def _load_function(function_file: Path) -> Callable[[Any], Any]:
    """The function in a file, loaded once: a user's tagger may be large."""
    return pickle.loads(function_file.read_bytes())


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Ctrl-C and polite kills wait until the block ends. Processes that start in it never get them.

    A terminal sends Ctrl-C to all processes. This process ends its workers itself, without the
    messages that they would print, and after what is done was kept.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    )
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
