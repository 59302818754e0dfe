"""Annotations -> the spans they speak of, in whatever edition of the book is at hand.

An annotation knows its span by a fingerprint: the initials of its words, the number of its letters
and their digest. The words of a chapter are read as one string of initials. Long spans are looked
up in it and are the anchors; the others are looked up between them, in order. What the edition
spells differently is compared with the spans that the miner cuts there, since without its letters
only marks say where it begins and ends. A label without a sure place is lost, never put on a guess.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate

from miner.annotation.alignment import letters
from miner.annotation.annotations import (
    QUOTES,
    AnnotatedBook,
    Annotation,
    Fingerprint,
    derive_tags,
    fingerprint,
)
from miner.dialogue.spans import BookSpans, Span
from miner.dialogue.tags import Tag, TaggedBook, TaggedSpan

LEAST_COVERAGE = 0.97  # of the annotations of a chapter; with fewer it is another text
_ANCHOR_WORDS = 6  # a run of so many initials is rarely found twice in a novel
_BESIDE = 0.1  # of a chapter's annotations that the next chapter must add, to be a part of it
_APART = 1 / 3  # the same for a chapter farther on
_TOGETHER = 0.5  # the same for all parts; with fewer it is another book that says yes and no
_SURPLUS = 1.25  # quoted spans per annotation in a region, beyond which it holds other chapters
_FUZZY_WORDS = 4  # fewest words of a span that may be found by most of its initials
_LIKENESS = 0.8  # of initials, and of the number of letters, for that
_NAMED_LOST = 3
_FEW_LOST = 2  # utterances of a chapter that another edition may print otherwise, of ten each
_MARK = re.compile(f"[{QUOTES}—–]")

_Place = tuple[int, int]  # first character and the one after the last, in the text of a region
_Offsets = tuple[int, int, int]  # paragraph, start, end


@dataclass(frozen=True, slots=True)
class Located:
    """Annotations on the spans of an edition.

    `book_spans` has the spans of the annotated chapters only, cut as the annotations say: an
    utterance for each annotated one, narration between; narration is `quoted` where something
    quoted was annotated as no utterance. `facts` has, per span, the annotation that it stands for,
    None for plain narration. `n_found` and `n_all` count annotations per annotated chapter; `lost`
    has those not found. `n_others` counts, per annotated chapter, utterances that the miner finds
    in the same chapters of the edition and no annotation speaks of.
    """

    annotated: AnnotatedBook
    book_spans: BookSpans
    facts: tuple[Annotation | None, ...]
    n_found: Mapping[int, int]
    n_all: Mapping[int, int]
    n_others: Mapping[int, int]
    lost: tuple[Annotation, ...]

    @property
    def is_own(self) -> bool:
        """Whether the edition is the very file that was annotated."""
        return _is_own(self.annotated, self.book_spans)

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
        book_spans: the edition, as the miner splits it. Its cuts say where a span may begin and
            end, unless it is the annotated one.
    """
    is_own = _is_own(annotated, book_spans)
    wanted = set(annotated.chapters)
    chapters: dict[int, list[Span]] = {}
    for span in book_spans.spans:
        # In another edition any chapter may be the one.
        if not is_own or span.chapter in wanted:
            chapters.setdefault(span.chapter, []).append(span)
    regions = {chapter: _Region(spans, is_own) for chapter, spans in chapters.items()}
    placed: dict[_Offsets, Annotation] = {}
    taken: dict[int, list[_Offsets]] = {}  # by paragraph
    lost: list[Annotation] = []
    n_found: dict[int, int] = {}
    n_all: dict[int, int] = {}
    stands_in: dict[int, set[int]] = {}  # chapters of the edition, by annotated chapter
    chapter_of = {span.paragraph: span.chapter for span in book_spans.spans}
    for chapter in annotated.chapters:
        facts = [fact for fact in annotated.annotations if fact.chapter == chapter]
        places = _found({n: r for n, r in regions.items() if n == chapter}, facts) if is_own else {}
        if len(places) < len(facts):
            places = _found(regions, facts)
        # Chapters that the edition does not part share a region; a place still has one label.
        found = {
            n: offsets
            for n, offsets in places.items()
            if not any(_overlap(offsets, other) for other in taken.get(offsets[0], ()))
        }
        n_all[chapter], n_found[chapter] = len(facts), len(found)
        stands_in[chapter] = {chapter_of[offsets[0]] for offsets in found.values()}
        placed |= {offsets: facts[n] for n, offsets in found.items()}
        for offsets in found.values():
            taken.setdefault(offsets[0], []).append(offsets)
        lost += [fact for n, fact in enumerate(facts) if n not in found]
    others = Counter(
        span.chapter
        for span in book_spans.spans
        if span.is_utterance
        and not any(
            _overlap((span.paragraph, span.start, span.end), offsets)
            for offsets in taken.get(span.paragraph, ())
        )
    )
    n_others = {chapter: sum(others[n] for n in held) for chapter, held in stands_in.items()}
    spans, fact_of = _cut(book_spans, placed)
    cut = BookSpans(book_spans.book, spans)
    facts_of_spans = tuple(map(fact_of.get, spans))
    return Located(annotated, cut, facts_of_spans, n_found, n_all, n_others, tuple(lost))


