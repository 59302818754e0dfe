"""The annotations of a chapter -> where their spans are in the chapters of an edition.

The words of the text are read as one string of initials. Long spans are found in it and are the
anchors. The others are found between the anchors, in order. A span that the edition spells
differently is compared with the spans that the miner cuts there, because only marks tell where it
begins and ends. A span without a sure place is lost: nothing is guessed.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from miner.annotation.alignment import QUOTES, Fingerprint, fingerprint, fold_letters
from miner.annotation.annotations import Annotation
from miner.speech.spans import Span

_ANCHOR_WORDS = 6  # a run of this many initials rarely occurs twice in a novel
# The least share of a chapter's annotations that another chapter of the edition must add in order
# to count as a part of it: the next chapter, and one farther away.
_BESIDE = 0.1
_APART = 1 / 3
_TOGETHER = 0.5  # the least share that all parts must have; with fewer it is another book
SURPLUS = 1.25  # a region with more quoted spans per annotation holds other chapters, too
_FUZZY_WORDS = 4  # the fewest words of a span that may be found by similar initials
_LIKENESS = 0.8  # the least similarity of the initials, and ratio of the numbers of letters
# What a side with a mark, and the miner's own cut, add to the weight of a place, in words.
_AT_A_MARK = _AS_CUT = 0.25
_OPENING = re.compile("""[—–―«“„‘‚¿¡(\\[_-]+["']*$""")
_MARK = re.compile(f"[{QUOTES}—–―]|--")

_Place = tuple[int, int]  # the first character in the text of a region, and the one after the last
BlockRange = tuple[int, int, int]  # paragraph, start, end


class Region:
    """The text of some chapters, the initials of its words and the spans that the miner cuts.

    Args:
        spans: the spans of the chapters.
        is_own: whether the edition is the annotated one. There equal letters are enough, even if
            the miner cuts other spans, because annotators corrected some spans by hand.
    """

    def __init__(self, spans: Sequence[Span], is_own: bool) -> None:
        self.spans = spans
        self.is_own = is_own
        blocks = spans_by_block(spans)
        self.paragraphs = list(blocks)
        texts = ["".join(span.text for span in block) + "\n\n" for block in blocks.values()]
        self.block_starts = list(accumulate(map(len, texts), initial=0))
        self.text = "".join(texts)
        folded = fold_letters(self.text)
        self.letters = folded.text
        self.initials = "".join(word[0] for word in folded.words)
        self.first_letter = list(accumulate(map(len, folded.words), initial=0))
        self.starts = [folded.offsets[n] for n in self.first_letter[:-1]]
        self.ends = [folded.offsets[n - 1] + 1 for n in self.first_letter[1:]]
        self.quoted: dict[_Place, Fingerprint] = {}  # the spans in marks, in order
        self.same_letters: dict[tuple[int, str], list[_Place]] = {}
        for at, block in zip(self.block_starts, blocks.values(), strict=False):
            for span in block:
                if span.in_marks:
                    start = at + span.start + len(span.text) - len(span.text.lstrip())
                    place, found = (start, start + len(span.text.strip())), fingerprint(span.text)
                    self.quoted[place] = found
                    self.same_letters.setdefault((found.n_letters, found.digest), []).append(place)
        self.quoted_starts = [start for start, _ in self.quoted]
        self.quoted_ends = [end for _, end in self.quoted]

    def block(self, at: int) -> int:
        """Returns the index in `paragraphs` of the one that a character is in."""
        return bisect_right(self.block_starts, at) - 1

    def offsets(self, place: _Place) -> BlockRange:
        """Returns the paragraph, start and end of a place."""
        n = self.block(place[0])
        return self.paragraphs[n], place[0] - self.block_starts[n], place[1] - self.block_starts[n]

    def within(self, paragraph: int, window: _Place) -> _Place:
        """Returns the part of a window that is in a paragraph, by its number; empty if none is."""
        n = bisect_left(self.paragraphs, paragraph)
        if self.paragraphs[n : n + 1] != [paragraph]:
            return window[0], window[0]
        return max(window[0], self.block_starts[n]), min(window[1], self.block_starts[n + 1])

    def words(self, place: _Place) -> tuple[int, int]:
        """Returns the first word of a place and the one after its last."""
        return bisect_left(self.starts, place[0]), bisect_left(self.starts, place[1])

    def reads(self, low: int, wanted: Fingerprint) -> bool:
        """Whether the words from `low` on are in one block and have exactly these letters."""
        high = low + len(wanted.initials)
        if not 0 <= low < high or self.initials[low:high] != wanted.initials:
            return False
        start, end = self.first_letter[low], self.first_letter[high]
        return (
            end - start == wanted.n_letters
            and hashlib.sha256(self.letters[start:end].encode()).hexdigest()[:8] == wanted.digest
            and self.block(self.starts[low]) == self.block(self.starts[high - 1])
        )

    def around(self, low: int, high: int) -> _Place | None:
        """Returns the quoted span around the words `low` to `high`, or None."""
        n = bisect_right(self.quoted_starts, self.starts[low]) - 1
        if n < 0 or self.quoted_ends[n] < self.ends[high - 1]:
            return None
        return self.quoted_starts[n], self.quoted_ends[n]

    def between_words(self, low: int, high: int) -> tuple[_Place, int]:
        """Returns the place of some words with their marks, and on how many sides marks stand.

        Marks up to white space are part of the place. Without white space before the next word, a
        dash and marks that open belong to that word: "Well?" and "—No" in "Well?—No".
        """
        start, end = self.starts[low], self.ends[high - 1]
        block = self.block(start)
        first, last = self.block_starts[block], self.block_starts[block + 1] - 2
        left = max([first, *self.ends[:low][-1:]])
        right = min([last, *self.starts[high : high + 1]])
        before, after = self.text[left:start], self.text[end:right]
        opens = left == first or bool(_MARK.search(before))
        closes = right == last or bool(_MARK.search(after))
        start = left if left == first else left + _part_marks(before)[1]
        end = last if right == last else end + _part_marks(after)[0]
        return (start, end), opens + closes

    def with_marks(self, low: int, high: int, around: _Place | None) -> tuple[_Place, bool]:
        """Returns the place of some words with their marks, and whether marks separate it.

        No mark is needed at the edges of the quoted span around the words, or of the block. Marks
        of other quoted spans do not count, because narration stands between those, too.
        """
        start, end = self.starts[low], self.ends[high - 1]
        block = self.block(start)
        first, last = around or (self.block_starts[block], self.block_starts[block + 1] - 2)
        n, k = bisect_right(self.quoted_ends, start), bisect_left(self.quoted_starts, end)
        left = max([first, *self.ends[:low][-1:], *self.quoted_ends[:n][-1:]])
        right = min([last, *self.starts[high : high + 1], *self.quoted_starts[k : k + 1]])
        while left < start and not self.text[start - 1].isspace():
            start -= 1
        while end < right and not self.text[end].isspace():
            end += 1
        # A dash that joins two words does not separate them, so white space must follow the marks.
        before, after = self.text[start : self.starts[low]], self.text[self.ends[high - 1] : end]
        opens = left == first or (left < start and _MARK.search(before))
        closes = right == last or (end < right and _MARK.search(after))
        return (start, end), bool(opens and closes)


def _part_marks(between: str) -> tuple[int, int]:
    """Returns where the marks of one word end and those of the next begin between the two."""
    spaces = [n for n, character in enumerate(between) if character.isspace()]
    if spaces:
        return spaces[0], spaces[-1] + 1
    found = _OPENING.search(between)
    return (found.start(), found.start()) if found else (len(between), len(between))


# Yields the places of annotation `n` in a window of a region, each with its weight.
_LookUp = Callable[[Region, Sequence[Annotation], int, _Place], Iterator[tuple[_Place, float]]]


def spans_by_block(spans: Iterable[Span]) -> dict[int, list[Span]]:
    """Returns the spans of each block by its number."""
    blocks: dict[int, list[Span]] = {}
    for span in spans:
        blocks.setdefault(span.paragraph, []).append(span)
    return blocks


def find_annotations(
    regions: Mapping[int, Region], facts: Sequence[Annotation]
) -> dict[int, BlockRange]:
    """Returns where the annotations of one chapter are, by their number in `facts`.

    They are looked for in the chapter of the edition that has most of them. Another chapter is
    added only if it has enough of the others. So a preface that repeats the beginning of the
    chapter, or a single phrase elsewhere, gets no annotation.
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
        wider = Region([span for part in parts for span in regions[part].spans], region.is_own)
        more = _places(wider, facts)
        share = _BESIDE if chapters & {chapter - 1, chapter + 1} else _APART
        if len(more) - len(places) >= share * len(facts):
            chapters, region, places = set(parts), wider, more
    if len(places) < _TOGETHER * len(facts):
        return {}
    return {n: region.offsets(place) for n, place in places.items()}


def _long(facts: Sequence[Annotation]) -> list[int]:
    """Returns the numbers of the annotations that can be anchors."""
    return [n for n, fact in enumerate(facts) if len(fact.fingerprint.initials) >= _ANCHOR_WORDS]


def _places(region: Region, facts: Sequence[Annotation]) -> dict[int, _Place]:
    """Returns where the annotations of one chapter are in a region, in the order of the book."""
    window = (0, len(region.text))
    exact = (_in_paragraph, _exact) if region.is_own else (_exact,)
    places = _chain(region, facts, _long(facts), window, exact)
    if places and not region.is_own and len(region.quoted) > SURPLUS * len(facts):
        # The text before and after all anchors may belong to other chapters.
        window = (places[min(places)][0], places[max(places)][1])
    for missing, between in list(_runs(facts, places, window)):
        places |= _chain(region, facts, missing, between, (*exact, _alike))
    # Of equal spans in a row the first ones were taken, but any of them may be the missing one.
    while twins := {
        missing[0] - 1
        for missing, _ in _runs(facts, places, window)
        if missing[0]
        and facts[missing[0] - 1].fingerprint in [facts[n].fingerprint for n in missing]
    }:
        places = {n: place for n, place in places.items() if n not in twins}
    return places


def _chain(
    region: Region,
    facts: Sequence[Annotation],
    numbers: Iterable[int],
    window: _Place,
    look_ups: Iterable[_LookUp],
) -> dict[int, _Place]:
    """Returns the heaviest assignment of annotations to places, in order and without overlap."""
    # Weight so far, place, number of the annotation, index of the entry before it.
    best: list[tuple[float, _Place, int, int]] = []
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


def _in_paragraph(
    region: Region, facts: Sequence[Annotation], n: int, window: _Place
) -> Iterator[tuple[_Place, float]]:
    """Yields the places with exactly an annotation's letters in the paragraph that it names.

    In the annotated edition they need not be what the miner cuts. Words that marks or dashes part
    from the others are likelier than the same words in the middle of narration.
    """
    wanted = facts[n].fingerprint
    n_words = len(wanted.initials)
    low, end = region.words(region.within(facts[n].paragraph, window))
    while n_words and (low := region.initials.find(wanted.initials, low, end)) >= 0:
        if region.reads(low, wanted):
            place, n_marked = region.between_words(low, low + n_words)
            weight = n_words + _AT_A_MARK * n_marked
            yield place, weight
            cut = region.around(low, low + n_words)
            if cut and region.quoted[cut] == wanted:
                yield cut, weight + _AS_CUT
        low += 1


def _exact(
    region: Region, facts: Sequence[Annotation], n: int, window: _Place
) -> Iterator[tuple[_Place, float]]:
    """Yields the places with exactly an annotation's letters that can be a span of their own."""
    wanted = facts[n].fingerprint
    n_words = len(wanted.initials)
    for place in region.same_letters.get((wanted.n_letters, wanted.digest), ()):
        if window[0] <= place[0] and place[1] <= window[1]:
            yield place, n_words + 1
    low, end = region.words(window)
    low = region.initials.find(wanted.initials, low, end) if n_words else -1
    while low >= 0:
        around = region.around(low, low + n_words)
        if region.reads(low, wanted):
            place, is_parted = region.with_marks(low, low + n_words, around)
            is_long = n_words >= _ANCHOR_WORDS
            if around is None:
                is_span = is_long or is_parted
            else:
                is_span = (is_long and is_parted) or _is_in_parts(region, facts, n, around)
            if is_span or region.is_own:
                yield place, n_words
        low = region.initials.find(wanted.initials, low + 1, end)


def _is_in_parts(region: Region, facts: Sequence[Annotation], n: int, quoted: _Place) -> bool:
    """Whether annotation `n` and its neighbours fill a quoted span from its beginning to its end.

    Otherwise the words that were found are part of a longer speech. If narration is between them,
    they are of one paragraph.
    """
    low, high = region.words(quoted)
    prints = [fact.fingerprint for fact in facts]
    firsts = [k for k in range(n + 1) if region.reads(low, prints[k])]
    lasts = [
        k for k in range(n, len(facts)) if region.reads(high - len(prints[k].initials), prints[k])
    ]
    return any(
        facts[i].paragraph == facts[k].paragraph
        or sum(item.n_letters for item in prints[i : k + 1]) == region.quoted[quoted].n_letters
        for i in firsts
        for k in lasts
    )


def _alike(
    region: Region, facts: Sequence[Annotation], n: int, window: _Place
) -> Iterator[tuple[_Place, float]]:
    """Yields the quoted spans that differ from an annotation in a few words or in spelling."""
    wanted = facts[n].fingerprint
    if len(wanted.initials) < _FUZZY_WORDS:
        return
    for place, found in region.quoted.items():
        few, many = sorted((found.n_letters, wanted.n_letters))
        if place[0] < window[0] or place[1] > window[1] or few < _LIKENESS * many:
            continue
        likeness = SequenceMatcher(None, wanted.initials, found.initials, False).ratio()
        if likeness >= _LIKENESS:
            yield place, likeness * len(wanted.initials)


def _runs(
    facts: Sequence[Annotation], places: Mapping[int, _Place], window: _Place
) -> Iterator[tuple[list[int], _Place]]:
    """Yields each run of annotations without a place, and the window where they must be."""
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
