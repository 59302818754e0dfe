"""A book whose utterances have speakers, and the protocol of what finds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, overload

from miner.people.cast import Character
from miner.speech.spans import BookSpans
from miner.speech.tags import TaggedSpan


@dataclass(frozen=True)
class SpokenBook(Sequence[TaggedSpan]):
    """The tagged spans of a book, with the speaker of each utterance, and its characters.

    Attributes:
        spans: the tagged spans.
        characters: the named characters, then the unnamed people and the narrator who speak.
    """

    spans: tuple[TaggedSpan, ...]
    characters: tuple[Character, ...] = ()

    @cached_property
    def n_utterances(self) -> Mapping[str, int]:
        """The number of utterances of each character who speaks, by id."""
        speakers = (item.speaker for item in self.spans)
        return Counter(speaker for speaker in speakers if speaker is not None)

    def __len__(self) -> int:
        return len(self.spans)

    @overload
    def __getitem__(self, index: int) -> TaggedSpan: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TaggedSpan]: ...
    def __getitem__(self, index: int | slice) -> TaggedSpan | Sequence[TaggedSpan]:
        return self.spans[index]


class Attributor(Protocol):
    """Finds the speakers of a book."""

    def attribute(
        self,
        book_spans: BookSpans,
        tagged: Sequence[TaggedSpan],
        characters: Sequence[Character] | None = None,
        *,
        revise: bool = True,
    ) -> SpokenBook:
        """Returns the speakers of a book."""
        ...
