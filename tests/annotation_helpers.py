"""Annotations, editions and files of annotations that several tests make."""

import csv
import gzip
import json
import shutil
import zipfile
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers import ANNOTATIONS, SAMPLE
from seqeval.scheme import IOB2, Entities

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import (
    READINGS,
    AnnotatedBook,
    Annotation,
    BookCard,
    parse_annotations,
    read_split,
    row_from_annotation,
)
from miner.annotation.locate import Located
from miner.app.cli.main import main
from miner.books.book import Book
from miner.files import json_line, read_text
from miner.lab.gold.editions import Edition, open_edition
from miner.lab.gold.export.label_studio import read_exported
from miner.speech.dialogues import decode_dialogues
from miner.speech.kinds import SpanKind
from miner.speech.spans import BookSpans, Span

MCN_ROWS = [
    # paragraph, text, tag, split
    ("0", "The Lamp", "O", "train"),
    ("1", "Chapter 1", "O", "train"),
    ("4", '"Who   is\n there?"', "B-START", "train"),
    ("4", '"Answer me."', "I-START", "train"),
    ("6", '"A friend,"', "B-OTHER", "train"),
    ("6", " said the other.", "O", "train"),
    ("7", "Chapter 2", "O", "test"),
    ("8", '"Come in."', "B-START", "test"),
    ("9", '"I will."', "B-OTHER", "test"),
]


def write_mcn(path: Path, rows, names=("para_index", "sent", "label", "split_tag")) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["", *names])
        writer.writerows([i, *row[: len(names)]] for i, row in enumerate(rows))
    return path


CARD = BookCard(
    "7", "The Tide", "N. N.", "en", 1901, "Britain", "sea", 3, "dev", "7-h.htm", "0" * 64
)


@cache  # modules that import the fixture share it
def sample_edition():
    (annotated,) = read_split(ANNOTATIONS, "sample")
    return open_edition(annotated, SAMPLE.read_bytes())


def edition_of(*chapters):
    """An edition from chapters of paragraphs of pieces: narration, or (text, speaker, number, …).

    The edition numbers its chapters from 11, the annotations number them from 1.
    """
    spans, of_span, n = [], [], 2
    for chapter, paragraphs in enumerate(chapters, 1):
        for paragraph in paragraphs:
            start, n = 0, n + 1
            for index, piece in enumerate(paragraph):
                text, *fact = [piece] if isinstance(piece, str) else piece
                known = Annotation(chapter, n, fingerprint(text), *fact) if fact else None
                place = (chapter + 10, n, index, start, start + len(text))
                spans.append(Span(*place, text, known.kind if known else SpanKind.NARRATION))
                of_span.append(known)
                start += len(text)
    facts = tuple(fact for fact in of_span if fact)
    annotated = AnnotatedBook(CARD, facts)
    book_spans = BookSpans(Book("7", "The Tide", "N. N.", "en", (), (), "0" * 64), tuple(spans))
    located = Located(annotated, book_spans, tuple(of_span), {}, {}, {}, ())
    return Edition(annotated, book_spans, located)


def read_rows(path, book):
    """The annotations in one file."""
    packed = path.with_name(f"{path.name}.gz")
    text = gzip.decompress(packed.read_bytes()).decode() if packed.is_file() else read_text(path)
    return parse_annotations(text, book, path)


def back(path, exported, **options):
    """The annotations of tasks that went through a file of JSON."""
    path.write_bytes(json.dumps(exported, **options).encode())
    return read_exported(path)


def units(text, start, end):
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def results_of(task):
    return task["annotations"][0]["result"]


def gold(*words, **env):
    return CliRunner().invoke(main, ["gold", *map(str, words)], env=env)


def page(*paragraphs):
    """A book of one chapter; its heading is paragraph 0."""
    body = "".join(f"<p>{text}</p>\n" for text in paragraphs)
    return f"<html><body><h2>CHAPTER I</h2>\n{body}</body></html>".encode()


