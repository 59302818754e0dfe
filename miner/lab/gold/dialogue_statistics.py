"""Statistics of dialogue: how long dialogues are, how much of a book is speech, who says how much.

Lengths need tags, and shares of speech need spans only. `miner.lab.gold.statistics` has those of
companies, which need to know who takes part in a conversation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import nan
from statistics import fmean, median

from miner.books.book import BlockKind
from miner.speech.dialogues import decode_dialogues, repair_book
from miner.speech.spans import BookSpans
from miner.speech.tags import TaggedBook


@dataclass(frozen=True, slots=True)
class Lengths:
    """The number of turns of each dialogue, in reading order. `name` is the label in a plot."""

    name: str
    turns: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean number of turns; NaN without dialogues."""
        return fmean(self.turns) if self.turns else nan

    @property
    def median(self) -> float:
        """The median number of turns; NaN without dialogues."""
        return median(self.turns) if self.turns else nan

    @property
    def counts(self) -> dict[int, int]:
        """The number of dialogues of each length that occurs, shortest first."""
        return dict(sorted(Counter(self.turns).items()))

    def at_least(self) -> list[tuple[int, float]]:
        """Returns the share of dialogues with at least n turns, for each n up to the longest.

        >>> Lengths("", (1, 3)).at_least()
        [(1, 1.0), (2, 0.5), (3, 0.5)]
        """
        return [
            (n, sum(turns >= n for turns in self.turns) / len(self.turns))
            for n in range(1, max(self.turns, default=0) + 1)
        ]


@dataclass(frozen=True, slots=True)
class ChapterTalk:
    """The number of words of a chapter, and the number of those in utterances."""

    chapter: int
    n_words: int
    n_spoken: int

    @property
    def share(self) -> float:
        """The share of words in utterances, 0..1; NaN without words."""
        return self.n_spoken / self.n_words if self.n_words else nan


@dataclass(frozen=True, slots=True)
class Talk:
    """How much of each chapter of a book is speech. `name` is the label in a plot."""

    name: str
    chapters: tuple[ChapterTalk, ...]

    @property
    def share(self) -> float:
        """The share of the book's words in utterances, 0..1; NaN without words."""
        n_words = sum(chapter.n_words for chapter in self.chapters)
        n_spoken = sum(chapter.n_spoken for chapter in self.chapters)
        return n_spoken / n_words if n_words else nan


def measure_dialogues(name: str, books: Iterable[TaggedBook]) -> Lengths:
    """Returns the number of turns of every dialogue of some books. Illegal tags are repaired."""
    found = (dialogue for book in books for dialogue in decode_dialogues(repair_book(book)))
    return Lengths(name, tuple(len(dialogue.turns) for dialogue in found))


def measure_talk(name: str, book_spans: BookSpans) -> Talk:
    """Returns how much of each chapter is speech, in words split at white space.

    Headings are left out; letters and verse count. Chapters without words are left out. Chapter 0,
    the text before the first chapter, is left out if it has no speech, as a title page.
    """
    words, spoken = Counter[int](), Counter[int]()
    for chapter, n, is_spoken in _count_words(book_spans):
        words[chapter] += n
        spoken[chapter] += n * is_spoken
    return Talk(
        name, tuple(ChapterTalk(chapter, n, spoken[chapter]) for chapter, n in words.items())
    )


def measure_course(book_spans: BookSpans, n_parts: int = 20) -> tuple[float, ...]:
    """Returns the share of speech in each part of a book, from its first words to its last.

    The parts have the same number of words, to within one. The words are those of `measure_talk`.
    """
    is_spoken = b"".join(bytes([spoken]) * n for _, n, spoken in _count_words(book_spans))
    cuts = [len(is_spoken) * part // n_parts for part in range(n_parts + 1)]
    parts = (is_spoken[start:end] for start, end in pairwise(cuts))
    return tuple(sum(part) / len(part) if part else nan for part in parts)


def _count_words(book_spans: BookSpans) -> list[tuple[int, int, bool]]:
    """Returns the chapter of each span that has words, their number, and whether it is speech.

    What `measure_talk` leaves out is left out.
    """
    headings = {block.index for block in book_spans.book.blocks if block.kind is BlockKind.HEADING}
    counted = [
        (span.chapter, n, span.is_utterance)
        for span in book_spans.spans
        if span.paragraph not in headings and (n := len(span.text.split()))
    ]
    speaks_before = any(chapter == 0 and is_spoken for chapter, _, is_spoken in counted)
    return [item for item in counted if item[0] or speaks_before]


def shares_from_counts(counts: Sequence[int]) -> tuple[float, ...]:
    """Returns each count as a share of their sum, 0..1; all NaN if the sum is 0."""
    total = sum(counts)
    return tuple(n / total if total else nan for n in counts)