def losses(located: Located, least: float = LEAST_COVERAGE) -> dict[int, str]:
    """The chapters that were not found as they were annotated, each with a line that says so.

    Too few of their annotations were found, or the edition does not part them from other text,
    whose speech would be taken for narration. In another edition than the annotated one, which sets
    its marks otherwise, what was annotated as no utterance is not missed, nor are one or two
    utterances of a short chapter.

    Args:
        located: the annotations of a book on an edition.
        least: share of the annotations of each chapter that must be found, 0..1.

    Returns:
        By chapter, a line that names the book, the chapter and the first spans lost.
    """
    annotated, is_own = located.annotated, located.is_own
    poor: dict[int, str] = {}
    for chapter in located.n_all:
        needed, lost = (
            [f for f in facts if f.chapter == chapter and (is_own or f.is_utterance)]
            for facts in (annotated.annotations, located.lost)
        )
        spared = 0 if is_own else min(_FEW_LOST, len(needed) // 10)
        if len(lost) <= max(spared, (1 - least) * len(needed) + 1e-9):
            if not is_own and located.n_others[chapter] > (_SURPLUS - 1) * len(needed) + _FEW_LOST:
                poor[chapter] = (
                    f"{annotated.card.book}, chapter {chapter}: found {len(needed) - len(lost)} "
                    f"annotated utterances among {located.n_others[chapter]} others, expected a "
                    "chapter by itself in this edition"
                )
            continue
        named = "; ".join(
            f"paragraph {fact.paragraph}, {fact.speaker or 'no utterance'}, {fact.fingerprint}"
            for fact in lost[:_NAMED_LOST]
        )
        poor[chapter] = (
            f"{annotated.card.book}, chapter {chapter}: found {len(needed) - len(lost)} of "
            f"{len(needed)} annotated {'spans' if is_own else 'utterances'} in this edition, "
            f"expected at least {least:.0%}; first lost: {named}"
        )
    return poor


def refuse_losses(located: Located, least: float = LEAST_COVERAGE) -> None:
    """Stops at a chapter of which too few annotations were found, see `losses`.

    Raises:
        ValueError: names the book, the chapter and the first spans lost.
    """
    if poor := losses(located, least):
        raise ValueError(next(iter(poor.values())))


def _is_own(annotated: AnnotatedBook, book_spans: BookSpans) -> bool:
    return book_spans.book.sha256 == annotated.card.sha256


class _Region:
    """The text of some chapters: its words as initials, and the spans that the miner cuts there.

    `is_own` says that it is of the annotated edition. There the letters are enough, whatever the
    miner cuts, for some spans were corrected by hand.
    """

    def __init__(self, spans: Sequence[Span], is_own: bool) -> None:
        self.spans = spans
        self.is_own = is_own
        blocks = _by_block(spans)
        self.paragraphs = list(blocks)
        texts = ["".join(span.text for span in block) + "\n\n" for block in blocks.values()]
        self.at = list(accumulate(map(len, texts), initial=0))
        self.text = "".join(texts)
        folded = letters(self.text)
        self.letters = folded.text
        self.initials = "".join(word[0] for word in folded.words)
        self.first_letter = list(accumulate(map(len, folded.words), initial=0))
        self.starts = [folded.offsets[n] for n in self.first_letter[:-1]]
        self.ends = [folded.offsets[n - 1] + 1 for n in self.first_letter[1:]]
        self.quoted: dict[_Place, Fingerprint] = {}  # what the miner took for speech, in order
        self.same_letters: dict[tuple[int, str], list[_Place]] = {}
        for at, block in zip(self.at, blocks.values(), strict=False):
            for span in block:
                if span.in_marks:
                    start = at + span.start + len(span.text) - len(span.text.lstrip())
                    place, found = (start, start + len(span.text.strip())), fingerprint(span.text)
                    self.quoted[place] = found
                    self.same_letters.setdefault((found.n_letters, found.digest), []).append(place)
        self.quoted_starts = [start for start, _ in self.quoted]
        self.quoted_ends = [end for _, end in self.quoted]

    def block(self, at: int) -> int:
        """Which of `paragraphs` a character is in."""
        return bisect_right(self.at, at) - 1

    def offsets(self, place: _Place) -> _Offsets:
        """A place as its paragraph, start and end."""
        n = self.block(place[0])
        return self.paragraphs[n], place[0] - self.at[n], place[1] - self.at[n]

    def words(self, place: _Place) -> tuple[int, int]:
        """The first word of a place and the one after its last."""
        return bisect_left(self.starts, place[0]), bisect_left(self.starts, place[1])

    def reads(self, low: int, print_: Fingerprint) -> bool:
        """Whether the words from one on, all in one block, have exactly an annotation's letters."""
        high = low + len(print_.initials)
        if not 0 <= low < high or self.initials[low:high] != print_.initials:
            return False
        start, end = self.first_letter[low], self.first_letter[high]
        return (
            end - start == print_.n_letters
            and hashlib.sha256(self.letters[start:end].encode()).hexdigest()[:8] == print_.digest
            and self.block(self.starts[low]) == self.block(self.starts[high - 1])
        )

    def around(self, low: int, high: int) -> _Place | None:
        """The quoted span that some words are in, if they are in one."""
        n = bisect_right(self.quoted_starts, self.starts[low]) - 1
        if n < 0 or self.quoted_ends[n] < self.ends[high - 1]:
            return None
        return self.quoted_starts[n], self.quoted_ends[n]

    def with_marks(self, low: int, high: int, around: _Place | None) -> tuple[_Place, bool]:
        """Words with the marks beside them, and whether these part them from the text around.

        That is a quoted span or the block: at its edges no mark is needed. Marks of other quoted
        spans do not count, for narration stands between those, too.
        """
        start, end = self.starts[low], self.ends[high - 1]
        block = self.block(start)
        first, last = around or (self.at[block], self.at[block + 1] - 2)
        n, k = bisect_right(self.quoted_ends, start), bisect_left(self.quoted_starts, end)
        left = max([first, *self.ends[:low][-1:], *self.quoted_ends[:n][-1:]])
        right = min([last, *self.starts[high : high + 1], *self.quoted_starts[k : k + 1]])
        while left < start and not self.text[start - 1].isspace():
            start -= 1
        while end < right and not self.text[end].isspace():
            end += 1
        # A dash that joins two words parts nothing: there is a blank beyond the marks.
        before, after = self.text[start : self.starts[low]], self.text[self.ends[high - 1] : end]
        opens = left == first or (left < start and _MARK.search(before))
        closes = right == last or (end < right and _MARK.search(after))
        return (start, end), bool(opens and closes)


# Gives the places of an annotation in a window of a region, each with its weight.
_LookUp = Callable[[_Region, Sequence[Annotation], int, _Place], Iterator[tuple[_Place, float]]]


def _by_block(spans: Iterable[Span]) -> dict[int, list[Span]]:
    blocks: dict[int, list[Span]] = {}
    for span in spans:
        blocks.setdefault(span.paragraph, []).append(span)
    return blocks


def _overlap(a: _Offsets, b: _Offsets) -> bool:
    return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]


