"""Tagged books and dialogues -> rows of files: what a user loads, and its way back to the page.

Every row names its book and, by chapter, paragraph and character offsets, its place in it. The
schemas are fixed here, so that a file without a confidence in it has the same columns as one with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from miner.dialogue.dialogues import Dialogue, Turn, by_span, turn_pairs
from miner.dialogue.spans import Span
from miner.dialogue.tag_files import tags_row
from miner.dialogue.tags import TaggedBook

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
KINDS = ("spans", "dialogues", "pairs")


def rows_of_book(
    tagged: TaggedBook, found: Sequence[Dialogue], pairs_by_span: bool = False
) -> dict[str, Iterable[Row]]:
    """The rows of each kind of `KINDS`.

    - spans: one row per span in reading order, narration included: the columns of a tags file, and
      the number of the span's dialogue, of the part of it that the filters left, and of its turn in
      that part (None on narration, and on what the filters took out).
    - dialogues: one row per dialogue, with its turns, and with each turn the narration since the
      one before it, inside the turn included.
    - pairs: one row per turn and next turn, with the narration between the two and inside the next,
      and how sure the pair is (None where the tagger claims nothing).

    Args:
        tagged: the book that the dialogues were decoded from.
        found: its dialogues, filtered or not.
        pairs_by_span: pair spans, as the seed work does, instead of turns.
    """
    narration = _Narration(tagged)
    rows = [_dialogue_row(dialogue, narration) for dialogue in found]
    paired, rows_of_paired = found, rows
    if pairs_by_span:
        paired = [by_span(dialogue) for dialogue in found]
        rows_of_paired = [_dialogue_row(dialogue, narration) for dialogue in paired]
    return {
        "spans": _span_rows(tagged, found),
        "dialogues": rows,
        "pairs": (
            pair
            for dialogue, row in zip(paired, rows_of_paired, strict=True)
            for pair in _pair_rows(dialogue, row)
        ),
    }


def _span_rows(tagged: TaggedBook, found: Sequence[Dialogue]) -> Iterator[Row]:
    places: dict[tuple[int, int], tuple[int, int, int]] = {}
    for dialogue in found:
        for number, turn in enumerate(dialogue.turns):
            for span in turn.spans:
                places[span.paragraph, span.index] = (dialogue.index, dialogue.part, number)
    for item in tagged.spans:
        row = tags_row(tagged.book, item)
        place = places.get((item.span.paragraph, item.span.index), (None, None, None))
        row["dialogue"], row["part"], row["turn"] = place
        yield row


def _pair_rows(dialogue: Dialogue, row: Row) -> Iterator[Row]:
    """The pairs of a dialogue, from its row."""
    for pair, (context, response) in zip(turn_pairs(dialogue), pairwise(row["turns"]), strict=True):
        yield {
            "book": row["book"],
            "dialogue": row["dialogue"],
            "part": row["part"],
            "chapter": context["spans"][0]["chapter"],
            "paragraph": context["spans"][0]["paragraph"],
            "context": context["text"],
            "response": response["text"],
            "narration": response["narration"],
            "confidence": pair.confidence,
            "context_spans": context["spans"],
            "response_spans": response["spans"],
        }


def _dialogue_row(dialogue: Dialogue, narration: _Narration) -> Row:
    turns = dialogue.turns
    made = [
        {
            "text": turn.text,
            "narration": narration.up_to(turn, turns[number - 1] if number else None),
            "spans": _places(turn.spans),
        }
        for number, turn in enumerate(turns)
    ]
    return {
        "book": dialogue.book,
        "dialogue": dialogue.index,
        "part": dialogue.part,
        "chapter": turns[0].spans[0].chapter,
        "paragraph": turns[0].spans[0].paragraph,
        "n_turns": len(made),
        "n_words": sum(len(turn["text"].split()) for turn in made),
        "turns": made,
    }


class _Narration:
    """What is told between and inside turns."""

    def __init__(self, tagged: TaggedBook) -> None:
        self._spans = [item.span for item in tagged.spans]
        self._position = {
            (span.paragraph, span.index): position for position, span in enumerate(self._spans)
        }

    def up_to(self, turn: Turn, previous: Turn | None) -> str:
        """Narration from the end of `previous` (or the start of `turn`) to the end of `turn`."""
        start = self._at(previous.spans[-1] if previous else turn.spans[0])
        told = self._spans[start : self._at(turn.spans[-1])]
        pieces = (span.text.strip() for span in told if not span.is_utterance)
        return " ".join(piece for piece in pieces if piece)

    def _at(self, span: Span) -> int:
        return self._position[span.paragraph, span.index]


def _places(spans: Iterable[Span]) -> list[Row]:
    return [
        {
            "chapter": span.chapter,
            "paragraph": span.paragraph,
            "span": span.index,
            "start": span.start,
            "end": span.end,
        }
        for span in spans
    ]


def arrow_schemas() -> Mapping[str, pa.Schema]:
    """The Arrow schema of each kind of row, for Parquet."""
    import pyarrow as pa

    text, number, flag = pa.string(), pa.int32(), pa.bool_()
    place = pa.struct([(name, number) for name in ("chapter", "paragraph", "span", "start", "end")])
    turn = pa.struct([("text", text), ("narration", text), ("spans", pa.list_(place))])
    spans = [("book", text)]
    spans += [(name, number) for name in ("chapter", "paragraph", "span", "start", "end")]
    spans += [("kind", text), ("text", text), ("tag", text), ("confidence", pa.float32())]
    spans += [("quoted", flag), ("continues", flag)]
    spans += [("dialogue", number), ("part", number), ("turn", number)]
    head = [("book", text), ("dialogue", number), ("part", number)]
    head += [("chapter", number), ("paragraph", number)]
    pairs = [*head, ("context", text), ("response", text), ("narration", text)]
    pairs += [("confidence", pa.float32())]
    pairs += [("context_spans", pa.list_(place)), ("response_spans", pa.list_(place))]
    return {
        "spans": pa.schema(spans),
        "dialogues": pa.schema(
            [*head, ("n_turns", number), ("n_words", number), ("turns", pa.list_(turn))]
        ),
        "pairs": pa.schema(pairs),
    }
