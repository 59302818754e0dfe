"""A book and its layers -> JSON values for the page, one chapter at a time.

Utterances are stored as columns of equal length. That takes a third of the space of rows, and a
long novel must fit into one file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations, takewhile
from typing import Any

from miner.annotation.matching import CAUSES, place_of
from miner.app.viewer.casts import CastMember, choose_colours
from miner.app.viewer.layers import (
    ROLE_OF_TAG,
    Layer,
    LayeredBook,
    find_disagreements,
    score_chapter,
)
from miner.app.viewer.numbering import NumberedChapter, NumberedConversation, NumberedUtterance
from miner.books.book import Block, BlockKind
from miner.books.page import count_words
from miner.corpus.schema import SPEAKER, Row
from miner.errors import InputError
from miner.version import __version__

SPAN_COLUMNS = ("chapter", "paragraph", "span", "start", "end")  # of a span in a dialogue's row
TURN_COLUMNS = ("text", "raw", "narration", *SPEAKER, "spans")  # of a turn in it
_DIGITS = 3  # of a confidence or a score; the page shows no more


def build_book_payload(book: LayeredBook) -> dict[str, Any]:
    """Builds the values for the whole book: its layers, and its chapters without their text.

    Each layer has `name`; `gold`, whether it is the gold; `begins`, the chapter in which each of
    its dialogues begins; `sure`, the confidences of the pairs of each dialogue, None if the layer
    has none; and `cast`, the values of each member of the cast: `chapters` is the number of
    utterances in each chapter, and `colour` is 0 for those who have none of their own. `causes`
    explains why pairs are wrong, if there is a gold.

    Each chapter has `number`, `title`, `words`, `annotated`, `counts` (one per layer, None if the
    layer lacks the chapter) and `disagreements` (their number for each pair of layers, "0-1").
    """
    chapters = []
    for number in book.chapters:
        blocks = _blocks(book, number)
        chapters.append(
            {
                "number": number,
                "title": _title(book, number, blocks),
                "words": sum(count_words(block.text) for block in blocks),
                "annotated": number in book.annotated,
                "counts": [
                    None if chapter is None else asdict(chapter.counts)
                    for chapter in _chapter_in_layers(book, number)
                ],
                "disagreements": {
                    key: len(found) for key, found in _disagreement_rows(book, number).items()
                },
            }
        )
    return {
        "id": book.book.id,
        "title": book.book.title or book.book.id,
        "author": book.book.author,
        "language": book.book.language,
        "layers": [
            _whole_layer(layer, colours)
            for layer, colours in zip(
                book.layers, choose_colours([layer.cast for layer in book.layers]), strict=True
            )
        ],
        "causes": CAUSES if any(layer.is_gold for layer in book.layers) else {},
        "lost": book.n_lost,
        "chapters": chapters,
        "span_columns": SPAN_COLUMNS,
        "turn_columns": TURN_COLUMNS,
        "version": __version__,
    }


def build_chapter_payload(book: LayeredBook, number: int) -> dict[str, Any]:
    """Builds the values for one chapter.

    - `blocks` has the columns index, kind and text.
    - `layers` has one item per layer, None if the layer lacks the chapter: the values of
      `build_layer_payload`; `scores` against the gold, None for the gold and without gold; and
      `dialogues`, the rows of those that begin in the chapter, with each turn and each span as a
      list of values in the order of `TURN_COLUMNS` and `SPAN_COLUMNS`.
    - `disagreements` has, for each pair of layers ("0-1"), rows of paragraph, start, end and the
      role that each layer gives.
    """
    blocks = _blocks(book, number)
    if not blocks:
        raise InputError(
            f"{book.book.id}: found no chapter {number}, expected 0 to {book.book.n_chapters}"
        )
    layers = []
    for layer, chapter in zip(book.layers, _chapter_in_layers(book, number), strict=True):
        record = None if chapter is None else build_layer_payload(chapter)
        if record is not None:
            is_judged = number in book.annotated and not layer.is_gold
            scores = asdict(score_chapter(book, layer, number)) if is_judged else None
            record["scores"] = _rounded(scores)
            record["dialogues"] = [
                _packed(row) for row in layer.dialogues if row["chapter"] == number
            ]
        layers.append(record)
    return {
        "number": number,
        "title": _title(book, number, blocks),
        "blocks": {
            "index": [block.index for block in blocks],
            "kind": [block.kind.value for block in blocks],
            "text": [block.text for block in blocks],
        },
        "layers": layers,
        "disagreements": _disagreement_rows(book, number),
    }


def _whole_layer(layer: Layer, colours: Mapping[str, int]) -> dict[str, Any]:
    """What the page knows of a layer before it opens a chapter."""
    sure: list[list[float | None]] = [[] for _ in layer.dialogues]
    for chapter in layer.chapters.values():
        for item in chapter.conversations:
            if sure:
                sure[item.dialogue] += [_rounded(pair.confidence) for pair in item.pairs]
    has_confidence = any(value is not None for values in sure for value in values)
    return {
        "name": layer.name,
        "gold": layer.is_gold,
        "begins": [row["chapter"] for row in layer.dialogues],
        "sure": sure if has_confidence else None,
        "cast": [_member_payload(member, colours.get(member.id, 0)) for member in layer.cast],
    }


def _member_payload(member: CastMember, colour: int) -> dict[str, Any]:
    """What the page knows of a person; of the unknown ones together it is no more than counts."""
    record: dict[str, Any] = {"id": member.id, "name": "unknown", "colour": colour}
    if one := member.character:
        record |= {"name": one.name, "gender": one.gender, "kind": one.kind.value}
        record["others"] = [alias for alias in one.aliases if alias != one.name]
    return record | {"chapters": sorted(member.chapters.items())}


def _packed(row: Row) -> Row:
    """The row of a dialogue with its turns and spans as lists, which take less space."""
    turns = []
    for turn in row["turns"]:
        spans = [[span[name] for name in SPAN_COLUMNS] for span in turn["spans"]]
        turns.append([(turn | {"spans": spans})[name] for name in TURN_COLUMNS])
    return row | {"turns": turns}


def _blocks(book: LayeredBook, number: int) -> list[Block]:
    return [block for block in book.book.blocks if block.chapter == number]


def _title(book: LayeredBook, number: int, blocks: Sequence[Block]) -> str:
    """The headings at the beginning of a chapter, or a description if it has none."""
    if number == 0:
        return "Before the first chapter" if book.book.n_chapters else "The whole text"
    headings = takewhile(lambda block: block.kind is BlockKind.HEADING, blocks)
    return " · ".join(" ".join(block.text.split()) for block in headings) or f"Chapter {number}"


def _chapter_in_layers(book: LayeredBook, number: int) -> list[NumberedChapter | None]:
    """The chapter in each layer; None if the gold lacks it, empty if a tagger has no spans."""
    empty = NumberedChapter((), (), ())
    return [layer.chapters.get(number, None if layer.is_gold else empty) for layer in book.layers]


def _disagreement_rows(book: LayeredBook, number: int) -> dict[str, list[list[Any]]]:
    chapters = _chapter_in_layers(book, number)
    return {
        f"{a}-{b}": [
            [*item.place, item.first, item.second] for item in find_disagreements(one, other)
        ]
        for (a, one), (b, other) in combinations(enumerate(chapters), 2)
        if one is not None and other is not None
    }


def build_layer_payload(chapter: NumberedChapter) -> dict[str, Any]:
    """Builds the values for a layer in one chapter.

    They are `utterances` in columns; `quoted`, the places of text in quotation marks that is not an
    utterance; `conversations`; and `counts`.
    """
    quoted = (item.span for item in chapter.spans if item.span.quoted)
    return {
        "utterances": _columns(chapter.utterances),
        "quoted": [place_of(span) for span in quoted],
        "conversations": [_conversation_payload(item) for item in chapter.conversations],
        "counts": asdict(chapter.counts),
    }


def _columns(utterances: Sequence[NumberedUtterance]) -> dict[str, list[Any]]:
    """The utterances in columns; confidences, speakers and facts only if there are any."""
    spans = [item.item.span for item in utterances]
    columns: dict[str, list[Any]] = {
        "paragraph": [span.paragraph for span in spans],
        "start": [span.start for span in spans],
        "end": [span.end for span in spans],
        "tag": [item.item.tag for item in utterances],
        "says": [ROLE_OF_TAG[item.item.tag] for item in utterances],
        "conversation": [item.conversation for item in utterances],
        "turn": [item.turn for item in utterances],
    }
    if any(item.item.confidence is not None for item in utterances):
        columns["confidence"] = [_rounded(item.item.confidence) for item in utterances]
    if any(item.fact or item.item.speaker for item in utterances):
        columns["speaker"] = [item.speaker for item in utterances]
    if any(item.item.speaker_confidence is not None for item in utterances):
        columns["speaker_confidence"] = [
            _rounded(item.item.speaker_confidence) for item in utterances
        ]
    if any(item.fact for item in utterances):
        columns["annotated"] = [item.fact.conversation if item.fact else 0 for item in utterances]
    return columns


def _conversation_payload(item: NumberedConversation) -> dict[str, Any]:
    return {
        "number": item.number,
        "dialogue": item.dialogue,
        "first": item.first,
        "last": item.last,
        "pairs": [[pair.turn, _rounded(pair.confidence), pair.cause] for pair in item.pairs],
    }


def _rounded(value: Any) -> Any:  # noqa: ANN401 - any nesting of JSON values
    """The value with its numbers rounded as the page shows them."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return round(value, _DIGITS) if isinstance(value, float) else value
