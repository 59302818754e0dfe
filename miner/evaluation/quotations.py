"""How well a book's utterances meet the quotations of an annotated novel, such as those of `pdnc`.

Spans are compared by their first and last letter, so that marks, blanks and italics do not count.
No shared edition is needed: a book is aligned to the corpus's text by its letters. Two plain rules
give the scores to be beaten.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from pathlib import Path

import numpy as np

from miner.annotation.alignment import Alignment, Letters, align, letters
from miner.annotation.pdnc import Offsets, PdncNovel, pdnc_novels, read_quotations
from miner.books.book import Book
from miner.dialogue.read import read_spans
from miner.dialogue.spans import BookSpans, Span

TOLERANCE = 3  # characters by which either end of a right span may be off, in the corpus's text

_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")
_PARTING = re.compile(r'["“”]|\n[ \t\r]*\n')
_ASIDE = re.compile(r"\s*\(.*\)\W*", re.DOTALL)
_SAID = re.compile(r"[^\W_](?:.*[^\W_])?", re.DOTALL)


class Cause(StrEnum):
    """Why a span found no partner, as far as the spans of the other side that overlap it tell."""

    ALONE = "alone"  # nothing overlaps it
    START = "start"  # one span overlaps it and begins elsewhere
    END = "end"  # one span overlaps it and ends elsewhere
    BOTH = "both ends"
    SEVERAL = "several"  # more than one overlaps it
    UNALIGNED = "unaligned"  # the other edition does not have the words


@dataclass(frozen=True, slots=True)
class QuotationError:
    """A span without a partner, and the paragraph it stands in.

    `paragraph` counts from 0: the blank-line separated paragraphs of the corpus's text, or the
    blocks of the book for a span of a book.
    """

    cause: Cause
    paragraph: int
    text: str
    context: str


@dataclass(frozen=True, slots=True)
class QuotationScore:
    """Counts of spans, and of letters inside them.

    `missed` are gold spans without a partner, the unaligned included; `spurious` predicted spans
    without one. `foreign` are predicted spans in words that the corpus's text does not have (a
    preface, a caption): gold cannot judge them, so they count in no number. Spans without a letter
    or digit are left out on either side.
    """

    right: int
    letters_right: int
    letters_predicted: int
    letters_gold: int
    missed: tuple[QuotationError, ...]
    spurious: tuple[QuotationError, ...]
    foreign: tuple[QuotationError, ...] = ()

    @property
    def unaligned(self) -> int:
        """Gold spans whose words the book does not have; they count as missed."""
        return sum(error.cause is Cause.UNALIGNED for error in self.missed)

    @property
    def precision(self) -> float:
        """Share of the predicted spans that are right, 0..1; 0 without any."""
        return _share(self.right, self.right + len(self.spurious))

    @property
    def recall(self) -> float:
        """Share of the gold spans that were found, 0..1; 0 without any."""
        return _share(self.right, self.right + len(self.missed))

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall of spans, 0..1."""
        return _share(2 * self.right, 2 * self.right + len(self.spurious) + len(self.missed))

    @property
    def letter_f1(self) -> float:
        """The same for letters: is this letter inside a quotation?"""
        return _share(2 * self.letters_right, self.letters_predicted + self.letters_gold)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def regex_spans(text: str) -> list[Offsets]:
    """What stands between two quotation marks in one paragraph: the plainest rule."""
    return _found_in(text, re.compile(r'“([^”]*)”|"([^"]*)"'))


def toggle_spans(text: str) -> list[Offsets]:
    """As `regex_spans`, but speech left open runs to the end of its paragraph.

    After the rule of BookNLP (https://github.com/booknlp/booknlp), for double marks only.
    """
    return _found_in(text, re.compile(r'[“"]([^“”"]*)[”"]?'))


def _found_in(text: str, rule: re.Pattern[str]) -> list[Offsets]:
    return [
        found.span(found.lastindex or 0)
        for paragraph in _paragraphs(text)
        for found in rule.finditer(text, *paragraph)
    ]


def _paragraphs(text: str) -> list[Offsets]:
    edges = [0, *(i for gap in _BLANK_LINE.finditer(text) for i in gap.span()), len(text)]
    return list(zip(edges[::2], edges[1::2], strict=True))


