"""Readers of tagged books: our JSON Lines tags file and the CSV files of the seed project.

The tags file has one row per span, narration included. The CSV files are those of "Mining
Conversations from Novels": one row per span of one book, in which narration inside a paragraph of
speech may be missing. Both are refused, with file and line, where they are not what they should be.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from miner.book import Block, BlockKind, Book
from miner.dialogues import mended
from miner.spans import BookSpans, Span
from miner.tags import SUCCESSORS, Tag, TaggedBook, TaggedSpan

# Pride and Prejudice; the seed's files hold nothing else.
SEED_BOOK = "1342"
_KEYS = ("book", "chapter", "paragraph", "span", "start", "end")
_KEYS += ("kind", "text", "tag", "confidence", "quoted")
_NUMBERS = ("chapter", "paragraph", "span", "start", "end")
_TYPES = {**dict.fromkeys(_NUMBERS, int), "book": str, "text": str, "quoted": bool}
_KINDS = ("utterance", "narration")
_HEADING = re.compile(r"Chapter (\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """Tagged books from a file, in legal sequences.

    `n_mended` counts the tags that had to be changed to be legal; `as_read` is the same books
    before that, for `scores.score`, which counts the tags a tagger gave and not the mended ones.
    """

    books: tuple[TaggedBook, ...]
    as_read: tuple[TaggedBook, ...]
    n_mended: int


@dataclass(frozen=True, slots=True)
class Seed:
    """The seed project's book and the four taggings of it; `model` covers the test split only.

    The two gold taggings are legal (`gold_v1` by mending), the two predictions are as predicted:
    they are made to be scored, and `dialogues.mended` makes them legal. `splits` holds the split
    of each chapter ("train", "validation" or "test") and `n_mended`, per file stem, how many tags
    are illegal in the file.
    """

    book_spans: BookSpans
    gold_v1: TaggedBook
    gold_v2: TaggedBook
    heuristic: TaggedBook
    model: TaggedBook
    splits: tuple[tuple[int, str], ...]
    n_mended: tuple[tuple[str, int], ...]

    def part(self, tagged: TaggedBook, split: str) -> TaggedBook:
        """The spans of `tagged` that lie in the chapters of a split."""
        chapters = {chapter for chapter, name in self.splits if name == split}
        spans = tuple(item for item in tagged.spans if item.span.chapter in chapters)
        return replace(tagged, spans=spans)


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a seed file; `where` is file:line, `split` is empty where the file has none."""

    where: str
    paragraph: str
    text: str
    tag: Tag
    split: str


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
    kind = _KINDS[0] if span.is_utterance else _KINDS[1]
    values = (book, span.chapter, span.paragraph, span.index, span.start, span.end)
    values += (kind, span.text, str(tagged.tag), confidence, span.quoted)
    return dict(zip(_KEYS, values, strict=True))


def read_seed_tags(
    path: Path | str, *, book: str = SEED_BOOK, split: str | None = None, mend: bool = False
) -> Reading:
    """The one book of a seed file, gold or predicted.

    Consecutive rows of one `para_index` are a paragraph; paragraphs are counted from 0 in the
    file, chapters by the number in the heading ("Chapter 19" is 19, also in a file of the test
    split). A row is an utterance where this file's tag is not O. The columns may have the names of
    the gold (`sent`, `label`) or of the model's predictions (`para`, `pred_label`).

    Args:
        path: the file.
        book: the id to give the book.
        split: keeps the rows whose `split_tag` is this. What is left of a conversation that the
            split cuts is mended, and counted, as by `mend`.
        mend: changes illegal tags by `tags.legal` and counts them, instead of refusing the file.

    Raises:
        ValueError: with file and line, on missing columns, an unknown tag, a chapter in two
            splits, a split that the file lacks, and, unless `mend`, an illegal tag.
    """
    path = Path(path)
    rows, sha256 = _seed_rows(path)
    _, spans = _seed_spans(rows)
    tagged = [_with_tag(span, row) for span, row in zip(spans, rows, strict=True)]
    _check(tagged, [row.where for row in rows], mend)
    if split is not None:
        splits = dict(_splits(rows, spans))
        if split not in splits.values():
            raise ValueError(
                f"{path}: found no rows of split {split}, expected one of "
                + (", ".join(sorted(set(splits.values()) - {""})) or "no split: no split_tag here")
            )
        tagged = [item for item in tagged if splits[item.span.chapter] == split]
    return _reading([TaggedBook(book, tuple(tagged), _source(path, sha256))])


