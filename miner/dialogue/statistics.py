"""Dialogue in fiction: how long conversations are, how much of a book is talk, who talks to whom.

What is counted here, `study_plots.py` draws. Lengths are of tagged books, whoever tagged them;
shares of talk need spans only; companies need to know who speaks, so they come from annotations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan
from statistics import fmean, median

from miner.books.book import BlockKind
from miner.dialogue.dialogues import dialogues, repair_book
from miner.dialogue.spans import BookSpans
from miner.dialogue.tags import TaggedBook


@dataclass(frozen=True, slots=True)
class Lengths:
    """The conversations of one book or tagger: how many turns each has, in reading order."""

    name: str
    turns: tuple[int, ...]

    @property
    def mean(self) -> float:
        """Turns per conversation; NaN where there is none."""
        return fmean(self.turns) if self.turns else nan

    @property
    def median(self) -> float:
        """Turns of the conversation in the middle; NaN where there is none."""
        return median(self.turns) if self.turns else nan

    @property
    def counts(self) -> dict[int, int]:
        """How many conversations there are of each length that occurs, shortest first."""
        return dict(sorted(Counter(self.turns).items()))

    def at_least(self) -> list[tuple[int, float]]:
        """For 1 to the greatest number of turns, the share of conversations with at least so many.

        >>> Lengths("", (1, 3)).at_least()
        [(1, 1.0), (2, 0.5), (3, 0.5)]
        """
        return [
            (n, sum(turns >= n for turns in self.turns) / len(self.turns))
            for n in range(1, max(self.turns, default=0) + 1)
        ]


@dataclass(frozen=True, slots=True)
class ChapterTalk:
    """The words of one chapter, and how many of them stand in utterances."""

    chapter: int
    n_words: int
    n_spoken: int

    @property
    def share(self) -> float:
        """Spoken words of all, 0 to 1; NaN in a chapter without words."""
        return self.n_spoken / self.n_words if self.n_words else nan


@dataclass(frozen=True, slots=True)
class Talk:
    """How much of a book is talk, chapter by chapter; `name` is what a plot calls it."""

    name: str
    chapters: tuple[ChapterTalk, ...]

    @property
    def share(self) -> float:
        """Spoken words of all words of the book, 0 to 1; NaN in a book without words."""
        n_words = sum(chapter.n_words for chapter in self.chapters)
        n_spoken = sum(chapter.n_spoken for chapter in self.chapters)
        return n_spoken / n_words if n_words else nan


def conversation_lengths(name: str, books: Iterable[TaggedBook]) -> Lengths:
    """The turns of every conversation of some tagged books; illegal tags are repaired first.

    Args:
        name: what a plot calls them: a book, a tagger, "gold".
        books: in any order.
    """
    found = (dialogue for book in books for dialogue in dialogues(repair_book(book)))
    return Lengths(name, tuple(len(dialogue.turns) for dialogue in found))


def talk_by_chapter(name: str, book_spans: BookSpans) -> Talk:
    """The share of talk in each chapter that has words, in words split at white space.

    Headings are left out, letters and verse count as the text that they are. What stands before
    the first chapter is chapter 0, and left out where nobody speaks in it: a title page.
    """
    headings = {block.index for block in book_spans.book.blocks if block.kind is BlockKind.HEADING}
    words, spoken = Counter[int](), Counter[int]()
    for span in book_spans.spans:
        n = 0 if span.paragraph in headings else len(span.text.split())
        words[span.chapter] += n
        spoken[span.chapter] += n * span.is_utterance
    chapters = (
        ChapterTalk(chapter, n, spoken[chapter])
        for chapter, n in words.items()
        if n and (chapter or spoken[chapter])
    )
    return Talk(name, tuple(chapters))


def shares(counts: Sequence[int]) -> tuple[float, ...]:
    """Each count as a share of their sum, 0 to 1; all NaN where that is 0."""
    total = sum(counts)
    return tuple(n / total if total else nan for n in counts)