def joined(text: str, spans: Iterable[Offsets]) -> list[Offsets]:
    """Gold spans in order, neighbours made one where neither mark nor blank line parts them.

    The corpus cuts nested quotations, their inner tags and parenthetical asides out of a speech;
    our unit of annotation, what stands between two double quotation marks in one paragraph, does
    not. Scored against these spans a book gets a second figure, to be named as such beside the
    strict one, which is against the spans as the corpus has them.

    Marks are ", “ and ”, looked for from the last letter of one span to the first of the next:
    some spans of the corpus have a mark or a blank line within their ends. What is merged runs
    from the start of the first span to the end of the last; other spans stay as they are.

    >>> joined("“Sing 'Fair Maid' to us,” he said, “now.”", [(1, 6), (7, 16), (18, 24), (36, 40)])
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


def score_spans(
    text: str, gold_spans: Iterable[Offsets], predicted: Iterable[Offsets]
) -> QuotationScore:
    """Scores spans of the corpus's own text, such as those of a plain rule.

    See `score_quotations`; here nothing is unaligned or foreign.
    """
    folded = letters(text)
    itself = Alignment(folded, folded, ((0, 0, len(folded.text)),))
    paragraphs = _paragraphs(text)
    return _score(
        _Edition(text, paragraphs, _lettered(folded, gold_spans)),
        _Edition(text, paragraphs, _lettered(folded, predicted)),
        itself,
    )


def score_quotations(
    text: str, gold_spans: Iterable[Offsets], book_spans: BookSpans
) -> QuotationScore:
    """Scores the utterances of a book against the corpus's quotations.

    An utterance is right when its first and its last letter, sought in the corpus's text, stand
    within `TOLERANCE` characters of those of a gold span; each gold span is matched once.

    Args:
        text: the novel as the corpus has it.
        gold_spans: offsets in `text`, one for each uninterrupted part of a quotation.
        book_spans: any edition of the same novel.
    """
    return _score_aligned(text, gold_spans, book_spans, aligned(book_spans.book, text))


def aligned(book: Book, text: str) -> Alignment:
    """From the blocks of the book, joined by blank lines, to the corpus's text."""
    return align("\n\n".join(block.text for block in book.blocks), text)


def block_starts(book: Book) -> dict[int, int]:
    """Where each block, by its index, begins in the text that `aligned` aligns."""
    starts = accumulate((len(block.text) + 2 for block in book.blocks), initial=0)
    return {block.index: start for block, start in zip(book.blocks, starts, strict=False)}


def _score_aligned(
    text: str, gold_spans: Iterable[Offsets], book_spans: BookSpans, alignment: Alignment
) -> QuotationScore:
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
        _Edition(text, _paragraphs(text), _lettered(alignment.b, gold_spans)),
        _Edition("\n\n".join(blocks), paragraphs, _lettered(alignment.a, said)),
        alignment,
    )


@dataclass(frozen=True, slots=True)
class _Edition:
    """A text, its paragraphs and the spans in it that have a letter, all in order."""

    text: str
    paragraphs: Sequence[Offsets]
    spans: Sequence[Offsets]

    def error(self, span: Offsets, cause: Cause) -> QuotationError:
        index = bisect_right(self.paragraphs, span[0], key=lambda paragraph: paragraph[0]) - 1
        start, end = self.paragraphs[max(index, 0)]
        return QuotationError(cause, max(index, 0), self.text[slice(*span)], self.text[start:end])


def _score(gold: _Edition, predicted: _Edition, alignment: Alignment) -> QuotationScore:
    """Counts and errors; the alignment goes from the predicted edition to the gold one."""
    back = alignment.reversed()
    placed = [(span, alignment.to_b(*span)) for span in predicted.spans]
    judged = [(span, place) for span, place in placed if place]
    places = [place for _, place in judged]
    partners = _partners(places, gold.spans)
    found = set(partners.values())
    right, n_predicted, n_gold = _letter_counts(gold, predicted, alignment)
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


def _lettered(folded: Letters, spans: Iterable[Offsets]) -> list[Offsets]:
    """The spans from first letter to last, in order; those without a letter are left out."""
    ranges = (folded.within(*span) for span in sorted(spans))
    return [
        (folded.offsets[low], folded.offsets[high - 1] + 1) for low, high in ranges if low < high
    ]


