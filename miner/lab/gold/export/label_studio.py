"""Label Studio tasks (JSON).

Label Studio (https://labelstud.io) is a tool for annotating text. A task is a chapter. Its regions
are the quoted spans, each with the label "utterance" or "quoted", a speaker and a conversation. The
labeling interface is written beside the tasks, in a file ending in .xml. What Label Studio exports
is read here, too.

Label Studio runs in a browser. Its offsets count UTF-16 code units (two for an emoji), and it
returns texts with white space collapsed. So offsets are converted, the returned text of a region is
not used, and no line of a task ends in a carriage return.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby, pairwise
from pathlib import Path
from reprlib import repr as shown
from typing import Any, TypeVar

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import Annotation, renumber_conversations, row_from_annotation
from miner.annotation.locate import group_by_chapter
from miner.errors import InputError
from miner.files import json_line, parse_json, read_text, whole_file
from miner.lab.gold.editions import Edition
from miner.speech.spans import BookSpans, Span, chapter_in_marks
from miner.speech.tag_files import LARGEST

UTTERANCE = "utterance"
QUOTED = "quoted"
# The labeling interface of the tasks, for the settings of a Label Studio project.
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
_BOOK = re.compile(r"[\w-]{1,60}")  # the name of a file of annotations
_BOOK_NAME = "letters, digits, - and _, at most 60"
_HALF = re.compile("[\ud800-\udfff]")  # half of a UTF-16 pair is not a character

_Kind = TypeVar("_Kind")


def tasks_from_edition(edition: Edition) -> list[dict[str, Any]]:
    """Returns a task per annotated chapter with its annotation, to import into Label Studio.

    `data` has the text of the chapter, and the number and start (in UTF-16 code units) of each
    paragraph. So `read_exported` does not need the book.
    """
    card = edition.annotated.card
    return [
        _task(card.book, card.title, chapter, [(item.span, fact) for item, fact in spans])
        for chapter, spans in group_by_chapter(edition.located).items()
    ]


def tasks_from_spans(book_spans: BookSpans, chapters: Sequence[int]) -> list[dict[str, Any]]:
    """Returns a task per chapter of a book without annotations.

    Every quoted span has the label "utterance". The annotator changes labels and adds speakers and
    conversations. A chapter that is given twice is one task.
    """
    id = book_spans.book.id
    if not _BOOK.fullmatch(id):
        raise InputError(f"found {shown(id)} as book, expected {_BOOK_NAME}")
    found = {chapter: chapter_in_marks(book_spans, chapter) for chapter in chapters}
    title = book_spans.book.title
    return [
        _task(id, title, chapter, [(span, None) for span in spans])
        for chapter, spans in found.items()
    ]


@contextmanager
def tasks_file(
    out: Path, force: bool = False
) -> Iterator[Callable[[Sequence[dict[str, Any]]], None]]:
    """Opens files for tasks (`out`) and the labeling interface, which ends in .xml.

    The block receives a function that writes the tasks. Enter it before a book is read, so that an
    error comes early.
    """
    if out.suffix.lower() == ".xml":
        raise InputError(
            f"{out}: found the ending of the labeling interface beside the tasks, "
            "expected another ending (.json)"
        )
    with whole_file(out, force) as file, whole_file(out.with_suffix(".xml"), force) as config:

        def write(all_tasks: Sequence[dict[str, Any]]) -> None:
            file.write(json.dumps(all_tasks, ensure_ascii=False, indent=1).encode())
            config.write(LABELING_CONFIG.encode())

        yield write


def import_exported(exported: Path, out: Path, force: bool) -> list[Path]:
    """Writes files of annotations, one per book, from a JSON file that Label Studio exported."""
    books = read_exported(exported)
    if not books:
        raise InputError(
            f"{exported}: found no finished annotation with a region, expected at least one"
        )
    paths = {book: out / f"{book}.jsonl" for book in books}
    with ExitStack() as opened:
        files = {book: opened.enter_context(whole_file(paths[book], force)) for book in books}
        for book, facts in books.items():
            files[book].write(
                b"".join(json_line(row_from_annotation(book, fact)) for fact in facts)
            )
    return list(paths.values())


def read_exported(path: Path) -> dict[str, list[Annotation]]:
    """Returns the annotations in a JSON file that Label Studio exported, by book.

    If several people annotated a task, the first annotation that was not cancelled counts. A book
    without any is left out. Results that the labeling interface does not have (relations, choices)
    are ignored. Conversations are numbered from 1 in each chapter in the order they begin.
    """
    exported = parse_json(read_text(path), str(path), "an export")
    if not isinstance(exported, list):
        raise InputError(f"{path}: found {type(exported).__name__}, expected a list of tasks")
    books: dict[str, list[Annotation]] = {}
    seen: set[tuple[str, int]] = set()
    for number, task in enumerate(exported, 1):
        where = f"{path}: task {number}"
        task = _checked(dict, task, "task", where)
        data = _task_data(task, where)
        book, chapter = data["book"], data["chapter"]
        if (book, chapter) in seen:
            raise InputError(
                f"{where}: found book {book}, chapter {chapter} a second time, expected it once"
            )
        seen.add((book, chapter))
        if facts := _annotations_of_task(task, data, where):
            books.setdefault(book, []).extend(facts)
    for facts in books.values():
        facts.sort(key=lambda fact: (fact.chapter, fact.paragraph))  # stable within a paragraph
    return books


def _checked(kind: type[_Kind], value: object, name: str, where: str) -> _Kind:
    """Returns the value if it has this type; otherwise raises an InputError."""
    if type(value) is not kind:
        raise InputError(f"{where}: found {shown(value)} as {name}, expected {kind.__name__}")
    return value


def _task_data(task: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Returns the checked `data` of a task, which Label Studio returns unchanged."""
    data = _checked(dict, task.get("data"), "data", where)
    for key, kind in {"text": str, "book": str, "chapter": int, "paragraphs": list}.items():
        _checked(kind, data.get(key), key, where)
    if not _BOOK.fullmatch(data["book"]):
        raise InputError(f"{where}: found {shown(data['book'])} as book, expected {_BOOK_NAME}")
    if not 0 <= data["chapter"] <= LARGEST:
        raise InputError(
            f"{where}: found chapter {shown(data['chapter'])}, expected 0 to {LARGEST}"
        )
    if _HALF.search(data["text"]):
        raise InputError(f"{where}: found half a character in its text, expected whole characters")
    n_units = _n_units(data["text"])
    last = [-1, -1]
    for place in data["paragraphs"]:
        if not (isinstance(place, list) and [type(n) for n in place] == [int, int]):
            raise InputError(
                f"{where}: found paragraph {shown(place)}, expected its number and start"
            )
        if not (last[0] < place[0] <= LARGEST and last[1] < place[1] < n_units):
            raise InputError(
                f"{where}: found paragraph {shown(place)}, expected number and start to rise, "
                f"within the {n_units} UTF-16 code units of the text"
            )
        last = place
    if not data["paragraphs"] or data["paragraphs"][0][1] > 0:
        raise InputError(f"{where}: found no paragraph that begins at 0, expected the first to")
    return data


