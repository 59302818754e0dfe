"""Annotations <-> other tools: Label Studio, CoNLL columns, a folder for `datasets`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from miner.annotations import Annotations, BookCard, row_of
from miner.conll import conll_lines
from miner.editions import ReadBook, editions
from miner.files import json_line, whole_file, whole_folder
from miner.gold import tags_row
from miner.labelstudio import LABELING_CONFIG, blank_tasks, facts_of, tasks
from miner.locate import Located
from miner.spans import BookSpans
from miner.tags import Tag

FORMATS = ("labelstudio", "conll", "tags", "datasets")


def export(
    annotations: Annotations, split: str, read: ReadBook, format: str, out: Path, force: bool
) -> None:
    """The annotated chapters, text and labels together, in the form of another tool.

    Args:
        annotations: all of them.
        split: which books.
        read: gives the bytes of a book by its id.
        format: "labelstudio" (a list of tasks, and the labeling interface beside it, in a file of
            the same name ending in .xml), "conll" (IOB2, see `conll.conll_lines`), "tags" (the file
            that `miner tag` writes) or "datasets" (a folder for `datasets.load_dataset`: a JSON
            Lines file a split, a row a chapter).
        out: the file, or for "datasets" the folder.
        force: replaces what exists.

    Raises:
        ValueError: if a book cannot be read or has too few of its spans, or `out` exists.
    """
    books = annotations.part(split)
    if format == "labelstudio":
        found = (task for edition in editions(books, read) for task in tasks(edition))
        _write_tasks(list(found), out, force)
    elif format == "tags":
        with whole_file(out, force) as file:
            for edition in editions(books, read):
                tagged = edition.located.tagged()
                file.write(
                    b"".join(json_line(tags_row(tagged.book, item)) for item in tagged.spans)
                )
    elif format == "conll":
        with whole_file(out, force) as file:
            tagged = (edition.located.tagged() for edition in editions(books, read))
            for line in conll_lines(tagged):
                file.write(line.encode() + b"\n")
    else:
        rows: dict[str, list[dict[str, Any]]] = {}
        for edition in editions(books, read):
            card = edition.annotated.card
            rows.setdefault(card.split, []).extend(_chapter_rows(card, edition.located))
        with whole_folder(out, force) as folder:
            for name, of_split in rows.items():
                (folder / f"{name}.jsonl").write_bytes(b"".join(map(json_line, of_split)))
            (folder / "README.md").write_text(_card(list(rows)), encoding="utf-8")


def export_blank(
    book_spans: BookSpans, chapters: Sequence[int], out: Path, force: bool = False
) -> None:
    """Label Studio tasks of chapters that nobody has annotated, the labeling interface beside them.

    Raises:
        ValueError: as `labelstudio.blank_tasks` does, or if `out` exists.
    """
    _write_tasks(blank_tasks(book_spans, chapters), out, force)


def _write_tasks(all_tasks: Sequence[dict[str, Any]], out: Path, force: bool) -> None:
    with whole_file(out, force) as file, whole_file(out.with_suffix(".xml"), force) as config:
        file.write(json.dumps(all_tasks, ensure_ascii=False, indent=1).encode())
        config.write(LABELING_CONFIG.encode())


def import_labelstudio(exported: Path, out: Path, force: bool) -> list[Path]:
    """Files of annotations, one per book, from what Label Studio exported as JSON.

    Raises:
        ValueError: as `labelstudio.facts_of` does, or if a file exists.
    """
    books = facts_of(exported)
    paths = []
    for book, facts in books.items():
        path = out / f"{book}.jsonl"
        with whole_file(path, force) as file:
            file.write(b"".join(json_line(row_of(book, fact)) for fact in facts))
        paths.append(path)
    return paths


def _chapter_rows(card: BookCard, located: Located) -> list[dict[str, Any]]:
    """A row per chapter: its spans' texts and, beside each, tag, kind, speaker, conversation."""
    rows: dict[int, dict[str, Any]] = {}
    for item, fact in zip(located.tagged().spans, located.facts, strict=True):
        span = item.span
        row = rows.setdefault(
            span.chapter,
            {
                "book": card.book,
                "title": card.title,
                "chapter": span.chapter,
                "text": [],
                "tag": [],
                "kind": [],
                "paragraph": [],
                "speaker": [],
                "conversation": [],
            },
        )
        kind = "utterance" if span.is_utterance else "quoted" if span.quoted else "narration"
        values = (span.text, str(item.tag), kind, span.paragraph)
        values += (fact.speaker, fact.conversation) if fact else ("", 0)
        for key, value in zip(list(row)[3:], values, strict=True):
            row[key].append(value)
    return list(rows.values())


def _card(splits: Sequence[str]) -> str:
    """A dataset card by which `load_dataset` finds the splits and knows the tags as classes."""
    files = "".join(f"      - split: {name}\n        path: {name}.jsonl\n" for name in splits)
    names = "".join(f"              '{n}': {tag}\n" for n, tag in enumerate(_CLASSES))
    plain = {"book": "string", "title": "string", "chapter": "int64"}
    features = "".join(f"    - name: {key}\n      dtype: {kind}\n" for key, kind in plain.items())
    features += "    - name: text\n      sequence: string\n"
    features += f"    - name: tag\n      sequence:\n        class_label:\n          names:\n{names}"
    for key, kind in (("kind", "string"), ("paragraph", "int64"), ("speaker", "string")):
        features += f"    - name: {key}\n      sequence: {kind}\n"
    features += "    - name: conversation\n      sequence: int64\n"
    return (
        f"---\nconfigs:\n  - config_name: default\n    data_files:\n{files}"
        f"dataset_info:\n  - config_name: default\n    features:\n{features}---\n\n"
        "Chapters of novels with their conversations annotated: a row a chapter, a list entry a\n"
        "span, in reading order. `tag` is O for narration.\n"
    )


_CLASSES = tuple(tag.value for tag in Tag)