def _letter_counts(
    gold: _Edition, predicted: _Edition, alignment: Alignment
) -> tuple[int, int, int]:
    """Letters of the gold text inside both, inside predicted and inside gold spans."""
    in_gold, in_predicted = np.zeros((2, len(alignment.b.text)), dtype=np.bool_)
    for span in gold.spans:
        start, end = alignment.b.within(*span)
        in_gold[start:end] = True
    for span in predicted.spans:
        for _, start, length in alignment.paired(*alignment.a.within(*span)):
            in_predicted[start : start + length] = True
    return int((in_gold & in_predicted).sum()), int(in_predicted.sum()), int(in_gold.sum())


def _partners(predicted: Sequence[Offsets], gold: Sequence[Offsets]) -> dict[int, int]:
    """Which gold span each right span meets, by index; exact ones first, each once."""
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
    """What is amiss with a span, told by the spans of the other side; they are in order."""
    first = bisect_right(others, span[0], key=lambda other: other[1])
    overlapping = others[first : bisect_left(others, (span[1], 0))]
    if len(overlapping) != 1:
        return Cause.SEVERAL if overlapping else Cause.ALONE
    start, end = (abs(a - b) > TOLERANCE for a, b in zip(span, overlapping[0], strict=True))
    return Cause.BOTH if start == end else Cause.START if start else Cause.END


@dataclass(frozen=True, slots=True)
class NovelScore:
    """One novel of the corpus: ours, and two rules on the corpus's own text.

    `joined` is ours against gold spans that are joined where no quotation mark parts them, our own
    asides in parentheses joined likewise: the corpus cuts nested speech out of the speech around
    it, the annotation guidelines of this project do not.
    """

    title: str
    id: str
    ours: QuotationScore
    joined: QuotationScore
    regex: QuotationScore
    toggle: QuotationScore

    def row(self) -> tuple[float, ...]:
        """P, R, F1 and letter F1 of ours; then F1 of joined, of the regex, of the toggle."""
        ours = self.ours
        return (
            *(ours.precision, ours.recall, ours.f1, ours.letter_f1),
            *(self.joined.f1, self.regex.f1, self.toggle.f1),
        )

    def to_json(self) -> dict[str, object]:
        """The scores and counts, fit for `json.dumps`."""
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


def score_corpus(corpus: Path, read: Callable[[str], bytes]) -> list[NovelScore]:
    """The scores of every novel of the corpus that has a Gutenberg number.

    Args:
        corpus: folder of the Project Dialogism Novel Corpus.
        read: gives the bytes of the Gutenberg file of a number.

    Raises:
        ValueError: if the corpus or a book cannot be read.
        OSError: if a file is missing.
    """
    return [
        score_novel(novel, read(novel.gutenberg_id))
        for novel in pdnc_novels(corpus)
        if novel.gutenberg_id
    ]


def score_novel(novel: PdncNovel, data: bytes) -> NovelScore:
    """The scores of one novel. Thoughts in quotation marks count, since the corpus counts them."""
    annotated = read_quotations(novel.folder)
    text, gold = annotated.text, annotated.spans
    book_spans = read_spans(data, novel.gutenberg_id, thoughts=True)
    alignment = aligned(book_spans.book, text)
    whole_speech = _without_asides(book_spans)
    return NovelScore(
        title=novel.title,
        id=novel.gutenberg_id,
        ours=_score_aligned(text, gold, book_spans, alignment),
        joined=_score_aligned(text, joined(text, gold), whole_speech, alignment),
        regex=score_spans(text, gold, regex_spans(text)),
        toggle=score_spans(text, gold, toggle_spans(text)),
    )


def _without_asides(book_spans: BookSpans) -> BookSpans:
    """The spans with a speech made whole again around the narrator's words in parentheses."""
    spans: list[Span] = []
    for span in book_spans.spans:
        if span.is_utterance and len(spans) > 1 and _ASIDE.fullmatch(spans[-1].text):
            before, aside = spans[-2], spans[-1]
            is_open = before.text[-1] not in "\"'“”‘’"  # our own cut, not the printer's marks
            if before.is_utterance and is_open and before.paragraph == span.paragraph:
                text = before.text + aside.text + span.text
                spans[-2:] = [replace(before, end=span.end, text=text)]
                continue
        spans.append(span)
    return replace(book_spans, spans=tuple(spans))
