"""Annotations -> the spans they speak of, in whatever edition of the book is at hand.

An annotation knows its span by a fingerprint: the initials of its words, the number of its letters
and their digest. The edition's words are read as one string of initials. Long spans are looked up
in it and anchor their chapter; shorter ones are looked up between their neighbours, where those in
quotation marks go first. What the edition spells differently is found by most of its initials. A
label is never put on a span that has neither its letters nor nearly all its words.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate

from miner.align import letters
from miner.annotations import AnnotatedBook, Annotation, derive_tags, fingerprint
from miner.spans import BookSpans, Span
from miner.tags import Tag, TaggedBook, TaggedSpan

LEAST_COVERAGE = 0.97  # of the annotations of a chapter; with fewer it is another text
_ANCHOR_WORDS = 6  # a run of so many initials is rarely found twice in a novel
_SHARE_OF_REGION = 0.1  # of a chapter's spans that make an edition's chapter part of it
_FUZZY_WORDS = 4  # fewest words of a span that may be found by most of its initials
_LIKENESS = 0.8  # of initials, and of the number of letters, for that
_SNAP = 2  # words by which such a find may miss the marks of the edition
_NAMED_LOST = 3
_MARK = re.compile("[\"'“”‘’„‚«»—–]")

_Place = tuple[int, int]  # first word and the word after the last, counted in the whole edition
_Offsets = tuple[int, int, int]  # block, start, end


@dataclass(frozen=True, slots=True)
class Located:
    """Annotations on the spans of an edition.

    `book_spans` has the spans of the annotated chapters only, cut as the annotations say: an
    utterance for each annotated one, narration between; narration is `quoted` where something
    quoted was annotated as no utterance. `facts` has, per span, the annotation that it stands for,
    None for plain narration. `n_found` and `n_all` count annotations per annotated chapter; `lost`
    has those not found.
    """

    annotated: AnnotatedBook
    book_spans: BookSpans
    facts: tuple[Annotation | None, ...]
    n_found: Mapping[int, int]
    n_all: Mapping[int, int]
    lost: tuple[Annotation, ...]

    def tagged(self) -> TaggedBook:
        """The spans with their gold tags, derived from the facts of what was found."""
        tags = iter(derive_tags(fact for fact in self.facts if fact is not None))
        spans = tuple(
            TaggedSpan(span, Tag.O if fact is None else next(tags))
            for span, fact in zip(self.book_spans.spans, self.facts, strict=True)
        )
        return TaggedBook(self.annotated.card.book, spans, self.annotated.source)


def locate(annotated: AnnotatedBook, book_spans: BookSpans) -> Located:
    """The annotations of a book on the spans of an edition of it, found or not.

    Args:
        annotated: the annotations.
        book_spans: the edition, as the miner splits it. Its cuts say where the marks around a find
            are, not what is a span.
    """
    edition = _Edition(book_spans)
    placed: list[tuple[_Offsets, Annotation]] = []
    lost: list[Annotation] = []
    n_found: dict[int, int] = {}
    n_all: dict[int, int] = {}
    for chapter in annotated.chapters:
        facts = [fact for fact in annotated.annotations if fact.chapter == chapter]
        found = _in_region(edition, _places(edition, facts))
        n_all[chapter], n_found[chapter] = len(facts), len(found)
        placed += [(offsets, facts[n]) for n, offsets in found.items()]
        lost += [fact for n, fact in enumerate(facts) if n not in found]
    spans, fact_of = _cut(edition, placed)
    cut = BookSpans(book_spans.book, spans)
    return Located(annotated, cut, tuple(map(fact_of.get, spans)), n_found, n_all, tuple(lost))


def refuse_losses(located: Located, least: float = LEAST_COVERAGE) -> None:
    """Stops at a chapter of which too few annotations were found.

    Args:
        located: the annotations of a book on an edition.
        least: share of the annotations of each chapter that must be found, 0..1.

    Raises:
        ValueError: names the book, the chapter and the first spans lost.
    """
    for chapter, n_all in located.n_all.items():
        n_found = located.n_found[chapter]
        if n_found >= least * n_all:
            continue
        lost = [fact for fact in located.lost if fact.chapter == chapter][:_NAMED_LOST]
        named = "; ".join(
            f"paragraph {fact.paragraph}, {fact.speaker or 'no utterance'}, {fact.fingerprint}"
            for fact in lost
        )
        raise ValueError(
            f"{located.annotated.card.book}, chapter {chapter}: found {n_found} of {n_all} "
            f"annotated spans in this edition, expected at least {least:.0%}; first lost: {named}"
        )


class _Edition:
    """The words of all blocks that the miner split, as initials, and where they stand."""

    def __init__(self, book_spans: BookSpans) -> None:
        self.book_spans = book_spans
        self.by_block: dict[int, list[Span]] = {}
        for span in book_spans.spans:
            self.by_block.setdefault(span.paragraph, []).append(span)
        self.blocks = list(self.by_block)
        self.texts = ["".join(span.text for span in self.by_block[n]) for n in self.blocks]
        self.at = list(accumulate((len(text) + 2 for text in self.texts), initial=0))
        self.text = "\n\n".join(self.texts)
        folded = letters(self.text)
        self.letters = folded.text
        self.initials = "".join(word[0] for word in folded.words)
        self.first_letter = list(accumulate(map(len, folded.words), initial=0))
        self.starts = [folded.offsets[n] for n in self.first_letter[:-1]]
        self.ends = [folded.offsets[n - 1] + 1 for n in self.first_letter[1:]]
        # What the miner took for speech, by words, and by digest where it has no letters.
        self.quoted: dict[_Place, _Offsets] = {}
        self.wordless: list[tuple[int, str, _Offsets]] = []
        for number, block in enumerate(self.blocks):
            for span in self.by_block[block]:
                if not (span.is_utterance or span.quoted):
                    continue
                offsets = _trimmed(number, span)
                start = self.at[number]
                low = bisect_left(self.starts, start + offsets[1])
                high = bisect_left(self.starts, start + offsets[2])
                if low < high:
                    self.quoted[low, high] = offsets
                else:
                    self.wordless.append((low, fingerprint(span.text).digest, offsets))

    def chapter_of(self, number: int) -> int:
        """The chapter of a block."""
        return self.by_block[self.blocks[number]][0].chapter

    def block_of(self, word: int) -> int:
        """Which of `blocks` a word stands in."""
        return bisect_right(self.at, self.starts[word]) - 1

    def is_whole(self, place: _Place) -> bool:
        """Whether the words stand in one block."""
        return self.block_of(place[0]) == self.block_of(place[1] - 1)

    def n_letters(self, place: _Place) -> int:
        return self.first_letter[place[1]] - self.first_letter[place[0]]

    def digest(self, place: _Place) -> str:
        start, end = (self.first_letter[n] for n in place)
        return hashlib.sha256(self.letters[start:end].encode()).hexdigest()[:8]

    def marked(self, place: _Place) -> int:
        """How many ends of the words, 0 to 2, have a quotation mark or a dash beside them."""
        low, high = place
        before = self.text[self.ends[low - 1] if low else 0 : self.starts[low]]
        after = self.text[
            self.ends[high - 1] : self.starts[high] if high < len(self.starts) else None
        ]
        return bool(_MARK.search(before)) + bool(_MARK.search(after))

    def offsets(self, place: _Place) -> _Offsets:
        """The characters of the words with the marks around them."""
        if place in self.quoted:
            return self.quoted[place]
        number = self.block_of(place[0])
        text, at = self.texts[number], self.at[number]
        start, end = self.starts[place[0]] - at, self.ends[place[1] - 1] - at
        while start and not text[start - 1].isspace() and not text[start - 1].isalnum():
            start -= 1
        while end < len(text) and not text[end].isspace() and not text[end].isalnum():
            end += 1
        return number, start, end


def _trimmed(number: int, span: Span) -> _Offsets:
    """A span's offsets in its block without the blanks around its text."""
    left = len(span.text) - len(span.text.lstrip())
    return number, span.start + left, span.start + len(span.text.rstrip())


