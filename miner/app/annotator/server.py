"""The server of a book under annotation, for a browser on this machine.

Nobody else gets in. The server listens on the loopback address only. Every request must carry the
token from the address of the page. Pages of other sites are refused by their `Host` and `Origin`
headers, even if they guess the port. A request that is not complete in time is dropped.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import socket
import time
import webbrowser
from threading import Thread
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import ClientDisconnected, HTTPException
from werkzeug.serving import WSGIRequestHandler, make_server

from miner.app.annotator.pages import build_state, render_annotation_page, render_book_page
from miner.app.annotator.sheet import NameNeeded
from miner.app.annotator.sheet_file import BookSheets, SheetFile, StaleEdit
from miner.app.viewer.page import (
    CHAPTERS,
    MODES,
    NO_TOKEN,
    Mode,
    build_policy,
    render_no_token_page,
)
from miner.errors import InputError

LOOPBACK = "127.0.0.1"
_MAX_BYTES = 64 * 1024  # of a request; an edit has a few hundred
_MAX_SECONDS = 10.0  # from the first byte of a request to its last
_PAGES = ("show_chapters", "show_chapter")  # routes that take the token from the address
_TYPES = {"revision": str, "action": str, "place": int, "speaker": str, "conversation": int}
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",  # the address contains the token
    "Cross-Origin-Resource-Policy": "same-origin",
}


class RefusedRequest(Exception):
    """A request that is answered with an HTTP error and a message of one line."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class AnnotationServer:
    """Serves the chapters of a book, and a list of them, until it is stopped.

    It listens from its creation on; `run` answers the requests.
    """

    def __init__(self, sheets: BookSheets, port: int = 0, chapter: int | None = None) -> None:
        if chapter is None:
            sheets.prepare()
        else:
            sheets.open(chapter)
        self.sheets = sheets
        self._path = "/" if chapter is None else f"/chapters/{chapter}"
        self.token = secrets.token_urlsafe(32)
        self._socket = _listen(port)
        self.port: int = self._socket.getsockname()[1]
        self._server = make_server(
            LOOPBACK,
            self.port,
            _build_app(self),
            threaded=True,
            request_handler=_Handler,
            fd=self._socket.fileno(),
        )

    @property
    def url(self) -> str:
        """The address of the first page with its token."""
        return f"http://{LOOPBACK}:{self.port}{self._path}?token={self.token}"

    @property
    def hosts(self) -> list[str]:
        """The `Host` headers that a browser on this machine may send."""
        names = [LOOPBACK, "localhost"]
        return [f"{name}:{self.port}" for name in names] + (names if self.port == 80 else [])

    def open_browser(self) -> None:
        """Opens the page in the default browser, in a thread, since a text browser would block."""
        Thread(target=webbrowser.open, args=(self.url,), daemon=True).start()

    def run(self) -> None:
        """Answers requests until `stop`, `POST /done` or Ctrl-C; every answered edit is on disk."""
        with self._socket:
            self._server.serve_forever(poll_interval=0.1)

    def stop(self) -> None:
        """Ends `run`, which must be running in another thread."""
        self._server.shutdown()


