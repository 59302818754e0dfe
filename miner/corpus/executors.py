"""Where books are read: in this process, or in others beside it."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp
from typing import Any, Protocol, TypeVar

from miner.files import writing

Item = TypeVar("Item")
Result = TypeVar("Result")


class Executor(Protocol):
    """Calls a function for many items, somewhere."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """The results in the order of the items.

        Args:
            function: called once for each item, perhaps in another process.
            items: taken in this process, and only a few ahead of the results that are read, so
                that memory does not grow with their number.
        """
        ...


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Works on this machine: in `n_processes` other processes, or in this one if that is 0.

    The processes are loky's. Unlike those of the standard library they do not run the user's script
    again, and they take functions and taggers that the script defines. They end when this process
    ends, even if it is killed. joblib's `Parallel` is not used, because its generators take all
    items at once, however slowly the results are read.
    """

    n_processes: int = 0

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """The results in the order of the items.

        Raises:
            ChildProcessError: if a process is killed.
            ValueError: if the function cannot be sent to a process.
        """
        if self.n_processes:
            return self._map_in_processes(function, items)
        return map(function, items)

    def _map_in_processes(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result]:
        from concurrent.futures import Future
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import resource_tracker

        from cloudpickle import dumps
        from joblib.externals.loky import ProcessPoolExecutor
        from joblib.externals.loky.backend import resource_tracker as loky_tracker

        try:
            pickled = dumps(function)
        except Exception as error:  # objects may raise anything when they are pickled
            raise ValueError(
                f"cannot be sent to another process ({error}), expected workers=1 "
                "or a tagger and filters that can be pickled"
            ) from error
        # Both start with the first process otherwise, and their start unblocks interrupts.
        resource_tracker.ensure_running()
        loky_tracker.ensure_running()
        waiting = deque[Future[Path]]()
        with TemporaryDirectory(prefix="miner-") as folder:
            function_file = Path(folder, "function")
            with writing(Path(folder)):
                function_file.write_bytes(pickled)
            pool = ProcessPoolExecutor(
                self.n_processes, initializer=_end_with, initargs=(os.getpid(), folder)
            )
            try:
                for item in items:
                    with _interrupts_blocked():
                        waiting.append(pool.submit(_store_result, function_file, item))
                    # Twice as many as processes, so that no process waits for work.
                    if len(waiting) > 2 * self.n_processes:
                        yield _take_result(waiting.popleft().result())
                while waiting:
                    yield _take_result(waiting.popleft().result())
            except BrokenProcessPool as error:
                raise ChildProcessError(
                    f"one of {self.n_processes} workers was killed, perhaps for want of memory: "
                    "fewer --workers need less"
                ) from error
            finally:
                with _interrupts_blocked():  # a second Ctrl-C leaves no process
                    for future in waiting:
                        future.cancel()
                    pool.shutdown(kill_workers=True)


def _end_with(parent: int, folder: str) -> None:
    """Ends this process, and removes the folder, when its parent is gone.

    A parent that was killed cannot end its workers, and they would wait for work for ever.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        shutil.rmtree(folder, ignore_errors=True)
        os.kill(os.getpid(), signal.SIGTERM)

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
        try:
            cloudpickle.loads(cloudpickle.dumps(error))
        except Exception:  # the parent would take it for the end of the process
            raise RuntimeError(f"{type(error).__qualname__}: {error}") from error
        raise
    with writing(function_file.parent):
        handle, name = mkstemp(dir=function_file.parent)
        with os.fdopen(handle, "wb") as file:
            cloudpickle.dump(result, file)
    return Path(name)


@lru_cache(maxsize=1)
def _load_function(function_file: Path) -> Callable[[Any], Any]:
    """The function in a file, loaded once: a user's tagger may be large."""
    return pickle.loads(function_file.read_bytes())


def _take_result(path: Path) -> Any:  # noqa: ANN401 - what the function gave
    result = pickle.loads(path.read_bytes())
    path.unlink()
    return result


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Ctrl-C waits until the block ends. Processes that start in the block never get it.

    A terminal sends Ctrl-C to all processes. This process ends its workers itself, without the
    messages that they would print.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