def _found(regions: Mapping[int, _Region], facts: Sequence[Annotation]) -> dict[int, _Offsets]:
    """Where the annotations of one chapter stand, by their number in `facts`.

    That is in the chapter of the edition that has most of them. Another one counts for what it
    adds, so that a preface that repeats the beginning attracts no label, nor does a single phrase.
    """
    held: Counter[int] = Counter()
    for numbers in (_long(facts), range(len(facts))):
        for chapter, region in regions.items():
            whole = (0, len(region.text))
            held[chapter] += sum(any(_exact(region, facts, n, whole)) for n in numbers)
        if any(held.values()):
            break
    likely = [chapter for chapter, n in held.items() if n and n >= _BESIDE * max(held.values())]
    alone = {chapter: _places(regions[chapter], facts) for chapter in likely}
    if not alone:
        return {}
    main = max(alone, key=lambda chapter: (len(alone[chapter]), held[chapter]))
    chapters, region, places = {main}, regions[main], alone[main]
    for chapter in sorted({*likely} - {main}, key=lambda chapter: (abs(chapter - main), chapter)):
        parts = sorted(chapters | {chapter})
        wider = _Region([span for part in parts for span in regions[part].spans], region.is_own)
        more = _places(wider, facts)
        share = _BESIDE if chapters & {chapter - 1, chapter + 1} else _APART
        if len(more) - len(places) >= share * len(facts):
            chapters, region, places = set(parts), wider, more
    if len(places) < _TOGETHER * len(facts):
        return {}
    return {n: region.offsets(place) for n, place in places.items()}