def read_seed(folder: Path | str) -> Seed:
    """The seed's book with its two gold versions, the heuristic's and the model's predictions.

    All four share the paragraphs and offsets of gold-v2.csv, whose tags say which spans of
    `book_spans` are utterances. The two gold files and the heuristic agree on that in every row;
    the model tags a few utterances O, and these are narration in its tagged book: utterances that
    it did not find. Only gold-v2.csv is a legal sequence; see `Seed` for the others.

    Args:
        folder: holds gold-v1.csv, gold-v2.csv, heuristic-predictions.csv and
            model-predictions-test.csv.

    Raises:
        ValueError: with file and line, where a file is not as `read_seed_tags` expects it or does
            not have the rows of gold-v2.csv.
    """
    folder = Path(folder)
    rows, sha256 = _seed_rows(folder / "gold-v2.csv")
    blocks, spans = _seed_spans(rows)
    splits = _splits(rows, spans)
    test_chapters = {chapter for chapter, split in splits if split == "test"}
    test_spans = [span for span in spans if span.chapter in test_chapters]
    readings = {
        stem: _on_spans(
            folder / f"{stem}.csv",
            test_spans if stem.endswith("-test") else spans,
            mend=stem != "gold-v2",
        )
        for stem in ("gold-v1", "gold-v2", "heuristic-predictions", "model-predictions-test")
    }
    v1, v2, heuristic, model = readings.values()
    book = Book(SEED_BOOK, "Pride and Prejudice", "Jane Austen", "en", blocks, (), sha256)
    return Seed(
        BookSpans(book, tuple(spans)),
        v1.books[0],
        v2.books[0],
        heuristic.as_read[0],
        model.as_read[0],
        splits,
        tuple((stem, reading.n_mended) for stem, reading in readings.items()),
    )


def _tags_reading(path: Path, mend: bool) -> Reading:
    """The books of a tags file and the number of mended tags."""
    text, sha256 = _text(path)
    books: dict[str, tuple[list[TaggedSpan], list[str]]] = {}
    # Not splitlines(): it would also break at separators that may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        book, tagged = _tagged_row(line, where)
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
        _check(spans, places, mend)
    source = _source(path, sha256)
    return _reading([TaggedBook(book, tuple(spans), source) for book, (spans, _) in books.items()])


def _tagged_row(line: str, where: str) -> tuple[str, TaggedSpan]:
    """The book and the tagged span of one row of a tags file."""
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{where}: found bad JSON ({error}), expected one object") from error
    if not isinstance(row, dict):
        raise ValueError(f"{where}: found {type(row).__name__}, expected an object")
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
    span = Span(chapter, paragraph, index, start, end, row["text"], is_utterance, row["quoted"])
    return row["book"], _tagged(span, _tag(row["tag"], where), confidence, where)


def _tagged(span: Span, tag: Tag, confidence: float | None, where: str) -> TaggedSpan:
    """The span with its tag; the place is put before what is wrong with them together."""
    try:
        return TaggedSpan(span, tag, confidence)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def _tag(name: object, where: str) -> Tag:
    """The tag of that name."""
    try:
        return Tag(name)
    except ValueError as error:
        raise ValueError(f"{where}: found tag {name!r}, expected {', '.join(Tag)}") from error


def _is_before(first: Span, second: Span) -> bool:
    """Whether the two may follow each other in a book, in this order."""
    return (first.paragraph, first.end) <= (second.paragraph, second.start) and (
        first.chapter <= second.chapter
    )


def _check(tagged: Sequence[TaggedSpan], places: Sequence[str], mend: bool) -> None:
    """Refuses the first tag that may not follow the one before, unless the caller will mend it."""
    previous: Tag | None = None
    for item, where in zip(tagged, places, strict=True):
        if mend or item.tag is Tag.O:
            continue
        if item.tag not in SUCCESSORS[previous]:
            allowed = ", ".join(tag for tag in Tag if tag in SUCCESSORS[previous])
            raise ValueError(
                f"{where}: found {item.tag} after {previous or 'no tag'}, expected {allowed}"
            )
        previous = item.tag


def _reading(as_read: Sequence[TaggedBook]) -> Reading:
    """The books, mended where need be."""
    books = tuple(map(mended, as_read))
    n_mended = sum(
        old.tag != new.tag
        for before, after in zip(as_read, books, strict=True)
        for old, new in zip(before.spans, after.spans, strict=True)
    )
    return Reading(books, tuple(as_read), n_mended)


