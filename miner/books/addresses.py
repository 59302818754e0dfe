"""The addresses of downloads: what of them is shown, and where a server may send a program on.

A redirect is followed to the public internet, and not from https to http. A mirror that a user
names may be anywhere, in a private network too; only that mirror itself may then send there.
A proxy looks names up itself, so behind one only addresses in numbers are known.
"""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from miner.errors import InputError

if TYPE_CHECKING:
    from requests import Response
    from urllib3 import Retry

_MOST_REDIRECTS = 10


class RedirectError(InputError):
    """A server sends a program where it must not go; the text follows "URL "."""


def mask_secrets(text: str) -> str:
    """The text without the users, passwords and queries of the URLs in it.

    >>> mask_secrets("https://ann:secret@example.org/1342.html?token=1 answered 403")
    'https://***@example.org/1342.html?*** answered 403'
    """
    return re.sub(r"\S+", _without_secrets, text)


def _without_secrets(word: re.Match[str]) -> str:
    # A password may have any sign in it, "/" and "?" too, where somebody forgot to quote it.
    before, at, rest = word[0].rpartition("@")
    scheme, mark, _ = (before if at else rest).partition("://")
    shown = f"{scheme}{mark}" * bool(mark) + f"***@{rest}" if at else rest
    path, query, _ = shown.partition("?")
    return f"{path}?***" if query and (mark or at) else shown


def check_url(url: str) -> None:
    """Refuses what is no URL of a web server."""
    try:
        parts = urlsplit(url)
        is_whole = bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets without an address between them, a port that is no number
        parts, is_whole = None, False
    if parts and parts.scheme not in ("http", "https"):
        raise InputError("expected a URL that starts with https://")
    if not is_whole:
        raise InputError("found no host in it, expected a URL such as https://example.org/{id}")


def open_url(url: str, headers: dict[str, str], retries: Retry, timeout: float) -> Response:
    """The answer of a server, or of the one to which it redirects."""
    from requests import Session
    from requests.utils import get_auth_from_url

    session = Session()
    session.headers.update(headers)
    guarded, plain = _adapters(retries)
    user = get_auth_from_url(url)
    here = url
    for _ in range(_MOST_REDIRECTS + 1):
        # Another scheme, host or port, but for the one that serves the same pages by https.
        is_mirror = not session.should_strip_auth(url, here)
        session.mount("https://", plain if is_mirror else guarded)
        session.mount("http://", plain if is_mirror else guarded)
        if not is_mirror:
            refuse_private(here)
        response = session.get(
            here,
            stream=True,
            timeout=timeout,
            allow_redirects=False,  # which would read the whole body of each answer
            auth=user if is_mirror and any(user) else None,
        )
        if not (location := session.get_redirect_target(response)):
            return response
        response.close()
        here = next_url(here, location)
    raise RedirectError(f"leads to more than {_MOST_REDIRECTS} other addresses")


def next_url(url: str, location: str) -> str:
    """The URL to which a redirect leads."""
    try:
        there = urljoin(url, location)
        check_url(there)
    except ValueError as error:
        raise RedirectError(f"leads to {mask_secrets(location)!r}: {error}") from None
    if urlsplit(url).scheme == "https" and urlsplit(there).scheme == "http":
        raise RedirectError(f"leads to {mask_secrets(there)}, from https to http")
    return there


def refuse_private(url: str) -> None:
    """Refuses a URL whose host is, or may be, at an address that is not public."""
    host = urlsplit(url).hostname or ""
    with suppress(OSError, UnicodeError):  # no such name: the request says so, or a proxy knows it
        for *_, place in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM):
            _refuse_address(host, str(place[0]))


def _refuse_address(host: str, address: str) -> None:
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or found
    if not found.is_global or found.is_multicast:
        raise RedirectError(f"leads to {host} at {found}, expected a public address")


def _adapters(retries: Retry) -> tuple[Any, Any]:
    """What makes connections: one only to public addresses, whatever a name meant before; or any.

    Connections through a proxy are made by neither.
    """
    from requests.adapters import HTTPAdapter
    from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
    from urllib3.connection import HTTPConnection, HTTPSConnection

    def guard(connection: type[Any]) -> type[Any]:
        class Guarded(connection):
            def connect(self) -> None:
                super().connect()
                _refuse_address(self.host, self.sock.getpeername()[0])

        return Guarded

    def pool(base: type[Any], connection: type[Any]) -> type[Any]:
        return type(base.__name__, (base,), {"ConnectionCls": guard(connection)})

    guarded: Any = HTTPAdapter(max_retries=retries)
    guarded.poolmanager.pool_classes_by_scheme = {
        "http": pool(HTTPConnectionPool, HTTPConnection),
        "https": pool(HTTPSConnectionPool, HTTPSConnection),
    }
    return guarded, HTTPAdapter(max_retries=retries)
