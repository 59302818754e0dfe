"""The five tags, the order in which they may stand, and the `Tagger` protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from miner.speech.spans import BookSpans, Span


class Tag(StrEnum):
    """The tag of a span, after "Mining Conversations from Novels" (Identifying Conversations).

    B-START opens a dialogue, B-OTHER opens another turn of it, an I- tag continues the turn of its
    kind, and O is narration.
    """

    B_START = "B-START"
    I_START = "I-START"
    B_OTHER = "B-OTHER"
    I_OTHER = "I-OTHER"
    O = "O"  # noqa: E741 - the field's name for it


_AFTER_START = frozenset({Tag.B_START, Tag.I_START, Tag.B_OTHER})
_AFTER_OTHER = frozenset({Tag.B_START, Tag.B_OTHER, Tag.I_OTHER})
# The tags that may follow each tag when narration is left out. None is the beginning of a book.
SUCCESSORS: dict[Tag | None, frozenset[Tag]] = {
    None: frozenset({Tag.B_START}),
    Tag.B_START: _AFTER_START,
    Tag.I_START: _AFTER_START,
    Tag.B_OTHER: _AFTER_OTHER,
    Tag.I_OTHER: _AFTER_OTHER,
}


# The tags of utterances.
TAGS = tuple(tag for tag in Tag if tag is not Tag.O)
# The tag of the next span of the same turn.
CONTINUATION = {
    Tag.B_START: Tag.I_START,
    Tag.I_START: Tag.I_START,
    Tag.B_OTHER: Tag.I_OTHER,
    Tag.I_OTHER: Tag.I_OTHER,
}


@dataclass(frozen=True, slots=True)
class TaggedSpan:
    """A span and its tag.

    Attributes:
        span: the span.
        tag: its tag.
        confidence: of the tag, 0..1; None if the tagger gives none.
        speaker: the id of the character who speaks an utterance; None if nobody is known.
        speaker_confidence: of the speaker, 0..1; None if nobody is known.
        addressees: the ids of the characters to whom an utterance is said.
    """

    span: Span
    tag: Tag
    confidence: float | None = None
    speaker: str | None = None
    speaker_confidence: float | None = None
    addressees: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuses O on an utterance, any other tag on narration, and narration with a speaker."""
        if self.span.is_utterance == (self.tag is Tag.O):
            kind = "utterance" if self.span.is_utterance else "narration"
            raise ValueError(
                f"paragraph {self.span.paragraph}, span {self.span.index}: "
                f"found {self.tag} on {kind}, expected "
                + ("one of the other four tags" if self.span.is_utterance else "O")
            )
        if self.speaker is not None and not self.span.is_utterance:
            raise ValueError(
                f"paragraph {self.span.paragraph}, span {self.span.index}: "
                f"found the speaker {self.speaker!r} on narration, expected none"
            )


@dataclass(frozen=True, slots=True)
class TaggedBook:
    """All spans of a book with their tags, in reading order."""

    book: str
    spans: tuple[TaggedSpan, ...]
    source: str = ""  # the name of their file
    language: str = ""  # the code of the language; "" where it is not known


class Tagger(Protocol):
    """Tags a book: a heuristic, a trained model or the tags of a file.

    One whose tags never have a confidence says so with an attribute `gives_confidence = False`.
    One whose tags depend on installed packages names them in an attribute `libraries`; the record
    of a run has their versions.
    """

    def tag(self, book_spans: BookSpans) -> Sequence[TaggedSpan]:
        """Returns one tagged span per span of the book, in the same order and with legal tags.

        A tagger that finds speech by itself returns spans of its own of the same paragraphs, which
        join to the same text.
        """
        ...


def transition_error(tag: Tag, previous: Tag | None) -> str:
    """Returns why a tag may not follow the one before, narration left out; "" if it may.

    >>> transition_error(Tag.I_OTHER, None)
    'found I-OTHER after no tag, expected B-START'
    """
    if tag in SUCCESSORS[previous]:
        return ""
    allowed = ", ".join(tag for tag in Tag if tag in SUCCESSORS[previous])
    return f"found {tag} after {previous or 'no tag'}, expected {allowed}"


def repair_tags(tags: Iterable[Tag]) -> list[Tag]:
    """Returns the tags in legal order: an illegal I- tag becomes the B- tag of its kind.

    The first tag becomes B-START. O is skipped. Legal tags come back unchanged.

    >>> [str(tag) for tag in repair_tags([Tag.I_OTHER, Tag.O, Tag.I_OTHER])]
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