def _long(facts: Sequence[Annotation]) -> list[int]:
    return [n for n, fact in enumerate(facts) if len(fact.fingerprint.initials) >= _ANCHOR_WORDS]


def _places(region: _Region, facts: Sequence[Annotation]) -> dict[int, _Place]:
    """Where the annotations of one chapter stand in a region, in the order of the book."""
    window = (0, len(region.text))
    places = _chain(region, facts, _long(facts), window, (_exact,))
    if places and len(region.quoted) > _SURPLUS * len(facts):
        # Other chapters are in it; what is before and after all anchors may be theirs.
        window = (places[min(places)][0], places[max(places)][1])
    for missing, between in list(_runs(facts, places, window)):
        places |= _chain(region, facts, missing, between, (_exact, _alike))
    # Of several alike, one after another, the first were taken; but any of them may be the missing.
    while twins := {
        missing[0] - 1
        for missing, _ in _runs(facts, places, window)
        if missing[0]
        and facts[missing[0] - 1].fingerprint in [facts[n].fingerprint for n in missing]
    }:
        places = {n: place for n, place in places.items() if n not in twins}
    return places


def _chain(
    region: _Region,
    facts: Sequence[Annotation],
    numbers: Iterable[int],
    window: _Place,
    look_ups: Iterable[_LookUp],
) -> dict[int, _Place]:
    """The heaviest way to put annotations, in order, on places in a window that share no word.

    Each is looked up in several ways, until one finds something.
    """
    best: list[tuple[float, _Place, int, int]] = []  # weight so far, place, number, the one before
    for n in numbers:
        found = (list(look_up(region, facts, n, window)) for look_up in look_ups)
        added = []
        for place, weight in next(filter(None, found), []):
            before, carried = -1, 0.0
            for k, (total, (_, end), _, _) in enumerate(best):
                if end <= place[0] and total > carried:
                    before, carried = k, total
            added.append((carried + weight, place, n, before))
        best += added
    chosen: dict[int, _Place] = {}
    k = max(range(len(best)), key=lambda k: best[k][0], default=-1)
    while k >= 0:
        _, place, n, k = best[k]
        chosen[n] = place
    return chosen


