"""A URL -> a file on this disk, downloaded politely and stored whole or not at all.

Requests are made one at a time, with a pause between two to the same host. urllib3's `Retry`
repeats requests that failed for a passing reason. This module adds a limit on the total time, even
if an answer never stops; a limit on its size; and a check of its kind.

It also keeps to what gutenberg.org allows. Its rules for robots
(https://www.gutenberg.org/policy/robot_access.html) allow automatic downloads with a pause of two
seconds (`wget -w 2`), and name no number of books. The terms of use do: whoever wants "many books:
i.e., more than ~100 per day" is to take them from a mirror
(https://www.gutenberg.org/policy/terms_of_use.html). So the books of 24 hours are counted in a file
that all processes of a user share.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from miner.books.addresses import RedirectError, mask_secrets, open_url
from miner.books.book_file import LARGEST_FILE
from miner.errors import InputError
from miner.files import parse_json, printable, read_text, whole_file
from miner.version import __version__

if TYPE_CHECKING:
    from filelock import BaseFileLock
    from requests import Response
    from urllib3 import BaseHTTPResponse, Retry

MAIN_SITE = ("www.gutenberg.org", "gutenberg.org")
BOOKS_A_DAY = 100
PAUSE = 2.0  # seconds
A_MIRROR = "https://gutenberg.pglaf.org/cache/epub/{id}/pg{id}-images.html"
_FILE = "downloads.json"
_DAY = 24 * 60 * 60.0
_TOLERANCE = 60.0  # seconds by which the clocks of two machines may differ


class AllowanceError(InputError):
    """No more books may be asked for today; one line says what to do."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What may be asked of some hosts. Others, such as a mirror that a user names, are free."""

    folder: Path  # where the times of requests are kept, in a file for several processes
    hosts: Sequence[str] = MAIN_SITE  # the hosts that are counted, together
    books_a_day: int = BOOKS_A_DAY  # the most requests in 24 hours
    pause: float = PAUSE  # seconds between two requests, also of two processes

    def __post_init__(self) -> None:
        for name in ("books_a_day", "pause"):
            if (found := getattr(self, name)) < 0:
                raise InputError(f"{name}: found {found}, expected 0 or more")

    @property
    def path(self) -> Path:
        """The file that holds the times of the requests of the last 24 hours."""
        return self.folder / _FILE

    def take(self, host: str) -> float:
        """Counts one request, and returns the time (`time.time()`) from which it may be made."""
        if host.lower() not in self.hosts:
            return time.time()
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._lock():
            now = time.time()  # not before the lock: another process may have been first
            times = self._read(now)
            if len(times) >= self.books_a_day:
                raise AllowanceError(self._refusal(host, times, now))
            slot = max([now, *(past + self.pause for past in times)])
            self._write([*times, slot])
        return slot

    def give_back(self, host: str, slot: float) -> None:
        """Takes back the count of a request that reached no server."""
        if host.lower() not in self.hosts:
            return
        with self._lock():
            times = self._read(time.time())
            if slot in times:
                times.remove(slot)
                self._write(times)

    def _lock(self) -> BaseFileLock:
        from filelock import FileLock

        return FileLock(f"{self.path}.lock")

    def _read(self, now: float) -> list[float]:
        """The times of the last 24 hours."""
        # Later ones are of a clock that was set back.
        latest = now + self.books_a_day * self.pause + _TOLERANCE
        if not self.path.exists():
            return []
        where, expected = printable(self.path), "a list of times; remove the file"
        found = parse_json(read_text(self.path), where, expected)
        if not isinstance(found, list) or not all(isinstance(past, int | float) for past in found):
            raise InputError(f"{where}: found other JSON, expected {expected}")
        return sorted(past for past in found if now - _DAY < past <= latest)

    def _write(self, times: list[float]) -> None:
        with whole_file(self.path, force=True) as file:
            file.write(f"{times}\n".encode())

    def _refusal(self, host: str, times: list[float], now: float) -> str:
        free = times[len(times) - self.books_a_day] + _DAY if self.books_a_day else now + _DAY
        minutes = max(1, math.ceil((free - now) / 60))
        return (
            f"asked {host} for {len(times)} books in 24 hours, expected at most "
            f"{self.books_a_day}, which is what its terms of use allow; wait "
            f"{minutes // 60} h {minutes % 60:02} min, or give a mirror (`mirror=` or "
            f"MINER_MIRROR, for example {A_MIRROR}), or copy the books with rsync and give `books=`"
        )


USER_AGENT = (
    f"conversation-miner/{__version__} (one file at a time, with pauses; "
    "see https://www.gutenberg.org/policy/robot_access.html)"
)
_EDGE = 4096  # bytes at the start and the end of a file that show its kind
_PIECE = 8192  # bytes read at once