def _seed_rows(path: Path) -> tuple[list[_Row], str]:
    """The rows of a seed file and the SHA-256 of its bytes."""
    text, sha256 = _text(path)
    table = csv.DictReader(io.StringIO(text, newline=""))
    names = table.fieldnames or []
    columns = [
        next((name for name in choice if name in names), None)
        for choice in (("para_index",), ("sent", "para"), ("label", "pred_label"))
    ]
    if None in columns:
        raise ValueError(
            f"{path}:1: found columns {', '.join(names)}, "
            "expected para_index, one of sent and para, and one of label and pred_label"
        )
    rows: list[_Row] = []
    for cells in table:
        where = f"{path}:{table.line_num}"
        paragraph, sentence, tag = (cells[name] for name in columns if name)
        if not (paragraph and sentence and sentence.split()):
            raise ValueError(f"{where}: found an empty cell, expected para_index and text")
        collapsed = " ".join(sentence.split())
        split = cells.get("split_tag") or ""
        rows.append(_Row(where, paragraph, collapsed, _tag(tag, where), split))
    return rows, sha256


def _seed_spans(rows: Sequence[_Row]) -> tuple[tuple[Block, ...], list[Span]]:
    """The blocks, and a span for each row; a block's joining space belongs to the row before it.

    Whether a space is taken does not depend on the tags, so that files which disagree about the
    utterances still agree about every offset.
    """
    blocks: list[Block] = []
    spans: list[Span] = []
    chapter = 0
    for paragraph, (_, group) in enumerate(groupby(rows, key=lambda row: row.paragraph)):
        texts, tags = zip(*((row.text, row.tag) for row in group), strict=True)
        heading = _HEADING.fullmatch(" ".join(texts))
        if heading:
            chapter = int(heading[1])
        start = 0
        for index, (text, tag) in enumerate(zip(texts, tags, strict=True)):
            text += " " if index + 1 < len(texts) else ""
            end = start + len(text)
            spans.append(Span(chapter, paragraph, index, start, end, text, tag is not Tag.O))
            start = end
        kind = BlockKind.HEADING if heading else BlockKind.PARAGRAPH
        blocks.append(Block(paragraph, chapter, kind, " ".join(texts)))
    return tuple(blocks), spans


def _splits(rows: Iterable[_Row], spans: Iterable[Span]) -> tuple[tuple[int, str], ...]:
    """The split of each chapter; a chapter in two splits is refused."""
    splits: dict[int, str] = {}
    for row, span in zip(rows, spans, strict=True):
        known = splits.setdefault(span.chapter, row.split)
        if known != row.split:
            raise ValueError(
                f"{row.where}: found split {row.split!r} in chapter {span.chapter}, "
                f"expected {known!r} as in the rows before"
            )
    return tuple(splits.items())


def _on_spans(path: Path, spans: Sequence[Span], mend: bool) -> Reading:
    """The tags of a seed file on spans read from another, row by row; texts must agree."""
    rows, sha256 = _seed_rows(path)
    if len(rows) != len(spans):
        raise ValueError(f"{path}: found {len(rows)} rows, expected {len(spans)}, as in the gold")
    for row, span in zip(rows, spans, strict=True):
        if row.text != span.text.strip():
            raise ValueError(f"{row.where}: found {row.text!r}, expected {span.text.strip()!r}")
    tagged = [_with_tag(span, row) for span, row in zip(spans, rows, strict=True)]
    _check(tagged, [row.where for row in rows], mend)
    return _reading([TaggedBook(SEED_BOOK, tuple(tagged), _source(path, sha256))])


def _with_tag(span: Span, row: _Row) -> TaggedSpan:
    """The span as the row sees it: an utterance where the row's tag is not O."""
    return TaggedSpan(replace(span, is_utterance=row.tag is not Tag.O), row.tag)


def _text(path: Path) -> tuple[str, str]:
    """The file's text and the SHA-256 of its bytes."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig"), hashlib.sha256(content).hexdigest()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}:{line}: found bytes that are no UTF-8, expected UTF-8") from error


def _source(path: Path, sha256: str) -> str:
    """What `TaggedBook.source` says of a file: its name and the first 8 digits of its SHA-256."""
    return f"{path.name}@{sha256[:8]}"
