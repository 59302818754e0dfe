"""Our JSON Lines tags file <-> tagged books; `read_tagged_file` reads the seed's CSV files, too.

The tags file has one row per span, narration included. It is refused, with file and line, where it
is not what it should be.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from miner.dialogue.dialogues import repair_book
from miner.dialogue.spans import Span
from miner.dialogue.tags import Tag, TaggedBook, TaggedSpan, transition_error

_KEYS = ("book", "chapter", "paragraph", "span", "start", "end")
_KEYS += ("kind", "text", "tag", "confidence", "quoted", "continues")
_NUMBERS = ("chapter", "paragraph", "span", "start", "end")
_TYPES = {
    **dict.fromkeys(_NUMBERS, int),
    "book": str,
    "text": str,
    "quoted": bool,
    "continues": bool,
}
_KINDS = ("utterance", "narration")


def read_tags(path: Path | str, *, repair: bool = False) -> tuple[TaggedBook, ...]:
    """The books of a tags file (JSON Lines, as `tags_row` makes it), in order of appearance.

    Raises:
        ValueError: with file and line, on bad JSON, a missing key, a value of the wrong kind, rows
            out of reading order, O on an utterance or another tag on narration, and, unless
            `repair`, on a tag that may not follow the one before.
    """
    return _tags_reading(Path(path), repair).books


def tags_row(book: str, tagged: TaggedSpan) -> dict[str, Any]:
    """One row of the tags file, keys in the file's order; confidence has 4 digits or is None."""
    span = tagged.span
    confidence = None if tagged.confidence is None else round(float(tagged.confidence), 4)
    return {
        "book": book,
        "chapter": span.chapter,
        "paragraph": span.paragraph,
        "span": span.index,
        "start": span.start,
        "end": span.end,
        "kind": "utterance" if span.is_utterance else "narration",
        "text": span.text,
        "tag": tagged.tag.value,
        "confidence": confidence,
        "quoted": span.quoted,
        "continues": span.continues,
    }


def _tags_reading(path: Path, repair: bool) -> Reading:
    """The books of a tags file and the number of repaired tags."""
    text, sha256 = text_of(path)
    books: dict[str, tuple[list[TaggedSpan], list[str]]] = {}
    for where, row in json_rows(path, text):
        book, tagged = _tagged_row(row, where)
        spans, places = books.setdefault(book, ([], []))
        if spans and not _is_before(spans[-1].span, tagged.span):
            raise ValueError(
                f"{where}: found paragraph {tagged.span.paragraph}, start {tagged.span.start} "
                f"after paragraph {spans[-1].span.paragraph}, start {spans[-1].span.start}, "
                "expected reading order"
            )
        spans.append(tagged)
        places.append(where)
    for spans, places in books.values():
        check_legal(spans, places, repair)
    source = source_of(path, sha256)
    return reading_of(
        [TaggedBook(book, tuple(spans), source) for book, (spans, _) in books.items()]
    )


def _tagged_row(row: Mapping[str, Any], where: str) -> tuple[str, TaggedSpan]:
    """The book and the tagged span of one row of a tags file."""
    missing = [key for key in _KEYS if key not in row]
    if missing:
        raise ValueError(f"{where}: found no {', '.join(missing)}, expected {', '.join(_KEYS)}")
    for key, kind in _TYPES.items():
        if type(row[key]) is not kind or (kind is int and row[key] < 0):
            raise ValueError(f"{where}: found {row[key]!r} as {key}, expected {kind.__name__}")
    if row["kind"] not in _KINDS:
        raise ValueError(f"{where}: found kind {row['kind']!r}, expected {' or '.join(_KINDS)}")
    if row["end"] - row["start"] != len(row["text"]):
        raise ValueError(
            f"{where}: found {len(row['text'])} characters of text, "
            f"expected {row['end'] - row['start']}, from start to end"
        )
    confidence = row["confidence"]
    if confidence is not None and not (type(confidence) in (int, float) and 0 <= confidence <= 1):
        raise ValueError(f"{where}: found confidence {confidence!r}, expected 0 to 1, or null")
    chapter, paragraph, index, start, end = (row[key] for key in _NUMBERS)
    is_utterance = row["kind"] == _KINDS[0]
    flags = is_utterance, row["quoted"], row["continues"]
    span = Span(chapter, paragraph, index, start, end, row["text"], *flags)
    return row["book"], _tagged(span, tag_of(row["tag"], where), confidence, where)


def _tagged(span: Span, tag: Tag, confidence: float | None, where: str) -> TaggedSpan:
    """The span with its tag; the place is put before what is wrong with them together."""
    try:
        return TaggedSpan(span, tag, confidence)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def _is_before(first: Span, second: Span) -> bool:
    """Whether the two may follow each other in a book, in this order."""
    return (first.paragraph, first.end) <= (second.paragraph, second.start) and (
        first.chapter <= second.chapter
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """Tagged books from a file, in legal sequences.

    `n_repaired` counts the tags that had to be changed to be legal; `as_read` is the same books
    before that, for `scores.score`, which counts the tags a tagger gave and not the repaired ones.
    """

    books: tuple[TaggedBook, ...]
    as_read: tuple[TaggedBook, ...]
    n_repaired: int


def text_of(path: Path) -> tuple[str, str]:
    """The file's text and the SHA-256 of its bytes; a ValueError where they are no UTF-8."""
    content = path.read_bytes()
    return decoded(content, path), hashlib.sha256(content).hexdigest()


def decoded(content: bytes, path: Path) -> str:
    """The text in the bytes of a file, without a byte order mark; errors as `text_of`."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}:{line}: found bytes that are no UTF-8, expected UTF-8") from error


def json_rows(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON Lines file, each with its place, file:line; empty lines left out.

    Raises:
        ValueError: with the place, on bad JSON or what is no object.
    """
    # Not splitlines(): it would also break at separators that may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{where}: found bad JSON ({error}), expected one object") from error
        if not isinstance(row, dict):
            raise ValueError(f"{where}: found {type(row).__name__}, expected an object")
        yield where, row


def source_of(path: Path, sha256: str) -> str:
    """What `TaggedBook.source` says of a file: its name and the first 8 digits of its SHA-256."""
    return f"{path.name}@{sha256[:8]}"


def tag_of(name: object, where: str) -> Tag:
    """The tag of that name."""
    try:
        return Tag(name)
    except ValueError as error:
        raise ValueError(f"{where}: found tag {name!r}, expected {', '.join(Tag)}") from error


def check_legal(tagged: Sequence[TaggedSpan], places: Sequence[str], repair: bool) -> None:
    """Refuses the first tag that may not follow the one before, unless the caller will repair it."""
    previous: Tag | None = None
    for item, where in zip(tagged, places, strict=True):
        if repair or item.tag is Tag.O:
            continue
        if problem := transition_error(item.tag, previous):
            raise ValueError(f"{where}: {problem}")
        previous = item.tag


def reading_of(as_read: Sequence[TaggedBook]) -> Reading:
    """The books, repaired where need be."""
    books = tuple(map(repair_book, as_read))
    n_repaired = sum(
        old.tag != new.tag
        for before, after in zip(as_read, books, strict=True)
        for old, new in zip(before.spans, after.spans, strict=True)
    )
    return Reading(books, tuple(as_read), n_repaired)
