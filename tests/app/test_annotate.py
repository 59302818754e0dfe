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
from dataclasses import replace

import pytest
from annotation_helpers import read_rows
from annotator_helpers import (
    AFTER,
    BEFORE,
    BOOK,
    FERRY,
    STEPS,
    TALK,
    Browser,
    facts_of,
    serving,
    story,
    tagged_as,
)
from bs4 import BeautifulSoup
from helpers import ANNOTATIONS, failed, wait_until

from miner.annotation.annotations import derive_tags
from miner.app.annotator import server as server_module
from miner.app.annotator.server import AnnotationServer
from miner.app.annotator.sheet_file import BookSheets

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
        answer = browser.ask("POST", "/chapters/2/edit", wanted)
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
    assert [
        browser.ask("GET", f"/chapters/2/state?place={n}").json["next"] for n in (0, 3, 10)
    ] == [1, 5, 0]
    assert browser.ask("GET", "/chapters/2/state?place=x").json["next"] == 0


def test_the_page_has_the_chapter_and_may_load_nothing_else(browser):
    answer = browser.ask("GET", f"{browser.page}?token={browser.token}", X_Token=None)
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


@pytest.mark.parametrize("page", ["/", "/chapters/2", "/chapters/99"])
def test_a_page_without_a_token_has_nothing_of_the_book(untouched, page):
    answer = untouched.ask("GET", page, X_Token=None)
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/html")
    text = answer.body.decode()
    for secret in (untouched.token, "ferry", "Ruth", BOOK.book.title):
        assert secret not in text
    assert "connect-src 'none'" in answer.headers[POLICY]
    wrong = untouched.ask("GET", f"{page}?token=wrong", X_Token=None, Accept="text/html,*/*;q=0.8")
    assert (wrong.status, wrong.body) == (403, answer.body)
    assert untouched.ask("GET", page, Host="evil.example").status == 403


@pytest.mark.parametrize(
    ("method", "route"),
    [("GET", "/chapters/2/state"), ("GET", "/x"), ("POST", "/chapters/2/edit"), ("DELETE", "/")],
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
    ("GET", "/chapters/2"),
    ("GET", "/chapters/2/state"),
    ("POST", "/chapters/2/edit"),
    ("POST", "/done"),
]


@pytest.mark.parametrize(
    ("method", "route"), [*ROUTES, ("GET", "/static/x"), ("OPTIONS", "/chapters/2/edit")]
)
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
    if route in ("/", "/chapters/2"):
        token = headers.pop("X_Token", untouched.token) or ""
        route += f"?token={token}" if token.isascii() else "?token=w%C3%B6rong"
    answer = untouched.ask(method, route, {} if method == "POST" else None, **headers)
    assert answer.status == 403
    assert set(answer.json) == {"error"} and untouched.token not in answer.body.decode()
    assert "ferry" not in answer.body.decode()
    assert untouched.state()["progress"]["decided"] == 0


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LocalHost:{port}"])
def test_a_browser_on_this_machine_gets_in(untouched, host):
    host = host.format(port=untouched.port)
    origin = f"http://{host.lower()}"
    assert untouched.ask("GET", "/chapters/2/state", Host=host, Origin=origin).status == 200


def test_the_token_in_the_address_opens_the_page_only(untouched):
    answer = untouched.ask("GET", f"/chapters/2/state?token={untouched.token}", X_Token=None)
    assert answer.status == 403
    assert b"ferry" not in untouched.ask("GET", "/").body  # the header alone does not


