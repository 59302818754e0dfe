"""Spans of a book and the quotations of an annotated text -> precision, recall, and the errors.

Spans are compared by their first and last letter, so that quotation marks, blanks and italics do
not count. The book may be another edition than the annotated text: both are aligned by their
letters.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from pathlib import Path

import numpy as np

from miner.annotation.alignment import Alignment, Letters, align, fold_letters
from miner.books.book import Book
from miner.lab.gold.editions import BookReader, Coverage
from miner.lab.gold.pdnc import Offsets, PdncNovel, read_novels_at_hand, read_quotations
from miner.speech.read import parse_spans
from miner.speech.spans import BookSpans, Span

TOLERANCE = 3  # characters by which either end of a right span may differ, in the gold text

_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")


class Cause(StrEnum):
    """Why a span has no partner, judged by the spans of the other side that overlap it."""

    ALONE = "alone"  # nothing overlaps it
    START = "start"  # one span overlaps it and begins elsewhere
    END = "end"  # one span overlaps it and ends elsewhere
    BOTH = "both ends"
    SEVERAL = "several"  # more than one overlaps it
    UNALIGNED = "unaligned"  # the other edition does not have the words


@dataclass(frozen=True, slots=True)
class QuotationError:
    """A span without a partner.

    `paragraph` counts from 0: the paragraphs of the gold text, which blank lines separate, or the
    blocks of the book. `context` is the text of that paragraph.
    """

    cause: Cause
    paragraph: int
    text: str
    context: str


@dataclass(frozen=True, slots=True)
class QuotationScore:
    """Counts of spans and of the letters inside them.

    Spans without a letter or digit are left out on both sides.
    """

    right: int  # predicted spans with a partner
    letters_right: int  # letters inside both a predicted and a gold span
    letters_predicted: int  # letters inside predicted spans
    letters_gold: int  # letters inside gold spans
    # gold spans without a partner, including those whose words the book lacks
    missed: tuple[QuotationError, ...]
    spurious: tuple[QuotationError, ...]  # predicted spans without a partner
    # predicted spans in words that the gold text lacks, such as a preface or a caption. Gold cannot
    # judge them, so they are in no count.
    foreign: tuple[QuotationError, ...] = ()

    @property
    def unaligned(self) -> int:
        """The number of gold spans whose words the book lacks; they count as missed."""
        return sum(error.cause is Cause.UNALIGNED for error in self.missed)

    @property
    def precision(self) -> float:
        """Share of the predicted spans that are right, 0 to 1; 0 without any."""
        return _share(self.right, self.right + len(self.spurious))

    @property
    def recall(self) -> float:
        """Share of the gold spans that were found, 0 to 1; 0 without any."""
        return _share(self.right, self.right + len(self.missed))

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, 0 to 1."""
        return _share(2 * self.right, 2 * self.right + len(self.spurious) + len(self.missed))

    @property
    def letter_f1(self) -> float:
        """The F1 of letters, 0 to 1: is a letter inside a quotation?"""
        return _share(2 * self.letters_right, self.letters_predicted + self.letters_gold)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def score_spans(
    text: str, gold_spans: Iterable[Offsets], predicted: Iterable[Offsets]
) -> QuotationScore:
    """Scores spans of the gold text itself, such as those of a simple rule.

    Works as `score_quotations`, but no span is unaligned or foreign.
    """
    folded = fold_letters(text)
    itself = Alignment(folded, folded, ((0, 0, len(folded.text)),))
    paragraphs = paragraph_offsets(text)
    return _score(
        _Text(text, paragraphs, _trim_to_letters(folded, gold_spans)),
        _Text(text, paragraphs, _trim_to_letters(folded, predicted)),
        itself,
    )


