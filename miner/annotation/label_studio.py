"""Annotated chapters <-> tasks of Label Studio (https://labelstud.io), a tool for annotating text.

A task is an annotated chapter. Its regions are the quoted spans, each with the label "utterance" or
"quoted", a speaker and a conversation. Label Studio runs in a browser: its offsets count UTF-16
code units, an emoji as two, and the texts it gives back have blanks run together. So offsets are
converted here, the text of a region is never trusted, and no line of a task ends in a carriage
return.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from reprlib import repr as shown
from typing import Any, TypeVar

from miner.annotation.annotations import Annotation, fingerprint, renumbered
from miner.annotation.editions import Edition
from miner.annotation.locate import Located
from miner.dialogue.spans import BookSpans, Span, chapter_in_marks
from miner.dialogue.tag_files import text_of
from miner.dialogue.tags import TaggedSpan

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
_FIELDS = ("speech", "conversation", "speaker", "remark")
_MOST = 10**9  # a number of a chapter or a paragraph
_BOOK = re.compile(r"[\w-]+")  # names a file of annotations
_HALF = re.compile("[\ud800-\udfff]")  # half of a UTF-16 pair, which is no character

_Kind = TypeVar("_Kind")


def tasks(edition: Edition) -> list[dict[str, Any]]:
    """A task per annotated chapter, to import into Label Studio, its annotation included.

    `data` has the text of the chapter, and the paragraphs' numbers and where in the text each
    begins (in UTF-16 code units), so that `facts_of` needs no book.
    """
    card = edition.annotated.card
    return [
        _task(card.book, card.title, chapter, [(item.span, fact) for item, fact in spans])
        for chapter, spans in annotated_chapters(edition.located).items()
    ]


def annotated_chapters(
    located: Located,
) -> dict[int, list[tuple[TaggedSpan, Annotation | None]]]:
    """The spans of each annotated chapter, tagged, and what is annotated of each, in order.

    The edition may divide the book in other ways. An annotated chapter has all of those chapters of
    the edition that hold none but its own annotations; of one that several share it has the
    paragraphs from its first annotated span to its last.
    """
    rows = list(zip(located.tagged().spans, located.facts, strict=True))
    # By chapter of the edition and annotated chapter: the first and the last annotated paragraph.
    parts: dict[int, dict[int, tuple[int, int]]] = {}
    for item, fact in rows:
        if fact is not None:
            number, sharing = item.span.paragraph, parts.setdefault(item.span.chapter, {})
            sharing[fact.chapter] = sharing.get(fact.chapter, (number, number))[0], number
    found: dict[int, list[tuple[TaggedSpan, Annotation | None]]] = {}
    for item, fact in rows:
        sharing = parts.get(item.span.chapter, {})
        for chapter, (first, last) in sharing.items():
            inside = len(sharing) == 1 or first <= item.span.paragraph <= last
            if inside and (fact is None or fact.chapter == chapter):
                found.setdefault(chapter, []).append((item, fact))
    return found


def blank_tasks(book_spans: BookSpans, chapters: Sequence[int]) -> list[dict[str, Any]]:
    """A task per chapter of a book that nobody has annotated, its quoted spans marked.

    Speaker and conversation are left to the annotator, and so is what is no utterance: every quoted
    span has the label "utterance". A chapter that is asked for twice is one task.

    Raises:
        ValueError: if the book has no such chapter, or nothing is quoted in it; names it. If the
            book's id could not name a file when the tasks come back.
    """
    id = book_spans.book.id
    if not _BOOK.fullmatch(id):
        raise ValueError(f"{id}: found {shown(id)} as book, expected letters, digits, - and _")
    found = {chapter: chapter_in_marks(book_spans, chapter) for chapter in chapters}
    title = book_spans.book.title
    return [
        _task(id, title, chapter, [(span, None) for span in spans])
        for chapter, spans in found.items()
    ]


def facts_of(path: Path) -> dict[str, list[Annotation]]:
    """The annotations in a file that Label Studio exported (JSON), by book, in reading order.

    Of a task that several people annotated the first annotation that was not cancelled counts; a
    book without any is left out. What the labeling interface does not have (relations, choices) is
    passed over. Conversations are numbered anew, from 1 in each chapter, in the order in which they
    begin.

    Raises:
        ValueError: names the file, the task and the region, where the file is no export, a task was
            not made by `tasks`, two tasks have the same chapter, a region lies outside of its
            paragraph or overlaps another, or lacks a speaker or a conversation.
    """
    text, _ = text_of(path)
    try:
        exported = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: found bad JSON ({error}), expected an export") from error
    if not isinstance(exported, list):
        raise ValueError(f"{path}: found {type(exported).__name__}, expected a list of tasks")
    books: dict[str, list[Annotation]] = {}
    seen: set[tuple[str, int]] = set()
    for number, task in enumerate(exported, 1):
        where = f"{path}: task {number}"
        task = _of_kind(dict, task, "task", where)
        data = _data_of(task, where)
        book, chapter = data["book"], data["chapter"]
        if (book, chapter) in seen:
            raise ValueError(
                f"{where}: found book {book}, chapter {chapter} a second time, expected it once"
            )
        seen.add((book, chapter))
        if facts := _facts(task, data, where):
            books.setdefault(book, []).extend(facts)
    for facts in books.values():
        facts.sort(key=lambda fact: (fact.chapter, fact.paragraph))  # stable within a paragraph
    return books


def _of_kind(kind: type[_Kind], value: object, name: str, where: str) -> _Kind:
    """The value, refused where it is of another kind."""
    if type(value) is not kind:
        raise ValueError(f"{where}: found {shown(value)} as {name}, expected {kind.__name__}")
    return value


def _data_of(task: Mapping[str, Any], where: str) -> dict[str, Any]:
    """What `tasks` put into the data of a task, which Label Studio gives back as it was."""
    data = _of_kind(dict, task.get("data"), "data", where)
    for key, kind in {"text": str, "book": str, "chapter": int, "paragraphs": list}.items():
        _of_kind(kind, data.get(key), key, where)
    if not _BOOK.fullmatch(data["book"]):
        raise ValueError(
            f"{where}: found {shown(data['book'])} as book, expected letters, digits, - and _"
        )
    if not 0 <= data["chapter"] <= _MOST:
        raise ValueError(
            f"{where}: found chapter {shown(data['chapter'])}, expected a number from 0 to {_MOST}"
        )
    if _HALF.search(data["text"]):
        raise ValueError(f"{where}: found half a character in its text, expected whole ones")
    n_units = _units(data["text"])
    last = [-1, -1]
    for place in data["paragraphs"]:
        if not (isinstance(place, list) and [type(n) for n in place] == [int, int]):
            raise ValueError(
                f"{where}: found paragraph {shown(place)}, expected its number and start"
            )
        if not (last[0] < place[0] <= _MOST and last[1] < place[1] < n_units):
            raise ValueError(
                f"{where}: found paragraph {shown(place)}, expected number and start to rise, "
                f"within the {n_units} UTF-16 code units of the text"
            )
        last = place
    if not data["paragraphs"] or data["paragraphs"][0][1] > 0:
        raise ValueError(f"{where}: found no paragraph that begins at 0, expected the first to")
    return data


def _task(
    book: str, title: str, chapter: int, spans: Sequence[tuple[Span, Annotation | None]]
) -> dict[str, Any]:
    text = ""
    starts: list[tuple[int, int]] = []
    results: list[dict[str, Any]] = []
    at = 0  # in UTF-16 code units, as everything that Label Studio sees
    for paragraph, group in groupby(spans, key=lambda pair: pair[0].paragraph):
        starts.append((paragraph, at))
        for span, fact in group:
            piece = _safe(span.text)
            end = at + _units(piece)
            if fact is not None or span.in_marks:
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
    if task.get("annotations") is None:
        return []
    annotations = _of_kind(list, task["annotations"], "annotations", where)
    annotations = [_of_kind(dict, item, "annotation", where) for item in annotations]
    done = [item for item in annotations if not item.get("was_cancelled")]
    if not done:
        return []
    regions = _regions(_of_kind(list, done[0].get("result"), "result", where), where)
    units = data["text"].encode("utf-16-le")
    n_units = len(units) // 2
    starts = [start for _, start in data["paragraphs"]]
    found: list[tuple[int, int, Annotation]] = []
    for id, region in regions.items():
        place = f"{where}, region {shown(id)}"
        start, end = region.get("start"), region.get("end")
        if not (type(start) is int and type(end) is int and 0 <= start < end <= n_units):
            raise ValueError(
                f"{place}: found {shown(start)} to {shown(end)}, expected offsets within the "
                f"{n_units} UTF-16 code units of the text"
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
    for (_, end, _), (start, _, fact) in pairwise(found):
        if start < end:
            raise ValueError(
                f"{where}: found two regions that overlap in paragraph {fact.paragraph}"
            )
    return renumbered([fact for _, _, fact in found])


def _regions(results: Iterable[Any], where: str) -> dict[str, dict[str, Any]]:
    """The regions of an annotation by their ids: offsets, labels and what was typed."""
    regions: dict[str, dict[str, Any]] = {}
    for result in results:
        name = _of_kind(dict, result, "result", where).get("from_name")
        if name not in _FIELDS:
            continue
        id = _of_kind(str, result.get("id"), "id of a region", where)
        place = f"{where}, region {shown(id)}"
        value = _of_kind(dict, result.get("value"), f"value of {name}", place)
        region = regions.setdefault(id, {})
        if name == "speech":
            region |= {key: value.get(key) for key in ("start", "end", "labels")}
        elif name == "conversation":
            region[name] = value.get("number")
        else:
            region[name] = _typed(value.get("text"), name, place)
    return regions


def _fact(
    region: Mapping[str, Any], chapter: int, paragraph: int, text: str, where: str
) -> Annotation:
    """The annotation of one region; `conversation` is as the annotator numbered it."""
    remark, labels = region.get("remark", ""), region.get("labels")
    if labels == [QUOTED]:
        return Annotation(chapter, paragraph, fingerprint(text), "", 0, remark)
    if labels != [UTTERANCE]:
        raise ValueError(
            f"{where}: found labels {shown(labels)}, expected either {UTTERANCE} or {QUOTED}"
        )
    number: Any = region.get("conversation")
    speaker = region.get("speaker", "")
    # Whole numbers come back as floats at times; neither infinity nor NaN leaves the remainder 0.
    if not (type(number) in (int, float) and number >= 1 and number % 1 == 0):
        raise ValueError(
            f"{where}: found conversation {shown(number)}, expected a whole number from 1"
        )
    if not speaker:
        raise ValueError(f"{where}: found no speaker, expected a name, or ? where none is told")
    return Annotation(chapter, paragraph, fingerprint(text), speaker, int(number), remark)


def _typed(value: object, name: str, where: str) -> str:
    """What was typed in a text area: a list of lines, or a text where there is one line."""
    lines = value if isinstance(value, list) else [value]
    typed = " ".join(_of_kind(str, line, name, where) for line in lines).strip()
    if _HALF.search(typed):
        raise ValueError(f"{where}: found half a character as {name}, expected whole ones")
    return typed
