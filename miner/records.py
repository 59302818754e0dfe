"""Tagged books and dialogues -> rows of files: what a user loads, each with its way back to the page.

Every row names its book and, by chapter, paragraph and character offsets, its place in it. The
schemas are fixed here, so that a file without a confidence in it has the same columns as one with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from miner.dialogues import Dialogue, Turn, span_pairs, turn_pairs
from miner.gold import tags_row
from miner.spans import Span
from miner.tags import TaggedBook

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
KINDS = ("spans", "dialogues", "pairs")


def span_rows(tagged: TaggedBook, found: Sequence[Dialogue]) -> Iterator[Row]:
    """One row per span in reading order, narration included: the tags file's columns and two more.

    `dialogue` and `turn` number the span's dialogue in the book and its turn in that dialogue; both
    are None on narration and on what the filters took out.
    """
    turns: dict[tuple[int, int], tuple[int, int]] = {}
    for dialogue in found:
        for number, turn in enumerate(dialogue.turns):
            for span in turn.spans:
                turns[span.paragraph, span.index] = (dialogue.index, number)
    for item in tagged.spans:
        dialogue, turn = turns.get((item.span.paragraph, item.span.index), (None, None))
        yield tags_row(tagged.book, item) | {"dialogue": dialogue, "turn": turn}


def dialogue_rows(tagged: TaggedBook, found: Sequence[Dialogue]) -> Iterator[Row]:
    """One row per dialogue, with its turns and the narration that stands before and inside each."""
    narration = _Narration(tagged)
    for dialogue in found:
        first = dialogue.turns[0].spans[0]
        turns = []
        for previous, turn in pairwise((None, *dialogue.turns)):
            assert turn is not None
            turns.append(
                {
                    "text": turn.said,
                    "narration": narration.up_to(turn, previous),
                    "spans": _places(turn.spans),
                }
            )
        yield {
            "book": dialogue.book,
            "dialogue": dialogue.index,
            "part": dialogue.part,
            "chapter": first.chapter,
            "paragraph": first.paragraph,
            "n_turns": len(turns),
            "n_words": sum(len(turn["text"].split()) for turn in turns),
            "turns": turns,
        }


def pair_rows(
    tagged: TaggedBook, found: Sequence[Dialogue], by_span: bool = False
) -> Iterator[Row]:
    """One row per pair of a context and its response, with the narration between the two.

    Args:
        tagged: the book that the dialogues were decoded from.
        found: its dialogues.
        by_span: pair spans, as the seed work does, instead of turns.
    """
    narration = _Narration(tagged)
    for dialogue in found:
        for pair in (span_pairs if by_span else turn_pairs)(dialogue):
            yield {
                "book": pair.book,
                "dialogue": pair.dialogue,
                "part": dialogue.part,
                "chapter": pair.context.spans[0].chapter,
                "paragraph": pair.context.spans[0].paragraph,
                "context": pair.context.said,
                "response": pair.response.said,
                "narration": narration.up_to(pair.response, pair.context),
                "context_spans": _places(pair.context.spans),
                "response_spans": _places(pair.response.spans),
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
    spans += [("quoted", flag), ("dialogue", number), ("turn", number)]
    head = [("book", text), ("dialogue", number), ("part", number)]
    head += [("chapter", number), ("paragraph", number)]
    pairs = [*head, ("context", text), ("response", text), ("narration", text)]
    pairs += [("context_spans", pa.list_(place)), ("response_spans", pa.list_(place))]
    return {
        "spans": pa.schema(spans),
        "dialogues": pa.schema(
            [*head, ("n_turns", number), ("n_words", number), ("turns", pa.list_(turn))]
        ),
        "pairs": pa.schema(pairs),
    }