def test_it_listens_on_the_loopback_address_only(untouched):
    addresses = set(socket.gethostbyname_ex(socket.gethostname())[2])
    for address in {*addresses, "127.0.0.2"} - {"127.0.0.1", "::1"}:
        with pytest.raises(OSError):
            socket.create_connection((address, untouched.port), timeout=2).close()


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
@pytest.mark.parametrize("route", ["/chapters/2/edit", "/done"])
def test_a_posted_form_is_refused(untouched, kind, route):
    answer = untouched.ask("POST", route, b"{}", Content_Type=kind)
    assert answer.status == 415 and "expected application/json" in answer.json["error"]
    assert (
        untouched.ask(
            "POST", "/chapters/2/edit", b"{}", Content_Type=f"{JSON}; charset=utf-8"
        ).status
        == 400
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
    answer = untouched.ask("POST", "/chapters/2/edit", body)
    assert answer.status == 400
    assert message in answer.json["error"] and "\n" not in answer.json["error"]
    assert untouched.state()["progress"]["decided"] == 0


def test_a_request_that_is_not_an_edit_is_refused(untouched):
    assert untouched.ask("POST", "/chapters/2/edit", b" " * 70_000 + b"{}").status == 413
    for method, path, status in [
        *(
            ("GET", "/chapters/2/edit", 405),
            ("POST", "/chapters/2/state", 405),
            ("GET", "/../7.jsonl", 404),
        ),
        *(("GET", "/static/view.js", 404), ("PUT", "/chapters/2/edit", 405)),
    ]:
        answer = untouched.ask(method, path, {} if method == "POST" else None)
        assert (answer.status, set(answer.json)) == (status, {"error"})
    assert untouched.ask("HEAD", "/chapters/2/state").body == b""


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
    broken = browser.ask("GET", "/chapters/2/state")
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
        assert second.edit("new", 0, revision=seen).status == 200
        assert second.edit("new", 0, revision=seen, speaker="Tom").status == 409
        assert first.edit("other", 1, speaker="Tom").status == 200
    assert [(row.chapter, row.speaker) for row in read_rows(path, "7")] == [
        *((1, "Ruth"), (1, "Tom"), (2, "A"))
    ]


def test_done_ends_the_server_after_its_answer(path):
    server = AnnotationServer(BookSheets(path, BOOK))
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
        assert Browser(one.port, other.token).ask("GET", "/chapters/2/state").status == 403


@contextmanager
def command(*words, ready=True, **env):
    """A process of `miner annotate sample`, and a browser once it listens."""
    words = [sys.executable, "-m", "miner", "annotate", "sample", *map(str, words)]
    started = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | env
    )
    try:
        port, token = re.fullmatch(
            r"http://127\.0\.0\.1:(\d+)/(?:chapters/1)?\?token=(\S+)\n", started.stdout.readline()
        ).groups()
        yield started, Browser(int(port), token, 1)
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
        out, err = miner.communicate(timeout=60)
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
        wait_until(seen.exists)
        wanted = f"http://127.0.0.1:{browser.port}/chapters/1?token={browser.token}\n"
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
        "sample: found nothing quoted in chapter 9, expected one of the chapters 1 to 5"
    )
    assert "found nothing quoted in chapter 0" in failed(*words, 0)
    assert not path.exists()
    path.write_bytes(GOLD.read_bytes().replace(b'"sample"', b'"simple"'))
    assert failed(*words, 1) == f"{path}:1: found book 'simple', expected 'sample'"
    assert failed(*words, 1, "--tagger", "nobody").startswith("no tagger 'nobody'")
    line = failed("annotate", "sample", "-o", tmp_path)
    assert line == f"{tmp_path}: found a folder, expected an ordinary file or a new name"


def test_a_port_in_use_is_an_error_of_one_line(tmp_path, untouched):
    words = ("annotate", "sample", "-o", tmp_path / "s.jsonl", "--no-open", "--chapter", 1)
    line = failed(*words, "--port", untouched.port)
    assert line == f"port {untouched.port}: cannot listen on it: Address already in use"


def listed(browser):
    """The values of the page that lists the chapters."""
    answer = browser.ask("GET", f"/?token={browser.token}", X_Token=None)
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/html")
    assert browser.token not in answer.body.decode()
    return json.loads(BeautifulSoup(answer.body, "lxml").find("script", id="book").string)


def test_the_list_says_how_far_each_chapter_is(path):
    book = story(BEFORE, FERRY, ["It rained."], AFTER)
    with serving(path, book=book) as browser:
        shown = listed(browser)
        assert (shown["title"], shown["file"], shown["foreign"]) == ("The Quay", "7.jsonl", 0)
        chapters = [(item["number"], item["title"], item["spans"]) for item in shown["chapters"]]
        assert chapters == [
            *((1, "CHAPTER 1", 2), (2, "CHAPTER 2", 11), (3, "CHAPTER 3", 0), (4, "CHAPTER 4", 3))
        ]
        browser.edit("new", 0, speaker="Ruth")
        browser.chapter = 4
        for place in range(3):
            browser.edit("new", place, speaker="Tom")
        assert [item["decided"] for item in listed(browser)["chapters"]] == [0, 1, 0, 3]
        browser.edit("undo")
        assert [item["decided"] for item in listed(browser)["chapters"]] == [0, 1, 0, 2]
        for number in (0, 3, 5, 10**30):
            answer = browser.ask("GET", f"/chapters/{number}?token={browser.token}")
            assert answer.status == 404 and "no chapter" in answer.json["error"]
    assert [row.chapter for row in read_rows(path, "7")] == [2, 4, 4]


def test_the_list_counts_rows_that_are_not_in_the_book(path):
    with serving(path) as browser:
        browser.edit("new", 0, speaker="Ruth")
        browser.edit("other", 2, speaker="Tom")
    first, second = path.read_bytes().splitlines(keepends=True)
    gone = json.loads(second) | {"fingerprint": "zzzz.21.00000000"}
    far = json.loads(second) | {"chapter": 9, "paragraph": 90, "conversation": 1}
    path.write_bytes(first + "".join(f"{json.dumps(row)}\n" for row in (gone, far)).encode())
    with serving(path, 1) as browser:
        shown = listed(browser)
    assert shown["foreign"] == 1
    assert [(item["decided"], item["lost"]) for item in shown["chapters"]] == [
        *((0, 0), (1, 1), (0, 0))
    ]


