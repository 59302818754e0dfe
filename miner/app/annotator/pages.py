"""A sheet -> the page of its chapter, and the state after each edit; and the list of chapters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from miner.annotation.annotations import Annotation
from miner.annotation.matching import Place, place_of
from miner.app.annotator.guesses import Entry
from miner.app.annotator.sheet_file import BookProgress, BookSheets, SheetFile, Version
from miner.app.viewer.layers import Layer, LayeredBook, NumberedChapter, number_chapters
from miner.app.viewer.page import (
    build_book_payload,
    build_chapter_payload,
    build_layer_payload,
    render_chapters_page,
    render_page,
)
from miner.files import printable
from miner.speech.kinds import SpanKind
from miner.speech.tags import Tag, TaggedBook, TaggedSpan

LAYER = "annotation"
_EXCERPT = 60  # characters that identify a conversation in a list


def build_state(
    sheet_file: SheetFile, version: Version, place: int | None = None
) -> dict[str, Any]:
    """Builds the state of a chapter, which `GET /state` returns.

    - `revision`: of the file; an edit must repeat it.
    - `book`, `title`, `chapter`, `can_undo`; `speakers`, names in the order in which they first
      speak; `characters`, the names of others in the book, from a tagger; `progress`, the number
      of spans `decided` and of `all`.
    - `spans`: for each place its `place`, `paragraph`, `start`, `end` and `text`; its `status`
      ("undecided", "guess" or "decided"); `speaker`, `conversation` (0 if it is not an utterance)
      and `tag`, all None if it is undecided; `sure`, the confidence of the guess, 0 to 1 or None;
      and `remark`.
    - `conversations`, decided or guessed: their `number`, `speakers` and first words, `text`.
    - `layer`: the chapter in the form of `build_layer_payload`; each of its conversations
      also has its number in the file, `label`, and whether it is `resumed`.
    - `lost`: the rows of the file that were found on no span.
    - `next`: the place to decide after `place`, None if all are decided.
    """
    sheet, book = version.sheet, sheet_file.book_spans.book
    spans = []
    for n, (entry, tag) in enumerate(zip(sheet.spans, sheet.tags(), strict=True)):
        span, fact = entry.span, entry.fact
        assert span is not None
        status = "decided" if entry.is_decided else "undecided" if fact is None else "guess"
        spans.append(
            {"place": n, "paragraph": span.paragraph, "start": span.start, "end": span.end}
            | {"text": span.text, "status": status, "tag": tag and tag.value}
            | {"speaker": fact and fact.speaker, "conversation": fact and fact.conversation}
            | {"sure": entry.guess and entry.guess.confidence, "remark": entry.row.remark}
        )
    return {
        "revision": version.revision,
        "book": book.id,
        "title": book.title,
        "chapter": sheet_file.chapter,
        "speakers": sheet.speakers,
        "characters": sheet_file.suggest_names(sheet),
        "progress": {"decided": sheet.n_decided, "all": len(spans)},
        "can_undo": bool(sheet.history),
        "conversations": _list_conversations(sheet.spans),
        "layer": _layer_payload(_number_chapter(sheet_file, version)),
        "lost": [_lost_row(row) for row in sheet.lost],
        "spans": spans,
        "next": sheet.next_place(place),
    }


def render_annotation_page(sheet_file: SheetFile, version: Version) -> bytes:
    """Returns the HTML page on which the chapter is annotated: `miner view` in mode "edit".

    The values of its chapter also have `state`.
    """
    chapter, book = sheet_file.chapter, sheet_file.book_spans.book
    blocks = tuple(block for block in book.blocks if block.chapter == chapter)
    layer = Layer(LAYER, False, {chapter: _number_chapter(sheet_file, version)})
    shown = LayeredBook(replace(book, blocks=blocks), (layer,))
    values = build_chapter_payload(shown, chapter) | {"state": build_state(sheet_file, version)}
    return render_page(build_book_payload(shown), [values], "edit")


def _number_chapter(sheet_file: SheetFile, version: Version) -> NumberedChapter:
    """The chapter with the tags that follow from the sheet; undecided spans are narration."""
    sheet, chapter = version.sheet, sheet_file.chapter
    known = {entry.span: (entry, tag) for entry, tag in zip(sheet.spans, sheet.tags(), strict=True)}
    tagged: list[TaggedSpan] = []
    facts: dict[Place, Annotation] = {}
    for span in version.spans:
        entry, tag = known.get(span, (None, None))
        if entry is None or entry.fact is None or tag in (None, Tag.O):
            narration = replace(span, kind=SpanKind.OTHER if entry else SpanKind.NARRATION)
            tagged.append(TaggedSpan(narration, Tag.O))
            continue
        confidence = None if entry.is_decided or not entry.guess else entry.guess.confidence
        tagged.append(TaggedSpan(replace(span, kind=SpanKind.UTTERANCE), tag, confidence))
        facts[place_of(span)] = entry.fact
    book = TaggedBook(sheet_file.book_spans.book.id, tuple(tagged), LAYER)
    return number_chapters(book, facts=facts)[chapter]


def _layer_payload(chapter: NumberedChapter) -> dict[str, Any]:
    layer = build_layer_payload(chapter)
    numbers = {
        item.conversation: item.fact.conversation for item in chapter.utterances if item.fact
    }
    begun: set[int] = set()
    for conversation in layer["conversations"]:
        label = numbers[conversation["number"]]
        conversation |= {"label": label, "resumed": label in begun}
        begun.add(label)
    return layer


def _list_conversations(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for entry in entries:
        fact, span = entry.fact, entry.span
        if fact is None or span is None or not fact.is_utterance:
            continue
        blank = {
            "number": fact.conversation,
            "speakers": [],
            "text": " ".join(span.text.split())[:_EXCERPT],
        }
        speakers = found.setdefault(fact.conversation, blank)["speakers"]
        if fact.speaker not in speakers:
            speakers.append(fact.speaker)
    return [found[number] for number in sorted(found)]


def _lost_row(row: Annotation) -> dict[str, Any]:
    return {
        "paragraph": row.paragraph,
        "fingerprint": str(row.fingerprint),
        "speaker": row.speaker,
        "conversation": row.conversation,
        "remark": row.remark,
    }


def render_book_page(sheets: BookSheets, progress: BookProgress) -> bytes:
    """Returns the HTML page with the chapters of a book and how far each of them is done."""
    book = build_book_payload(LayeredBook(sheets.book_spans.book, ()))
    titles: dict[int, dict[str, Any]] = {item["number"]: item for item in book["chapters"]}
    chapters = [
        {
            "number": item.chapter,
            "title": titles[item.chapter]["title"],
            "words": titles[item.chapter]["words"],
            "spans": item.n_spans,
            "decided": item.n_decided,
            "lost": item.n_lost,
        }
        for item in progress.chapters
    ]
    return render_chapters_page(
        {
            "title": book["title"],
            "author": book["author"],
            "language": book["language"],
            "file": printable(sheets.path.name),
            "foreign": progress.n_foreign,
            "chapters": chapters,
        }
    )
