"""A tagged book -> the speaker of each utterance, and tags that agree with the speakers.

The tags say where a conversation opens, and whether the last speaker goes on. The speakers say the
latter, too. Both have their say in the search: the odds that the tagger gives to "the last speaker
goes on" are added to those of the network. Then the tags of utterances that open no conversation
follow the speakers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from safetensors import SafetensorError
from safetensors.numpy import load_file

from miner.characters.cast import Cast, Character, Kind, slug_of
from miner.characters.clues import find_clues
from miner.characters.mentions import (
    BookPeople,
    Person,
    read_people,
)
from miner.characters.spoken_book import SpokenBook
from miner.dialogue.spans import BookSpans
from miner.dialogue.tags import CONTINUATION, Tag, TaggedSpan
from miner.files import reason_of
from miner.models.speakers.decoding import decode_speakers
from miner.models.speakers.features import read_candidates
from miner.models.speakers.scorer import NetworkScorer

TAG_SHARE = 1.5  # the weight of the tagger's odds; fitted on dev
_SUREST = 0.999  # a tagger without confidence is taken to be so sure
_SHIPPED = Path(__file__).parent / "weights" / "en.safetensors"


@dataclass(frozen=True, slots=True)
class SpeakerAttributor:
    """Finds the speakers of books with a trained network."""

    scorer: NetworkScorer

    def attribute(
        self, book_spans: BookSpans, tagged: Sequence[TaggedSpan], cast: Cast | None = None
    ) -> SpokenBook:
        """Returns the speakers of a book.

        Args:
            book_spans: the book.
            tagged: its spans with their tags.
            cast: its characters; they are found if none are given.
        """
        book = read_people(book_spans, cast)
        listed = _Characters(book)
        continuing = {n for n, span in enumerate(book_spans.spans) if span.continues}
        spans = list(tagged)
        for chapter in book.chapters():
            candidates = read_candidates(find_clues(chapter), book, continuing)
            odds = [_odds_of_going_on(tagged[place]) for place in candidates.spans]
            decoded = decode_speakers(candidates, self.scorer, odds)
            ids = [
                listed.id_of(candidates.people[number], chapter.number)
                for number in decoded.speakers
            ]
            before: tuple[Tag, str | None] | None = None
            for place, speaker, sure in zip(candidates.spans, ids, decoded.confidence, strict=True):
                tag = _agreeing_tag(spans[place].tag, speaker, before)
                spans[place] = replace(
                    spans[place], tag=tag, speaker=speaker, speaker_confidence=sure
                )
                before = tag, speaker
                listed.count(speaker)
        return SpokenBook(tuple(spans), listed.characters(), listed.n_utterances)


def load_attributor(path: Path = _SHIPPED) -> SpeakerAttributor:
    """Returns the attributor whose weights are in a file.

    Raises:
        ValueError: if the file holds no such weights; names it.
        OSError: if it cannot be read.
    """
    try:
        return SpeakerAttributor(NetworkScorer(load_file(path)))
    except (SafetensorError, ValueError) as error:
        raise ValueError(f"{path}: cannot be loaded: {reason_of(error)}") from error


class _Characters:
    """The characters of a book: its cast, and whoever else speaks."""

    def __init__(self, book: BookPeople) -> None:
        self._cast = book.cast.characters
        self._others: dict[tuple[str, int], Character] = {}
        self._taken = {character.id for character in self._cast}
        self.n_utterances: Counter[str] = Counter()

    def id_of(self, person: Person, chapter: int) -> str | None:
        """The id of a person of a chapter; None for the unknown one."""
        if person.kind is None:
            return None
        if person.character is not None:
            return self._cast[person.character].id
        # The waiter of another chapter is another waiter; the narrator is the same.
        key = (person.noun, chapter if person.noun else 0)
        if key not in self._others:
            name = person.noun or Kind.NARRATOR.value
            slug = slug_of(f"{name}-{chapter}" if person.noun else name, self._taken)
            self._taken.add(slug)
            gender = person.gender if person.gender in ("m", "f") else ""
            kind = person.kind
            self._others[key] = Character(slug, name, (name,), gender, kind)
        return self._others[key].id

    def count(self, speaker: str | None) -> None:
        """Counts an utterance."""
        if speaker is not None:
            self.n_utterances[speaker] += 1

    def characters(self) -> tuple[Character, ...]:
        """All characters: the cast, then the others as they appear."""
        return (*self._cast, *self._others.values())


def _odds_of_going_on(tagged: TaggedSpan) -> float:
    """Returns the weighted log-odds that the last speaker goes on, as the tag has them."""
    if tagged.tag is Tag.B_START:
        return 0.0  # a new conversation may begin with anybody
    sure = min(_SUREST, max(0.5, _SUREST if tagged.confidence is None else tagged.confidence))
    odds = TAG_SHARE * math.log(sure / (1 - sure))
    return odds if tagged.tag in (Tag.I_START, Tag.I_OTHER) else -odds


def _agreeing_tag(tag: Tag, speaker: str | None, before: tuple[Tag, str | None] | None) -> Tag:
    """Returns the tag of an utterance after the one before it in its chapter."""
    if before is None or tag is Tag.B_START or speaker is None or before[1] is None:
        return (
            tag if before is None or tag not in CONTINUATION.values() else CONTINUATION[before[0]]
        )
    return CONTINUATION[before[0]] if speaker == before[1] else Tag.B_OTHER
