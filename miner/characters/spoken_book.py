"""A book whose utterances have speakers, and the protocol of what finds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from miner.characters.cast import Cast, Character
from miner.dialogue.spans import BookSpans
from miner.dialogue.tags import TaggedSpan


@dataclass(frozen=True, slots=True)
class SpokenBook:
    """A book whose utterances have speakers.

    Attributes:
        spans: the tagged spans, each utterance with its speaker.
        characters: those of the cast, then the unnamed people and the narrator who speak.
        n_utterances: the number of utterances of each character, by id.
    """

    spans: tuple[TaggedSpan, ...]
    characters: tuple[Character, ...]
    n_utterances: Mapping[str, int]


class Attributor(Protocol):
    """Finds the speakers of a book."""

    def attribute(
        self, book_spans: BookSpans, tagged: Sequence[TaggedSpan], cast: Cast | None = None
    ) -> SpokenBook:
        """Returns the speakers of a book.

        Args:
            book_spans: the book.
            tagged: its spans with their tags.
            cast: its characters; they are found if none are given.
        """
        ...
