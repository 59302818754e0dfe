"""A folder for load_dataset.

It has a JSON Lines file per split, with a row per chapter, and a dataset card.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from miner.annotation.annotations import Annotation
from miner.annotation.locate import group_by_chapter
from miner.files import json_line, whole_folder
from miner.lab.gold.editions import Edition
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedSpan


def write_editions(found: Iterable[Edition], out: Path, force: bool) -> None:
    """Writes the files of the splits and a dataset card to the folder `out`."""
    with whole_folder(out, force) as folder:
        rows: dict[str, list[dict[str, Any]]] = {}
        for edition in found:
            rows.setdefault(edition.annotated.card.split, []).extend(_chapter_rows(edition))
        for name, of_split in rows.items():
            (folder / f"{name}.jsonl").write_bytes(b"".join(map(json_line, of_split)))
        (folder / "README.md").write_text(_dataset_card(list(rows)), encoding="utf-8")


def _chapter_rows(edition: Edition) -> list[dict[str, Any]]:
    """Returns a row per annotated chapter."""
    card = edition.annotated.card
    return [
        {"book": card.book, "title": card.title, "chapter": chapter} | _columns(spans)
        for chapter, spans in group_by_chapter(edition.located).items()
    ]


def _columns(spans: Sequence[tuple[TaggedSpan, Annotation | None]]) -> dict[str, list[Any]]:
    """Returns the columns of a chapter's row, with an entry per span."""
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


def _dataset_card(splits: Sequence[str]) -> str:
    """Returns the card that tells `load_dataset` the files of the splits and the tags' names."""
    files = "".join(f"      - split: {name}\n        path: {name}.jsonl\n" for name in splits)
    names = "".join(f"              '{n}': {tag.value}\n" for n, tag in enumerate(Tag))
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
        "Chapters of novels with annotated conversations. A row is a chapter, and a list has an\n"
        "entry per span, in reading order. The `tag` of narration is O.\n"
    )
