"""What several test files need: files of a book, taggings from letters, the shared data."""

import gc
import json
import os
import re
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from safetensors.numpy import save_file

from miner.app.cli.main import main
from miner.books.book import parse_book
from miner.errors import InputError
from miner.lab.measure.scores import Counts
from miner.speech.kinds import SpanKind
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan

BOOK = """<!DOCTYPE html>
<html><body><p>*** START OF THE PROJECT GUTENBERG EBOOK ***</p>
<p>“My dear Mr. Otway,”</p></body></html>
""".encode()
NAMES = {"S": Tag.B_START, "s": Tag.I_START, "R": Tag.B_OTHER, "r": Tag.I_OTHER, "O": Tag.O}

TESTS = Path(__file__).parent
ROOT = TESTS.parent  # of the project
DATA = TESTS / "data"
SAMPLE = ROOT / "miner" / "books" / "sample.html"
ANNOTATIONS = ROOT / "annotations"
SHARED = ROOT.parent / "shared"
MCN = SHARED / "convo-miner-gold"
needs_mcn = pytest.mark.skipif(not MCN.is_dir(), reason=f"the files of MCN are not at {MCN}")
BOOKS = SHARED / "books"
needs_books = pytest.mark.skipif(
    not any(BOOKS.glob("*.htm*")), reason=f"the real books are not at {BOOKS}"
)
CORPUS = SHARED / "pdnc"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the shared corpus")

# Files of the packages that no code opens: they are read in the checkout.
GUIDES = {
    "miner/app/README.md",
    "miner/books/README.md",
    "miner/corpus/README.md",
    "miner/lab/lessons/generation/README.md",
    "miner/people/README.md",
    "miner/reader/README.md",
    "miner/tagger/README.md",
    "miner/lab/lessons/selection/README.md",
}
# A small text in the way of the corpus.
NOVEL = """THE LIGHTHOUSE

"Is the lamp lit?" asked Mara. She had one
foot on the stair.

"It was," said Tobin, "until the oil
ran out. "

The "keeper" said nothing.
"""


