"""What the readers of tagged books share: a file's text and digest, tags by name, legality."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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
    """The file's text and the SHA-256 of its bytes."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig"), hashlib.sha256(content).hexdigest()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}:{line}: found bytes that are no UTF-8, expected UTF-8") from error


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
