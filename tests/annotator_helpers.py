"""A short book for the tests of the annotator, and its server and browser as the tests use them."""

import http.client
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass

from helpers import NAMES

from miner.app.annotator.server import AnnotationServer
from miner.app.annotator.sheet import NameNeeded, Sheet
from miner.app.annotator.sheet_file import NOTHING_TAGGED, BookSheets, SheetFile
from miner.books.book import parse_book
from miner.people.character_files import SpokenBook
from miner.speech.spans import split_book
from miner.speech.tags import TaggedSpan
from miner.speech.typography import infer_typography
from miner.tagger.load import load_tagger

FERRY = (
    "“Is the ferry in?” asked Ruth. “I heard a bell.”",
    "“Yes,” said Tom.",
    "“And the soup?” asked Ruth.",
    "“Yes.”",
    "He turned to the door of the “Marigold” and rapped on it. “Boy! Two coffees!”",
    "“Yes.”",
    "“Then when does it go?” Ruth asked.",
    "“Not today,” said a voice, “not in this wind.”",
)
# The facts of each quoted span: paragraph of the chapter, speaker, conversation.
TALK = [
    *((0, "Ruth", 1), (0, "Ruth", 1), (1, "Tom", 1), (2, "Ruth", 1), (3, "Tom", 1), (4, "", 0)),
    *((4, "Tom", 2), (5, "boy", 2), (6, "Ruth", 1), (7, "?", 1), (7, "?", 1)),
]
STEPS = [
    ("new", "Ruth"),
    ("same",),
    ("other", "Tom"),
    ("other",),
    ("other",),
    ("nothing",),
    ("new", "Tom"),
    ("other", "boy"),
    ("resume", 1, "Ruth"),
    ("other", "?"),
    ("same",),
]


def story(*chapters, id="7"):
    """The spans of a book with these paragraphs."""
    parts = [
        f"<h2>CHAPTER {n}</h2>\n" + "".join(f"<p>{text}</p>\n" for text in chapter)
        for n, chapter in enumerate(chapters, 1)
    ]
    page = f"<html><head><title>The Quay</title></head><body>{''.join(parts)}</body></html>"
    book = parse_book(page.encode(), id)
    return split_book(book, infer_typography(book))


BEFORE = ("“Who is it?” said Ruth.", "“Nobody.”", "She let the latch fall.")
AFTER = ("“Yes,” said Tom. “There she is.”", "“Then come.”")
BOOK = story(BEFORE, FERRY, AFTER)


def tagged_as(letters, book=BOOK, chapter=2, confidences=None, speakers=(), characters=()):
    """The book with these tags in one chapter, and those of the gap heuristic in the others.

    The speakers are ids of characters, "" where nobody is known.
    """
    left, given, names = iter(letters), iter(confidences or ()), iter(speakers)
    return SpokenBook(
        tuple(
            TaggedSpan(
                item.span, NAMES[next(left)], next(given, None), speaker=next(names, None) or None
            )
            if item.span.chapter == chapter and item.span.is_utterance
            else item
            for item in load_tagger("gap").tag(book)
        ),
        tuple(characters),
    )


def opened(path, chapter=2, tagged=NOTHING_TAGGED, book=BOOK):
    """A chapter of the file under annotation."""
    return SheetFile(path, book, chapter, tagged)


def edit(file, action, place=None, *more):
    """Applies an action to the newest version, saves it and returns the sheet.

    A speaker without a name is called by the letter that is offered.
    """
    conversation, speaker = arguments(action, more)
    revision = file.current().revision
    try:
        return file.edit(revision, action, place, speaker, conversation).sheet
    except NameNeeded as needed:
        return file.edit(revision, action, place, needed.letter, conversation).sheet


def arguments(action, more):
    """The conversation and the speaker among the words of a step."""
    conversation = more[0] if action == "resume" else None
    names = more[1:] if action == "resume" else more
    return conversation, names[0] if names else None


def shown(sheet: Sheet):
    """Speaker and conversation of each place, with a ? behind a guess."""
    return [
        ""
        if (fact := entry.fact) is None
        else f"{fact.speaker}{fact.conversation}{'' if entry.is_decided else '?'}"
        for entry in sheet.spans
    ]


def facts_of(rows):
    """The rows of chapter 2 in the form of `TALK`."""
    first = min(span.paragraph for span in BOOK.spans if span.chapter == 2) + 1
    return [(row.paragraph - first, row.speaker, row.conversation) for row in rows]


@dataclass
class Answer:
    """An answer of the server."""

    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class Browser:
    """Sends requests with the token of the page, over real sockets."""

    port: int
    token: str
    chapter: int = 2

    @property
    def page(self):
        return f"/chapters/{self.chapter}"

    def ask(self, method, path, body=None, **headers):
        """Sends a request; a header that is None is left out."""
        sent = {"Host": f"127.0.0.1:{self.port}", "X-Token": self.token}
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.putrequest(method, path, skip_host=True)
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        if content is not None:
            connection.putheader("Content-Length", str(len(content)))
        connection.endheaders(content)
        answer = connection.getresponse()
        found = Answer(answer.status, dict(answer.getheaders()), answer.read())
        connection.close()
        return found

    def state(self):
        answer = self.ask("GET", f"{self.page}/state")
        assert answer.status == 200, answer.body
        return answer.json

    def edit(self, action, place=None, revision=None, **more):
        """Sends an edit of the newest state, or of the given revision.

        A speaker without a name is called by the letter that is offered.
        """
        wanted = {"revision": revision or self.state()["revision"], "action": action}
        wanted |= {"place": place} | more
        answer = self.ask("POST", f"{self.page}/edit", wanted)
        if "needs_name" in answer.json:
            wanted["speaker"] = answer.json["letter"]
            answer = self.ask("POST", f"{self.page}/edit", wanted)
        return answer


@contextmanager
def serving(path, chapter=2, tagged=NOTHING_TAGGED, book=BOOK):
    """A running server of a book that opens at a chapter, and a browser that asks it."""
    server = AnnotationServer(BookSheets(path, book, tagged), chapter=chapter)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield Browser(server.port, server.token, chapter)
    finally:
        server.stop()
        thread.join(5)
        assert not thread.is_alive()
