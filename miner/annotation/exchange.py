"""Annotations <-> other tools: Label Studio, CoNLL columns, a folder for `datasets`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from miner.annotation.annotations import AnnotatedBook, Annotation, BookCard, row_of
from miner.annotation.conll import conll_lines
from miner.annotation.editions import BookReader, editions
from miner.annotation.label_studio import LABELING_CONFIG, annotated_chapters, facts_of, tasks
from miner.annotation.locate import Located
from miner.dialogue.spans import Span
from miner.dialogue.tag_files import tags_row
from miner.dialogue.tags import Tag, TaggedSpan
from miner.files import json_line, whole_file, whole_folder

FORMATS = ("labelstudio", "conll", "tags", "datasets")


def export(
    books: Sequence[AnnotatedBook], read: BookReader, format: str, out: Path, force: bool
) -> None:
    """The annotated chapters, text and labels together, in the form of another tool.

    Args:
        books: annotated ones.
        read: gives the bytes of a book by its id.
        format: "labelstudio" (a list of tasks, and the labeling interface beside it, in a file of
            the same name ending in .xml), "conll" (IOB2, see `conll.conll_lines`), "tags" (the file
            that `miner tag` writes) or "datasets" (a folder for `datasets.load_dataset`: a JSON
            Lines file a split, a row a chapter).
        out: the file, or for "datasets" the folder.
        force: replaces what exists.

    Raises:
        ValueError: if a book cannot be read or has too few of its spans; before any is read, if
            `out` exists, or for "labelstudio" ends in .xml.
    """
    if format == "labelstudio":
        with tasks_file(out, force) as write:
            write([task for edition in editions(books, read) for task in tasks(edition)])
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
        with whole_folder(out, force) as folder:
            rows: dict[str, list[dict[str, Any]]] = {}
            for edition in editions(books, read):
                card = edition.annotated.card
                rows.setdefault(card.split, []).extend(_chapter_rows(card, edition.located))
            for name, of_split in rows.items():
                (folder / f"{name}.jsonl").write_bytes(b"".join(map(json_line, of_split)))
            (folder / "README.md").write_text(_card(list(rows)), encoding="utf-8")


@contextmanager
def tasks_file(
    out: Path, force: bool = False
) -> Iterator[Callable[[Sequence[dict[str, Any]]], None]]:
    """What writes tasks of Label Studio to `out`, the labeling interface beside them.

    Entered before a book is read, it costs nobody a wait for what cannot be kept.

    Raises:
        ValueError: if `out` ends in .xml, as the labeling interface does, or either file exists.
    """
    if out.suffix.lower() == ".xml":
        raise ValueError(
            f"{out}: found the ending of the labeling interface, which is written beside the "
            "tasks, expected another (.json)"
        )
    with whole_file(out, force) as file, whole_file(out.with_suffix(".xml"), force) as config:

        def write(all_tasks: Sequence[dict[str, Any]]) -> None:
            file.write(json.dumps(all_tasks, ensure_ascii=False, indent=1).encode())
            config.write(LABELING_CONFIG.encode())

        yield write


def import_labelstudio(exported: Path, out: Path, force: bool) -> list[Path]:
    """Files of annotations, one per book, from what Label Studio exported as JSON.

    Raises:
        ValueError: as `labelstudio.facts_of` does, or if there is no finished annotation of any
            book, or a file exists; then none is written.
    """
    books = facts_of(exported)
    if not books:
        raise ValueError(
            f"{exported}: found no finished annotation with a region, expected at least one"
        )
    paths = {book: out / f"{book}.jsonl" for book in books}
    with ExitStack() as opened:
        files = {book: opened.enter_context(whole_file(paths[book], force)) for book in books}
        for book, facts in books.items():
            files[book].write(b"".join(json_line(row_of(book, fact)) for fact in facts))
    return list(paths.values())


def _chapter_rows(card: BookCard, located: Located) -> list[dict[str, Any]]:
    """A row per annotated chapter: its spans' texts and, beside each, tag, kind and facts."""
    return [
        {"book": card.book, "title": card.title, "chapter": chapter} | _columns(spans)
        for chapter, spans in annotated_chapters(located).items()
    ]


def _columns(spans: Sequence[tuple[TaggedSpan, Annotation | None]]) -> dict[str, list[Any]]:
    """What each column of a chapter's row has, an entry a span."""
    return {
        "text": [item.span.text for item, _ in spans],
        "tag": [str(item.tag) for item, _ in spans],
        "kind": [_kind(item.span) for item, _ in spans],
        "paragraph": [item.span.paragraph for item, _ in spans],
        "speaker": [fact.speaker if fact else "" for _, fact in spans],
        "conversation": [fact.conversation if fact else 0 for _, fact in spans],
    }


def _kind(span: Span) -> str:
    return "utterance" if span.is_utterance else "quoted" if span.quoted else "narration"


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
