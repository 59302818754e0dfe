"""Ways to find speakers, to compare: ours, the simple rules, and ours without a part of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from miner.errors import InputError
from miner.lab.training.speakers import ABLATIONS
from miner.lab.training.speakers.masking import MaskedBook, mask_names
from miner.lab.training.speakers.rules import rule_attributor
from miner.people.attributor import SpeakerAttributor
from miner.people.cast import Character
from miner.people.character_files import Attributor, SpokenBook
from miner.speech.spans import BookSpans
from miner.speech.tags import TaggedSpan, Tagger

OURS, RULES = "ours", "simple rules"


@dataclass(slots=True)
class Speaking:
    """Finds the speakers of a book by a tagger and an attributor."""

    tagger: Tagger
    attributor: Attributor

    def __call__(self, book_spans: BookSpans, characters: Sequence[Character] | None) -> SpokenBook:
        """Returns the speakers; finds the characters, too, if None are given."""
        return self.attributor.attribute(book_spans, self.tagger.tag(book_spans), characters)


@dataclass(slots=True)
class MaskedSpeaking:
    """Finds the speakers of a book under other names, and gives them back under their own."""

    inner: Speaking
    _last: tuple[BookSpans, MaskedBook] | None = None

    def __call__(self, book_spans: BookSpans, characters: Sequence[Character] | None) -> SpokenBook:
        """Returns the speakers; finds the characters, too, if None are given."""
        # The book with and without the characters is masked once, so that it is tagged once.
        if self._last is None or self._last[0] is not book_spans:
            self._last = book_spans, mask_names(book_spans)
        masked = self._last[1]
        given = None if characters is None else masked.mask(characters)
        return masked.unmask(self.inner(masked.book_spans, given))


class LastTags:
    """A tagger that remembers its tags of the last few books, since several ways ask for them."""

    _MOST = 4

    def __init__(self, tagger: Tagger) -> None:
        self._tagger = tagger
        self._known: list[tuple[BookSpans, Sequence[TaggedSpan]]] = []

    def tag(self, book_spans: BookSpans) -> Sequence[TaggedSpan]:
        """One tagged span per span of the book."""
        for known, tagged in self._known:
            if known is book_spans:
                return tagged
        tagged = self._tagger.tag(book_spans)
        self._known = [*self._known, (book_spans, tagged)][-self._MOST :]
        return tagged


def find_ways(
    tagger: Tagger, gap: Tagger, attributor: SpeakerAttributor, ablations: Sequence[str] = ()
) -> list[tuple[str, Speaking | MaskedSpeaking]]:
    """Returns ways to find speakers with their names: ours, the simple rules, and the ablations."""
    remembered = LastTags(tagger)
    ours = Speaking(remembered, attributor)
    of_ablation = {
        "greedy": Speaking(remembered, replace(attributor, beam=1, tag_share=0.0)),
        "names-only": Speaking(remembered, replace(attributor, names_only=True)),
        "masked": MaskedSpeaking(ours),
        "gap-tags": Speaking(gap, attributor),
    }
    for name in ablations:
        if name not in of_ablation:
            raise InputError(f"found ablation {name!r}, expected one of {', '.join(ABLATIONS)}")
    return [
        (OURS, ours),
        (RULES, Speaking(remembered, rule_attributor())),
        *((f"ours, {name}", of_ablation[name]) for name in ablations),
    ]