def score_quotations(
    text: str,
    gold_spans: Iterable[Offsets],
    book_spans: BookSpans,
    alignment: Alignment | None = None,
) -> QuotationScore:
    """Scores the utterances of a book against the quotations of an annotated text.

    An utterance is right if its first and its last letter, found in the gold text, are within
    `TOLERANCE` characters of those of a gold span. Each gold span is matched once.
    """
    if alignment is None:
        alignment = align_book(book_spans.book, text)
    blocks = [block.text for block in book_spans.book.blocks]
    at = block_starts(book_spans.book)
    starts = list(at.values())
    said = [
        (at[span.paragraph] + span.start, at[span.paragraph] + span.end)
        for span in book_spans.spans
        if span.is_utterance
    ]
    paragraphs = [(start, start + len(block)) for start, block in zip(starts, blocks, strict=False)]
    return _score(
        _Text(text, paragraph_offsets(text), _trim_to_letters(alignment.b, gold_spans)),
        _Text("\n\n".join(blocks), paragraphs, _trim_to_letters(alignment.a, said)),
        alignment,
    )


def align_book(book: Book, text: str) -> Alignment:
    """Aligns the blocks of a book, joined by blank lines, with another text of the same novel."""
    return align("\n\n".join(block.text for block in book.blocks), text)


def block_starts(book: Book) -> dict[int, int]:
    """Where each block, by its index, begins in the text that `align_book` aligns."""
    starts = accumulate((len(block.text) + 2 for block in book.blocks), initial=0)
    return {block.index: start for block, start in zip(book.blocks, starts, strict=False)}


