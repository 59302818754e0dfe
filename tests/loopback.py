"""A real server on the loopback address that answers, or fails to, as a test wants."""

import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from helpers import BOOK


class Site:
    """A mirror: its answers by path, and a record of every request."""

    def __init__(self):
        self.pages = {}
        self.paths, self.times, self.headers = [], [], []
        self.open_now = self.most_open = 0
        self.closing = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.paths.append(self.path)
                site.times.append(time.monotonic())
                site.headers.append(self.headers)
                site.open_now += 1
                site.most_open = max(site.most_open, site.open_now)
                try:
                    site.pages.get(self.path, answer(status=404))(self, site)
                finally:
                    site.open_now -= 1

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # a client that hangs up is what several tests are about

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.mirror = self.url + "/{id}.html"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()


def answer(body=BOOK, status=200, length=None, **headers):
    """Answers with this body; a length of "" sends none."""

    def send(handler, _site):
        handler.send_response(status)
        for name, value in {"Content_Type": "text/html", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        if length != "":
            handler.send_header("Content-Length", str(len(body) if length is None else length))
        handler.end_headers()
        handler.wfile.write(body)

    return send


def in_turn(*answers):
    """Answers the first request with the first answer, and so on; then repeats the last."""
    left = list(answers)
    return lambda handler, site: (left.pop(0) if len(left) > 1 else left[0])(handler, site)


def silent(_handler, site):
    site.closing.wait(5)


def drip(handler, site):
    for _ in range(150):  # 3 s: a client that never gives up fails its test, and does not hang it
        if not site.closing.wait(0.02):
            handler.wfile.write(b"x")


def dripping(handler, site):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    handler.wfile.write(BOOK)
    drip(handler, site)


def dripping_headers(handler, site):
    handler.wfile.write(b"HTTP/1.0 200 OK\r\nX-Slow: ")
    drip(handler, site)


def reset(handler, _site):
    answer(BOOK, length=100_000)(handler, None)
    time.sleep(0.05)  # a reset takes with it what the client has not read yet
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def chunked(handler, _site):
    handler.protocol_version = "HTTP/1.1"
    handler.close_connection = True
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for piece in (BOOK[:10], BOOK[10:-16], b""):
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))


def chunked_and_cut(handler, _site):
    handler.protocol_version = "HTTP/1.1"
    handler.close_connection = True
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"%x\r\n%s\r\n" % (len(BOOK), BOOK))
