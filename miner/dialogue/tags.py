"""The five tags, which may follow which, and what every tagger must do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from miner.dialogue.spans import BookSpans, Span


class Tag(StrEnum):
    """One tag per span, after "Mining Conversations from Novels" (section Identifying)."""

    B_START = "B-START"
    I_START = "I-START"
    B_OTHER = "B-OTHER"
    I_OTHER = "I-OTHER"
    O = "O"  # noqa: E741 - the field's name for it


_AFTER_START = frozenset({Tag.B_START, Tag.I_START, Tag.B_OTHER})
_AFTER_OTHER = frozenset({Tag.B_START, Tag.B_OTHER, Tag.I_OTHER})
# Which tags may follow which, narration left out; None stands for the beginning of a book.
SUCCESSORS: dict[Tag | None, frozenset[Tag]] = {
    None: frozenset({Tag.B_START}),
    Tag.B_START: _AFTER_START,
    Tag.I_START: _AFTER_START,
    Tag.B_OTHER: _AFTER_OTHER,
    Tag.I_OTHER: _AFTER_OTHER,
}


# The tags of utterances, and the tag of the next span of the same turn.
TAGS = tuple(tag for tag in Tag if tag is not Tag.O)
CONTINUATION = {
    Tag.B_START: Tag.I_START,
    Tag.I_START: Tag.I_START,
    Tag.B_OTHER: Tag.I_OTHER,
    Tag.I_OTHER: Tag.I_OTHER,
}


@dataclass(frozen=True, slots=True)
class TaggedSpan:
    """A span and its tag; `confidence` in 0..1, None where the tagger claims none."""

    span: Span
    tag: Tag
    confidence: float | None = None

    def __post_init__(self) -> None:
        """Refuses O on an utterance and any other tag on narration."""
        if self.span.is_utterance == (self.tag is Tag.O):
            kind = "utterance" if self.span.is_utterance else "narration"
            raise ValueError(
                f"paragraph {self.span.paragraph}, span {self.span.index}: "
                f"found {self.tag} on {kind}, expected "
                + ("one of the other four tags" if self.span.is_utterance else "O")
            )


@dataclass(frozen=True, slots=True)
class TaggedBook:
    """All spans of a book in reading order, tagged; `source` says where they were read from."""

    book: str
    spans: tuple[TaggedSpan, ...]
    source: str = ""


class Tagger(Protocol):
    """What tags a book: a heuristic or a trained model."""

    def tag(self, book_spans: BookSpans) -> Sequence[TaggedSpan]:
        """One tagged span per span of the book, in the same order, in a legal sequence."""
        ...


@runtime_checkable
class BatchTagger(Tagger, Protocol):
    """A tagger that is faster with many books at once than with one after the other.

    A book passes through it in two steps. The first step needs no model, so other processes can do
    it ahead of the second. The tags are the same as those of `tag`.
    """

    def prepare(self, book_spans: BookSpans) -> Any:  # noqa: ANN401 - each tagger has its own form
        """What the tagger reads of a book. It can be pickled."""
        ...

    def tag_prepared(
        self, books: Iterable[tuple[BookSpans, Any]]
    ) -> Iterator[Sequence[TaggedSpan]]:
        """The tagged spans of each book, in the order of the books.

        Args:
            books: each with what `prepare` made of it; taken only as they are needed.
        """
        ...


def transition_error(tag: Tag, previous: Tag | None) -> str:
    """What is wrong with a tag after the one before, narration left out; "" if it may follow.

    >>> out_of_order(Tag.I_OTHER, None)
    'found I-OTHER after no tag, expected B-START'
    """
    if tag in SUCCESSORS[previous]:
        return ""
    allowed = ", ".join(tag for tag in Tag if tag in SUCCESSORS[previous])
    return f"found {tag} after {previous or 'no tag'}, expected {allowed}"


def repair_tags(tags: Iterable[Tag]) -> list[Tag]:
    """The tags with each illegal I- made the B- of its own kind, and a first tag made B-START.

    O is passed over. A legal sequence comes back unchanged.

    >>> [str(tag) for tag in legal([Tag.I_OTHER, Tag.O, Tag.I_OTHER])]
    ['B-START', 'O', 'B-OTHER']
    """
    previous: Tag | None = None
    repaired = []
    for tag in tags:
        if tag is not Tag.O:
            if tag not in SUCCESSORS[previous]:
                first = previous is None or tag is Tag.I_START
                tag = Tag.B_START if first else Tag.B_OTHER
            previous = tag
        repaired.append(tag)
    return repaired