def test_headings_and_titles_stay_text_on_the_list(path):
    evil = "</script><script>alert(1)</script>"
    book = replace(BOOK, book=replace(BOOK.book, title=evil, author=evil))
    with serving(path, book=book) as browser:
        answer = browser.ask("GET", f"/?token={browser.token}", X_Token=None)
        assert listed(browser)["title"] == evil
    assert evil.encode() not in answer.body


def test_the_command_guesses_who_speaks(tmp_path):
    """By name, even with a tagger that finds no speakers itself."""
    path = tmp_path / "sample.jsonl"
    with command("--chapter", 1, "-o", path, "--tagger", "gap", "--no-open") as (_, browser):
        known = browser.state()["characters"]
        assert "Mrs. Pockett" in known
        now = browser.edit("accept", 1).json  # the first is no speech
        (speaker,) = now["speakers"]
        assert speaker in known and now["characters"] == [name for name in known if name != speaker]


def test_a_guessed_letter_is_never_saved_unasked(path):
    """The server asks for the name; the letter is saved only if the annotator sends it."""
    with serving(path, tagged=tagged_as("SsRRRSRSRr")) as browser:

        def ask(action, place, **more):
            wanted = {"revision": browser.state()["revision"], "action": action, "place": place}
            answer = browser.ask("POST", "/chapters/2/edit", wanted | more)
            assert answer.status == 200 and ("needs_name" in answer.json) == (
                "progress" not in answer.json
            )
            return answer.json.get("letter")

        for action, place in (("accept", 0), ("same", 1), ("new", 0)):
            assert ask(action, place) == "A"
        for action, place in (("other", 2), ("accept", 2)):
            assert ask(action, place) == "B"
        assert ask("resume", 3, conversation=1) == "A"
        assert path.read_bytes() == b""
        assert ask("accept", 0, speaker="Ruth") is None
        # The guesses now have the name, so nobody asks again.
        assert ask("same", 1) is None and ask("accept", 3) is None
        assert ask("accept", 2) == "A"
        assert ask("accept", 2, speaker="A") is None  # no name in the text so far
        assert ask("other", 4) is None
        assert ask("accept", 5) is None  # not speech
    assert [row.speaker for row in read_rows(path, "7")] == [
        *("Ruth", "Ruth", "A", "Ruth", "A"),
        "",
    ]


UNFINISHED = {
    "header": b"",
    "chunked": b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
    "length": b"Content-Type: application/json\r\nContent-Length: 90\r\n\r\n{",
}


@pytest.mark.parametrize("token", ["right", "wrong"])
@pytest.mark.parametrize("kind", UNFINISHED)
def test_a_request_that_is_not_complete_in_time_is_dropped(path, monkeypatch, kind, token):
    """Although its sender goes on dripping bytes."""
    monkeypatch.setattr(server_module, "_MAX_SECONDS", 0.3)
    with serving(path) as browser:
        given = browser.token if token == "right" else "x"
        head = f"POST /chapters/2/edit HTTP/1.1\r\nHost: 127.0.0.1:{browser.port}\r\n"
        head += f"X-Token: {given}\r\n"
        with socket.create_connection(("127.0.0.1", browser.port), timeout=5) as client:
            client.sendall(head.encode() + UNFINISHED[kind])
            answer, begun = b"", time.monotonic()
            client.settimeout(0.1)
            while time.monotonic() - begun < 30:
                with suppress(TimeoutError, ConnectionError):
                    if not (part := client.recv(1000)):
                        break
                    answer += part
                    continue
                with suppress(ConnectionError):
                    client.sendall(b"x")
            assert time.monotonic() - begun < 30
        wanted = {"header": b"", "right": b" 408 ", "wrong": b" 403 "}
        assert wanted["header" if kind == "header" else token] in answer
        assert browser.state()["progress"]["decided"] == 0


def test_a_connection_may_wait_before_its_request(untouched, monkeypatch):
    monkeypatch.setattr(server_module, "_MAX_SECONDS", 0.1)
    connection = http.client.HTTPConnection("127.0.0.1", untouched.port, timeout=5)
    connection.connect()
    time.sleep(0.3)
    connection.request("GET", "/chapters/2/state", headers={"X-Token": untouched.token})
    assert connection.getresponse().status == 200
    connection.close()


def test_an_output_that_is_no_file_is_refused_before_the_book_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((os.devnull, "device"), (tmp_path / "pipe", "pipe"), (tmp_path, "folder")):
        line = failed("annotate", "no such book", "-o", path)
        assert line == f"{path}: found a {kind}, expected an ordinary file or a new name"