def _places(edition: _Edition, facts: Sequence[Annotation]) -> dict[int, _Place | _Offsets]:
    """Where the annotations of one chapter stand, by their number in `facts`."""
    places = _anchors(edition, facts)
    if not places:
        return {}
    chapters = Counter(edition.chapter_of(edition.block_of(low)) for low, _ in places.values())
    common = [chapter for chapter, n in chapters.items() if n >= _SHARE_OF_REGION * len(places)]
    inside = [n for n in range(len(edition.blocks)) if edition.chapter_of(n) in common]
    region = (
        bisect_left(edition.starts, edition.at[inside[0]]),
        bisect_left(edition.starts, edition.at[inside[-1] + 1]),
    )
    places = {n: place for n, place in places.items() if region[0] <= place[0] < region[1]}
    for look_up in (_exact, _alike):
        for missing, window in list(_runs(facts, places, region)):
            places |= look_up(edition, facts, missing, window)
    found: dict[int, _Place | _Offsets] = dict(places)
    for missing, (low, high) in list(_runs(facts, places, region)):
        # Speech without letters ("——!") stands between its neighbours, in the same order.
        left = [item for item in edition.wordless if low <= item[0] <= high]
        for n in missing:
            digest = facts[n].fingerprint.digest
            k = next((k for k, item in enumerate(left) if item[1] == digest), None)
            if k is not None:
                found[n] = left[k][2]
                left = left[k + 1 :]
    return found


