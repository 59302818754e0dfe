"""Annotated chapters <-> tasks of Label Studio (https://labelstud.io), a tool for annotating text.

A task is a chapter. Its regions are the quoted spans, each with the label "utterance" or "quoted",
a speaker and a conversation. Label Studio runs in a browser: its offsets count UTF-16 code units,
an emoji as two, and the texts it gives back have blanks run together. So offsets are converted
here, the text of a region is never trusted, and no line of a task ends in a carriage return.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from miner.annotations import Annotation, fingerprint
from miner.editions import Edition
from miner.reading import text_of
from miner.spans import BookSpans, Span

UTTERANCE = "utterance"
QUOTED = "quoted"
# The labeling interface that the tasks are made for, to paste into a project's settings.
LABELING_CONFIG = """\
<View>
  <Labels name="speech" toName="text">
    <Label value="utterance" background="#4c78a8"/>
    <Label value="quoted" background="#bab0ac"/>
  </Labels>
  <Text name="text" value="$text" granularity="symbol"/>
  <TextArea name="speaker" toName="text" perRegion="true" rows="1" placeholder="speaker"/>
  <Number name="conversation" toName="text" perRegion="true" min="0"/>
  <TextArea name="remark" toName="text" perRegion="true" rows="1" placeholder="remark"/>
</View>
"""
_SEPARATOR = "\n\n"


def tasks(edition: Edition) -> list[dict[str, Any]]:
    """A task per annotated chapter, to import into Label Studio, its annotation included.

    `data` has the text of the chapter, and the paragraphs' numbers and where in the text each
    begins (in UTF-16 code units), so that `facts_of` needs no book.
    """
    found: dict[int, dict[int, list[tuple[Span, Annotation | None]]]] = {}
    chapter_of: dict[int, int] = {}
    located = edition.located
    for span, fact in zip(located.book_spans.spans, located.facts, strict=True):
        found.setdefault(span.chapter, {}).setdefault(span.paragraph, []).append((span, fact))
        if fact is not None:
            chapter_of[span.chapter] = fact.chapter
    card = edition.annotated.card
    return [
        _task(card.book, card.title, chapter_of[chapter], paragraphs)
        for chapter, paragraphs in found.items()
        if chapter in chapter_of
    ]


def blank_tasks(book_spans: BookSpans, chapters: Sequence[int]) -> list[dict[str, Any]]:
    """A task per chapter of a book that nobody has annotated, its quoted spans marked.

    Speaker and conversation are left to the annotator, and so is what is no utterance: every quoted
    span has the label "utterance".

    Raises:
        ValueError: if the book has no such chapter, or nothing is quoted in it; names it.
    """
    found: dict[int, dict[int, list[tuple[Span, Annotation | None]]]] = {}
    for span in book_spans.spans:
        found.setdefault(span.chapter, {}).setdefault(span.paragraph, []).append((span, None))
    for chapter in chapters:
        spans = [span for group in found.get(chapter, {}).values() for span, _ in group]
        if not any(span.is_utterance or span.quoted for span in spans):
            raise ValueError(
                f"{book_spans.book.id}: found nothing quoted in chapter {chapter}, "
                f"expected one of the chapters {min(found)} to {max(found)}"
            )
    book = book_spans.book
    return [_task(book.id, book.title, chapter, found[chapter]) for chapter in chapters]


def facts_of(path: Path) -> dict[str, list[Annotation]]:
    """The annotations in a file that Label Studio exported (JSON), by book, in reading order.

    Of a task that several people annotated the first annotation that was not cancelled counts.
    Conversations are numbered anew, from 1 in each chapter, in the order in which they begin.

    Raises:
        ValueError: names the file, the task and the region, where the file is no export, a task was
            not made by `tasks`, a region lies outside of its paragraph or overlaps another, or
            lacks a speaker or a conversation.
    """
    try:
        exported = json.loads(text_of(path)[0])
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: found bad JSON ({error}), expected an export") from error
    if not isinstance(exported, list):
        raise ValueError(f"{path}: found {type(exported).__name__}, expected a list of tasks")
    books: dict[str, list[Annotation]] = {}
    for number, task in enumerate(exported, 1):
        where = f"{path}: task {number}"
        data = _data_of(task, where)
        books.setdefault(data["book"], []).extend(_facts(task, data, where))
    for facts in books.values():
        facts.sort(key=lambda fact: (fact.chapter, fact.paragraph))  # stable within a paragraph
    return books


def _data_of(task: object, where: str) -> dict[str, Any]:
    """What `tasks` put into the data of a task, which Label Studio gives back as it was."""
    data = task.get("data") if isinstance(task, dict) else None
    if not isinstance(data, dict):
        raise ValueError(f"{where}: found no data, expected a task of `miner gold export`")
    for key, kind in {"text": str, "book": str, "chapter": int, "paragraphs": list}.items():
        if type(data.get(key)) is not kind:
            raise ValueError(f"{where}: found no {key} in its data, expected {kind.__name__}")
    for place in data["paragraphs"]:
        if not (isinstance(place, list) and [type(n) for n in place] == [int, int]):
            raise ValueError(f"{where}: found paragraph {place}, expected its number and start")
    return data


def _task(
    book: str,
    title: str,
    chapter: int,
    paragraphs: Mapping[int, Sequence[tuple[Span, Annotation | None]]],
) -> dict[str, Any]:
    text = ""
    starts: list[tuple[int, int]] = []
    results: list[dict[str, Any]] = []
    at = 0  # in UTF-16 code units, as everything that Label Studio sees
    for paragraph, spans in paragraphs.items():
        starts.append((paragraph, at))
        for span, fact in spans:
            piece = _safe(span.text)
            end = at + _units(piece)
            if fact is not None or span.is_utterance or span.quoted:
                results += _results(f"{paragraph}-{span.index}", at, end, piece, fact)
            text, at = text + piece, end
        text, at = text + _SEPARATOR, at + len(_SEPARATOR)
    data = {"text": text, "book": book, "title": title, "chapter": chapter}
    return {
        "data": data | {"paragraphs": starts},
        "annotations": [{"result": results}],
    }


def _safe(text: str) -> str:
    """The text without carriage returns, each replaced by a blank: no offset moves."""
    return text.replace("\r\n", " \n").replace("\r", "\n")


def _units(text: str) -> int:
    """The length in UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2


