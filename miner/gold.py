"""Our JSON Lines tags file <-> tagged books; `read_annotated` reads the seed's CSV files, too.

The tags file has one row per span, narration included. It is refused, with file and line, where it
is not what it should be.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from miner.reading import Reading, check_legal, json_rows, reading_of, source_of, tag_of, text_of
from miner.seed import read_seed_tags
from miner.spans import Span
from miner.tags import Tag, TaggedBook, TaggedSpan

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


def read_annotated(path: Path | str, *, split: str | None = None, mend: bool = False) -> Reading:
    """Tagged books from a tags file (.jsonl) or a seed file (.csv), by the file's ending.

    Args:
        path: the file.
        split: for a seed file, the only split to keep; see `read_seed_tags`.
        mend: changes illegal tags by `tags.legal` and counts them, instead of refusing the file.

    Raises:
        ValueError: on another ending, on a split of a tags file, and as the two readers do.
    """
    path = Path(path)
    if path.suffix == ".csv":
        return read_seed_tags(path, split=split, mend=mend)
    if path.suffix != ".jsonl":
        raise ValueError(f"{path}: found {path.suffix or 'no ending'}, expected .jsonl or .csv")
    if split is not None:
        raise ValueError(f"{path}: found split {split} asked of a tags file, which has no splits")
    return _tags_reading(path, mend)


def read_tags(path: Path | str, *, mend: bool = False) -> tuple[TaggedBook, ...]:
    """The books of a tags file (JSON Lines, as `tags_row` makes it), in order of appearance.

    Raises:
        ValueError: with file and line, on bad JSON, a missing key, a value of the wrong kind, rows
            out of reading order, O on an utterance or another tag on narration, and, unless
            `mend`, on a tag that may not follow the one before.
    """
    return _tags_reading(Path(path), mend).books


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


def _tags_reading(path: Path, mend: bool) -> Reading:
    """The books of a tags file and the number of mended tags."""
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
        check_legal(spans, places, mend)
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
