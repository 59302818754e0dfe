"""A tagged book -> its chapters, with conversations and turns numbered for the reader.

Conversations count from 1 in each chapter. A conversation that continues from the chapter before is
the first of its chapter, and its turns keep their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from miner.annotation.annotations import UNKNOWN, Annotation
from miner.annotation.matching import Place, judge_pairs, place_of
from miner.speech.dialogues import Dialogue, Pair, Turn, decode_dialogues, turn_pairs
from miner.speech.tags import Tag, TaggedBook, TaggedSpan

_Causes = Mapping[tuple[tuple[Place, ...], ...], str]


@dataclass(frozen=True, slots=True)
class NumberedUtterance:
    """A tagged utterance with its numbers.

    Attributes:
        item: the span and its tag.
        conversation: number of its conversation in the chapter, from 1.
        turn: number of its turn in the conversation, from 1.
        fact: the annotation behind it; only the gold has one.
    """

    item: TaggedSpan
    conversation: int
    turn: int
    fact: Annotation | None = None

    @property
    def speaker(self) -> str:
        """The id of the speaker, or the name that the annotator gave; `UNKNOWN` for nobody."""
        return self.fact.speaker if self.fact else self.item.speaker or UNKNOWN


@dataclass(frozen=True, slots=True)
class NumberedPair:
    """A pair of a turn and the next one.

    Attributes:
        turn: number of the first turn in its conversation.
        confidence: 0 to 1, or None where the tagger gives none.
        cause: why the pair is wrong, one of `matching.CAUSES`; "" if the gold has the pair; None
            if no gold can judge it.
    """

    turn: int
    confidence: float | None
    cause: str | None


@dataclass(frozen=True, slots=True)
class NumberedConversation:
    """The part of a conversation that is in one chapter.

    Attributes:
        number: of the conversation in the chapter, from 1.
        dialogue: number of the dialogue in the book, from 0, as in the mined files.
        first: number of its first turn in the chapter; above 1 if it began in an earlier chapter.
        last: number of its last turn in the chapter.
        pairs: the pairs whose first turn begins in the chapter.
    """

    number: int
    dialogue: int
    first: int
    last: int
    pairs: tuple[NumberedPair, ...]


@dataclass(frozen=True, slots=True)
class ChapterCounts:
    """How many utterances, conversations, turns and pairs a chapter has."""

    utterances: int
    conversations: int
    turns: int
    pairs: int


@dataclass(frozen=True, slots=True)
class NumberedChapter:
    """A chapter of a tagged book; `spans` includes the narration."""

    spans: tuple[TaggedSpan, ...]
    utterances: tuple[NumberedUtterance, ...]
    conversations: tuple[NumberedConversation, ...]

    @property
    def counts(self) -> ChapterCounts:
        """How many utterances, conversations, turns and pairs there are."""
        return ChapterCounts(
            len(self.utterances),
            len(self.conversations),
            sum(item.last - item.first + 1 for item in self.conversations),
            sum(len(item.pairs) for item in self.conversations),
        )


def number_chapters(
    tagged: TaggedBook,
    gold: TaggedBook | None = None,
    facts: Mapping[Place, Annotation] | None = None,
) -> dict[int, NumberedChapter]:
    """Numbers the conversations and turns of each chapter."""
    found = decode_dialogues(tagged)
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
            NumberedUtterance(item, order[index], turn, (facts or {}).get(place_of(item.span)))
            for item, (index, turn) in zip(said, held, strict=True)
        )
        conversations = tuple(
            _conversation(found[index], number, chapter, causes) for index, number in order.items()
        )
        chapters[chapter] = NumberedChapter(tuple(of_chapter), utterances, conversations)
    return chapters


def _conversation(
    dialogue: Dialogue, number: int, chapter: int, causes: _Causes | None
) -> NumberedConversation:
    """The part of a dialogue that is in a chapter."""
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
    return NumberedConversation(number, dialogue.index, turns[0], turns[-1], pairs)


def _causes(
    tagged: TaggedBook, found: Sequence[Dialogue], gold: TaggedBook | None
) -> _Causes | None:
    """The cause of each pair that the gold can judge, by the places of its turns."""
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
