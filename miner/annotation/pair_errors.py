"""Mined pairs and gold -> which pairs are wrong, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from miner.annotation.matching import Place, ends_of
from miner.speech.dialogues import Pair, Turn, decode_dialogues, repair_book, turn_pairs
from miner.speech.spans import Span
from miner.speech.tags import TaggedBook

# The causes of a wrong pair. They are tried in this order, and the first that holds is counted.
CAUSES = {
    "not speech": "one of its spans is narration, a title, a letter or a thought",
    "span cut wrongly": "one of its spans is speech, but begins or ends elsewhere",
    "two conversations": "its context and response belong to two conversations",
    "one turn taken for two": "the same speaker continues in the response",
    "speakers merged": "one of its turns has the words of more than one speaker",
    "half a turn": "the rest of one of its turns is in another mined turn",
    "speech missed": "a span of its turns, or a turn between them, was not found",
}


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A mined pair, its chapter, and why it is wrong.

    `cause` is one of `CAUSES`, or "" if the pair is right. `confidence` is None if the tagger gives
    none.
    """

    book: str
    chapter: int
    confidence: float | None
    cause: str

    @property
    def is_right(self) -> bool:
        """Whether gold has the pair."""
        return not self.cause


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """The mined turn pairs of the annotated chapters, and the number of gold pairs by chapter.

    The keys of `n_gold` are (book, chapter).
    """

    mined: tuple[JudgedPair, ...]
    n_gold: Mapping[tuple[str, int], int]


def judge_pairs(gold: Sequence[TaggedBook], predicted: Sequence[TaggedBook]) -> JudgedPairs:
    """Judges the predicted turn pairs in the chapters of the gold."""
    mined: list[JudgedPair] = []
    n_gold: Counter[tuple[str, int]] = Counter()
    for truth, guess in zip(gold, predicted, strict=True):
        chapters = {item.span.chapter for item in truth.spans}
        judge = _Judge(
            truth, {ends_of(item.span) for item in guess.spans if item.span.is_utterance}
        )
        n_gold.update({(truth.book, chapter): 0 for chapter in chapters})
        for dialogue in decode_dialogues(truth):
            for pair in turn_pairs(dialogue):
                n_gold[truth.book, pair.context.spans[0].chapter] += 1
        for dialogue in decode_dialogues(repair_book(guess)):
            for pair in turn_pairs(dialogue):
                if not {span.chapter for span in _spans(pair)} <= chapters:
                    continue
                cause = "" if judge.is_right(pair) else judge.cause(pair)
                chapter = pair.context.spans[0].chapter
                mined.append(JudgedPair(truth.book, chapter, pair.confidence, cause))
    return JudgedPairs(tuple(mined), n_gold)


_Places = tuple[Place, ...]


class _Judge:
    """Judges mined pairs against the gold of one book."""

    def __init__(self, gold: TaggedBook, found: set[Place]) -> None:
        self.found = found
        self.pairs: set[tuple[_Places, _Places]] = set()
        # A turn is known by the number of its conversation and its own number in it.
        self.turn_of: dict[Place, tuple[int, int]] = {}
        self.places_of: dict[tuple[int, int], _Places] = {}
        self.speech: dict[int, list[tuple[int, int]]] = {}
        for dialogue in decode_dialogues(gold):
            self.pairs |= {
                (_places(pair.context), _places(pair.response)) for pair in turn_pairs(dialogue)
            }
            for number, turn in enumerate(dialogue.turns):
                key = dialogue.index, number
                self.places_of[key] = _places(turn)
                for paragraph, start, end in self.places_of[key]:
                    self.turn_of[paragraph, start, end] = key
                    self.speech.setdefault(paragraph, []).append((start, end))

    def is_right(self, pair: Pair) -> bool:
        """Whether gold has a pair made of the same spans."""
        return (_places(pair.context), _places(pair.response)) in self.pairs

    def cause(self, pair: Pair) -> str:
        """The first of `CAUSES` that holds for a wrong pair."""
        places = (*_places(pair.context), *_places(pair.response))
        unknown = [place for place in places if place not in self.turn_of]
        if unknown:
            spoken = all(self._overlaps(place) for place in unknown)
            return "span cut wrongly" if spoken else "not speech"
        context_turns, response_turns = (
            [self.turn_of[place] for place in _places(turn)]
            for turn in (pair.context, pair.response)
        )
        if context_turns[-1][0] != response_turns[0][0]:
            return "two conversations"
        if context_turns[-1] == response_turns[0]:
            return "one turn taken for two"
        if len(set(context_turns)) > 1 or len(set(response_turns)) > 1:
            return "speakers merged"
        missing = [
            place
            for turn in (context_turns[0], response_turns[0])
            for place in self.places_of[turn]
            if place not in places
        ]
        return "half a turn" if missing and self.found.issuperset(missing) else "speech missed"

    def _overlaps(self, place: Place) -> bool:
        paragraph, start, end = place
        return any(low < end and start < high for low, high in self.speech.get(paragraph, ()))


def _places(turn: Turn) -> _Places:
    return tuple(map(ends_of, turn.spans))


def _spans(pair: Pair) -> list[Span]:
    return [*pair.context.spans, *pair.response.spans]
