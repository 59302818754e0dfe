"""A tagged book -> its chapters, with their conversations and turns numbered as a reader sees them.

Conversations count from 1 in each chapter. One that runs on from the chapter before is the first
of its chapter, and its turns go on counting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from miner.annotation.annotations import Annotation
from miner.dialogue.dialogues import Dialogue, Pair, Turn, dialogues, turn_pairs
from miner.dialogue.spans import Span
from miner.dialogue.tags import Tag, TaggedBook, TaggedSpan
from miner.evaluation.pair_errors import judge_pairs

# Paragraph, start and end: the same characters of the page, whatever they are taken for.
Place = tuple[int, int, int]
_Causes = Mapping[tuple[tuple[Place, ...], ...], str]


@dataclass(frozen=True, slots=True)
class Utterance:
    """A tagged utterance; `conversation` counts from 1 in the chapter, `turn` from 1 in that.

    `fact` is the annotation that it stands for, None but in the gold.
    """

    item: TaggedSpan
    conversation: int
    turn: int
    fact: Annotation | None = None


@dataclass(frozen=True, slots=True)
class NumberedPair:
    """A turn and the next, by the number of the first in its conversation.

    `cause` says what is wrong with it by the gold: one of `errors.CAUSES`, "" where gold has the
    pair, None where there is no gold to ask.
    """

    turn: int
    confidence: float | None
    cause: str | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as far as it stands in a chapter; its turns are `first` to `last`.

    `first` is above 1 where it began in the chapter before. A pair belongs to the chapter in which
    its first turn begins.
    """

    number: int
    first: int
    last: int
    pairs: tuple[NumberedPair, ...]


@dataclass(frozen=True, slots=True)
class ChapterCounts:
    """What there is in a chapter."""

    utterances: int
    conversations: int
    turns: int
    pairs: int


@dataclass(frozen=True, slots=True)
class NumberedChapter:
    """A chapter of a tagged book; `spans` are all of them, narration included."""

    spans: tuple[TaggedSpan, ...]
    utterances: tuple[Utterance, ...]
    conversations: tuple[Conversation, ...]

    @property
    def counts(self) -> ChapterCounts:
        """How much of each there is."""
        return ChapterCounts(
            len(self.utterances),
            len(self.conversations),
            sum(item.last - item.first + 1 for item in self.conversations),
            sum(len(item.pairs) for item in self.conversations),
        )


def numbered(
    tagged: TaggedBook,
    gold: TaggedBook | None = None,
    facts: Mapping[Place, Annotation] | None = None,
) -> dict[int, NumberedChapter]:
    """The chapters of a tagged book by their number, in order.

    Args:
        tagged: a legal sequence.
        gold: what pairs are judged by, in the chapters that it has; of the same edition.
        facts: the annotations that utterances stand for, by place.

    Raises:
        ValueError: if a tag may not follow the one before (`dialogues.dialogues`).
    """
    found = dialogues(tagged)
    places = {
        place_of(span): (dialogue.index, number)
        for dialogue in found
        for number, turn in enumerate(dialogue.turns, 1)
        for span in turn.spans
    }
    spans: dict[int, list[TaggedSpan]] = {}
    for item in tagged.spans:
        spans.setdefault(item.span.chapter, []).append(item)
    causes = _causes(tagged, found, gold)
    chapters = {}
    for chapter, of_chapter in spans.items():
        said = [item for item in of_chapter if item.tag is not Tag.O]
        held = [places[place_of(item.span)] for item in said]
        order = {index: n for n, index in enumerate(dict.fromkeys(index for index, _ in held), 1)}
        utterances = tuple(
            Utterance(item, order[index], turn, (facts or {}).get(place_of(item.span)))
            for item, (index, turn) in zip(said, held, strict=True)
        )
        conversations = tuple(
            _conversation(found[index], number, chapter, causes) for index, number in order.items()
        )
        chapters[chapter] = NumberedChapter(tuple(of_chapter), utterances, conversations)
    return chapters


def place_of(span: Span) -> Place:
    """Where a span stands on the page."""
    return span.paragraph, span.start, span.end


def _conversation(
    dialogue: Dialogue, number: int, chapter: int, causes: _Causes | None
) -> Conversation:
    """The part of a dialogue that stands in a chapter."""
    turns = [
        n
        for n, turn in enumerate(dialogue.turns, 1)
        if any(span.chapter == chapter for span in turn.spans)
    ]
    pairs = tuple(
        NumberedPair(n, pair.confidence, None if causes is None else causes.get(_key(pair)))
        for n, pair in enumerate(turn_pairs(dialogue), 1)
        if pair.context.spans[0].chapter == chapter
    )
    return Conversation(number, turns[0], turns[-1], pairs)


def _causes(
    tagged: TaggedBook, found: Sequence[Dialogue], gold: TaggedBook | None
) -> _Causes | None:
    """What is wrong with each pair that gold can judge, by the places of its turns."""
    if gold is None:
        return None
    chapters = {item.span.chapter for item in gold.spans}
    pairs = [
        pair
        for dialogue in found
        for pair in turn_pairs(dialogue)
        if {span.chapter for turn in (pair.context, pair.response) for span in turn.spans}
        <= chapters
    ]
    judged = judge_pairs([gold], [tagged]).mined
    return {_key(pair): item.cause for pair, item in zip(pairs, judged, strict=True)}


def _key(pair: Pair) -> tuple[tuple[Place, ...], ...]:
    return _places(pair.context), _places(pair.response)


def _places(turn: Turn) -> tuple[Place, ...]:
    return tuple(map(place_of, turn.spans))