def _anchors(edition: _Edition, facts: Sequence[Annotation]) -> dict[int, _Place]:
    """The long spans with exactly their letters, wherever they stand, in the order of the book."""
    long = [n for n, fact in enumerate(facts) if len(fact.fingerprint.initials) >= _ANCHOR_WORDS]
    whole = (0, len(edition.initials))
    return _chain(edition, facts, long, whole) or _chain(edition, facts, range(len(facts)), whole)


def _exact(
    edition: _Edition, facts: Sequence[Annotation], missing: Sequence[int], window: _Place
) -> dict[int, _Place]:
    """Those of a run of missing annotations whose letters stand in the window, in order."""
    return _chain(edition, facts, missing, window)


def _chain(
    edition: _Edition, facts: Sequence[Annotation], numbers: Iterable[int], window: _Place
) -> dict[int, _Place]:
    """The best way to put annotations, in order, on places that have exactly their letters.

    Best is what places most words; between two places for a span, the one with marks around it.
    """
    best: list[tuple[float, int, int, _Place, int]] = []  # weight, end, number, place, before
    for n in numbers:
        added = []
        for place in _occurrences(edition, facts[n], window):
            weight = place[1] - place[0] + 0.3 * edition.marked(place) + (place in edition.quoted)
            before, carried = -1, 0.0
            for k, (total, end, _, _, _) in enumerate(best):
                if end <= place[0] and total > carried:
                    before, carried = k, total
            added.append((carried + weight, place[1], n, place, before))
        best += added
    chosen: dict[int, _Place] = {}
    k = max(range(len(best)), key=lambda k: best[k][0], default=-1)
    while k >= 0:
        _, _, n, place, k = best[k]
        chosen[n] = place
    return chosen


def _occurrences(edition: _Edition, fact: Annotation, window: _Place) -> Iterator[_Place]:
    """Where exactly the letters of an annotation stand, within one block of the window."""
    print_ = fact.fingerprint
    n_words = len(print_.initials)
    low = edition.initials.find(print_.initials, *window) if n_words else -1
    while low >= 0:
        place = low, low + n_words
        if edition.n_letters(place) == print_.n_letters and edition.digest(place) == print_.digest:
            if edition.is_whole(place):
                yield place
        low = edition.initials.find(print_.initials, low + 1, window[1])


def _runs(
    facts: Sequence[Annotation], places: Mapping[int, _Place], region: _Place
) -> Iterator[tuple[list[int], _Place]]:
    """The annotations without a place that follow one another, and the words they must be among."""
    missing: list[int] = []
    low = region[0]
    for n in range(len(facts) + 1):
        if n < len(facts) and n not in places:
            missing.append(n)
            continue
        start, end = places.get(n, (region[1], region[1]))
        if missing:
            yield missing, (low, start)
        missing, low = [], end