class _TimelyReader(io.RawIOBase):
    """Reads a request from a socket, and fails when the time for a whole request is over.

    The time begins with the first byte: browsers open connections that they use later.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._end: float | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - as inherited
        if self._end is not None:
            left = self._end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._connection.settimeout(left)
        try:
            n = self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(None)
        if self._end is None:
            self._end = time.monotonic() + _MAX_SECONDS
        return n


class _Handler(WSGIRequestHandler):
    """Drops late requests. Logs nothing, since the first line of a request contains the token."""

    def setup(self) -> None:
        super().setup()
        self.rfile = io.BufferedReader(_TimelyReader(self.connection))

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: ANN401 - as inherited
        pass

    def version_string(self) -> str:
        return "miner"


def _build_app(server: AnnotationServer) -> Flask:
    # No folder is served, only the routes below.
    app = Flask("miner", static_folder=None, template_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = _MAX_BYTES
    sheets = server.sheets

    def open_chapter(number: int) -> SheetFile:
        if number not in sheets.numbers:
            raise RefusedRequest(404, f"found no chapter {number} to annotate in this book")
        return sheets.open(number)

    @app.before_request
    def check_caller() -> None:
        _check_caller(server)

    @app.after_request
    def add_headers(response: Response) -> Response:
        for name, value in _HEADERS.items():
            response.headers[name] = value
        response.headers.setdefault("Content-Security-Policy", "default-src 'none'")
        return response

    @app.get("/")
    def show_chapters() -> Response:
        if "token" not in request.args:
            return _html_response(render_no_token_page(), NO_TOKEN)
        return _html_response(render_book_page(sheets, sheets.find_progress()), CHAPTERS)

    @app.get("/chapters/<int:number>")
    def show_chapter(number: int) -> Response:
        if "token" not in request.args:
            return _html_response(render_no_token_page(), NO_TOKEN)
        sheet_file = open_chapter(number)
        return _html_response(
            render_annotation_page(sheet_file, sheet_file.current()), MODES["edit"]
        )

    @app.get("/chapters/<int:number>/state")
    def show_state(number: int) -> Response:
        sheet_file = open_chapter(number)
        place = request.args.get("place", type=int)
        return _json_response(build_state(sheet_file, sheet_file.current(), place))

    @app.post("/chapters/<int:number>/edit")
    def edit(number: int) -> Response:
        sheet_file = open_chapter(number)
        wanted = _parse_edit(request.get_data())
        place = wanted.get("place")
        try:
            return _json_response(build_state(sheet_file, sheet_file.edit(**wanted), place))
        except StaleEdit as error:
            now = build_state(sheet_file, sheet_file.current(), place)
            return _json_response({"error": str(error), "state": now}, 409)

    @app.post("/done")
    def done() -> Response:
        response = _json_response({"saved": str(sheets.path.resolve())})
        # After the answer is sent, and in another thread, since `stop` waits for this one.
        response.call_on_close(Thread(target=server.stop, daemon=True).start)
        return response

    @app.errorhandler(RefusedRequest)
    def answer_refused(error: RefusedRequest) -> Response:
        wants = request.accept_mimetypes.best_match(["application/json", "text/html"])
        if error.status == 403 and request.endpoint in _PAGES and wants == "text/html":
            return _html_response(render_no_token_page(), NO_TOKEN, error.status)
        return _json_response({"error": str(error)}, error.status)

    @app.errorhandler(NameNeeded)
    def ask_for_name(error: NameNeeded) -> Response:
        return _json_response({"needs_name": str(error), "letter": error.letter})

    @app.errorhandler(ClientDisconnected)
    def answer_unfinished(error: ClientDisconnected) -> Response:
        expected = f"expected all of it within {_MAX_SECONDS:g} s"
        return _json_response({"error": f"found a part of a request, {expected}"}, 408)

    @app.errorhandler(InputError)
    def answer_invalid(error: InputError) -> Response:
        return _json_response({"error": str(error)}, 400)

    @app.errorhandler(OSError)
    def answer_failed_write(error: OSError) -> Response:
        place = f"{error.filename}: " if error.filename else ""
        return _json_response({"error": f"{place}{error.strerror or error}"}, 500)

    @app.errorhandler(HTTPException)
    def answer_http_error(error: HTTPException) -> Response:
        found = f"{request.method} {request.path}"
        return _json_response({"error": f"found {found[:200]}: {error.name}"}, error.code or 500)

    return app


def _check_caller(server: AnnotationServer) -> None:
    """Refuses every request that does not come from the page itself."""
    # Another site can let its own name point to this machine; the header has the name as typed.
    if request.headers.get("Host", "").lower() not in server.hosts:
        raise RefusedRequest(403, f"found a request for another host, expected {server.hosts[0]}")
    origin = request.headers.get("Origin")
    if origin is not None and origin not in [f"http://{host}" for host in server.hosts]:
        raise RefusedRequest(403, "found a request of another origin, expected the page's own")
    is_page = request.endpoint in _PAGES
    if is_page and "token" not in request.args:
        return  # shows the page without a token, which has no text of the book
    given = request.args.get("token") if is_page else request.headers.get("X-Token")
    if not secrets.compare_digest((given or "").encode(), server.token.encode()):
        raise RefusedRequest(
            403, "found no valid token, expected the one in the address of the page"
        )
    if request.method == "POST" and request.mimetype != "application/json":
        raise RefusedRequest(
            415, f"found {request.mimetype or 'no type'}, expected application/json"
        )


def _parse_edit(content: bytes) -> dict[str, Any]:
    """Reads the body of a request into the arguments of `SheetFile.edit`."""
    try:
        wanted = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"found bad JSON ({error}), expected one object") from error
    if not isinstance(wanted, dict):
        raise InputError(f"found {type(wanted).__name__}, expected an object")
    given = {key: value for key, value in wanted.items() if value is not None}
    for key, value in given.items():
        if key not in _TYPES:
            raise InputError(f"found key {key[:50]!r}, expected {', '.join(_TYPES)}")
        if type(value) is not _TYPES[key]:
            raise InputError(
                f"found {type(value).__name__} as {key}, expected {_TYPES[key].__name__}"
            )
    for key in ("revision", "action"):
        if key not in given:
            raise InputError(f"found no {key}, expected one")
    return given


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise InputError(f"port {port}: cannot listen on it: {reason}") from error


def _html_response(content: bytes, mode: Mode, status: int = 200) -> Response:
    """A response with a page and its policy; no other page may show it in a frame."""
    response = Response(content, status, mimetype="text/html")
    policy = f"{build_policy(mode)}; frame-ancestors 'none'"
    response.headers["Content-Security-Policy"] = policy
    return response


def _json_response(value: object, status: int = 200) -> Response:
    return Response(json.dumps(value), status, mimetype="application/json")