def paragraph_offsets(text: str) -> list[Offsets]:
    """The start and end of each paragraph of a text; blank lines separate paragraphs."""
    edges = [0, *(i for gap in _BLANK_LINE.finditer(text) for i in gap.span()), len(text)]
    return list(zip(edges[::2], edges[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class _Text:
    """A text with its paragraphs and its spans, in order; each span has a letter."""

    text: str
    paragraphs: Sequence[Offsets]
    spans: Sequence[Offsets]

    def error(self, span: Offsets, cause: Cause) -> QuotationError:
        index = bisect_right(self.paragraphs, span[0], key=lambda paragraph: paragraph[0]) - 1
        start, end = self.paragraphs[max(index, 0)]
        return QuotationError(cause, max(index, 0), self.text[slice(*span)], self.text[start:end])


def _score(gold: _Text, predicted: _Text, alignment: Alignment) -> QuotationScore:
    """Counts right spans and errors; `alignment` leads from the predicted text to the gold text."""
    back = alignment.reversed()
    placed = [(span, alignment.to_b(*span)) for span in predicted.spans]
    judged = [(span, place) for span, place in placed if place]
    places = [place for _, place in judged]
    partners = _match(places, gold.spans)
    found = set(partners.values())
    right, n_predicted, n_gold = _count_letters(gold, predicted, alignment)
    return QuotationScore(
        right=len(partners),
        letters_right=right,
        letters_predicted=n_predicted,
        letters_gold=n_gold,
        missed=tuple(
            gold.error(span, _cause(span, places) if back.to_b(*span) else Cause.UNALIGNED)
            for i, span in enumerate(gold.spans)
            if i not in found
        ),
        spurious=tuple(
            predicted.error(span, _cause(place, gold.spans))
            for i, (span, place) in enumerate(judged)
            if i not in partners
        ),
        foreign=tuple(
            predicted.error(span, Cause.UNALIGNED) for span, place in placed if place is None
        ),
    )


def _trim_to_letters(folded: Letters, spans: Iterable[Offsets]) -> list[Offsets]:
    """The spans in order, each from its first to its last letter; those without are left out."""
    ranges = (folded.within(*span) for span in sorted(spans))
    return [
        (folded.offsets[low], folded.offsets[high - 1] + 1) for low, high in ranges if low < high
    ]


def _count_letters(gold: _Text, predicted: _Text, alignment: Alignment) -> tuple[int, int, int]:
    """Counts the letters of the gold text inside both, inside predicted and inside gold spans."""
    in_gold, in_predicted = np.zeros((2, len(alignment.b.text)), dtype=np.bool_)
    for span in gold.spans:
        start, end = alignment.b.within(*span)
        in_gold[start:end] = True
    for span in predicted.spans:
        for _, start, length in alignment.paired(*alignment.a.within(*span)):
            in_predicted[start : start + length] = True
    return int((in_gold & in_predicted).sum()), int(in_predicted.sum()), int(in_gold.sum())


def _match(predicted: Sequence[Offsets], gold: Sequence[Offsets]) -> dict[int, int]:
    """Maps each right span to its gold span, by index; exact matches first, each span once."""
    open_gold = {span: j for j, span in enumerate(gold)}
    partners: dict[int, int] = {}
    for near in (0, TOLERANCE):
        for i, (start, end) in enumerate(predicted):
            if i in partners:
                continue
            first = bisect_left(gold, (start - near, 0))
            last = bisect_left(gold, (start + near + 1, 0))
            for span in gold[first:last]:
                if span in open_gold and abs(span[1] - end) <= near:
                    partners[i] = open_gold.pop(span)
                    break
    return partners


def _cause(span: Offsets, others: Sequence[Offsets]) -> Cause:
    """Why a span is wrong, by the spans of the other side, which are in order."""
    first = bisect_right(others, span[0], key=lambda other: other[1])
    overlapping = others[first : bisect_left(others, (span[1], 0))]
    if len(overlapping) != 1:
        return Cause.SEVERAL if overlapping else Cause.ALONE
    start, end = (abs(a - b) > TOLERANCE for a, b in zip(span, overlapping[0], strict=True))
    return Cause.BOTH if start == end else Cause.START if start else Cause.END


_PARTING = re.compile(r'["“”]|\n[ \t\r]*\n')
_ASIDE = re.compile(r"\s*\(.*\)\W*", re.DOTALL)
_SAID = re.compile(r"[^\W_](?:.*[^\W_])?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NovelScore:
    """The scores of one novel of the corpus."""

    title: str  # of the novel
    id: str  # its Gutenberg number
    ours: QuotationScore  # the miner's utterances against the corpus's spans
    # the same with the spans of both sides joined (`join_neighbours`). The corpus cuts nested
    # speech out of the speech around it; the guidelines of this project do not.
    joined: QuotationScore
    regex: QuotationScore  # `find_spans_by_regex` on the corpus's own text
    toggle: QuotationScore  # `find_spans_by_toggle` on the corpus's own text

    def row(self) -> tuple[float, ...]:
        """Precision, recall, F1 and letter F1 of ours; then F1 of joined, regex and toggle."""
        ours = self.ours
        return (
            *(ours.precision, ours.recall, ours.f1, ours.letter_f1),
            *(self.joined.f1, self.regex.f1, self.toggle.f1),
        )

    def to_json(self) -> dict[str, object]:
        """The scores and counts as plain values."""
        names = ("precision", "recall", "f1", "letter_f1", "joined_f1", "regex_f1", "toggle_f1")
        return {
            "novel": self.title,
            "id": self.id,
            **dict(zip(names, self.row(), strict=True)),
            "right": self.ours.right,
            "missed": dict(Counter(str(error.cause) for error in self.ours.missed)),
            "spurious": dict(Counter(str(error.cause) for error in self.ours.spurious)),
            "foreign": len(self.ours.foreign),
        }


@dataclass(frozen=True, slots=True)
class CorpusScores:
    """The scores of the novels of the corpus that are at hand, and what they are of."""

    novels: tuple[NovelScore, ...]
    coverage: Coverage

    def to_json(self) -> dict[str, object]:
        """The scores of each novel as plain values."""
        return {
            "novels": [novel.to_json() for novel in self.novels],
            "coverage": self.coverage.to_json(),
        }


def score_corpus(corpus: Path, read: BookReader) -> CorpusScores:
    """Scores every novel of the corpus that has a Gutenberg number.

    A novel that is not at hand is left out and counted.
    """
    opened, coverage = read_novels_at_hand(corpus, read)
    return CorpusScores(tuple(score_novel(*novel) for novel in opened), coverage)


def score_novel(novel: PdncNovel, data: bytes) -> NovelScore:
    """Scores one novel; thoughts in quotation marks count, because the corpus counts them."""
    annotated = read_quotations(novel.folder)
    text, gold = annotated.text, annotated.spans
    book_spans = parse_spans(data, novel.gutenberg_id, thoughts=True)
    alignment = align_book(book_spans.book, text)
    whole_speech = _join_asides(book_spans)
    return NovelScore(
        title=novel.title,
        id=novel.gutenberg_id,
        ours=score_quotations(text, gold, book_spans, alignment),
        joined=score_quotations(text, join_neighbours(text, gold), whole_speech, alignment),
        regex=score_spans(text, gold, find_spans_by_regex(text)),
        toggle=score_spans(text, gold, find_spans_by_toggle(text)),
    )


def _join_asides(book_spans: BookSpans) -> BookSpans:
    """Joins the two parts of a speech around the narrator's words in parentheses."""
    spans: list[Span] = []
    for span in book_spans.spans:
        if span.is_utterance and len(spans) > 1 and _ASIDE.fullmatch(spans[-1].text):
            before, aside = spans[-2], spans[-1]
            is_open = before.text[-1] not in "\"'“”‘’"  # cut by the miner, not by quotation marks
            if before.is_utterance and is_open and before.paragraph == span.paragraph:
                text = before.text + aside.text + span.text
                spans[-2:] = [replace(before, end=span.end, text=text)]
                continue
        spans.append(span)
    return replace(book_spans, spans=tuple(spans))


def find_spans_by_regex(text: str) -> list[Offsets]:
    """Finds what stands between two quotation marks in one paragraph."""
    return _find_in_paragraphs(text, re.compile(r'“([^”]*)”|"([^"]*)"'))


def find_spans_by_toggle(text: str) -> list[Offsets]:
    """Finds speech as `find_spans_by_regex` does, but an open speech ends with its paragraph.

    This is the rule of BookNLP (https://github.com/booknlp/booknlp), for double marks only.
    """
    return _find_in_paragraphs(text, re.compile(r'[“"]([^“”"]*)[”"]?'))


def _find_in_paragraphs(text: str, rule: re.Pattern[str]) -> list[Offsets]:
    return [
        found.span(found.lastindex or 0)
        for paragraph in paragraph_offsets(text)
        for found in rule.finditer(text, *paragraph)
    ]


def join_neighbours(text: str, spans: Iterable[Offsets]) -> list[Offsets]:
    """Joins neighbouring gold spans unless a quotation mark or a blank line separates them.

    The corpus cuts nested quotations, their inner tags and asides in parentheses out of a speech.
    This project annotates what stands between two double quotation marks in one paragraph as one
    span. Scores against joined spans are reported beside those against the corpus's own spans.

    The marks are ", “ and ”. They are searched between the last letter of one span and the first
    letter of the next, because some spans of the corpus include a mark or a blank line. A joined
    span runs from the start of the first span to the end of the last.

    >>> text = "“Sing 'Fair Maid' to us,” he said, “now.”"
    >>> join_neighbours(text, [(1, 6), (7, 16), (18, 24), (36, 40)])
    [(1, 24), (36, 40)]
    """
    units: list[Offsets] = []
    last = 0  # end of the last letter of the last unit
    for start, end in sorted(spans):
        said = _SAID.search(text, start, end)
        first, after = said.span() if said else (start, end)
        if units and not _PARTING.search(text, last, first):
            start, before = units.pop()
            end, after = max(before, end), max(last, after)
        units.append((start, end))
        last = after
    return units
