"""What the readers of tagged books share: a file's text and digest, tags by name, legality."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from miner.dialogues import mended
from miner.tags import Tag, TaggedBook, TaggedSpan, out_of_order


@dataclass(frozen=True, slots=True)
class Reading:
    """Tagged books from a file, in legal sequences.

    `n_mended` counts the tags that had to be changed to be legal; `as_read` is the same books
    before that, for `scores.score`, which counts the tags a tagger gave and not the mended ones.
    """

    books: tuple[TaggedBook, ...]
    as_read: tuple[TaggedBook, ...]
    n_mended: int


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


def check_legal(tagged: Sequence[TaggedSpan], places: Sequence[str], mend: bool) -> None:
    """Refuses the first tag that may not follow the one before, unless the caller will mend it."""
    previous: Tag | None = None
    for item, where in zip(tagged, places, strict=True):
        if mend or item.tag is Tag.O:
            continue
        if problem := out_of_order(item.tag, previous):
            raise ValueError(f"{where}: {problem}")
        previous = item.tag


def reading_of(as_read: Sequence[TaggedBook]) -> Reading:
    """The books, mended where need be."""
    books = tuple(map(mended, as_read))
    n_mended = sum(
        old.tag != new.tag
        for before, after in zip(as_read, books, strict=True)
        for old, new in zip(before.spans, after.spans, strict=True)
    )
    return Reading(books, tuple(as_read), n_mended)
