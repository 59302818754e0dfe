"""A chapter with its people -> its tokens with marks, and its units in reading order.

A unit is an utterance, a mention of somebody or a break between paragraphs, with the tokens on
which it stands. Each utterance has a mark before and after it, each paragraph one before it. The
marks are no tokens of the tokenizer: they have numbers after its last one and vectors of their own
in the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from miner.people.clues import ChapterClues
from miner.people.mentions import Mention, MentionKind
from miner.people.names import Paragraph
from miner.reader.config import ReadingConfig
from miner.tagger.encoding import Encoding, cut_windows, tokenize

NO_ONE = -1  # the person of a unit that mentions nobody who is known


class Mark(IntEnum):
    """What a mark stands before or after; its token is the size of the vocabulary plus this."""

    OPENS = 0  # an utterance begins
    CLOSES = 1  # an utterance ends
    BREAK = 2  # a paragraph begins


class UnitKind(IntEnum):
    """What a unit is."""

    UTTERANCE = 0
    NAME = 1
    NOUN = 2
    PRONOUN = 3
    NAME_IN_SPEECH = 4
    BREAK = 5


GENDERS = ("", "m", "f", "t", "i")  # of mentions; a unit has the position here
_KINDS = {
    MentionKind.NAME: UnitKind.NAME,
    MentionKind.NOUN: UnitKind.NOUN,
    MentionKind.PRONOUN: UnitKind.PRONOUN,
}
NAMES = (UnitKind.NAME, UnitKind.NAME_IN_SPEECH)


@dataclass(frozen=True, slots=True)
class Units:
    """A chapter in tokens, and its units in reading order."""

    tokens: NDArray[np.int32]  # the tokens and marks, without special tokens: (tokens,)
    ranges: NDArray[np.int32]  # the first token of each unit and the one after its last: (units, 2)
    kinds: NDArray[np.int8]  # the `UnitKind` of each: (units,)
    genders: NDArray[np.int8]  # the position of its gender in `GENDERS`: (units,)
    people: NDArray[np.int16]  # the number of its person in the chapter, or `NO_ONE`: (units,)

    @property
    def utterances(self) -> NDArray[np.intp]:
        """The positions of the utterances among the units."""
        return np.flatnonzero(self.kinds == UnitKind.UTTERANCE)


class _Unit(NamedTuple):
    first: int
    end: int
    kind: UnitKind
    gender: int = 0
    person: int = NO_ONE
    place: tuple[int, int] | None = None  # of a mention; see `UnitPlaces`


# where the mentions of a chapter stand among its units, by the position of their paragraph in the
# chapter and by their first character in it
UnitPlaces = dict[tuple[int, int], int]


def read_units(found: ChapterClues, tokenizer: Tokenizer, n_tokens: int, ends: int) -> Units:
    """Returns a chapter in units; see `place_units`."""
    return place_units(found, tokenizer, n_tokens, ends)[0]


def place_units(
    found: ChapterClues, tokenizer: Tokenizer, n_tokens: int, ends: int
) -> tuple[Units, UnitPlaces]:
    """Returns a chapter in units, and where its mentions are among them.

    The utterances are those of `found.clues`, in their order.

    Of a long utterance or a long stretch of narration only the first and the last `ends` tokens are
    kept, as the tagger does; mentions between them are left out. With 0 all are kept. `n_tokens`
    are the tokens that the encoder knows; the marks come after them.
    """
    chapter, reader = found.chapter, _Reader(n_tokens, ends)
    encoded = tokenize([paragraph.text for paragraph in chapter.paragraphs], tokenizer)
    for number, (ids, offsets) in enumerate(encoded):
        reader.read(number, chapter.paragraphs[number], chapter.mentions[number], ids, offsets)
    units = sorted(reader.units, key=lambda unit: unit.first)
    places = {unit.place: n for n, unit in enumerate(units) if unit.place is not None}
    return Units(
        np.array(reader.tokens, dtype=np.int32),
        np.array([(unit.first, unit.end) for unit in units], dtype=np.int32).reshape(-1, 2),
        np.array([unit.kind for unit in units], dtype=np.int8),
        np.array([unit.gender for unit in units], dtype=np.int8),
        np.array([unit.person for unit in units], dtype=np.int16),
    ), places


def hide_names(units: Units, share: float, mask: int, rng: np.random.Generator) -> Units:
    """Returns a chapter with a share of its mentions by name hidden behind a token."""
    is_hidden = np.isin(units.kinds, NAMES) & (rng.random(len(units.kinds)) < share)
    tokens = units.tokens.copy()
    for first, end in units.ranges[is_hidden]:
        tokens[first:end] = mask
    return replace(units, tokens=tokens)


def encode_units(units: Units, tokenizer: Tokenizer, config: ReadingConfig) -> Encoding:
    """Returns the windows of a chapter."""
    tokens = units.tokens.tolist()
    windows = cut_windows(tokens, tokenizer, config.window, config.overlap // 2)
    return Encoding(windows, len(tokens), (), ())


class _Reader:
    """Adds paragraphs to the tokens and units of a chapter."""

    def __init__(self, first_mark: int, ends: int) -> None:
        self._first_mark = first_mark
        self._ends = ends
        self.tokens: list[int] = []
        self.units: list[_Unit] = []

    def read(
        self,
        number: int,
        paragraph: Paragraph,
        mentions: Sequence[Mention],
        ids: Sequence[int],
        offsets: Sequence[tuple[int, int]],
    ) -> None:
        """Adds a paragraph and its mentions."""
        self.units.append(_Unit(*self._add_mark(Mark.BREAK), UnitKind.BREAK))
        places = np.array(offsets, dtype=np.int64).reshape(-1, 2)
        # where each token stands in the chapter; -1 for one that is left out
        stands = np.full(len(ids), -1)
        at = 0
        for start, end in paragraph.utterances:
            low = max(at, int(np.searchsorted(places[:, 1], start, side="right")))
            high = max(low, int(np.searchsorted(places[:, 0], end)))
            self._add_text(ids, stands, at, low)
            first, _ = self._add_mark(Mark.OPENS)
            self._add_text(ids, stands, low, high)
            _, last = self._add_mark(Mark.CLOSES)
            self.units.append(_Unit(first, last, UnitKind.UTTERANCE))
            at = high
        self._add_text(ids, stands, at, len(ids))
        for mention in mentions:
            low = int(np.searchsorted(places[:, 1], mention.start, side="right"))
            high = int(np.searchsorted(places[:, 0], mention.end))
            kept = stands[low:high]
            kept = kept[kept >= 0]
            if len(kept):
                unit = _unit_of(mention, int(kept[0]), int(kept[-1]) + 1)
                self.units.append(unit._replace(place=(number, mention.start)))

    def _add_mark(self, mark: Mark) -> tuple[int, int]:
        self.tokens.append(self._first_mark + mark)
        return len(self.tokens) - 1, len(self.tokens)

    def _add_text(self, ids: Sequence[int], stands: NDArray[np.intp], first: int, end: int) -> None:
        for number in _outer(first, end, self._ends):
            stands[number] = len(self.tokens)
            self.tokens.append(ids[number])


def _outer(first: int, end: int, n: int) -> Iterator[int]:
    """Yields the first n and the last n numbers of a range; all of them if n is 0 or few."""
    if not n or end - first <= 2 * n:
        yield from range(first, end)
    else:
        yield from range(first, first + n)
        yield from range(end - n, end)


def _unit_of(mention: Mention, first: int, end: int) -> _Unit:
    is_named = mention.kind is MentionKind.NAME
    kind = UnitKind.NAME_IN_SPEECH if is_named and mention.in_speech else _KINDS[mention.kind]
    person = NO_ONE if mention.person is None else mention.person
    return _Unit(first, end, kind, GENDERS.index(mention.gender), person)
