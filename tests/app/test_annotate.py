"""The server of a chapter under annotation: its page, its answers, and whom it refuses."""

import hashlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from base64 import b64encode
from contextlib import contextmanager, suppress

import pytest
from annotation_helpers import read_rows
from annotator_helpers import (
    BOOK,
    FERRY,
    STEPS,
    TALK,
    Browser,
    facts_of,
    serving,
    tagged_as,
)
from bs4 import BeautifulSoup
from helpers import ANNOTATIONS, failed

from miner.annotation.derivation import derive_tags
from miner.app.annotator.server import AnnotationServer
from miner.app.annotator.sheet_file import SheetFile

POLICY = "Content-Security-Policy"
JSON = "application/json"
GOLD = ANNOTATIONS / "gold" / "sample.jsonl"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "7.jsonl"


@pytest.fixture
def browser(path):
    with serving(path) as browser:
        yield browser


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """A server that a test may only ask what changes nothing; its file stays empty."""
    path = tmp_path_factory.mktemp("untouched") / "7.jsonl"
    with serving(path) as browser:
        yield browser
        assert path.read_bytes() == b""


def arguments(step):
    """A step of `STEPS` in the words of an edit."""
    action, *more = step
    keys = ("conversation", "speaker") if action == "resume" else ("speaker",)
    return {"action": action} | dict(zip(keys, more, strict=False))


