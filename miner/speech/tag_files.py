"""Tagged books <-> tags files: JSON Lines, one row per span, narration included.

`miner tag` writes such a file. Reading refuses a malformed file and names the file and the line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shown
from typing import Any

from miner.errors import InputError
from miner.files import decode_text, file_signature, json_rows, sha256_of
from miner.speech.dialogues import repair_book
from miner.speech.kinds import SpanKind
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan, transition_error

_KEYS = ("book", "chapter", "paragraph", "span", "start", "end")
_KEYS += ("kind", "text", "tag", "confidence", "continues")
_NUMBERS = ("chapter", "paragraph", "span", "start", "end")
_TYPES = {
    **dict.fromkeys(_NUMBERS, int),
    "book": str,
    "text": str,
    "continues": bool,
}
LARGEST = 10**9  # the largest number of a chapter, a paragraph, a span or a character


@dataclass(frozen=True, slots=True)
class TagFile:
    """The tagged books of a file."""

    # the books in order of appearance, all tags in legal order (see `tags.SUCCESSORS`).
    books: tuple[TaggedBook, ...]
    # the same books before illegal tags were repaired. Scores count these tags, since they
    # are the tagger's own.
    as_read: tuple[TaggedBook, ...]
    n_repaired: int  # how many tags differ between the two


def read_tag_file(path: Path | str, repair: bool = False) -> TagFile:
    """Returns the books of a tags file, which `row_from_span` describes."""
    path = Path(path)
    content = path.read_bytes()
    books: dict[str, tuple[list[TaggedSpan], list[str]]] = {}
    for where, row in json_rows(path, decode_text(content, path)):
        book, tagged = _tagged_row(row, where)
        spans, places = books.setdefault(book, ([], []))
        if spans and not _may_precede(spans[-1].span, tagged.span):
            raise InputError(
                f"{where}: found paragraph {tagged.span.paragraph}, start {tagged.span.start} "
                f"after paragraph {spans[-1].span.paragraph}, start {spans[-1].span.start}, "
                "expected reading order"
            )
        spans.append(tagged)
        places.append(where)
    if not repair:
        for spans, places in books.values():
            refuse_illegal_tags(spans, places)
    source = file_signature(path, sha256_of(content))
    return repair_tag_file(
        [TaggedBook(book, tuple(spans), source) for book, (spans, _) in books.items()]
    )


def row_from_span(book: str, tagged: TaggedSpan) -> dict[str, Any]:
    """Returns the row of a span, with its keys in the file's order.

    A confidence is rounded to 4 digits, or None.
    """
    span = tagged.span
    return {
        "book": book,
        "chapter": span.chapter,
        "paragraph": span.paragraph,
        "span": span.index,
        "start": span.start,
        "end": span.end,
        "kind": span.kind.value,
        "text": span.text,
        "tag": tagged.tag.value,
        "confidence": rounded(tagged.confidence),
        "continues": span.continues,
        "speaker": tagged.speaker,
        "speaker_confidence": rounded(tagged.speaker_confidence),
        "addressees": list(tagged.addressees),
    }


def rounded(confidence: float | None) -> float | None:
    """Returns a confidence as the files have it: with 4 digits, or None."""
    return None if confidence is None else round(float(confidence), 4)


def tag_from_name(name: object, where: str) -> Tag:
    """Returns the tag with that name."""
    try:
        return Tag(name)
    except ValueError as error:
        raise InputError(f"{where}: found tag {shown(name)}, expected {', '.join(Tag)}") from error


def refuse_illegal_tags(tagged: Sequence[TaggedSpan], places: Sequence[str]) -> None:
    """Raises an error at the first tag that may not follow the one before."""
    previous: Tag | None = None
    for item, where in zip(tagged, places, strict=True):
        if item.tag is Tag.O:
            continue
        if problem := transition_error(item.tag, previous):
            raise InputError(f"{where}: {problem}")
        previous = item.tag


def repair_tag_file(as_read: Sequence[TaggedBook]) -> TagFile:
    """Returns the books of a file with their illegal tags repaired and counted."""
    books = tuple(map(repair_book, as_read))
    n_repaired = sum(
        old.tag != new.tag
        for before, after in zip(as_read, books, strict=True)
        for old, new in zip(before.spans, after.spans, strict=True)
    )
    return TagFile(books, tuple(as_read), n_repaired)


def _tagged_row(row: Mapping[str, Any], where: str) -> tuple[str, TaggedSpan]:
    """Returns the book and the tagged span of a row; errors begin with `where`."""
    missing = [key for key in _KEYS if key not in row]
    if missing:
        raise InputError(f"{where}: found no {', '.join(missing)}, expected {', '.join(_KEYS)}")
    for key, kind in _TYPES.items():
        if type(row[key]) is not kind or (kind is int and not 0 <= row[key] <= LARGEST):
            expected = f"int from 0 to {LARGEST}" if kind is int else kind.__name__
            raise InputError(f"{where}: found {shown(row[key])} as {key}, expected {expected}")
    if row["kind"] not in list(SpanKind):
        raise InputError(
            f"{where}: found kind {shown(row['kind'])}, expected {', '.join(SpanKind)}"
        )
    if row["end"] - row["start"] != len(row["text"]):
        raise InputError(
            f"{where}: found {len(row['text'])} characters of text, "
            f"expected {row['end'] - row['start']}, from start to end"
        )
    for key in ("confidence", "speaker_confidence"):
        sure = row.get(key)
        if sure is not None and not (type(sure) in (int, float) and 0 <= sure <= 1):
            name = key.replace("_", " ")
            raise InputError(f"{where}: found {name} {shown(sure)}, expected 0 to 1, or null")
    speaker = row.get("speaker")
    if speaker is not None and (not isinstance(speaker, str) or not speaker):
        raise InputError(f"{where}: found speaker {shown(speaker)}, expected an id, or null")
    people = row.get("addressees", [])
    if not isinstance(people, list) or not all(isinstance(one, str) and one for one in people):
        raise InputError(f"{where}: found addressees {shown(people)}, expected a list of ids")
    chapter, paragraph, index, start, end = (row[key] for key in _NUMBERS)
    # Older files have quoted text that nobody says as narration, and a column that tells it.
    kind = SpanKind.OTHER if row.get("quoted") else SpanKind(row["kind"])
    span = Span(chapter, paragraph, index, start, end, row["text"], kind, row["continues"])
    tag = tag_from_name(row["tag"], where)
    try:
        return row["book"], TaggedSpan(
            span, tag, row["confidence"], speaker, row.get("speaker_confidence"), tuple(people)
        )
    except ValueError as error:  # it knows the span, but not the file
        raise InputError(f"{where}: {error}") from error


def _may_precede(first: Span, second: Span) -> bool:
    """Whether the two may follow each other in a book, in this order."""
    return (first.paragraph, first.end) <= (second.paragraph, second.start) and (
        first.chapter <= second.chapter
    )
