"""The CSV files of MCN ("Mining Conversations from Novels") -> tagged books.

A file has one row per span of one book. Narration inside a paragraph of speech may be missing.
Reading refuses a malformed file and names the file and the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from reprlib import repr as shown

from miner.annotation.annotations import (
    BOOKS,
    FOLDER,
    AnnotatedBook,
    BookCard,
    is_annotation_file,
    is_annotations,
    read_annotation_file,
    refuse_no_annotations,
)
from miner.annotation.locate import locate, refuse_losses
from miner.books.book import Block, BlockKind, Book
from miner.errors import InputError
from miner.files import RUN_RECORD, csv_rows, decode_text, file_signature, printable, sha256_of
from miner.lab.gold.editions import Gold, GoldBook
from miner.speech.kinds import SpanKind
from miner.speech.spans import BookSpans, Span
from miner.speech.tag_files import (
    TagFile,
    read_tag_file,
    refuse_illegal_tags,
    repair_tag_file,
    tag_from_name,
)
from miner.speech.tags import Tag, TaggedBook, TaggedSpan

# Pride and Prejudice, the only book in the files.
MCN_BOOK = "1342"
GOLD_CSV = "gold-v2.csv"
_HEADING = re.compile(r"Chapter ([0-9]{1,9})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class McnData:
    """The book of MCN and four taggings of it."""

    book_spans: BookSpans  # the book and its spans; utterances are those of gold-v2.csv
    gold_v1: TaggedBook  # the first version of the gold, with illegal tags repaired
    gold_v2: TaggedBook  # the second version of the gold, whose tags are all legal
    heuristic: TaggedBook  # the tags of the MCN heuristic, as predicted; some are illegal
    # the tags of the MCN model for the test split, as predicted; some are illegal
    model: TaggedBook
    # the split of each chapter: "train", "validation" or "test"
    splits: tuple[tuple[int, str], ...]
    # the number of illegal tags in each file, by the file's name without ".csv"
    n_repaired: tuple[tuple[str, int], ...]

    def of_split(self, tagged: TaggedBook, split: str) -> TaggedBook:
        """Returns the book with the spans of a split only."""
        chapters = {chapter for chapter, name in self.splits if name == split}
        spans = tuple(item for item in tagged.spans if item.span.chapter in chapters)
        return replace(tagged, spans=spans)


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a file. `where` is "file:line"; `split` is "" if the file has no splits."""

    where: str
    paragraph: str
    text: str
    tag: Tag
    split: str


def read_mcn_tags(
    path: Path | str, *, book: str = MCN_BOOK, split: str | None = None, repair: bool = False
) -> TagFile:
    """Returns the book of an MCN file, gold or predicted.

    Consecutive rows with one `para_index` are a paragraph. Paragraphs are counted from 0 in the
    file. A chapter has the number in its heading: "Chapter 19" is 19, also in a file of the test
    split. A row is an utterance if its tag is not O. Columns may have the names of the gold files
    (`sent`, `label`) or of the model's predictions (`para`, `pred_label`).
    """
    path = Path(path)
    rows, source = _read_rows(path)
    _, spans = _spans_of_rows(rows)
    tagged = [_with_tag(span, row) for span, row in zip(spans, rows, strict=True)]
    if not repair:
        refuse_illegal_tags(tagged, [row.where for row in rows])
    if split is not None:
        splits = dict(_splits(rows, spans))
        if split not in splits.values():
            raise InputError(
                f"{path}: found no rows of split {split}, expected one of "
                + (", ".join(sorted(set(splits.values()) - {""})) or "no split: no split_tag here")
            )
        tagged = [item for item in tagged if splits[item.span.chapter] == split]
    return repair_tag_file([TaggedBook(book, tuple(tagged), source)])


def read_mcn(folder: Path | str) -> McnData:
    """Returns the book of MCN with both versions of the gold and the predictions of two taggers.

    All four taggings have the paragraphs and offsets of gold-v2.csv. They agree on which spans are
    utterances, except that the model tags a few utterances O. These are narration in its tagged
    book, because it did not find them.
    """
    folder = Path(folder)
    content = (folder / GOLD_CSV).read_bytes()
    rows, _ = _read_rows(folder / GOLD_CSV)
    blocks, spans = _spans_of_rows(rows)
    splits = _splits(rows, spans)
    test_chapters = {chapter for chapter, split in splits if split == "test"}
    test_spans = [span for span in spans if span.chapter in test_chapters]
    readings = {
        stem: _tags_on_spans(
            folder / f"{stem}.csv",
            test_spans if stem.endswith("-test") else spans,
            repair=stem != "gold-v2",
        )
        for stem in ("gold-v1", "gold-v2", "heuristic-predictions", "model-predictions-test")
    }
    v1, v2, heuristic, model = readings.values()
    book = Book(
        MCN_BOOK, "Pride and Prejudice", "Jane Austen", "en", blocks, (), sha256_of(content)
    )
    return McnData(
        BookSpans(book, tuple(spans)),
        v1.books[0],
        v2.books[0],
        heuristic.as_read[0],
        model.as_read[0],
        splits,
        tuple((stem, reading.n_repaired) for stem, reading in readings.items()),
    )