def test_a_chapter_is_annotated_by_requests(browser, path):
    state = browser.state()
    assert state["next"] == 0 and state["progress"] == {"decided": 0, "all": 11}
    for place, step in enumerate(STEPS):
        wanted = {"revision": state["revision"], "place": place} | arguments(step)
        answer = browser.ask("POST", "/edit", wanted)
        assert answer.status == 200, answer.body
        state = answer.json
        assert state["revision"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert state["progress"]["decided"] == len(read_rows(path, "7")) == place + 1
        assert state["next"] == (place + 1 if place < 10 else None)
    rows = read_rows(path, "7")
    assert facts_of(rows) == TALK
    assert [span["tag"] for span in state["spans"]] == [tag.value for tag in derive_tags(rows)]
    assert state["speakers"] == ["Ruth", "Tom", "boy"] and state["can_undo"]
    assert state == browser.state()


def test_the_state_describes_each_span(path):
    with serving(path, tagged=tagged_as("SsRRRSRSRr", confidences=[0.5, 0.25])) as browser:
        state = browser.edit("accept", 0).json
    assert {key: state[key] for key in ("book", "title", "chapter", "lost", "next")} == {
        **{"book": "7", "title": "The Quay", "chapter": 2, "lost": [], "next": 1}
    }
    first, second = state["spans"][:2]
    paragraph = next(span.paragraph for span in BOOK.spans if span.chapter == 2) + 1
    assert first == {
        **{"place": 0, "paragraph": paragraph, "start": 0, "end": len("“Is the ferry in?”")},
        **{"text": "“Is the ferry in?”", "status": "decided", "speaker": "A"},
        **{"conversation": 1, "tag": "B-START", "sure": 0.5, "remark": ""},
    }
    assert (second["status"], second["speaker"], second["tag"]) == ("guess", "A", "I-START")
    with serving(path) as browser:
        span = browser.state()["spans"][1]
    facts = (span["status"], span["speaker"], span["conversation"], span["tag"], span["sure"])
    assert facts == ("undecided", None, None, None, None)


def columns(values):
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def test_the_state_has_the_layer_of_the_viewer(path):
    """Its tags follow from the facts, and a resumed conversation keeps its number."""
    with serving(path) as browser:
        for place, step in enumerate(STEPS[:9]):
            state = browser.edit(place=place, **arguments(step)).json
    said = columns(state["layer"]["utterances"])
    shown = [(item["conversation"], item["turn"], item["tag"], item["speaker"]) for item in said]
    assert shown == [
        *((1, 1, "B-START", "Ruth"), (1, 1, "I-START", "Ruth"), (1, 2, "B-OTHER", "Tom")),
        *((1, 3, "B-OTHER", "Ruth"), (1, 4, "B-OTHER", "Tom")),
        *((2, 1, "B-START", "Tom"), (2, 2, "B-OTHER", "boy"), (3, 1, "B-START", "Ruth")),
    ]
    listed = [(item["label"], item["resumed"]) for item in state["layer"]["conversations"]]
    assert listed == [(1, False), (2, False), (1, True)]
    first, second = state["conversations"]
    assert first == {"number": 1, "speakers": ["Ruth", "Tom"], "text": "“Is the ferry in?”"}
    assert (second["number"], second["speakers"]) == (2, ["Tom", "boy"])
    places = [(item["paragraph"], item["start"], item["end"]) for item in state["spans"]]
    assert [tuple(item) for item in state["layer"]["quoted"]] == [places[5], *places[9:]]
    assert len(said) + 3 == len(places)


def test_the_state_names_the_next_place_after_any_place(browser):
    browser.edit("new", 4)
    assert [browser.ask("GET", f"/state?place={n}").json["next"] for n in (0, 3, 10)] == [1, 5, 0]
    assert browser.ask("GET", "/state?place=x").json["next"] == 0


def test_the_page_has_the_chapter_and_may_load_nothing_else(browser):
    answer = browser.ask("GET", f"/?token={browser.token}", X_Token=None)
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/html")
    soup = BeautifulSoup(answer.body, "lxml")
    chapter = json.loads(soup.find("script", id="chapter-2").string)
    assert chapter["blocks"]["text"] == ["CHAPTER 2", *FERRY]
    assert chapter["state"] == browser.state()
    (layer,) = chapter["layers"]
    assert layer["quoted"] == chapter["state"]["layer"]["quoted"] and len(layer["quoted"]) == 11
    listed = json.loads(soup.find("script", id="book").string)["chapters"]
    assert [item["number"] for item in listed] == [2]
    assert browser.token not in answer.body.decode()
    policy = dict(part.strip().split(" ", 1) for part in answer.headers[POLICY].split(";"))
    assert policy["default-src"] == "'none'" and policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    scripts = [item.string for item in soup.find_all("script") if not item.get("type")]
    digests = [b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    assert policy["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]
    assert answer.headers[POLICY].startswith(soup.find("meta", {"http-equiv": POLICY})["content"])


def test_a_page_without_a_token_has_nothing_of_the_book(untouched):
    answer = untouched.ask("GET", "/", X_Token=None)
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/html")
    text = answer.body.decode()
    for secret in (untouched.token, "ferry", "Ruth", BOOK.book.title):
        assert secret not in text
    assert "connect-src 'none'" in answer.headers[POLICY]
    wrong = untouched.ask("GET", "/?token=wrong", X_Token=None, Accept="text/html,*/*;q=0.8")
    assert (wrong.status, wrong.body) == (403, answer.body)
    assert untouched.ask("GET", "/", Host="evil.example").status == 403


@pytest.mark.parametrize(
    ("method", "route"), [("GET", "/state"), ("GET", "/x"), ("POST", "/edit"), ("DELETE", "/")]
)
@pytest.mark.parametrize("token", ["right", "wrong"])
def test_every_answer_is_private(untouched, method, route, token):
    given = untouched.token if token == "right" else "x"
    answer = untouched.ask(method, route, b"{}" if method == "POST" else None, X_Token=given)
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers[POLICY].startswith("default-src 'none'")
    assert "Access-Control-Allow-Origin" not in answer.headers


ROUTES = [
    ("GET", "/"),
    ("GET", "/state"),
    ("POST", "/edit"),
    ("POST", "/done"),
]


@pytest.mark.parametrize(("method", "route"), [*ROUTES, ("GET", "/static/x"), ("OPTIONS", "/edit")])
@pytest.mark.parametrize(
    "headers",
    [
        {"X_Token": None},
        {"X_Token": ""},
        {"X_Token": "wrong"},
        {"X_Token": "w\xf6rong"},
        {"Host": None},
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Host": "localhost.evil.example:{port}"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://127.0.0.1:1"},
    ],
    ids=str,
)
def test_nobody_else_gets_in(untouched, method, route, headers):
    headers = {k: v and v.format(port=untouched.port) for k, v in headers.items()}
    if route == "/":
        token = headers.pop("X_Token", untouched.token) or ""
        route = f"/?token={token}" if token.isascii() else "/?token=w%C3%B6rong"
    answer = untouched.ask(method, route, {} if method == "POST" else None, **headers)
    assert answer.status == 403
    assert set(answer.json) == {"error"} and untouched.token not in answer.body.decode()
    assert "ferry" not in answer.body.decode()
    assert untouched.state()["progress"]["decided"] == 0


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LocalHost:{port}"])
def test_a_browser_on_this_machine_gets_in(untouched, host):
    host = host.format(port=untouched.port)
    origin = f"http://{host.lower()}"
    assert untouched.ask("GET", "/state", Host=host, Origin=origin).status == 200


def test_the_token_in_the_address_opens_the_page_only(untouched):
    answer = untouched.ask("GET", f"/state?token={untouched.token}", X_Token=None)
    assert answer.status == 403
    assert b"ferry" not in untouched.ask("GET", "/").body  # the header alone does not


def test_it_listens_on_the_loopback_address_only(untouched):
    addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)}
    for address in {*addresses, "127.0.0.2"} - {"127.0.0.1", "::1"}:
        with pytest.raises(OSError):
            socket.create_connection((address, untouched.port), timeout=2).close()


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
@pytest.mark.parametrize("route", ["/edit", "/done"])
def test_a_posted_form_is_refused(untouched, kind, route):
    answer = untouched.ask("POST", route, b"{}", Content_Type=kind)
    assert answer.status == 415 and "expected application/json" in answer.json["error"]
    assert (
        untouched.ask("POST", "/edit", b"{}", Content_Type=f"{JSON}; charset=utf-8").status == 400
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "found bad JSON"),
        (b"", "found bad JSON"),
        (b"\xff", "found bad JSON"),
        (b"[" * 20_000, "found bad JSON"),
        (b"[]", "found list, expected an object"),
        (b"{}", "found no revision, expected one"),
        ({"revision": None, "action": "new"}, "found no revision, expected one"),
        ({"action": 5}, "found int as action, expected str"),
        ({"place": True}, "found bool as place, expected int"),
        ({"place": "1"}, "found str as place, expected int"),
        ({"place": 1.0}, "found float as place, expected int"),
        ({"place": 10**30}, f"found no place {10**30}, expected 0 to 10"),
        ({"speaker": ["Tom"]}, "found list as speaker, expected str"),
        ({"speaker": ""}, "found no name, expected one"),
        ({"speaker": "\ud800"}, "found '\\ud800' as a name"),
        ({"who": "Tom"}, "found key 'who', expected revision, action, place"),
        ({"action": "sing"}, "found action 'sing', expected one of same, other, new"),
        ({"action": "same"}, "place 0: found no utterance before it, expected new"),
        ({"action": "resume", "conversation": 4}, "found no conversation 4 to resume"),
        ({"place": None}, "new: found no place, expected one"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_bad_edit_is_refused_in_one_line(untouched, body, message):
    if isinstance(body, dict):
        good = {"revision": untouched.state()["revision"], "action": "new", "place": 0}
        body = json.dumps(good | body).encode()
    answer = untouched.ask("POST", "/edit", body)
    assert answer.status == 400
    assert message in answer.json["error"] and "\n" not in answer.json["error"]
    assert untouched.state()["progress"]["decided"] == 0


def test_a_request_that_is_not_an_edit_is_refused(untouched):
    assert untouched.ask("POST", "/edit", b" " * 70_000 + b"{}").status == 413
    for method, path, status in [
        *(("GET", "/edit", 405), ("POST", "/state", 405), ("GET", "/../7.jsonl", 404)),
        *(("GET", "/static/view.js", 404), ("PUT", "/edit", 405)),
    ]:
        answer = untouched.ask(method, path, {} if method == "POST" else None)
        assert (answer.status, set(answer.json)) == (status, {"error"})
    assert untouched.ask("HEAD", "/state").body == b""


def test_an_edit_from_an_outdated_window_is_refused(browser, path):
    behind = browser.state()["revision"]
    ahead = browser.edit("new", 0, speaker="Ruth").json
    before = path.read_bytes()
    answer = browser.edit("new", 0, revision=behind, speaker="Tom")
    assert answer.status == 409
    assert "older state" in answer.json["error"] and answer.json["state"] == ahead
    assert path.read_bytes() == before
    again = browser.edit("other", 1, revision=answer.json["state"]["revision"], speaker="Tom")
    assert again.status == 200 and again.json["speakers"] == ["Ruth", "Tom"]


def test_a_file_changed_on_disk_is_not_overwritten(browser, path):
    seen = browser.edit("new", 0, speaker="Ruth").json["revision"]
    row = json.loads(path.read_bytes())
    path.write_text(json.dumps(row | {"speaker": "Ada"}) + "\n")
    before = path.read_bytes()
    answer = browser.edit("same", 1, revision=seen)
    assert answer.status == 409 and "changed on disk" in answer.json["error"]
    assert answer.json["state"]["speakers"] == ["Ada"] and not answer.json["state"]["can_undo"]
    assert path.read_bytes() == before
    assert browser.edit("same", 1).json["speakers"] == ["Ada"]
    path.write_bytes(b"gone wrong")
    broken = browser.ask("GET", "/state")
    assert broken.status == 400 and "7.jsonl:1: found bad JSON" in broken.json["error"]
    assert path.read_bytes() == b"gone wrong"


def test_many_windows_at_once_lose_nothing(browser, path):
    """Each window decides its own places and retries when its state is outdated."""

    def window(places):
        for place in places:
            state = browser.state()
            while (answer := browser.edit("new", place, revision=state["revision"])).status != 200:
                assert answer.status == 409
                state = answer.json["state"]

    def look():
        while any(thread.is_alive() for thread in threads):
            browser.state()

    threads = [threading.Thread(target=window, args=(range(n, 11, 4),)) for n in range(4)]
    looking = [threading.Thread(target=look) for _ in range(2)]
    for thread in [*threads, *looking]:
        thread.start()
    for thread in [*threads, *looking]:
        thread.join()
    assert len(read_rows(path, "7")) == 11
    assert browser.state()["progress"]["decided"] == 11
    for _ in range(11):  # the server never took its own write for a foreign one
        assert browser.edit("undo").status == 200
    assert path.read_bytes() == b""


def test_two_servers_can_write_one_file(path):
    """Each annotates a chapter, and keeps what the other saves."""
    with serving(path, 2) as second, serving(path, 1) as first:
        seen = second.state()["revision"]
        assert first.edit("new", 0, speaker="Ruth").status == 200
        assert second.edit("new", 0, revision=seen).status == 409
        assert second.edit("new", 0).status == 200
        assert first.edit("other", 1, speaker="Tom").status == 200
    assert [(row.chapter, row.speaker) for row in read_rows(path, "7")] == [
        *((1, "Ruth"), (1, "Tom"), (2, "A"))
    ]


def test_done_ends_the_server_after_its_answer(path):
    server = AnnotationServer(SheetFile(path, BOOK, 2))
    thread = threading.Thread(target=server.run)
    thread.start()
    browser = Browser(server.port, server.token)
    assert browser.edit("nothing", 3).status == 200
    answer = browser.ask("POST", "/done", {})
    assert (answer.status, answer.json) == (200, {"saved": str(path)})
    thread.join(5)
    assert not thread.is_alive()
    with pytest.raises(ConnectionRefusedError):
        browser.state()
    assert len(read_rows(path, "7")) == 1


def test_each_server_has_a_token_of_its_own(path):
    with serving(path) as one, serving(path) as other:
        assert one.token != other.token and len(one.token) >= 32
        assert Browser(one.port, other.token).ask("GET", "/state").status == 403


@contextmanager
def command(*words, ready=True, **env):
    """A process of `miner annotate sample`, and a browser once it listens."""
    words = [sys.executable, "-m", "miner", "annotate", "sample", *map(str, words)]
    started = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | env,
    )
    try:
        port, token = re.fullmatch(
            r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)\n", started.stdout.readline()
        ).groups()
        yield started, Browser(int(port), token)
    finally:
        started.kill()
        started.wait()
        started.stdout.close()
        started.stderr.close()


