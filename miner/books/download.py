"""A Gutenberg number -> the file of its book in the cache, politely downloaded if need be."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from miner import __version__
from miner.books.sources import NUMBER, Source, cache_folder, cached_file, find_sources

if TYPE_CHECKING:
    from requests import Response
    from urllib3 import BaseHTTPResponse, Retry

DEFAULT_MIRROR = "https://www.gutenberg.org/cache/epub/{id}/pg{id}-images.html"
USER_AGENT = (
    f"conversation-miner/{__version__} (one book at a time, with pauses; "
    "see https://www.gutenberg.org/policy/robot_access.html)"
)

_HTML = re.compile(rb"<(?:!doctype\s+html|html|p)[\s>]", re.IGNORECASE)
_SNIFFED = 4096  # bytes
_PIECE = 8192  # bytes

# Manners towards a server belong to the process: every fetch shares them, whoever calls it.
_one_at_a_time = threading.Lock()
_last_request: dict[str, float] = {}  # host and port -> time.monotonic() when its answer was read


class FetchError(ValueError):
    """A book could not be downloaded; one line names its id, the URL and what happened."""


def mirror_urls(mirror: str, id: str) -> tuple[str, ...]:
    """Where a mirror keeps a book: one URL for each template, in order.

    Args:
        mirror: templates of http or https URLs, separated by spaces or commas. {id} is the number
            and {path} the folder of the classic layout: 1/3/4/1342, or 0/5 for a single digit.
        id: Gutenberg number.

    Raises:
        ValueError: if there is no template, or one has no {id}, an unknown {field}, or is not
            http or https; names the template.

    >>> mirror_urls("https://gutenberg.pglaf.org/{path}/{id}-h/{id}-h.htm", "1342")
    ('https://gutenberg.pglaf.org/1/3/4/1342/1342-h/1342-h.htm',)
    """
    templates = re.split(r"[\s,]+", mirror.strip(" ,\t\r\n"))
    path = "/".join([*(id[:-1] or "0"), id])
    for template in templates:
        unknown = set(re.findall(r"\{.*?\}", template)) - {"{id}", "{path}"}
        if "{id}" not in template or unknown:
            found = f"found {', '.join(sorted(unknown))}" if unknown else "found no {id}"
            raise ValueError(f"mirror {template!r}: {found}, expected {{id}} and perhaps {{path}}")
        if urlsplit(template).scheme not in ("http", "https"):
            raise ValueError(f"mirror {template!r}: expected a URL that starts with https://")
    return tuple(template.replace("{id}", id).replace("{path}", path) for template in templates)


@dataclass(frozen=True, slots=True)
class _Limits:
    """What one request may cost, in seconds, repetitions and bytes; see `fetch`."""

    timeout: float
    retries: int
    pause: float
    total: float
    max_bytes: int

    def __post_init__(self) -> None:
        for name in ("timeout", "retries", "pause", "total", "max_bytes"):
            found, may_be_zero = getattr(self, name), name in ("retries", "pause")
            if found < 0 or (found == 0 and not may_be_zero):
                expected = "0 or more" if may_be_zero else "more than 0"
                raise ValueError(f"{name}: found {found}, expected {expected}")


def find_book(
    word: str, books: Path | None = None, mirror: str = DEFAULT_MIRROR
) -> tuple[Source, Path]:
    """The one book that a word names, and its file, downloaded if it is on no disk.

    Raises:
        ValueError: if the word names no book or several, or the book cannot be downloaded.
    """
    sources, missing = find_sources([word], books)
    if missing:
        raise ValueError(str(missing[0]))
    if len(sources) != 1:
        raise ValueError(f"{word}: found {len(sources)} books, expected one")
    return sources[0], sources[0].path or fetch(sources[0].id, mirror=mirror)


def fetch(
    id: str,
    *,
    mirror: str = DEFAULT_MIRROR,
    cache: Path | None = None,
    timeout: float = 30,
    retries: int = 3,
    pause: float = 2,
    total: float = 300,
    max_bytes: int = 64 * 2**20,
) -> Path:
    """The cached file of a Gutenberg book, downloaded first if it is not there.

    A cached file is used without any request, whichever mirror it came from. Requests are made
    one at a time, with a pause between two to the same host. 429, 500, 502, 503, 504 and failed
    connections are tried again, waiting `pause`, then twice that and so on, or what Retry-After
    asks for; a page that breaks off is not. The next template is tried only after a 404. A file
    appears in the cache whole or not at all.

    Args:
        id: Gutenberg number, "1342".
        mirror: URL templates, see `mirror_urls`.
        cache: folder of downloaded books, made if need be; None: `cache_folder()`.
        timeout: seconds to wait for a connection, and for each next part of the answer.
        retries: repetitions after the first request, 0 or more.
        pause: seconds between the end of one request to a host and the next, in this process.
        total: seconds one URL may take with its retries, however slowly it drips.
        max_bytes: size of the longest page accepted, unpacked.

    Raises:
        FetchError: if no whole HTML page came or it could not be kept; names id, URL and reason.
        ValueError: if the id, the mirror or a limit is not usable; names the value.
    """
    if not (match := NUMBER.fullmatch(id)):
        raise ValueError(f"{id!r}: not a Gutenberg number, expected 1 to 99999999")
    id = match[1]
    urls = mirror_urls(mirror, id)
    limits = _Limits(timeout, retries, pause, total, max_bytes)
    path = cached_file(cache_folder() if cache is None else cache, id)
    with _one_at_a_time:
        if path.is_file():
            return path
        for url in urls:
            try:
                # Before the request: a cache that cannot be written must not cost a download.
                path.parent.mkdir(parents=True, exist_ok=True)
                page = _polite(url, limits)
                if page is not None:
                    _store(path, page)
                    return path
            except FetchError as error:
                raise FetchError(f"{id}: {url} {error}, expected an HTML book") from error
            except OSError as error:
                raise FetchError(
                    f"{id}: {url} cannot be kept in {path.parent}: {error.strerror}, "
                    "expected a folder to write to"
                ) from error
    raise FetchError(f"{id}: {' and '.join(urls)} answered 404, expected an HTML book")


def _store(path: Path, page: bytes) -> None:
    """Writes a file that is whole from the moment it has its name."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(page)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _polite(url: str, limits: _Limits) -> bytes | None:
    """The page of a URL, None for 404, after the pause that its host is due."""
    host = urlsplit(url).netloc.lower()
    since = time.monotonic() - _last_request.get(host, float("-inf"))
    time.sleep(max(0.0, limits.pause - since))
    deadline = time.monotonic() + limits.total
    try:
        return _within(limits.total, lambda: _page(url, limits, deadline))
    finally:
        _last_request[host] = time.monotonic()