def _exact(
    region: _Region, facts: Sequence[Annotation], n: int, window: _Place
) -> Iterator[tuple[_Place, float]]:
    """Where an annotation's letters are a quoted span, or words that can be one of their own."""
    print_ = facts[n].fingerprint
    n_words = len(print_.initials)
    for place in region.same_letters.get((print_.n_letters, print_.digest), ()):
        if window[0] <= place[0] and place[1] <= window[1]:
            yield place, n_words + 1
    low, end = region.words(window)
    low = region.initials.find(print_.initials, low, end) if n_words else -1
    while low >= 0:
        around = region.around(low, low + n_words)
        if region.reads(low, print_):
            place, is_parted = region.with_marks(low, low + n_words, around)
            is_long = n_words >= _ANCHOR_WORDS
            if around is None:
                is_span = is_long or is_parted
            else:
                is_span = (is_long and is_parted) or _is_in_parts(region, facts, n, around)
            if is_span or region.is_own:
                yield place, n_words
        low = region.initials.find(print_.initials, low + 1, end)


def _is_in_parts(region: _Region, facts: Sequence[Annotation], n: int, quoted: _Place) -> bool:
    """Whether annotations, this one among them, share a quoted span: they begin and end it.

    Narration between them is of one paragraph. Otherwise a find is some words of a longer speech.
    """
    low, high = region.words(quoted)
    prints = [fact.fingerprint for fact in facts]
    firsts = [k for k in range(n + 1) if region.reads(low, prints[k])]
    lasts = [
        k for k in range(n, len(facts)) if region.reads(high - len(prints[k].initials), prints[k])
    ]
    return any(
        facts[i].paragraph == facts[k].paragraph
        or sum(print_.n_letters for print_ in prints[i : k + 1]) == region.quoted[quoted].n_letters
        for i in firsts
        for k in lasts
    )


def _alike(
    region: _Region, facts: Sequence[Annotation], n: int, window: _Place
) -> Iterator[tuple[_Place, float]]:
    """The quoted spans that differ from an annotation in a few words or their spelling."""
    print_ = facts[n].fingerprint
    if len(print_.initials) < _FUZZY_WORDS:
        return
    for place, found in region.quoted.items():
        few, many = sorted((found.n_letters, print_.n_letters))
        if place[0] < window[0] or place[1] > window[1] or few < _LIKENESS * many:
            continue
        likeness = SequenceMatcher(None, print_.initials, found.initials, False).ratio()
        if likeness >= _LIKENESS:
            yield place, likeness * len(print_.initials)


def _runs(
    facts: Sequence[Annotation], places: Mapping[int, _Place], window: _Place
) -> Iterator[tuple[list[int], _Place]]:
    """The annotations without a place that follow one another, and where they must be."""
    missing: list[int] = []
    low = window[0]
    for n in range(len(facts) + 1):
        if n < len(facts) and n not in places:
            missing.append(n)
            continue
        start, end = places.get(n, (window[1], window[1]))
        if missing:
            yield missing, (low, start)
        missing, low = [], end


def _cut(
    book_spans: BookSpans, placed: Mapping[_Offsets, Annotation]
) -> tuple[tuple[Span, ...], dict[Span, Annotation]]:
    """The spans of all chapters that hold an annotation, cut as the annotations say."""
    blocks = _by_block(book_spans.spans)
    in_block: dict[int, list[tuple[int, int, Annotation]]] = {}
    for (paragraph, start, end), fact in sorted(placed.items(), key=lambda item: item[0]):
        in_block.setdefault(paragraph, []).append((start, end, fact))
    chapters = {blocks[paragraph][0].chapter for paragraph in in_block}
    spans: list[Span] = []
    fact_of: dict[Span, Annotation] = {}
    for paragraph, block in blocks.items():
        chapter = block[0].chapter
        if chapter not in chapters:
            continue
        text = "".join(span.text for span in block)
        going_on = {span.start for span in block if span.continues}
        at = 0
        pieces: list[tuple[int, int, Annotation | None]] = []
        for start, end, fact in in_block.get(paragraph, ()):
            if at < start:
                pieces.append((at, start, None))
            pieces.append((start, end, fact))
            at = end
        if at < len(text):
            pieces.append((at, len(text), None))
        for index, (start, end, fact) in enumerate(pieces):
            spoken = fact is not None and fact.is_utterance
            quoted = fact is not None and not spoken
            place = (chapter, paragraph, index, start, end, text[start:end])
            span = Span(*place, spoken, quoted, spoken and start in going_on)
            spans.append(span)
            if fact is not None:
                fact_of[span] = fact
    return tuple(spans), fact_of
