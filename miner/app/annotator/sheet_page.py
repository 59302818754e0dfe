"""A sheet -> what the page of its chapter shows: the state after each edit, and the page itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from miner.annotation.annotations import Annotation
from miner.app.annotator.guesses import Entry
from miner.app.annotator.sheet_file import SheetFile, Version
from miner.app.viewer.data import book_data, chapter_data, layer_data
from miner.app.viewer.layers import Layer, LayeredBook
from miner.app.viewer.numbered import NumberedChapter, Place, numbered, place_of
from miner.app.viewer.page import page_html
from miner.dialogue.tags import Tag, TaggedBook, TaggedSpan

LAYER = "annotation"
_FIRST_WORDS = 60  # characters of a conversation, to know it by


def state_of(sheet_file: SheetFile, version: Version, place: int | None = None) -> dict[str, Any]:
    """The state of a chapter as `GET /state` gives it.

    - `revision`, of the file, which an edit must carry.
    - `book`, `title`, `chapter`; `speakers`, names in the order in which they first speak;
      `progress`, how many spans are `decided` of `all`; `can_undo`.
    - `spans`: for each place its `place`, `paragraph`, `start`, `end` and `text`; `status`
      ("undecided", "guess" or "decided"); `speaker` and `conversation`, 0 where it is no utterance,
      both None where it is undecided; `tag`, None there, too; `sure`, of the tagger, 0..1 or None;
      `remark`.
    - `conversations`, decided or guessed: their `number`, their `speakers` and the `text` that they
      begin with.
    - `layer`: the chapter as the page shows it, in the form of `viewdata.layer_data`; each of its
      conversations also has its number in the file, `label`, and whether it is `resumed`.
    - `lost`: the rows of the file that were found on no span.
    - `next`: the place to decide after `place`, None where all are decided.
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
            | {"sure": entry.guess and entry.guess.sure, "remark": entry.row.remark}
        )
    return {
        "revision": version.revision,
        "book": book.id,
        "title": book.title,
        "chapter": sheet_file.chapter,
        "speakers": sheet.speakers,
        "progress": {"decided": sheet.n_decided, "all": len(spans)},
        "can_undo": bool(sheet.before),
        "conversations": _conversations(sheet.spans),
        "layer": _layer(_numbered(sheet_file, version)),
        "lost": [_lost(row) for row in sheet.lost],
        "spans": spans,
        "next": sheet.next_place(place),
    }


def page(sheet_file: SheetFile, version: Version) -> bytes:
    """The page on which the chapter is annotated, HTML: the page of `miner view` in mode "edit".

    Its chapter has the `state` beside what `viewdata.chapter_data` gives.
    """
    chapter, book = sheet_file.chapter, sheet_file.book_spans.book
    blocks = tuple(block for block in book.blocks if block.chapter == chapter)
    layer = Layer(LAYER, False, {chapter: _numbered(sheet_file, version)})
    shown = LayeredBook(replace(book, blocks=blocks), (layer,))
    data = chapter_data(shown, chapter) | {"state": state_of(sheet_file, version)}
    return page_html(book_data(shown), [data], "edit")


def _numbered(sheet_file: SheetFile, version: Version) -> NumberedChapter:
    """The chapter with the tags that follow from the sheet; what is undecided is narration."""
    sheet, chapter = version.sheet, sheet_file.chapter
    known = {entry.span: (entry, tag) for entry, tag in zip(sheet.spans, sheet.tags(), strict=True)}
    tagged: list[TaggedSpan] = []
    facts: dict[Place, Annotation] = {}
    for span in version.spans:
        entry, tag = known.get(span, (None, None))
        if entry is None or entry.fact is None or tag in (None, Tag.O):
            silent = replace(span, is_utterance=False, quoted=entry is not None)
            tagged.append(TaggedSpan(silent, Tag.O))
            continue
        sure = entry.guess.sure if entry.guess and not entry.is_decided else None
        tagged.append(TaggedSpan(replace(span, is_utterance=True, quoted=False), tag, sure))
        facts[place_of(span)] = entry.fact
    book = TaggedBook(sheet_file.book_spans.book.id, tuple(tagged), LAYER)
    return numbered(book, facts=facts)[chapter]


def _layer(chapter: NumberedChapter) -> dict[str, Any]:
    data = layer_data(chapter)
    numbers = {
        item.conversation: item.fact.conversation for item in chapter.utterances if item.fact
    }
    begun: set[int] = set()
    for conversation in data["conversations"]:
        label = numbers[conversation["number"]]
        conversation |= {"label": label, "resumed": label in begun}
        begun.add(label)
    return data


def _conversations(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for entry in entries:
        fact, span = entry.fact, entry.span
        if fact is None or span is None or not fact.is_utterance:
            continue
        blank = {
            "number": fact.conversation,
            "speakers": [],
            "text": " ".join(span.text.split())[:_FIRST_WORDS],
        }
        speakers = found.setdefault(fact.conversation, blank)["speakers"]
        if fact.speaker not in speakers:
            speakers.append(fact.speaker)
    return [found[number] for number in sorted(found)]


def _lost(row: Annotation) -> dict[str, Any]:
    return {
        "paragraph": row.paragraph,
        "fingerprint": str(row.fingerprint),
        "speaker": row.speaker,
        "conversation": row.conversation,
        "remark": row.remark,
    }
