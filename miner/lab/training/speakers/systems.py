"""The systems that find speakers, to compare; and a book with other names.

Invented names show whether speakers are read or recalled. Every word that the miner reads as part
of a name is replaced by the same invented word throughout. A given name of the word lists is
replaced by another one of the same gender, and its short forms by short forms of that name. Any
other word is enciphered letter by letter, so that what begins alike still does. Titles, nouns and
pronouns stay.

The simple rules are what every system must beat: a verb of saying beside the utterance names the
speaker ("said Mara", "said the waiter"). Else the last speaker of the paragraph goes on, else two
people speak in turn, else the last speaker goes on. A pronoun names nobody.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

import numpy as np

from miner.errors import InputError
from miner.lab.training.speakers import ABLATIONS
from miner.people.attributor import Decided, NetworkDecider, SpeakerAttributor
from miner.people.cast import Character
from miner.people.chain import NOBODY, Way
from miner.people.character_files import Attributor, SpokenBook
from miner.people.clues import Cue
from miner.people.features import FEATURES, CandidateChapter
from miner.people.mentions import UNKNOWN_NUMBER
from miner.people.names import (
    FEMALE_NAMES,
    MALE_NAMES,
    NICKNAMES,
    NO_NAMES,
    Name,
    find_names,
    join_spans,
)
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import TaggedSpan, Tagger

_WORD = re.compile(r"[^\W\d_]+")
_VOWELS, _CONSONANTS = "aeiou", "bcdfghklmnprtvw"  # a plural still ends in s
_LONGER = "o"  # makes a word of two that would be the same
_CIPHER = str.maketrans(
    _VOWELS + _CONSONANTS,
    _VOWELS[2:] + _VOWELS[:2] + _CONSONANTS[5:] + _CONSONANTS[:5],
)
_SHORTS = {
    name: sorted(short for short, names in NICKNAMES.items() if name in names)
    for name in sorted(frozenset().union(*NICKNAMES.values()))
}


@dataclass(frozen=True)
class MaskedBook:
    """A book under other names."""

    book_spans: BookSpans  # its spans; there are as many, in the same order, as the book has
    original: BookSpans  # the spans of the book itself
    words: Mapping[str, str]  # the invented word of each word of a name

    def mask(self, characters: Sequence[Character]) -> list[Character]:
        """Returns characters of the book under their other names, with the same ids."""
        return [_renamed(character, self.words) for character in characters]

    def unmask(self, spoken: SpokenBook) -> SpokenBook:
        """Returns what was found in the masked book on the spans and under the names of the book.

        The ids of the characters stay.
        """
        spans = (
            replace(item, span=span)
            for item, span in zip(spoken.spans, self.original.spans, strict=True)
        )
        characters = (_renamed(character, self._back) for character in spoken.characters)
        return SpokenBook(tuple(spans), tuple(characters))

    @cached_property
    def _back(self) -> dict[str, str]:
        return {masked: word for word, masked in self.words.items()}


def mask_names(book_spans: BookSpans) -> MaskedBook:
    """Returns a book under other names."""
    paragraphs = join_spans(book_spans)
    names = find_names(paragraphs)
    found = [
        word
        for name in names
        for word in _WORD.findall(paragraphs[name.paragraph].text[name.start : name.end])
        if word.lower() in _parts(name)
    ]
    words = _invent_words(dict.fromkeys(found))
    of_paragraph: defaultdict[int, list[Name]] = defaultdict(list)
    for name in names:
        of_paragraph[paragraphs[name.paragraph].index].append(name)
    spans = tuple(_masked_spans(book_spans.spans, of_paragraph, words))
    elsewhere = tuple(_masked_spans(book_spans.elsewhere, of_paragraph, words))
    masked = replace(book_spans, spans=spans, elsewhere=elsewhere)
    return MaskedBook(masked, book_spans, words)


def _parts(name: Name) -> set[str]:
    """The words of a name that are masked, in small letters: no titles and no small words."""
    words = (word for part in name.form.words for word in _WORD.findall(part))
    return {word.lower() for word in words if word[0].isupper()} - NO_NAMES


def _masked_spans(
    spans: Iterable[Span], names: Mapping[int, Sequence[Name]], words: Mapping[str, str]
) -> Iterator[Span]:
    for paragraph, group in groupby(spans, key=lambda span: span.paragraph):
        items = list(group)
        first = at = items[0].start
        for span in items:
            text, read = [], span.start
            for name in names.get(paragraph, ()):
                start, end = max(name.start + first, read), min(name.end + first, span.end)
                if start < end:
                    text.append(span.text[read - span.start : start - span.start])
                    own = span.text[start - span.start : end - span.start]
                    text.append(_renamed_text(own, words, _parts(name)))
                    read = end
            text.append(span.text[read - span.start :])
            joined = "".join(text)
            yield replace(span, start=at, end=at + len(joined), text=joined)
            at += len(joined)


def _renamed(character: Character, words: Mapping[str, str]) -> Character:
    name, *aliases = (_renamed_text(text, words) for text in (character.name, *character.aliases))
    return replace(character, name=name, aliases=tuple(aliases))


def _renamed_text(text: str, words: Mapping[str, str], only: Container[str] | None = None) -> str:
    """Returns a text with the words that have another one; `only` has some in small letters."""

    def other(match: re.Match[str]) -> str:
        is_meant = only is None or match[0].lower() in only
        return words.get(match[0], match[0]) if is_meant else match[0]

    return _WORD.sub(other, text)


def _invent_words(words: Iterable[str]) -> dict[str, str]:
    """Returns an invented word for each word; words that differ get words that differ."""
    words = list(words)
    lower = dict.fromkeys(word.lower() for word in words)
    found = _other_given_names(lower)
    taken = set(found.values())
    for word in lower:
        if word not in found:
            masked = word.translate(_CIPHER)
            while masked in taken:
                masked += _LONGER
            found[word] = masked
            taken.add(masked)
    return {word: _written_like(word, found[word.lower()]) for word in words}


def _written_like(word: str, other: str) -> str:
    """Returns another word in capitals if a word is in capitals, else with one capital."""
    return other.upper() if word.isupper() and len(word) > 1 else other.capitalize()


def _other_given_names(words: Collection[str]) -> dict[str, str]:
    """Returns another given name of the same gender for each of the words that is one."""
    found: dict[str, str] = {}
    for names, others in ((FEMALE_NAMES, MALE_NAMES), (MALE_NAMES, FEMALE_NAMES)):
        free = sorted((names - others).difference(words))
        for word in words:
            shorts = [short for short in _SHORTS.get(word, ()) if short in words]
            if word in found or word not in names or word in others or not shorts:
                continue
            for other in free:
                own = [short for short in _SHORTS.get(other, ()) if short not in words]
                if len(own) >= len(shorts):
                    found |= {word: other, **dict(zip(shorts, own, strict=False))}
                    free = [name for name in free if name not in (other, *_SHORTS[other])]
                    break
        alone = (name for name in free if name not in NICKNAMES and name not in _SHORTS)
        for word in words:
            if word in names and word not in others and word not in found:
                if other := next(alone, None):
                    found[word] = other
    return found


_SAYS = (Cue.SAYS_AFTER, Cue.SAYS_BEFORE, Cue.SAYS_BESIDE)
_SAID = [FEATURES.index(f"{cue.value}: is it") for cue in _SAYS]
_FIRST = FEATURES.index("first of its paragraph")


class RuleDecider:
    """Decides by the rules, one utterance at a time, without the tags."""

    def decide(self, chapter: CandidateChapter, continues: Sequence[float]) -> Decided:
        """Returns the speakers, all of whom are sure."""
        speakers: list[int] = []
        before, last = NOBODY, NOBODY
        for candidates, rows in zip(chapter.candidates, chapter.features, strict=True):
            said = [candidates[row] for cue in _SAID for row in np.flatnonzero(rows[:, cue])]
            turn = (before, last) if rows[0, _FIRST] else (last, before)
            speaker = next(n for n in (*said, *turn, UNKNOWN_NUMBER) if n in candidates)
            speakers.append(speaker)
            if speaker != last:
                before, last = last, speaker
        sure = (1.0,) * len(speakers)
        return Decided(tuple(speakers), sure, sure)


@dataclass(frozen=True, slots=True)
class AloneDecider:
    """Decides each utterance by itself, as if another one than the last speakers spoke it."""

    network: NetworkDecider  # scores the candidates

    def decide(self, chapter: CandidateChapter, continues: Sequence[float]) -> Decided:
        """Returns the speakers. Nothing tells whether the last speaker goes on."""
        speakers, sure = list[int](), list[float]()
        for candidates, rows in zip(chapter.candidates, chapter.features, strict=True):
            scores = self.network.score(rows.astype(np.float32))[:, Way.OTHER]
            shares = np.exp(scores - scores.max())
            best = int(scores.argmax())
            speakers.append(candidates[best])
            sure.append(float(shares[best] / shares.sum()))
        return Decided(tuple(speakers), tuple(sure), (0.5,) * len(speakers))


def rule_attributor() -> SpeakerAttributor:
    """Returns the attributor of the rules."""
    return SpeakerAttributor(RuleDecider(), tag_share=0.0)


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


def find_systems(
    tagger: Tagger, gap: Tagger, attributor: SpeakerAttributor, ablations: Sequence[str] = ()
) -> list[tuple[str, Speaking | MaskedSpeaking]]:
    """Returns ways to find speakers with their names: ours, the simple rules, and the ablations."""
    remembered = LastTags(tagger)
    ours = Speaking(remembered, attributor)
    decider = attributor.decider
    assert isinstance(decider, NetworkDecider)
    guessing = NetworkDecider(decider.weights, facts=False)
    of_ablation = {
        "alone": Speaking(remembered, replace(attributor, decider=AloneDecider(decider))),
        "no-facts": Speaking(remembered, replace(attributor, decider=guessing)),
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
