"""Dialogue in fiction: how long conversations are, how much of a book is talk, who talks to whom.

What is counted here, `study_plots.py` draws. Lengths are of tagged books, whoever tagged them;
shares of talk need spans only; companies need to know who speaks, so they come from annotations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from statistics import fmean, median

from miner.annotations import (
    UNKNOWN,
    AnnotatedBook,
    Annotation,
    by_conversation,
    is_same_speaker,
)
from miner.book import BlockKind
from miner.counts import shares
from miner.dialogues import dialogues, mended
from miner.editions import Edition, open_edition
from miner.locate import refuse_losses
from miner.sources import find_sources
from miner.spans import BookSpans
from miner.tags import TaggedBook

# How many turns a speaker has among those of a conversation.
RANKS = ("the most talkative", "the second", "the third", "all others")


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


@dataclass(frozen=True, slots=True)
class Company:
    """Those who talk in one annotated conversation.

    `turns` are of each speaker whom the text tells, the most talkative first; `n_unknown` counts
    the utterances of speakers whom it does not tell.
    """

    book: str
    chapter: int
    conversation: int
    turns: tuple[tuple[str, int], ...]
    n_unknown: int

    @property
    def n_speakers(self) -> int:
        """Speakers whom the text tells."""
        return len(self.turns)

    @property
    def n_turns(self) -> int:
        """Turns of theirs."""
        return sum(n for _, n in self.turns)


@dataclass(frozen=True, slots=True)
class CompanySize:
    """All conversations of so many speakers, or of so many and more.

    `n_turns` are all their turns; `by_rank` has the share of these that speakers of each of
    `RANKS` have, 0 to 1, all NaN where there is no such conversation.
    """

    n_speakers: int
    is_largest: bool
    n_conversations: int
    n_turns: int
    by_rank: tuple[float, ...]

    @property
    def name(self) -> str:
        """The number of speakers in words: "2", "5 or more"."""
        return f"{self.n_speakers} or more" if self.is_largest else str(self.n_speakers)


@dataclass(frozen=True, slots=True)
class CompanySizes:
    """The conversations of some books by the number of their speakers, from one speaker up.

    `n_untold` counts the conversations with a speaker whom the text does not tell, which are in
    none of the sizes.
    """

    sizes: tuple[CompanySize, ...]
    n_untold: int

    @property
    def conversation_shares(self) -> tuple[float, ...]:
        """What share of the conversations is of each size, 0 to 1; NaN where there is none."""
        return shares([size.n_conversations for size in self.sizes])

    @property
    def turn_shares(self) -> tuple[float, ...]:
        """What share of the turns is of each size, 0 to 1; NaN where there is none."""
        return shares([size.n_turns for size in self.sizes])


def conversation_lengths(name: str, books: Iterable[TaggedBook]) -> Lengths:
    """The turns of every conversation of some tagged books; illegal tags are mended first.

    Args:
        name: what a plot calls them: a book, a tagger, "gold".
        books: in any order.
    """
    found = (dialogue for book in books for dialogue in dialogues(mended(book)))
    return Lengths(name, tuple(len(dialogue.turns) for dialogue in found))


def annotated_lengths(name: str, books: Iterable[AnnotatedBook]) -> Lengths:
    """The turns of every annotated conversation whose speakers the text tells, without the books.

    Args:
        name: what a plot calls them.
        books: annotated ones.
    """
    told = (company for company in companies(books) if not company.n_unknown)
    return Lengths(name, tuple(company.n_turns for company in told))


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


def companies(books: Iterable[AnnotatedBook]) -> list[Company]:
    """Every annotated conversation, with those who talk in it.

    A conversation that is interrupted and resumed is one. A turn is what one speaker says before
    another speaker of the same conversation does, whatever is said elsewhere in between.
    """
    return [
        _company(book.card.book, chapter, conversation, facts)
        for book in books
        for (chapter, conversation), facts in by_conversation(book.annotations)
    ]


def _company(book: str, chapter: int, conversation: int, facts: Sequence[Annotation]) -> Company:
    turns = Counter[str]()
    before: Annotation | None = None
    for fact in facts:
        if fact.speaker != UNKNOWN and (before is None or not is_same_speaker(before, fact)):
            turns[fact.speaker] += 1
        before = fact
    n_unknown = sum(fact.speaker == UNKNOWN for fact in facts)
    return Company(book, chapter, conversation, tuple(turns.most_common()), n_unknown)


def company_sizes(found: Iterable[Company], largest: int = 5) -> CompanySizes:
    """Companies by their number of speakers; those of `largest` and more are counted together."""
    found = list(found)
    told = [company for company in found if not company.n_unknown]
    sizes = (
        _size(n, n == largest, [item for item in told if min(item.n_speakers, largest) == n])
        for n in range(1, largest + 1)
    )
    return CompanySizes(tuple(sizes), len(found) - len(told))


def _size(n_speakers: int, is_largest: bool, found: Sequence[Company]) -> CompanySize:
    by_rank = Counter[int]()
    for company in found:
        for rank, (_, n) in enumerate(company.turns):
            by_rank[min(rank, len(RANKS) - 1)] += n
    of_ranks = shares([by_rank[rank] for rank in range(len(RANKS))])
    return CompanySize(n_speakers, is_largest, len(found), by_rank.total(), of_ranks)


def at_hand(books: Iterable[AnnotatedBook], folder: Path | None = None) -> Iterator[Edition]:
    """The annotated books that lie on this disk, each on its edition; the others are passed over.

    Args:
        books: annotated ones.
        folder: where a Gutenberg number is looked up first; then the cache is.

    Raises:
        ValueError: if `folder` is no folder, a file cannot be parsed, or lacks too many annotated
            spans of a chapter; names the book.
        OSError: if a file cannot be read.
    """
    of_id = {book.card.book: book for book in books}
    sources, _ = find_sources(of_id, folder)
    for source in sources:
        if source.path is not None:
            edition = open_edition(of_id[source.word], source.path.read_bytes())
            refuse_losses(edition.located)
            yield edition