# All downloads of this process share these, so that it stays polite to every server.
_one_at_a_time = threading.Lock()
_last_request: dict[str, float] = {}  # host and port -> time.monotonic() at the end of its answer
# Host and port -> time.monotonic() when it could not be reached, and the reason. It is not asked
# again for a minute: without a network, each book of a list would wait for all repetitions.
_not_reached: dict[str, tuple[float, str]] = {}
_NOT_ASKED_AGAIN = 60  # seconds


class DownloadError(InputError):
    """A file could not be downloaded; one line names the file, the URL and the reason."""


class _NotThereError(Exception):
    """The server answered 404."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that the download of one URL may take."""

    timeout: float = 30  # seconds to wait for a connection, and for each next part of the answer
    retries: int = 3  # repetitions after the first request, 0 or more
    # seconds between the end of one request to a host and the next, in this process. It is
    # also the wait before the first repetition, and doubles with each.
    pause: float = 2
    total: float = 300  # seconds for one URL with all repetitions
    max_bytes: int = LARGEST_FILE  # size of the largest file accepted, unpacked

    def __post_init__(self) -> None:
        for name in ("timeout", "retries", "pause", "total", "max_bytes"):
            found, may_be_zero = getattr(self, name), name in ("retries", "pause")
            if found < 0 or (found == 0 and not may_be_zero):
                expected = "0 or more" if may_be_zero else "more than 0"
                raise InputError(f"{name}: found {found}, expected {expected}")


@dataclass(frozen=True, slots=True)
class FileKind:
    """What a file must look like to be kept.

    The type that a server declares is often wrong, so it is ignored.
    """

    name: str  # the kind in error messages, with its article
    start: re.Pattern[bytes]  # pattern of what is found near the start of every such file
    # what is found near the end of every such file, in small letters. It is required only
    # where the server does not say how long the answer is.
    end: bytes
    # says what a whole file is instead of the one asked for, or ""
    find_fault: Callable[[bytes], str] = lambda content: ""


def download_file(
    name: str,
    urls: Sequence[str],
    path: Path,
    kind: FileKind,
    limits: Limits,
    *,
    again: bool = False,
    allowance: Allowance | None = None,
) -> Path:
    """The path of a file, which is downloaded first if it does not exist or has a fault.

    Statuses 429, 500, 502, 503 and 504 and failed connections are tried again, after a pause or as
    late as Retry-After asks. An answer that breaks off is not tried again. The next URL is tried
    only after a 404.
    """
    with _one_at_a_time:
        note = ""
        if path.is_file() and not again:
            fault = kind.find_fault(path.read_bytes())
            if not fault:
                return path
            note = f"; {printable(path)} was no help, it is {fault}"
        for url in urls:
            try:
                # Opened before the request: a folder without write access costs no download.
                with whole_file(path, force=True) as file:
                    file.write(_read_politely(url, kind, limits, allowance))
                return path
            except _NotThereError:
                continue
            except DownloadError as error:
                found = f"{name}: {mask_secrets(url)} {error}"
                # Not from its cause, which may name the URL with its password.
                raise DownloadError(f"{found}, expected {kind.name}{note}") from None
            except OSError as error:
                raise DownloadError(f"{name}: {printable(path)}: {error.strerror}") from error
            except InputError as error:
                raise DownloadError(f"{name}: {error}") from error
    shown = " and ".join(map(mask_secrets, urls))
    raise DownloadError(f"{name}: {shown} answered 404, expected {kind.name}{note}")


def _read_politely(url: str, kind: FileKind, limits: Limits, allowance: Allowance | None) -> bytes:
    """The file at a URL, requested after the pause for its host, and counted."""
    host = _host_and_port(url)
    at, reason = _not_reached.get(host, (float("-inf"), ""))
    if time.monotonic() - at < _NOT_ASKED_AGAIN:
        raise DownloadError(reason)
    name = urlsplit(url).hostname or ""
    slot = allowance.take(name) if allowance else 0.0
    since = time.monotonic() - _last_request.get(host, float("-inf"))
    time.sleep(max(0.0, limits.pause - since, slot - time.time()))
    began = time.monotonic()
    deadline = began + limits.total
    try:
        return _within(limits.total, lambda: _read(url, kind, limits, deadline))
    except DownloadError:
        if allowance and host in _not_reached and _not_reached[host][0] >= began:
            allowance.give_back(name, slot)
        raise
    finally:
        _last_request[host] = time.monotonic()