def _within(seconds: float, work: Callable[[], bytes | None]) -> bytes | None:
    """What the work returns; raises FetchError when it takes longer.

    A thread, since a timeout of a socket starts anew with every byte, and looking up a name has
    none. Late work is left to end by itself: it keeps to the same deadline between two reads.
    """
    outcome: Future[bytes | None] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # all of them: the caller raises it
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True, name="miner fetch").start()
    try:
        return outcome.result(seconds)
    except TimeoutError:
        raise FetchError(f"took longer than {seconds:g} s") from None


def _page(url: str, limits: _Limits, deadline: float) -> bytes | None:
    """The page of a URL, None for 404; raises FetchError for anything but a whole HTML page."""
    import requests
    from requests.adapters import HTTPAdapter

    with requests.Session() as session:
        session.headers.update({"User-Agent": USER_AGENT, "Accept": "text/html,*/*;q=0.1"})
        for scheme in ("https://", "http://"):
            session.mount(scheme, HTTPAdapter(max_retries=_patience(limits, deadline)))
        try:
            with session.get(url, stream=True, timeout=limits.timeout) as response:
                if response.status_code == 404:
                    return None
                if response.status_code != 200:
                    raise FetchError(f"answered {response.status_code}")
                page = _body(response, limits, deadline)
        except OSError as error:  # what requests raises is one
            raise FetchError(f"could not be read: {_reason(error, limits)}") from error
    # The type a server declares is often wrong; the page itself is not.
    if not _HTML.search(page[:_SNIFFED]):
        raise FetchError(f"sent no HTML but {len(page):,} bytes that start {page[:12]!r}")
    return page


def _patience(limits: _Limits, deadline: float) -> Retry:
    """Retries that wait at least the pause, and give up rather than wait past the deadline."""
    from urllib3.util.retry import Retry

    class Patience(Retry):
        def get_backoff_time(self) -> float:
            # urllib3 itself makes the first retry at once.
            wait = limits.pause * 2 ** max(0, len(self.history) - 1)
            if time.monotonic() + wait > deadline:
                raise FetchError(f"took longer than {limits.total:g} s")
            return wait

        def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
            asked = super().get_retry_after(response)
            if asked is None:
                return None
            if time.monotonic() + asked > deadline:
                raise FetchError(
                    f"answered {response.status} and asks to wait {asked:g} s, "
                    f"longer than the {limits.total:g} s allowed"
                )
            return max(asked, limits.pause)

    return Patience(
        total=limits.retries,
        status_forcelist=(429, 500, 502, 503, 504),
        allowed_methods={"GET"},
        raise_on_status=False,  # the last answer comes back, and with it its status
    )


def _body(response: Response, limits: _Limits, deadline: float) -> bytes:
    """The whole body, unpacked; raises FetchError if it is cut short, too long or too late."""
    chunked = "chunked" in response.headers.get("Transfer-Encoding", "").lower()
    declared = response.headers.get("Content-Length", "")
    length = int(declared) if declared.isdecimal() and not chunked else None
    response.raw.enforce_content_length = False  # not every urllib3 does; checked below for all
    body = bytearray()
    try:
        for piece in response.iter_content(_PIECE):
            body += piece
            if len(body) > limits.max_bytes:
                raise FetchError(f"sent more than the {limits.max_bytes:,} bytes allowed")
            if time.monotonic() > deadline:
                raise FetchError(f"took longer than {limits.total:g} s")
    except OSError as error:
        raise FetchError(f"broke off: {_reason(error, limits)}") from error
    received = response.raw.tell()  # as sent, so that a compressed page is counted rightly
    if length not in (None, received):
        raise FetchError(f"broke off after {received:,} of {length:,} bytes")
    # With neither length nor chunks a cut cannot be told from the end; the page itself can.
    if length is None and not chunked and b"</html" not in body[-_SNIFFED:].lower():
        raise FetchError(f"broke off after {received:,} bytes: found no </html>")
    return bytes(body)


def _reason(error: BaseException, limits: _Limits) -> str:
    """The innermost cause of a failed request, as one line; requests wraps it several times."""
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError, ReadTimeoutError

    inner: object = error
    while isinstance(inner, BaseException):
        error = inner
        # A refused connection is a kind of ConnectTimeoutError to urllib3, but none to a reader.
        timed_out = isinstance(error, (ReadTimeoutError, ConnectTimeoutError))
        if timed_out and not isinstance(error, NewConnectionError):
            return f"nothing came for {limits.timeout:g} s"
        wrapped = (arg for arg in error.args if isinstance(arg, BaseException))
        inner = getattr(error, "reason", None) or next(wrapped, error.__cause__)
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(text.split())
