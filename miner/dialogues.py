"""Tagged spans -> dialogues of turns -> pairs of a turn and its response."""

from __future__ import annotations

from dataclasses import dataclass

from miner.spans import Span


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker says in one go: the span of a B- tag and the I- spans that follow it."""

    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The turns of one conversation, in order; `index` counts the book's dialogues from 0."""

    book: str
    index: int
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A turn and the next turn of the same dialogue (or, for span pairs, two spans)."""

    book: str
    dialogue: int
    context: Turn
    response: Turn
