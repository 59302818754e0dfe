"""A URL -> a file on this disk, downloaded politely and stored whole or not at all.

Requests are made one at a time, with a pause between two to the same host. urllib3's `Retry`
repeats requests that failed for a passing reason. This module adds three things: a limit on the
total time, even if an answer never stops; a limit on its size; and a check of its kind. What
gutenberg.org allows in a day is in `miner.books.allowance`.
"""

from __future__ import annotations

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
from miner.files import printable, whole_file
from miner.version import __version__

if TYPE_CHECKING:
    from requests import Response
    from urllib3 import BaseHTTPResponse, Retry

    from miner.books.allowance import Allowance

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
    """The most that the download of one URL may take.

    Args:
        timeout: seconds to wait for a connection, and for each next part of the answer.
        retries: repetitions after the first request, 0 or more.
        pause: seconds between the end of one request to a host and the next, in this process. It is
            also the wait before the first repetition, and doubles with each.
        total: seconds for one URL with all repetitions.
        max_bytes: size of the largest file accepted, unpacked.

    Raises:
        InputError: if a limit is negative, or 0 where it must not be; names it.
    """

    timeout: float = 30
    retries: int = 3
    pause: float = 2
    total: float = 300
    max_bytes: int = LARGEST_FILE

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

    Args:
        name: the kind in error messages, with its article.
        start: pattern of what is found near the start of every such file.
        end: what is found near the end of every such file, in small letters. It is required only
            where the server does not say how long the answer is.
        find_fault: says what a whole file is instead of the one asked for, or "".
    """

    name: str
    start: re.Pattern[bytes]
    end: bytes
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
