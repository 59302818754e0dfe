"""Annotations -> the spans that they describe, in any edition of the book.

`search` finds the spans by their fingerprints. This module cuts the spans of the edition as the
annotations say, derives their tags and says which chapters were not found as annotated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from miner.annotation.annotations import AnnotatedBook, Annotation, derive_tags
from miner.annotation.search import SURPLUS, BlockRange, Region, find_annotations, spans_by_block
from miner.errors import InputError
from miner.speech.kinds import SpanKind
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan

# The least share of a chapter's annotations that must be found; with fewer it is another text.
LEAST_COVERAGE = 0.97
_NAMED_LOST = 3  # the most lost spans that a message names
_FEW_LOST = 2  # the most utterances of a chapter that another edition may lack, 1 in 10


@dataclass(frozen=True, slots=True)
class Located:
    """The annotations of a book on the spans of an edition."""

    annotated: AnnotatedBook  # the annotations
    # the spans of the annotated chapters, cut as the annotations say. Each annotated utterance is a
    # span, and the text between is narration. Narration is `quoted` if it was annotated as no
    # utterance.
    book_spans: BookSpans
    facts: tuple[Annotation | None, ...]  # the annotation of each span; None for plain narration
    n_found: Mapping[int, int]  # the number of annotations found, by annotated chapter
    n_all: Mapping[int, int]  # the number of annotations, by annotated chapter
    # the number of utterances without annotation that the miner finds in the same chapters of the
    # edition, by annotated chapter
    n_others: Mapping[int, int]
    lost: tuple[Annotation, ...]  # the annotations that were not found

    @property
    def is_own(self) -> bool:
        """Whether the edition is the file that was annotated."""
        return _is_own(self.annotated, self.book_spans)

    def tagged(self) -> TaggedBook:
        """Returns the spans with their gold tags, derived from the annotations that were found."""
        tags = iter(derive_tags(fact for fact in self.facts if fact is not None))
        spans = tuple(
            TaggedSpan(span, Tag.O if fact is None else next(tags))
            for span, fact in zip(self.book_spans.spans, self.facts, strict=True)
        )
        card = self.annotated.card
        return TaggedBook(card.book, spans, self.annotated.source, card.language)


def locate(annotated: AnnotatedBook, book_spans: BookSpans) -> Located:
    """Returns the annotations of a book on the spans of an edition, with those that are lost."""
    is_own = _is_own(annotated, book_spans)
    chapters: dict[int, list[Span]] = {}
    for span in book_spans.spans:
        chapters.setdefault(span.chapter, []).append(span)
    regions: dict[tuple[int, bool], Region] = {}

    def find(
        scope: Iterable[int], facts: Sequence[Annotation], is_numbered: bool
    ) -> dict[int, BlockRange]:
        near: dict[int, Region] = {}
        for chapter in scope:
            if chapter in chapters:
                key = chapter, is_numbered
                if key not in regions:
                    regions[key] = Region(chapters[chapter], is_numbered)
                near[chapter] = regions[key]
        return find_annotations(near, facts)

    placed: dict[BlockRange, Annotation] = {}
    taken: dict[int, list[BlockRange]] = {}  # by paragraph
    lost: list[Annotation] = []
    n_found: dict[int, int] = {}
    n_all: dict[int, int] = {}
    stands_in: dict[int, set[int]] = {}  # chapters of the edition, by annotated chapter
    chapter_of = {span.paragraph: span.chapter for span in book_spans.spans}
    for chapter in annotated.chapters:
        facts = [fact for fact in annotated.annotations if fact.chapter == chapter]
        # Any chapter of another edition may be the annotated one. In its own edition it has another
        # number only if chapters are counted in another way since, and so have its paragraphs.
        places: dict[int, BlockRange] = {}
        scopes = ([chapter], annotated.chapters, chapters) if is_own else (chapters,)
        for scope, is_numbered in product(scopes, (True, False) if is_own else (False,)):
            if len(places) < len(facts):
                places = max(places, find(scope, facts, is_numbered), key=len)
        # Two annotated chapters may be one of the edition; still, a place has one annotation.
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
    judged = {span.chapter for span in spans}
    elsewhere = tuple(span for span in book_spans.spans if span.chapter not in judged)
    cut = BookSpans(book_spans.book, spans, elsewhere=elsewhere)
    facts_of_spans = tuple(map(fact_of.get, spans))
    return Located(annotated, cut, facts_of_spans, n_found, n_all, n_others, tuple(lost))


def group_by_chapter(
    located: Located,
) -> dict[int, list[tuple[TaggedSpan, Annotation | None]]]:
    """Returns the tagged spans of each annotated chapter, each with its annotation, in order.

    The edition may divide the book in other ways. An annotated chapter has all chapters of the
    edition that have only its annotations. If annotated chapters share a chapter of the edition,
    each has the paragraphs from its first annotated span to its last.
    """
    rows = list(zip(located.tagged().spans, located.facts, strict=True))
    # The first and last annotated paragraph, by chapter of the edition and annotated chapter.
    parts: dict[int, dict[int, tuple[int, int]]] = {}
    for item, fact in rows:
        if fact is not None:
            number, sharing = item.span.paragraph, parts.setdefault(item.span.chapter, {})
            sharing[fact.chapter] = sharing.get(fact.chapter, (number, number))[0], number
    found: dict[int, list[tuple[TaggedSpan, Annotation | None]]] = {}
    for item, fact in rows:
        sharing = parts.get(item.span.chapter, {})
        for chapter, (first, last) in sharing.items():
            inside = len(sharing) == 1 or first <= item.span.paragraph <= last
            if inside and (fact is None or fact.chapter == chapter):
                found.setdefault(chapter, []).append((item, fact))
    return found


def find_losses(located: Located, least: float = LEAST_COVERAGE) -> dict[int, str]:
    """Returns the chapters that were not found as they were annotated.

    Either too few of their annotations were found, or the edition joins them with other text, whose
    speech would count as narration. Another edition than the annotated one may set its marks in
    other ways. So it may lack spans that are no utterances, and one or two utterances of a chapter
    (at most a tenth).
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
            if not is_own and located.n_others[chapter] > (SURPLUS - 1) * len(needed) + _FEW_LOST:
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
    """Raises an error if a chapter was not found as it was annotated; see `find_losses`."""
    if poor := find_losses(located, least):
        raise InputError(next(iter(poor.values())))


def _is_own(annotated: AnnotatedBook, book_spans: BookSpans) -> bool:
    return book_spans.book.sha256 == annotated.card.sha256


def _overlap(a: BlockRange, b: BlockRange) -> bool:
    return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]


def _cut(
    book_spans: BookSpans, placed: Mapping[BlockRange, Annotation]
) -> tuple[tuple[Span, ...], dict[Span, Annotation]]:
    """Returns the spans of all chapters with an annotation, cut as the annotations say."""
    blocks = spans_by_block(book_spans.spans)
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
        continued = {span.start for span in block if span.continues}
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
            kind = SpanKind.NARRATION if fact is None else fact.kind
            place = (chapter, paragraph, index, start, end, text[start:end])
            span = Span(*place, kind, spoken and start in continued)
            spans.append(span)
            if fact is not None:
                fact_of[span] = fact
    return tuple(spans), fact_of
