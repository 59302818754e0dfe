"""The CSV files of the seed project, "Mining Conversations from Novels" -> one tagged book each.

They have one row per span of one book, in which narration inside a paragraph of speech may be
missing. Refused, with file and line, where they are not what they should be.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from miner.books.book import Block, BlockKind, Book
from miner.dialogue.spans import BookSpans, Span
from miner.dialogue.tag_files import (
    Reading,
    _tags_reading,
    check_legal,
    reading_of,
    source_of,
    tag_of,
    text_of,
)
from miner.dialogue.tags import Tag, TaggedBook, TaggedSpan

# Pride and Prejudice; the seed's files hold nothing else.
MCN_BOOK = "1342"
_HEADING = re.compile(r"Chapter (\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class McnData:
    """The seed project's book and the four taggings of it; `model` covers the test split only.

    The two gold taggings are legal (`gold_v1` by repair), the two predictions are as predicted:
    they are made to be scored, and `dialogues.repair_book` makes them legal. `splits` holds the split
    of each chapter ("train", "validation" or "test") and `n_repaired`, per file stem, how many tags
    are illegal in the file.
    """

    book_spans: BookSpans
    gold_v1: TaggedBook
    gold_v2: TaggedBook
    heuristic: TaggedBook
    model: TaggedBook
    splits: tuple[tuple[int, str], ...]
    n_repaired: tuple[tuple[str, int], ...]

    def of_split(self, tagged: TaggedBook, split: str) -> TaggedBook:
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


def read_mcn_tags(
    path: Path | str, *, book: str = MCN_BOOK, split: str | None = None, repair: bool = False
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
            split cuts is repaired, and counted, as by `repair`.
        repair: changes illegal tags by `tags.repair_tags` and counts them, instead of refusing the file.

    Raises:
        ValueError: with file and line, on missing columns, an unknown tag, a chapter in two
            splits, a split that the file lacks, and, unless `repair`, an illegal tag.
    """
    path = Path(path)
    rows, sha256 = _seed_rows(path)
    _, spans = _seed_spans(rows)
    tagged = [_with_tag(span, row) for span, row in zip(spans, rows, strict=True)]
    check_legal(tagged, [row.where for row in rows], repair)
    if split is not None:
        splits = dict(_splits(rows, spans))
        if split not in splits.values():
            raise ValueError(
                f"{path}: found no rows of split {split}, expected one of "
                + (", ".join(sorted(set(splits.values()) - {""})) or "no split: no split_tag here")
            )
        tagged = [item for item in tagged if splits[item.span.chapter] == split]
    return reading_of([TaggedBook(book, tuple(tagged), source_of(path, sha256))])


def read_mcn(folder: Path | str) -> McnData:
    """The seed's book with its two gold versions, the heuristic's and the model's predictions.

    All four share the paragraphs and offsets of gold-v2.csv, whose tags say which spans of
    `book_spans` are utterances. The two gold files and the heuristic agree on that in every row;
    the model tags a few utterances O, and these are narration in its tagged book: utterances that
    it did not find. Only gold-v2.csv is a legal sequence; see `McnData` for the others.

    Args:
        folder: holds gold-v1.csv, gold-v2.csv, heuristic-predictions.csv and
            model-predictions-test.csv.

    Raises:
        ValueError: with file and line, where a file is not as `read_mcn_tags` expects it or does
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
            repair=stem != "gold-v2",
        )
        for stem in ("gold-v1", "gold-v2", "heuristic-predictions", "model-predictions-test")
    }
    v1, v2, heuristic, model = readings.values()
    book = Book(MCN_BOOK, "Pride and Prejudice", "Jane Austen", "en", blocks, (), sha256)
    return McnData(
        BookSpans(book, tuple(spans)),
        v1.books[0],
        v2.books[0],
        heuristic.as_read[0],
        model.as_read[0],
        splits,
        tuple((stem, reading.n_repaired) for stem, reading in readings.items()),
    )


def _seed_rows(path: Path) -> tuple[list[_Row], str]:
    """The rows of a seed file and the SHA-256 of its bytes."""
    text, sha256 = text_of(path)
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
        rows.append(_Row(where, paragraph, collapsed, tag_of(tag, where), split))
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


def _on_spans(path: Path, spans: Sequence[Span], repair: bool) -> Reading:
    """The tags of a seed file on spans read from another, row by row; texts must agree."""
    rows, sha256 = _seed_rows(path)
    if len(rows) != len(spans):
        raise ValueError(f"{path}: found {len(rows)} rows, expected {len(spans)}, as in the gold")
    for row, span in zip(rows, spans, strict=True):
        if row.text != span.text.strip():
            raise ValueError(f"{row.where}: found {row.text!r}, expected {span.text.strip()!r}")
    tagged = [_with_tag(span, row) for span, row in zip(spans, rows, strict=True)]
    check_legal(tagged, [row.where for row in rows], repair)
    return reading_of([TaggedBook(MCN_BOOK, tuple(tagged), source_of(path, sha256))])


def _with_tag(span: Span, row: _Row) -> TaggedSpan:
    """The span as the row sees it: an utterance where the row's tag is not O."""
    return TaggedSpan(replace(span, is_utterance=row.tag is not Tag.O), row.tag)


def read_tagged_file(
    path: Path | str, *, split: str | None = None, repair: bool = False
) -> Reading:
    """Tagged books from a tags file (.jsonl) or a seed file (.csv), by the file's ending.

    Args:
        path: the file.
        split: for a seed file, the only split to keep; see `read_mcn_tags`.
        repair: changes illegal tags by `tags.repair_tags` and counts them, instead of refusing the file.

    Raises:
        ValueError: on another ending, on a split of a tags file, and as the two readers do.
    """
    path = Path(path)
    if path.suffix == ".csv":
        return read_mcn_tags(path, split=split, repair=repair)
    if path.suffix != ".jsonl":
        raise ValueError(f"{path}: found {path.suffix or 'no ending'}, expected .jsonl or .csv")
    if split is not None:
        raise ValueError(f"{path}: found split {split} asked of a tags file, which has no splits")
    return _tags_reading(path, repair)