def _alike(
    edition: _Edition, facts: Sequence[Annotation], missing: Sequence[int], window: _Place
) -> dict[int, _Place]:
    """Those of a run of missing annotations that the edition spells a little differently."""
    found: dict[int, _Place] = {}
    low, high = window
    for n in missing:
        print_ = facts[n].fingerprint
        n_words = len(print_.initials)
        if n_words < _FUZZY_WORDS:
            continue
        matcher = SequenceMatcher(None, print_.initials, edition.initials[low:high], False)
        blocks = [block for block in matcher.get_matching_blocks() if block.size]
        if sum(block.size for block in blocks) < _LIKENESS * n_words:
            continue
        first, last = blocks[0], blocks[-1]
        start = low + first.b - first.a
        end = low + last.b + n_words - last.a
        place = _snapped(edition, (max(start, low), min(end, high)))
        if place is None or not edition.is_whole(place):
            continue
        like = sorted((edition.n_letters(place), print_.n_letters))
        if like[0] >= _LIKENESS * like[1]:
            found[n] = place
            low = place[1]
    return found


def _snapped(edition: _Edition, place: _Place) -> _Place | None:
    """The words between the edition's own marks that a find all but meets; None if there are none.

    Without letters to compare, only marks on both sides say where a span begins and ends.
    """
    near = [
        (abs(low - place[0]) + abs(high - place[1]), (low, high))
        for low in range(place[0] - _SNAP, place[0] + _SNAP + 1)
        for high in range(place[1] - _SNAP, place[1] + _SNAP + 1)
        if (low, high) in edition.quoted
    ]
    if near:
        return min(near)[1]
    return place if place[0] < place[1] and edition.marked(place) == 2 else None


def _in_region(edition: _Edition, found: Mapping[int, _Place | _Offsets]) -> dict[int, _Offsets]:
    """The offsets of what was found, without strays in other chapters of the edition."""
    offsets = {
        n: place if len(place) == 3 else edition.offsets(place) for n, place in found.items()
    }
    chapters = Counter(edition.chapter_of(number) for number, _, _ in offsets.values())
    return {
        n: item
        for n, item in offsets.items()
        if chapters[edition.chapter_of(item[0])] >= _SHARE_OF_REGION * len(offsets)
    }


def _cut(
    edition: _Edition, placed: Iterable[tuple[_Offsets, Annotation]]
) -> tuple[tuple[Span, ...], dict[Span, Annotation]]:
    """The spans of all chapters that hold an annotation, cut as the annotations say."""
    in_block: dict[int, list[tuple[int, int, Annotation]]] = {}
    for (number, start, end), fact in placed:
        in_block.setdefault(number, []).append((start, end, fact))
    chapters = {edition.chapter_of(number) for number in in_block}
    spans: list[Span] = []
    fact_of: dict[Span, Annotation] = {}
    for number, block in enumerate(edition.blocks):
        chapter = edition.chapter_of(number)
        if chapter not in chapters:
            continue
        text = edition.texts[number]
        going_on = {span.start for span in edition.by_block[block] if span.continues}
        at = index = 0
        pieces: list[tuple[int, int, Annotation | None]] = []
        for start, end, fact in sorted(in_block.get(number, ()), key=lambda item: item[:2]):
            if at < start:
                pieces.append((at, start, None))
            pieces.append((start, end, fact))
            at = end
        if at < len(text):
            pieces.append((at, len(text), None))
        for index, (start, end, fact) in enumerate(pieces):
            spoken = fact is not None and fact.is_utterance
            quoted = fact is not None and not fact.is_utterance
            span = Span(
                chapter,
                block,
                index,
                start,
                end,
                text[start:end],
                spoken,
                quoted,
                spoken and start in going_on,
            )
            spans.append(span)
            if fact is not None:
                fact_of[span] = fact
    return tuple(spans), fact_of