def _results(
    id: str, start: int, end: int, text: str, fact: Annotation | None
) -> list[dict[str, Any]]:
    """What Label Studio keeps of one region: its label, and a value for each known field."""
    place = {"start": start, "end": end, "text": text}
    label = UTTERANCE if fact is None or fact.is_utterance else QUOTED
    fields: list[tuple[str, str, dict[str, Any]]] = [("speech", "labels", {"labels": [label]})]
    if fact is not None:
        fields.append(("conversation", "number", {"number": fact.conversation}))
        for name, value in (("speaker", fact.speaker), ("remark", fact.remark)):
            if value:
                fields.append((name, "textarea", {"text": [value]}))
    return [
        {"id": id, "from_name": name, "to_name": "text", "type": kind}
        # The text of a text area takes the place of the region's own, as Label Studio has it.
        | {"value": place | value}
        for name, kind, value in fields
    ]


def _facts(task: Mapping[str, Any], data: Mapping[str, Any], where: str) -> list[Annotation]:
    done = [item for item in task.get("annotations") or () if not item.get("was_cancelled")]
    if not done:
        return []
    regions: dict[str, dict[str, Any]] = {}
    for result in done[0].get("result", ()):
        value, region = result.get("value", {}), regions.setdefault(str(result.get("id")), {})
        match result.get("from_name"):
            case "speech":
                region |= {"start": value.get("start"), "end": value.get("end")}
                region["label"] = next(iter(value.get("labels") or ()), None)
            case "conversation":
                region["conversation"] = value.get("number")
            case "speaker" | "remark" as name:
                region[name] = " ".join(_listed(value.get("text"))).strip()
    units = data["text"].encode("utf-16-le")
    n_units = len(units) // 2
    starts = [start for _, start in data["paragraphs"]]
    found: list[tuple[int, int, Annotation]] = []
    for id, region in regions.items():
        place = f"{where}, region {id}"
        start, end = region.get("start"), region.get("end")
        if not (type(start) is int and type(end) is int and 0 <= start < end <= n_units):
            raise ValueError(
                f"{place}: found {start} to {end}, expected offsets within the {n_units} UTF-16 "
                "code units of the text"
            )
        number = bisect_right(starts, start) - 1
        limit = [*starts, n_units][number + 1]
        if end > limit:
            raise ValueError(f"{place}: found more than one paragraph, expected a span of one")
        try:
            text = units[2 * start : 2 * end].decode("utf-16-le")
        except UnicodeDecodeError as error:
            raise ValueError(f"{place}: found half a character, expected whole ones") from error
        paragraph = data["paragraphs"][number][0]
        found.append((start, end, _fact(region, data["chapter"], paragraph, text, place)))
    found.sort(key=lambda item: item[:2])
    for (_, end, _), (start, _, fact) in zip(found, found[1:], strict=False):
        if start < end:
            raise ValueError(
                f"{where}: found two regions that overlap in paragraph {fact.paragraph}"
            )
    return renumbered([fact for _, _, fact in found])


def _fact(
    region: Mapping[str, Any], chapter: int, paragraph: int, text: str, where: str
) -> Annotation:
    """The annotation of one region; `conversation` is as the annotator numbered it."""
    remark = region.get("remark", "")
    if region.get("label") == QUOTED:
        return Annotation(chapter, paragraph, fingerprint(text), "", 0, remark)
    conversation, speaker = region.get("conversation"), region.get("speaker", "")
    if region.get("label") != UTTERANCE:
        raise ValueError(f"{where}: found no label, expected {UTTERANCE} or {QUOTED}")
    if not (isinstance(conversation, int | float) and conversation >= 1):
        raise ValueError(f"{where}: found conversation {conversation}, expected a number from 1")
    if not speaker:
        raise ValueError(f"{where}: found no speaker, expected a name, or ? where none is told")
    return Annotation(chapter, paragraph, fingerprint(text), speaker, int(conversation), remark)


def renumbered(facts: Iterable[Annotation]) -> list[Annotation]:
    """The annotations of a chapter with conversations counted from 1 in the order they begin."""
    numbers = {0: 0}
    return [
        Annotation(
            fact.chapter,
            fact.paragraph,
            fact.fingerprint,
            fact.speaker,
            numbers.setdefault(fact.conversation, len(numbers)),
            fact.remark,
        )
        for fact in facts
    ]


def _listed(value: object) -> list[str]:
    """A text area's lines, which are a list, or a text where there is one line."""
    return [str(item) for item in value] if isinstance(value, list) else [str(value or "")]
