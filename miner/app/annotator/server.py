"""The server of one chapter under annotation: its page and state, for a browser of this machine.

Nobody else gets in: it listens on the loopback address, every request carries a token that only the
page's address has, and a page of another site that guesses the port is refused by its `Host` and
`Origin`.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import webbrowser
from threading import Thread
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException
from werkzeug.serving import WSGIRequestHandler, make_server

from miner.app.annotator.sheet_file import SheetFile, StaleEdit, Version
from miner.app.annotator.sheet_page import page, state_of
from miner.app.viewer.page import DOOR, MODES, Mode, door_html, policy_of

LOOPBACK = "127.0.0.1"
_MOST_BYTES = 64 * 1024  # of a request; an edit has some hundred
_KINDS = {"revision": str, "action": str, "place": int, "speaker": str, "conversation": int}
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",  # the address has the token
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Refused(Exception):
    """A request that is answered with an HTTP status and one line."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class AnnotationServer:
    """Serves one chapter until it is told to end.

    It listens from the beginning; `run` answers.

    Args:
        sheet_file: the chapter and its file.
        port: where to listen; 0 for any port that is free.

    Raises:
        ValueError: if nobody can listen there; names the port.
    """

    def __init__(self, sheet_file: SheetFile, port: int = 0) -> None:
        self.sheet_file = sheet_file
        self.token = secrets.token_urlsafe(32)
        self._socket = _listening(port)
        self.port: int = self._socket.getsockname()[1]
        self._server = make_server(
            LOOPBACK,
            self.port,
            _app(self),
            threaded=True,
            request_handler=_Handler,
            fd=self._socket.fileno(),
        )

    @property
    def url(self) -> str:
        """The address of the page, token included."""
        return f"http://{LOOPBACK}:{self.port}/?token={self.token}"

    @property
    def hosts(self) -> list[str]:
        """What a browser of this machine calls the server."""
        names = [LOOPBACK, "localhost"]
        return [f"{name}:{self.port}" for name in names] + (names if self.port == 80 else [])

    def open_browser(self) -> None:
        """Opens the page in the user's browser, without waiting for a browser in the terminal."""
        Thread(target=webbrowser.open, args=(self.url,), daemon=True).start()

    def run(self) -> None:
        """Answers requests until `stop`, `POST /done` or Ctrl-C. What was saved stays saved."""
        with self._socket:
            self._server.serve_forever(poll_interval=0.1)

    def stop(self) -> None:
        """Ends `run`, which must be running in another thread."""
        self._server.shutdown()


class _Handler(WSGIRequestHandler):
    """Keeps quiet: requests are nobody's business, and their first lines would tell the token."""

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: ANN401 - as inherited
        pass

    def version_string(self) -> str:
        return "miner"


def _app(server: AnnotationServer) -> Flask:
    # No folder is served: all there is to get are the routes below.
    app = Flask("miner", static_folder=None, template_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = _MOST_BYTES
    sheet_file = server.sheet_file

    def state(version: Version, place: int | None = None) -> dict[str, Any]:
        return state_of(sheet_file, version, place)

    @app.before_request
    def guard() -> None:
        _check_caller(server)

    @app.after_request
    def guarded(response: Response) -> Response:
        for name, value in _HEADERS.items():
            response.headers[name] = value
        response.headers.setdefault("Content-Security-Policy", "default-src 'none'")
        return response

    @app.get("/")
    def show() -> Response:
        if "token" not in request.args:
            return _html(door_html(), DOOR)
        return _html(page(sheet_file, sheet_file.current()), MODES["edit"])

    @app.get("/state")
    def get_state() -> Response:
        place = request.args.get("place", type=int)
        return _json(state(sheet_file.current(), place))

    @app.post("/edit")
    def edit() -> Response:
        wanted = _edit_of(request.get_data())
        place = wanted.get("place")
        try:
            return _json(state(sheet_file.edit(**wanted), place))
        except StaleEdit as error:
            now = state(sheet_file.current(), place)
            return _json({"error": str(error), "state": now}, 409)

    @app.post("/done")
    def done() -> Response:
        response = _json({"saved": str(sheet_file.path)})
        # Only once the answer is out; and not by this thread, which `stop` would wait for.
        response.call_on_close(Thread(target=server.stop, daemon=True).start)
        return response

    @app.errorhandler(Refused)
    def refused(error: Refused) -> Response:
        wants = request.accept_mimetypes.best_match(["application/json", "text/html"])
        if request.path == "/" and wants == "text/html":
            return _html(door_html(), DOOR, error.status)
        return _json({"error": str(error)}, error.status)

    @app.errorhandler(ValueError)
    def invalid(error: ValueError) -> Response:
        return _json({"error": str(error)}, 400)

    @app.errorhandler(OSError)
    def unwritten(error: OSError) -> Response:
        place = f"{error.filename}: " if error.filename else ""
        return _json({"error": f"{place}{error.strerror or error}"}, 500)

    @app.errorhandler(HTTPException)
    def unknown(error: HTTPException) -> Response:
        found = f"{request.method} {request.path}"
        return _json({"error": f"found {found[:200]}: {error.name}"}, error.code or 500)

    return app


def _check_caller(server: AnnotationServer) -> None:
    """Refuses whoever is not the page itself."""
    # A name of somebody's own that leads to this machine is in the header as it was typed.
    if request.headers.get("Host", "").lower() not in server.hosts:
        raise Refused(403, f"found another host than {server.hosts[0]}")
    origin = request.headers.get("Origin")
    if origin is not None and origin not in [f"http://{host}" for host in server.hosts]:
        raise Refused(403, "found a request of another origin, expected the page's own")
    if request.path == "/" and "token" not in request.args:
        return  # the door only, which has nothing of the book
    given = request.args.get("token") if request.path == "/" else request.headers.get("X-Token")
    if not secrets.compare_digest((given or "").encode(), server.token.encode()):
        raise Refused(403, "found no valid token, expected the one of the page's address")
    if request.method == "POST" and request.mimetype != "application/json":
        raise Refused(415, f"found {request.mimetype or 'no type'}, expected application/json")


def _edit_of(content: bytes) -> dict[str, Any]:
    """The edit in the body of a request, as the arguments of `SheetFile.edit`."""
    try:
        wanted = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"found bad JSON ({error}), expected one object") from error
    if not isinstance(wanted, dict):
        raise ValueError(f"found {type(wanted).__name__}, expected an object")
    given = {key: value for key, value in wanted.items() if value is not None}
    for key, value in given.items():
        if key not in _KINDS:
            raise ValueError(f"found key {key[:50]!r}, expected {', '.join(_KINDS)}")
        if type(value) is not _KINDS[key]:
            raise ValueError(
                f"found {type(value).__name__} as {key}, expected {_KINDS[key].__name__}"
            )
    for key in ("revision", "action"):
        if key not in given:
            raise ValueError(f"found no {key}, expected one")
    return given


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise ValueError(f"port {port}: cannot be listened on: {reason}") from error


def _html(content: bytes, mode: Mode, status: int = 200) -> Response:
    """A page, with the policy that it also has in itself; no other page may show it in a frame."""
    response = Response(content, status, mimetype="text/html")
    policy = f"{policy_of(mode)}; frame-ancestors 'none'"
    response.headers["Content-Security-Policy"] = policy
    return response


def _json(value: object, status: int = 200) -> Response:
    return Response(json.dumps(value), status, mimetype="application/json")
