"""A book and its layers -> plain values for the page that shows them, a chapter at a time.

Utterances are given by columns, all of the same length: that is a third of the size of rows, and
a long novel is one file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations, takewhile
from typing import Any

from miner import __version__
from miner.app.viewer.layers import SAYS, LayeredBook, chapter_scores, disagreements
from miner.app.viewer.numbered import Conversation, NumberedChapter, Utterance, place_of
from miner.books.book import Block, BlockKind
from miner.books.page import count_words

_DIGITS = 3  # of a confidence or a score; more are not shown


def book_data(book: LayeredBook) -> dict[str, Any]:
    """What the page knows of the whole book: its layers, and its chapters without their text.

    Each chapter has `number`, `title`, `words`, `annotated`, `counts` (one per layer, None where
    the layer does not have it) and `disagreements`: how many, by the numbers of two layers ("0-1").
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
                    for chapter in _chapter_of_layers(book, number)
                ],
                "disagreements": {
                    key: len(found) for key, found in _disagreements(book, number).items()
                },
            }
        )
    return {
        "id": book.book.id,
        "title": book.book.title or book.book.id,
        "author": book.book.author,
        "language": book.book.language,
        "layers": [{"name": layer.name, "gold": layer.is_gold} for layer in book.layers],
        "lost": book.n_lost,
        "chapters": chapters,
        "version": __version__,
    }


def chapter_data(book: LayeredBook, number: int) -> dict[str, Any]:
    """What the page shows of one chapter.

    `blocks` has the columns index, kind and text. `layers` has, per layer, None where it does not
    have the chapter, else: `utterances` in columns; `quoted`, the places of what stands in
    quotation marks and is no utterance; `conversations`; `counts`; and `scores` against the gold,
    None where there is none or the layer is the gold. `disagreements` has, by the numbers of two
    layers ("0-1"), rows of paragraph, start, end and what each says.

    Raises:
        ValueError: if the book has no such chapter.
    """
    blocks = _blocks(book, number)
    if not blocks:
        raise ValueError(
            f"{book.book.id}: found no chapter {number}, expected up to {book.book.n_chapters}"
        )
    layers = []
    for layer, chapter in zip(book.layers, _chapter_of_layers(book, number), strict=True):
        record = None if chapter is None else layer_data(chapter)
        if record is not None:
            judged = number in book.annotated and not layer.is_gold
            scores = asdict(chapter_scores(book, layer, number)) if judged else None
            record["scores"] = _rounded(scores)
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
        "disagreements": _disagreements(book, number),
    }


def _blocks(book: LayeredBook, number: int) -> list[Block]:
    return [block for block in book.book.blocks if block.chapter == number]


def _title(book: LayeredBook, number: int, blocks: Sequence[Block]) -> str:
    """The headings that a chapter begins with; words of ours where it has none."""
    if number == 0:
        return "Before the first chapter" if book.book.n_chapters else "The whole text"
    headings = takewhile(lambda block: block.kind is BlockKind.HEADING, blocks)
    return " · ".join(" ".join(block.text.split()) for block in headings) or f"Chapter {number}"


def _chapter_of_layers(book: LayeredBook, number: int) -> list[NumberedChapter | None]:
    """The chapter in each layer; one without a block of the story has no spans in any but gold."""
    empty = NumberedChapter((), (), ())
    return [layer.chapters.get(number, None if layer.is_gold else empty) for layer in book.layers]


def _disagreements(book: LayeredBook, number: int) -> dict[str, list[list[Any]]]:
    chapters = _chapter_of_layers(book, number)
    return {
        f"{a}-{b}": [[*item.place, item.first, item.second] for item in disagreements(one, other)]
        for (a, one), (b, other) in combinations(enumerate(chapters), 2)
        if one is not None and other is not None
    }


def layer_data(chapter: NumberedChapter) -> dict[str, Any]:
    """What the page shows of a layer in one chapter, as `chapter_data` has it, without scores."""
    quoted = (item.span for item in chapter.spans if item.span.quoted)
    return {
        "utterances": _columns(chapter.utterances),
        "quoted": [place_of(span) for span in quoted],
        "conversations": [_conversation(item) for item in chapter.conversations],
        "counts": asdict(chapter.counts),
    }


def _columns(utterances: Sequence[Utterance]) -> dict[str, list[Any]]:
    """The columns of utterances; confidences and facts only where there are any."""
    spans = [item.item.span for item in utterances]
    columns: dict[str, list[Any]] = {
        "paragraph": [span.paragraph for span in spans],
        "start": [span.start for span in spans],
        "end": [span.end for span in spans],
        "tag": [item.item.tag for item in utterances],
        "says": [SAYS[item.item.tag] for item in utterances],
        "conversation": [item.conversation for item in utterances],
        "turn": [item.turn for item in utterances],
    }
    if any(item.item.confidence is not None for item in utterances):
        columns["confidence"] = [_rounded(item.item.confidence) for item in utterances]
    if any(item.fact for item in utterances):
        facts = [item.fact for item in utterances]
        columns["speaker"] = [fact.speaker if fact else "" for fact in facts]
        columns["annotated"] = [fact.conversation if fact else 0 for fact in facts]
    return columns


def _conversation(item: Conversation) -> dict[str, Any]:
    return {
        "number": item.number,
        "first": item.first,
        "last": item.last,
        "pairs": [[pair.turn, _rounded(pair.confidence), pair.cause] for pair in item.pairs],
    }


def _rounded(value: Any) -> Any:  # noqa: ANN401 - numbers in any nesting of plain values
    """The value with its numbers as short as they are shown."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return round(value, _DIGITS) if isinstance(value, float) else value