def files_of_packages(folder: Path) -> set[str]:
    """The files of this project's packages in a folder, relative to it."""
    return {
        path.relative_to(folder).as_posix()
        for name in ("miner", "heuristic")
        for path in (folder / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def run(*words) -> Result:
    """The outcome of a `miner` command."""
    return CliRunner().invoke(main, [str(word) for word in words])


def said(*words) -> str:
    """The output of a command that succeeds without a message."""
    done = run(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def failed(*words) -> str:
    """The one line of a command that fails, without "miner: "."""
    done = run(*words)
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("miner: ")
    return line.removeprefix("miner: ")


def annotations_of_sample(folder: Path, chapters=range(1, 6)) -> Path:
    """A folder of annotations with the sample alone, which is read in no time."""
    (folder / "gold").mkdir(parents=True)
    for name, in_sample in (
        ("books.jsonl", lambda row: row["book"] == "sample"),
        ("gold/sample.jsonl", lambda row: row["chapter"] in chapters),
    ):
        lines = (ANNOTATIONS / name).read_bytes().splitlines(keepends=True)
        (folder / name).write_bytes(b"".join(line for line in lines if in_sample(json.loads(line))))
    return folder


def annotations_of_two(folder: Path) -> Path:
    """The annotations of the sample, and of a book 7 that has its first two chapters."""
    annotations_of_sample(folder)
    card = json.loads((folder / "books.jsonl").read_bytes())
    with (folder / "books.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(card | {"book": "7"}) + "\n")
    lines = (folder / "gold" / "sample.jsonl").read_bytes().splitlines()
    rows = [row for row in map(json.loads, lines) if row["chapter"] <= 2]
    kept = "".join(json.dumps(row | {"book": "7"}) + "\n" for row in rows)
    (folder / "gold" / "7.jsonl").write_text(kept, encoding="utf-8")
    return folder


def small_corpus(folder):
    """Writes a corpus of one short novel and its edition in HTML; returns both folders."""
    novel, books = folder / "pdnc" / "Lighthouse", folder / "books"
    novel.mkdir(parents=True)
    books.mkdir()
    (novel.parent / "PDNC-Novel-Index.csv").write_text(
        "Novel Title,Source,Folder Name\n"
        "The Lighthouse,https://www.gutenberg.org/ebooks/7,Lighthouse\n"
    )
    (novel / "novel_text.txt").write_text(NOVEL, encoding="utf-8")
    parts = ["Is the lamp lit?"], ["It was,", "until the oil\nran out."]
    table = ["quoteID,subQuotationList,quoteByteSpans,speaker,addressees,quoteType"]
    for number, texts in enumerate(parts):
        spans = [[NOVEL.index(text), NOVEL.index(text) + len(text)] for text in texts]
        table.append(f'Q{number},"{texts!r}","{spans!r}",Mara,[],Explicit')
    (novel / "quotation_info.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    page = "".join(f"<p>{paragraph}</p>\n" for paragraph in NOVEL.split("\n\n"))
    (books / "7-h.htm").write_text(f"<html><body>{page}</body></html>", encoding="utf-8")
    return novel.parent, books


def read_file(path, book_id):
    """The book in an HTML file."""
    return parse_book(path.read_bytes(), book_id)


def interrupted_after(work, n):
    """`work` that gets a Ctrl-C at the call after the n-th."""
    left = [n]

    def some(*args, **options):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return work(*args, **options)

    return some


def wait_until(is_so: Callable[[], object], pause: float = 0.02) -> None:
    """Waits until something is so, for as long as a busy machine may need."""
    end = time.monotonic() + 300
    while not is_so():
        assert time.monotonic() < end, "waited for 300 s"
        time.sleep(pause)


def touch(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(BOOK)
    return folder


@contextmanager
def ordinary_user():
    """Without the right of the superuser to read everything."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if user == 0:
            os.seteuid(0)


def kind_of(is_said: bool) -> SpanKind:
    """The kind of a span that is speech or narration."""
    return SpanKind.UTTERANCE if is_said else SpanKind.NARRATION


def spans_of(tags, chapters, texts=None, shift: int = 0) -> tuple[TaggedSpan, ...]:
    """One paragraph per tag; each has a text of its own unless `texts` says otherwise."""
    spans = []
    for i, (tag, chapter) in enumerate(zip(tags, chapters, strict=True)):
        text = texts[i] if texts else f"“Line {i} of the play.”"
        span = Span(chapter, i + shift, 0, 0, len(text), text, kind_of(tag is not Tag.O))
        spans.append(TaggedSpan(span, tag))
    return tuple(spans)


def book(letters: str, name: str = "7", **options) -> TaggedBook:
    """The book of "SsR|SO": one letter per paragraph, a bar between chapters."""
    parts = letters.split("|")
    tags = [NAMES[letter] for letter in "".join(parts)]
    chapters = [n for n, part in enumerate(parts, 1) for _ in part]
    return TaggedBook(name, spans_of(tags, chapters, **options))


def counts(measures, unit: str) -> Counts:
    return dict(measures.counts)[unit]


def offsets_of(text: str, *parts: str) -> list[tuple[int, int]]:
    """Where each part stands, sought from the end of the one before."""
    spans: list[tuple[int, int]] = []
    for part in parts:
        start = text.index(part, spans[-1][1] if spans else 0)
        spans.append((start, start + len(part)))
    return spans


def refuse_weights(load, path, content, message):
    """Weights, or bytes that are none, are refused in one clear line."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        save_file(content, path)
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}: {message}") as error:
        load(path)
    assert len(str(error.value).splitlines()) == 1


def cpu_seconds(call: Callable[[], object], enough: float = 0) -> float:
    """The least time of the processor that a call takes, of three, or the first below `enough`.

    A collection of garbage in a long test run, and a neighbour on the same core, can make one
    call many times as slow: they are no part of what the call does.
    """
    times = []
    for _ in range(3):
        gc.collect()
        gc.disable()
        began = time.process_time()
        try:
            call()
        finally:
            times.append(time.process_time() - began)
            gc.enable()
        if times[-1] < enough:
            break
    return min(times)