def _read_rows(path: Path) -> tuple[list[_Row], str]:
    """Returns the rows of a file and its signature (see `file_signature`)."""
    content = path.read_bytes()
    text = decode_text(content, path)
    table = csv_rows(path, text)
    where, names = next(table, (f"{printable(path)}:1", []))
    columns = [
        next((name for name in choice if name in names), None)
        for choice in (("para_index",), ("sent", "para"), ("label", "pred_label"))
    ]
    if None in columns:
        raise InputError(
            f"{where}: found columns {shown(names)}, "
            "expected para_index, one of sent and para, and one of label and pred_label"
        )
    rows: list[_Row] = []
    for where, row in table:
        if not row:
            continue
        cells = dict(zip(names, row, strict=False))
        paragraph, sentence, tag = (cells.get(name) for name in columns if name)
        if not (paragraph and sentence and sentence.split()):
            raise InputError(f"{where}: found an empty cell, expected para_index and text")
        collapsed = " ".join(sentence.split())
        split = cells.get("split_tag") or ""
        rows.append(_Row(where, paragraph, collapsed, tag_from_name(tag, where), split))
    return rows, file_signature(path, sha256_of(content))


def _spans_of_rows(rows: Sequence[_Row]) -> tuple[tuple[Block, ...], list[Span]]:
    """Returns the blocks and a span for each row.

    Rows of a block are joined by a space, which belongs to the span before it. This does not depend
    on the tags. So files with other tags have the same offsets.
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
            spans.append(Span(chapter, paragraph, index, start, end, text, _kind_of(tag)))
            start = end
        kind = BlockKind.HEADING if heading else BlockKind.PARAGRAPH
        blocks.append(Block(paragraph, chapter, kind, " ".join(texts)))
    return tuple(blocks), spans


def _splits(rows: Iterable[_Row], spans: Iterable[Span]) -> tuple[tuple[int, str], ...]:
    """Returns the split of each chapter. A chapter in two splits is an error."""
    splits: dict[int, str] = {}
    for row, span in zip(rows, spans, strict=True):
        known = splits.setdefault(span.chapter, row.split)
        if known != row.split:
            raise InputError(
                f"{row.where}: found split {shown(row.split)} in chapter {span.chapter}, "
                f"expected {shown(known)} as in the rows before"
            )
    return tuple(splits.items())


def _tags_on_spans(path: Path, spans: Sequence[Span], repair: bool) -> TagFile:
    """Returns the tags of a file on the spans of another. The rows must have the same texts."""
    rows, source = _read_rows(path)
    if len(rows) != len(spans):
        raise InputError(f"{path}: found {len(rows)} rows, expected {len(spans)}, as in the gold")
    for row, span in zip(rows, spans, strict=True):
        if row.text != span.text.strip():
            raise InputError(
                f"{row.where}: found {shown(row.text)}, expected {shown(span.text.strip())}"
            )
    tagged = [_with_tag(span, row) for span, row in zip(spans, rows, strict=True)]
    if not repair:
        refuse_illegal_tags(tagged, [row.where for row in rows])
    return repair_tag_file([TaggedBook(MCN_BOOK, tuple(tagged), source)])


def _with_tag(span: Span, row: _Row) -> TaggedSpan:
    """Returns the span with the tag of a row. It is an utterance if the tag is not O."""
    return TaggedSpan(replace(span, kind=_kind_of(row.tag)), row.tag)


def _kind_of(tag: Tag) -> SpanKind:
    return SpanKind.NARRATION if tag is Tag.O else SpanKind.UTTERANCE


def read_any_tag_file(
    path: Path | str, *, split: str | None = None, repair: bool = False
) -> TagFile:
    """Returns the books of an MCN file (.csv), or of a tags file with any other ending."""
    path = Path(path)
    refuse_folder(path, "a tags file")
    if path.suffix.lower() == ".csv":
        return read_mcn_tags(path, split=split, repair=repair)
    if split is not None:
        raise InputError(
            f"{path}: found split {split}, expected none in a tags file, which has no splits"
        )
    return read_tag_file(path, repair)


def refuse_folder(path: Path, expected: str) -> None:
    """Raises an error if a path is a folder; names the tags file in a mined one."""
    if not path.is_dir():
        return
    found = "a folder"
    if is_annotations(path):
        found = "a folder of annotations"
    elif (path / RUN_RECORD).is_file():
        found = "the output of `miner mine`"
        if (mined := path / "spans.jsonl").is_file():
            expected += f", such as {mined}"
    raise InputError(f"{path}: found {found}, expected {expected}")


_FOLDERS = f"a folder of annotations ({BOOKS}) or of MCN ({GOLD_CSV}), or a tags file"


def read_gold_tags(
    path: Path | str, predicted: Sequence[TaggedBook], split: str | None = None
) -> tuple[TaggedBook, ...]:
    """Returns the gold tags of a tags file, of an MCN file, or of a file of annotations.

    A file of annotations, such as `miner annotate` saves, holds no text. Its annotations are found
    in the text of the predicted book.
    """
    path = Path(path)
    is_annotated = path.suffix.lower() != ".csv" and path.is_file() and is_annotation_file(path)
    if not is_annotated:
        return read_any_tag_file(path, split=split).books
    if split is not None:
        raise InputError(f"{path}: found split {split}, expected none in a file of annotations")
    book, facts, source = read_annotation_file(path)
    of_book = {tagged.book: tagged for tagged in predicted}
    if book not in of_book:
        held = ", ".join(of_book) or "no book"
        raise InputError(f"{path}: found annotations of {book}, expected those of {held}")
    _refuse_gaps(of_book[book])
    card = BookCard(book, "", "", "", 0, "", "", 3, "", "", "unknown")
    located = locate(AnnotatedBook(card, facts, source), strip_tags(of_book[book]))
    refuse_losses(located)
    return (located.tagged(),)


def _refuse_gaps(tagged: TaggedBook) -> None:
    """Raises an error if the spans of a book are not all the text of their paragraphs."""
    for paragraph, group in groupby(tagged.spans, key=lambda item: item.span.paragraph):
        end = 0
        for item in group:
            if item.span.start != end:
                raise InputError(
                    f"{tagged.source}: {tagged.book}, paragraph {paragraph}: found a span from "
                    f"{item.span.start}, expected {end}: annotations are sought in the whole text"
                )
            end = item.span.end


def strip_tags(tagged: TaggedBook) -> BookSpans:
    """Returns the spans of a tagged book without their tags, for another tagger.

    The blocks are put together from the spans. Chapters are kept, but headings are not known.
    """
    spans_of: dict[int, list[Span]] = {}
    for item in tagged.spans:
        spans_of.setdefault(item.span.paragraph, []).append(item.span)
    blocks = tuple(
        Block(
            paragraph, spans[0].chapter, BlockKind.PARAGRAPH, "".join(span.text for span in spans)
        )
        for paragraph, spans in spans_of.items()
    )
    book = Book(tagged.book, "", "", "", blocks, (), "")
    return BookSpans(book, tuple(item.span for item in tagged.spans))


def open_tag_gold(path: Path, split: str) -> Gold:
    """Returns the gold of MCN's folder, or of a tags file, which has no splits.

    `split` is "train", "validation", "test" or "all".
    """
    if path.name == FOLDER and not path.exists():
        refuse_no_annotations(path)
    if (path / GOLD_CSV).is_file():
        return _open_mcn(path, split)
    refuse_folder(path, _FOLDERS)
    if path.is_file() and is_annotation_file(path):
        raise InputError(
            f"{path}: found a file of annotations, expected {_FOLDERS}; `miner score` takes it"
        )
    if split != "all":
        raise InputError(f"{path}: found a tags file, which has no split {split!r}, expected all")
    books = read_tag_file(path).books
    return Gold(path.name, tuple(GoldBook(book, strip_tags(book)) for book in books))


def _open_mcn(folder: Path, split: str) -> Gold:
    mcn = read_mcn(folder)
    splits = {name for _, name in mcn.splits}
    if split not in (*splits, "all"):
        raise InputError(
            f"{folder.name}: found no split {split!r}, expected one of {sorted(splits)}"
        )
    published = [("MCN heuristic", mcn.heuristic)]
    if split == "test":
        published.append(("MCN model", mcn.model))
    gold, *published_tags = (
        tagged if split == "all" else mcn.of_split(tagged, split)
        for tagged in (mcn.gold_v2, *(tagged for _, tagged in published))
    )
    named = zip((name for name, _ in published), published_tags, strict=True)
    return Gold(
        f"{folder.name}, gold-v2", (GoldBook(gold, mcn.book_spans),), published=tuple(named)
    )