def write_folder(folder, cards, **readings):
    """Annotations of books {id: changes}, gold={id: rows}, perhaps first and second, too.

    A row is (chapter, paragraph, text, speaker, conversation), with a remark or without.
    """
    folder.mkdir()
    lines = []
    for id, changes in cards.items():
        card = {
            "book": id,
            "title": f"Book {id}",
            "author": f"Author of {id}",
            "year": 1900,
            "language": "en",
        }
        card |= {"country": "Britain", "domain": "sea", "person": 3, "split": "train"}
        lines.append(json.dumps(card | {"file": f"{id}-h.htm", "sha256": "0" * 64} | changes))
    (folder / "books.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, books in readings.items():
        (folder / name).mkdir()
        for id, rows in books.items():
            facts = [Annotation(*row[:2], fingerprint(row[2]), *row[3:]) for row in rows]
            lines = b"".join(json_line(row_from_annotation(id, fact)) for fact in facts)
            (folder / name / f"{id}.jsonl").write_bytes(lines)
    return folder


DOCUMENT = "-DOCSTART- -X- -X- O"


def documents(lines):
    """The rows of each document, (word, kind, span, tag), without empty lines."""
    found = []
    for line in lines:
        if line == DOCUMENT:
            found.append([])
        elif line:
            word, kind, number, tag = line.split(" ")
            found[-1].append((word, kind, int(number), tag))
    return found


def entities(rows):
    """What seqeval makes of the last column in strict mode: (type, first word, word after)."""
    (found,) = Entities([[row[3] for row in rows]], IOB2).entities
    return [(entity.tag, entity.start, entity.end) for entity in found]


def turns_by_words(tagged):
    """The turns, in the words of the book, from the first span of each to its last."""
    at, words = {}, 0
    for item in tagged.spans:
        n_words = len(item.span.text.split())
        at[item.span.paragraph, item.span.index] = words, words + n_words
        words += n_words
    found = []
    for dialogue in decode_dialogues(tagged):
        for number, turn in enumerate(dialogue.turns):
            places = [at[span.paragraph, span.index] for span in turn.spans]
            found.append(("OTHER" if number else "START", places[0][0], places[-1][1]))
    return found


def fact(paragraph: int, speaker: str, conversation: int, chapter: int = 1, text: str = "Aye."):
    return Annotation(chapter, paragraph, fingerprint(text), speaker, conversation)


TALK = [  # chapter, paragraph, text, speaker, conversation; tags on the right
    (1, 1, "“Go,”", "Ann", 1),  # B-START
    (1, 1, "“on.”", "Ann", 1),  # I-START
    (1, 2, "“No.”", "Bo", 1),  # B-OTHER
    (1, 3, "“Fides”", "", 0),
    (1, 4, "“Yes.”", "Cy", 2),  # B-START
    (1, 5, "“So?”", "Ann", 1),  # B-START: resumed, and a pair that tags cannot say
    (1, 6, "“Why,”", "Bo", 1),  # B-OTHER
    (1, 6, "“oh!”", "Bo", 1),  # I-OTHER
    (2, 8, "“Who?”", "?", 1),  # B-START
    (2, 9, "“Me.”", "?", 1),  # B-OTHER
]

ANSWER = [(3, 1, "“Hm.”", "Dee", 1), (3, 2, "“Hm?”", "Ed", 1)]  # B-START, B-OTHER

SPLITS = {"train": {}, "dev": {"split": "dev", "year": 1901, "country": "Chile", "person": 1}}


@pytest.fixture(scope="module")
def sample():
    return sample_edition()


@pytest.fixture
def copied(tmp_path):
    """The sample's annotations in a folder of their own."""
    folder = tmp_path / "annotations"
    (folder / "gold").mkdir(parents=True)
    shutil.copy(ANNOTATIONS / "gold" / "sample.jsonl", folder / "gold")
    with zipfile.ZipFile(ANNOTATIONS / READINGS) as packed:
        packed.extractall(folder, ["first/sample.jsonl", "second/sample.jsonl"])
    lines = (ANNOTATIONS / "books.jsonl").read_text(encoding="utf-8").splitlines()
    (card,) = [line for line in lines if '"split":"sample"' in line]
    (folder / "books.jsonl").write_text(card + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def tiny(tmp_path):
    cards = {"11": SPLITS["train"], "12": SPLITS["dev"], "13": {"split": "sample"}}
    books = {"11": TALK, "12": ANSWER, "13": TALK}
    readings = {"11": TALK[8:]}
    return write_folder(tmp_path / "tiny", cards, gold=books, first=readings, second=readings)
