"""A sheet -> what the page of its chapter shows: the state, the paragraphs, the page itself."""

from __future__ import annotations

import hashlib
from html import escape
from itertools import groupby
from typing import Any

from miner.annotations import Annotation
from miner.sheetfile import SheetFile, Version
from miner.spans import Span


def state_of(sheet_file: SheetFile, version: Version, place: int | None = None) -> dict[str, Any]:
    """The state of a chapter as `GET /state` gives it.

    - `revision`, of the file, which an edit must carry; `cut`, which changes when `GET /chapter`
      has other spans.
    - `book`, `title`, `chapter`; `speakers`, names in the order in which they first speak;
      `progress`, how many spans are `decided` of `all`; `can_undo`.
    - `spans`: for each place its `place`, `paragraph`, `start`, `end` and `text`; `status`
      ("undecided", "guess" or "decided"); `speaker` and `conversation`, 0 where it is no utterance,
      both None where it is undecided; `tag`, None there, too; `sure`, of the tagger, 0..1 or None;
      `remark`.
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
        "cut": _cut_digest(version.spans),
        "book": book.id,
        "title": book.title,
        "chapter": sheet_file.chapter,
        "speakers": sheet.speakers,
        "progress": {"decided": sheet.n_decided, "all": len(spans)},
        "can_undo": bool(sheet.before),
        "lost": [_lost(row) for row in sheet.lost],
        "spans": spans,
        "next": sheet.next_place(place),
    }


def chapter_of(sheet_file: SheetFile, version: Version) -> list[dict[str, Any]]:
    """The paragraphs of the chapter, narration included, as `GET /chapter` gives them.

    Each has `index`, `kind` (heading, paragraph, verse, letter) and `spans`, which join back to its
    text: `text`, `place` (None where there is nothing to annotate), and what the miner took it for,
    `utterance` or `quoted`.
    """
    kinds = {block.index: block.kind.value for block in sheet_file.book_spans.book.blocks}
    places = {entry.span: n for n, entry in enumerate(version.sheet.spans)}
    return [
        {
            "index": index,
            "kind": kinds[index],
            "spans": [
                {"text": span.text, "place": places.get(span)}
                | {"utterance": span.is_utterance, "quoted": span.quoted}
                for span in group
            ],
        }
        for index, group in groupby(version.spans, key=lambda span: span.paragraph)
    ]


def page(token: str, nonce: str, title: str, chapter: int) -> str:
    """The page at `/`, HTML: it carries the token, and its scripts and styles the nonce.

    Args:
        token: what each request of the page must have in its header `X-Token`.
        nonce: the attribute by which the policy of the page knows its own scripts and styles.
        title: of the book.
        chapter: its number.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="token" content="{escape(token)}">'
        f"<title>{escape(title)}, chapter {chapter}</title>"
        f'<style nonce="{escape(nonce)}">body {{ font: 1.1em/1.5 serif; margin: 2em auto; '
        "max-width: 34em }</style></head>"
        f"<body><h1>{escape(title)}</h1><p>Chapter {chapter}</p></body></html>\n"
    )


def _lost(row: Annotation) -> dict[str, Any]:
    return {
        "paragraph": row.paragraph,
        "fingerprint": str(row.fingerprint),
        "speaker": row.speaker,
        "conversation": row.conversation,
        "remark": row.remark,
    }


def _cut_digest(spans: tuple[Span, ...]) -> str:
    places = [(span.paragraph, span.start, span.end, span.in_marks) for span in spans]
    return hashlib.sha256(repr(places).encode()).hexdigest()[:16]