def _within(seconds: float, work: Callable[[], bytes]) -> bytes:
    """The result of the work; raises DownloadError when it takes longer.

    The work runs in a thread, because the timeout of a socket starts again with every byte, and a
    look-up of a host's name has none. Late work is left to end by itself: it checks the same
    deadline between two reads.
    """
    outcome: Future[bytes] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # all of them: the caller raises it
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True, name="miner download").start()
    try:
        return outcome.result(seconds)
    except TimeoutError:
        raise DownloadError(f"took longer than {seconds:g} s") from None


def _read(url: str, kind: FileKind, limits: Limits, deadline: float) -> bytes:
    """The whole file at a URL; raises DownloadError for anything else."""
    headers = {"User-Agent": USER_AGENT}
    try:
        with open_url(url, headers, _retry(limits, deadline), limits.timeout) as response:
            if response.status_code == 404:
                raise _NotThereError
            if response.status_code != 200:
                raise DownloadError(f"answered {response.status_code}")
            data = _body(response, limits, deadline)
            sizes = ("Content-Length", "Transfer-Encoding")
            is_measured = any(header in response.headers for header in sizes)
    except RedirectError as error:
        raise DownloadError(str(error)) from error
    except InputError:
        raise
    except (OSError, ValueError) as error:  # those of requests, and of urllib3 for odd hosts
        found = f"could not be read: {_reason(error, limits)}"
        if _is_no_connection(error):
            _not_reached[_host_and_port(url)] = time.monotonic(), found
        raise DownloadError(found) from error
    if not kind.start.search(data[:_EDGE]):
        raise DownloadError(f"sent {len(data):,} bytes that start {data[:12]!r}")
    if not is_measured and kind.end not in data[-_EDGE:].lower():
        raise DownloadError(f"broke off after {len(data):,} bytes: found no {kind.end.decode()!r}")
    if fault := kind.find_fault(data):
        raise DownloadError(f"sent {fault}")
    return data


def _host_and_port(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2].lower()


def _is_no_connection(error: Exception) -> bool:
    """Whether no connection to a host could be made: its name or its network is not there."""
    from urllib3.exceptions import NewConnectionError

    cause = error.args[0] if error.args else None
    return isinstance(getattr(cause, "reason", None), NewConnectionError)


def _retry(limits: Limits, deadline: float) -> Retry:
    """Retries that wait at least the pause, and give up rather than wait past the deadline."""
    from urllib3.util.retry import Retry

    class DeadlineRetry(Retry):
        def get_backoff_time(self) -> float:
            # urllib3 itself makes the first retry at once.
            wait = limits.pause * 2 ** max(0, len(self.history) - 1)
            if time.monotonic() + wait > deadline:
                raise DownloadError(f"took longer than {limits.total:g} s")
            return wait

        def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
            asked = super().get_retry_after(response)
            if asked is None:
                return None
            if time.monotonic() + asked > deadline:
                raise DownloadError(
                    f"answered {response.status} and asks to wait {asked:g} s, "
                    f"longer than the {limits.total:g} s allowed"
                )
            return max(asked, limits.pause)

    return DeadlineRetry(
        total=limits.retries,
        status_forcelist=(429, 500, 502, 503, 504),
        allowed_methods={"GET"},
        raise_on_status=False,  # the last answer is returned with its status
    )


def _body(response: Response, limits: Limits, deadline: float) -> bytes:
    """The whole body, unpacked; raises DownloadError if it is cut short, too long or too late."""
    body = bytearray()
    try:
        # urllib3 raises an error where a body is shorter than its declared length.
        for piece in response.iter_content(_PIECE):
            body += piece
            if len(body) > limits.max_bytes:
                raise DownloadError(f"sent more than the {limits.max_bytes:,} bytes allowed")
            if time.monotonic() > deadline:
                raise DownloadError(f"took longer than {limits.total:g} s")
    except OSError as error:
        raise DownloadError(f"broke off: {_reason(error, limits)}") from error
    return bytes(body)


def _reason(error: BaseException, limits: Limits) -> str:
    """The innermost cause of a failed request, as one line; requests wraps it several times."""
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError, ReadTimeoutError

    inner: object = error
    while isinstance(inner, BaseException):
        error = inner
        # urllib3 counts a refused connection among timeouts, but nobody else does.
        timed_out = isinstance(error, (ReadTimeoutError, ConnectTimeoutError))
        if timed_out and not isinstance(error, NewConnectionError):
            return f"nothing came for {limits.timeout:g} s"
        wrapped = (arg for arg in error.args if isinstance(arg, BaseException))
        inner = getattr(error, "reason", None) or next(wrapped, error.__cause__)
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return mask_secrets(" ".join(text.split()))