@pytest.mark.parametrize(
    "end", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_the_command_ends_on_a_signal_and_says_what_was_saved(tmp_path, end):
    path = tmp_path / "new" / "sample.jsonl"
    with command("--chapter", 1, "-o", path, "--tagger", "gap", "--no-open") as (miner, browser):
        assert browser.edit("accept", 1).status == 200
        miner.send_signal(end)
        out, err = miner.communicate(timeout=10)
        assert (miner.returncode, err) == (0, "")
        assert out == f"{path}: chapter 1, 1 of 38 spans saved\n"
    assert len(read_rows(path, "sample")) == 1


@pytest.mark.slow
def test_the_command_opens_the_browser(tmp_path):
    seen = tmp_path / "seen"
    look = tmp_path / "look"
    look.write_text(f'#!/bin/sh\necho "$1" > {seen}.part && mv {seen}.part {seen}\n')
    look.chmod(0o755)
    words = ("--chapter", 1, "-o", tmp_path / "s.jsonl")
    with command(*words, BROWSER=f"{look} %s") as (_, browser):
        deadline = time.monotonic() + 10
        while not seen.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        wanted = f"http://127.0.0.1:{browser.port}/?token={browser.token}\n"
        assert seen.read_text() == wanted
        assert browser.ask("POST", "/done", {}).status == 200


@pytest.mark.slow
def test_a_killed_server_leaves_a_whole_file(tmp_path):
    """It is killed several times in the middle of edits; every answered edit is in the file."""
    path = tmp_path / "sample.jsonl"
    others = [line for line in GOLD.read_bytes().splitlines(True) if b'"chapter":2' in line]
    path.write_bytes(b"".join(others))
    n = 0
    for run in range(4):
        with command("--chapter", 1, "-o", path, "--no-open") as (miner, browser):
            revision = browser.state()["revision"]
            first = n
            killing = threading.Timer(0.03 + 0.03 * run, miner.kill)
            with suppress(OSError, http.client.HTTPException):
                while True:
                    answer = browser.edit("new", n % 38, revision=revision, speaker=f"N{n}")
                    assert answer.status == 200, answer.body
                    revision, n = answer.json["revision"], n + 1
                    if n == first + 1:  # a slow machine gets the time for one edit
                        killing.start()
            killing.join()
            assert miner.wait(5) == -signal.SIGKILL
        assert n > first
        names = {row.speaker for row in read_rows(path, "sample")}
        assert f"N{n - 1}" in names and f"N{n + 1}" not in names
        assert path.read_bytes().endswith(b"".join(others))


def test_a_chapter_that_cannot_be_annotated_is_an_error_of_one_line(tmp_path):
    path = tmp_path / "s.jsonl"
    words = ("annotate", "sample", "-o", path, "--no-open", "--chapter")
    assert failed(*words, 9) == (
        "sample: found nothing quoted in chapter 9, expected one of the chapters 0 to 5"
    )
    assert "found nothing quoted in chapter 0" in failed(*words, 0)
    assert not path.exists()
    path.write_bytes(GOLD.read_bytes().replace(b'"sample"', b'"simple"'))
    assert failed(*words, 1) == f"{path}:1: found book 'simple', expected 'sample'"
    assert failed(*words, 1, "--tagger", "nobody").startswith("no tagger 'nobody'")
    line = failed("annotate", "sample", "-o", tmp_path, "--chapter", 1)
    assert line == f"{tmp_path}: Is a directory"


def test_a_port_in_use_is_an_error_of_one_line(tmp_path, untouched):
    words = ("annotate", "sample", "-o", tmp_path / "s.jsonl", "--no-open", "--chapter", 1)
    line = failed(*words, "--port", untouched.port)
    assert line == f"port {untouched.port}: cannot listen on it: Address already in use"
