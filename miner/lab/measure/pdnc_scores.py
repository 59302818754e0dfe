"""The quotations that the miner finds, scored against the Project Dialogism Novel Corpus (PDNC).

Two simple rules on the corpus's own text give a baseline.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from miner.lab.gold.coverage import Coverage, LeftOutBook, read_or_leave_out, refuse_nothing
from miner.lab.gold.pdnc import Offsets, PdncNovel, find_novels, read_quotations
from miner.lab.measure.quotations import (
    QuotationScore,
    align_book,
    paragraph_offsets,
    score_quotations,
    score_spans,
)
from miner.speech.read import parse_spans
from miner.speech.spans import BookSpans, Span

_PARTING = re.compile(r'["“”]|\n[ \t\r]*\n')
_ASIDE = re.compile(r"\s*\(.*\)\W*", re.DOTALL)
_SAID = re.compile(r"[^\W_](?:.*[^\W_])?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NovelScore:
    """The scores of one novel of the corpus.

    Attributes:
        title: of the novel.
        id: its Gutenberg number.
        ours: the miner's utterances against the corpus's spans.
        joined: the same with the spans of both sides joined (`join_neighbours`). The corpus cuts
            nested speech out of the speech around it; the guidelines of this project do not.
        regex: `find_spans_by_regex` on the corpus's own text.
        toggle: `find_spans_by_toggle` on the corpus's own text.
    """

    title: str
    id: str
    ours: QuotationScore
    joined: QuotationScore
    regex: QuotationScore
    toggle: QuotationScore

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


def score_corpus(corpus: Path, read: Callable[[str], bytes]) -> CorpusScores:
    """Scores every novel of the corpus that has a Gutenberg number.

    A novel that is not at hand is left out and counted.
    """
    novels = [novel for novel in find_novels(corpus) if novel.gutenberg_id]
    scored: list[NovelScore] = []
    missing: list[LeftOutBook] = []
    for novel in novels:
        content = read_or_leave_out(read, novel.gutenberg_id, 1)
        if isinstance(content, LeftOutBook):
            missing.append(content)
        else:
            scored.append(score_novel(novel, content))
    refuse_nothing(missing, len(novels))
    return CorpusScores(tuple(scored), Coverage("novels", len(novels), tuple(missing)))


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