def _task(
    book: str, title: str, chapter: int, spans: Sequence[tuple[Span, Annotation | None]]
) -> dict[str, Any]:
    """Returns the task of a chapter from its spans and their annotations."""
    text = ""
    starts: list[tuple[int, int]] = []
    results: list[dict[str, Any]] = []
    at = 0  # in UTF-16 code units
    for paragraph, group in groupby(spans, key=lambda pair: pair[0].paragraph):
        starts.append((paragraph, at))
        for span, fact in group:
            piece = _without_returns(span.text)
            end = at + _n_units(piece)
            if fact is not None or span.in_marks:
                results += _region_results(f"{paragraph}-{span.index}", at, end, piece, fact)
            text, at = text + piece, end
        text, at = text + _SEPARATOR, at + len(_SEPARATOR)
    data = {"text": text, "book": book, "title": title, "chapter": chapter}
    return {
        "data": data | {"paragraphs": starts},
        "annotations": [{"result": results}],
    }


def _without_returns(text: str) -> str:
    """Returns the text with carriage returns replaced, at the same length."""
    return text.replace("\r\n", " \n").replace("\r", "\n")


def _n_units(text: str) -> int:
    """Returns the length in UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2


def _region_results(
    id: str, start: int, end: int, text: str, fact: Annotation | None
) -> list[dict[str, Any]]:
    """Returns the results of a region: its label and each field that has a value."""
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
        # Label Studio writes the text of a text area where the text of the region was.
        | {"value": place | value}
        for name, kind, value in fields
    ]


def _annotations_of_task(
    task: Mapping[str, Any], data: Mapping[str, Any], where: str
) -> list[Annotation]:
    """Returns the annotations of a task in reading order; none if it is not finished."""
    if task.get("annotations") is None:
        return []
    annotations = _checked(list, task["annotations"], "annotations", where)
    annotations = [_checked(dict, item, "annotation", where) for item in annotations]
    done = [item for item in annotations if not item.get("was_cancelled")]
    if not done:
        return []
    regions = _regions(_checked(list, done[0].get("result"), "result", where), where)
    units = data["text"].encode("utf-16-le")
    n_units = len(units) // 2
    starts = [start for _, start in data["paragraphs"]]
    found: list[tuple[int, int, Annotation]] = []
    for id, region in regions.items():
        place = f"{where}, region {shown(id)}"
        start, end = region.get("start"), region.get("end")
        if not (type(start) is int and type(end) is int and 0 <= start < end <= n_units):
            raise InputError(
                f"{place}: found {shown(start)} to {shown(end)}, expected offsets within the "
                f"{n_units} UTF-16 code units of the text"
            )
        number = bisect_right(starts, start) - 1
        limit = [*starts, n_units][number + 1]
        if end > limit:
            raise InputError(f"{place}: found more than one paragraph, expected a span of one")
        try:
            text = units[2 * start : 2 * end].decode("utf-16-le")
        except UnicodeDecodeError as error:
            raise InputError(f"{place}: found half a character, expected whole ones") from error
        paragraph = data["paragraphs"][number][0]
        found.append((start, end, _annotation(region, data["chapter"], paragraph, text, place)))
    found.sort(key=lambda item: item[:2])
    for (_, end, _), (start, _, fact) in pairwise(found):
        if start < end:
            raise InputError(
                f"{where}: found two regions that overlap in paragraph {fact.paragraph}"
            )
    return renumber_conversations([fact for _, _, fact in found])


def _regions(results: Iterable[Any], where: str) -> dict[str, dict[str, Any]]:
    """Returns the regions of an annotation by id: offsets, labels and entered texts."""
    regions: dict[str, dict[str, Any]] = {}
    for result in results:
        name = _checked(dict, result, "result", where).get("from_name")
        if name not in _FIELDS:
            continue
        id = _checked(str, result.get("id"), "id of a region", where)
        place = f"{where}, region {shown(id)}"
        value = _checked(dict, result.get("value"), f"value of {name}", place)
        region = regions.setdefault(id, {})
        if name == "speech":
            region |= {key: value.get(key) for key in ("start", "end", "labels")}
        elif name == "conversation":
            region[name] = value.get("number")
        else:
            region[name] = _entered_text(value.get("text"), name, place)
    return regions


def _annotation(
    region: Mapping[str, Any], chapter: int, paragraph: int, text: str, where: str
) -> Annotation:
    """Returns the annotation of a region, with the annotator's number of the conversation."""
    remark, labels = region.get("remark", ""), region.get("labels")
    if labels == [QUOTED]:
        return Annotation(chapter, paragraph, fingerprint(text), "", 0, remark)
    if labels != [UTTERANCE]:
        raise InputError(
            f"{where}: found labels {shown(labels)}, expected either {UTTERANCE} or {QUOTED}"
        )
    number: Any = region.get("conversation")
    speaker = region.get("speaker", "")
    # Whole numbers may come back as floats.
    if not (type(number) in (int, float) and 1 <= number <= LARGEST and number % 1 == 0):
        raise InputError(
            f"{where}: found conversation {shown(number)}, expected a whole number, 1 to {LARGEST}"
        )
    if not speaker:
        raise InputError(f"{where}: found no speaker, expected a name, or ? if unknown")
    return Annotation(chapter, paragraph, fingerprint(text), speaker, int(number), remark)


def _entered_text(value: object, name: str, where: str) -> str:
    """Returns the text of a text area, which is a list of lines or one line."""
    lines = value if isinstance(value, list) else [value]
    typed = " ".join(_checked(str, line, name, where) for line in lines).strip()
    if _HALF.search(typed):
        raise InputError(f"{where}: found half a character as {name}, expected whole characters")
    return typed


def write_editions(found: Iterable[Edition], out: Path, force: bool) -> None:
    """Writes a task per annotated chapter to the file `out`."""
    with tasks_file(out, force) as write:
        write([task for edition in found for task in tasks_from_edition(edition)])
