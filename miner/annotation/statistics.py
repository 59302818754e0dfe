"""."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from miner.annotation.annotations import (
    SPLITS,
    UNKNOWN,
    AnnotatedBook,
    Annotation,
    Annotations,
    BookCard,
    by_conversation,
    derive_tags,
    interrupted_pairs,
    is_same_speaker,
    tagged_facts,
)
from miner.dialogue.dialogues import dialogues, turn_pairs
from miner.dialogue.statistics import Lengths, shares
from miner.dialogue.tags import TAGS

# How many turns a speaker has among those of a conversation.
RANKS = ("the most talkative", "the second", "the third", "all others")


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


def annotated_lengths(name: str, books: Iterable[AnnotatedBook]) -> Lengths:
    """The turns of every annotated conversation whose speakers the text tells, without the books.

    Args:
        name: what a plot calls them.
        books: annotated ones.
    """
    told = (company for company in companies(books) if not company.n_unknown)
    return Lengths(name, tuple(company.n_turns for company in told))


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


@dataclass(frozen=True, slots=True)
class Counted:
    """What is annotated in some books.

    `tags` counts the derived tags of utterances; `pairs` are turn pairs as tags can say them,
    `interrupted` those that reach across an interruption, which only the facts know.
    """

    name: str
    books: int
    chapters: int
    twice: int
    spans: int
    utterances: int
    unknown: int
    conversations: int
    turns: int
    pairs: int
    interrupted: int
    tags: dict[str, int]


@dataclass(frozen=True, slots=True)
class AnnotationStatistics:
    """The counts of each split and of all, then by domain, country, century and narrator."""

    splits: tuple[Counted, ...]
    kinds: tuple[tuple[str, tuple[Counted, ...]], ...]

    def to_json(self) -> dict[str, Any]:
        """The counts as plain values."""
        record: dict[str, Any] = {"splits": {c.name: _plain(c) for c in self.splits}}
        return record | {kind: {c.name: _plain(c) for c in rows} for kind, rows in self.kinds}


def count_annotations(annotations: Annotations) -> AnnotationStatistics:
    """What is annotated, counted from the annotations alone; the sample is left out of "all"."""
    twice = {book.card.book: len(book.chapters) for book in annotations.second}
    counted = [
        (book.card, _counted(book, twice.get(book.card.book, 0))) for book in annotations.gold
    ]
    everything = [(card, of_book) for card, of_book in counted if card.split != "sample"]
    splits = {name: [of_book for card, of_book in counted if card.split == name] for name in SPLITS}
    splits["all"] = [of_book for _, of_book in everything]
    kinds: list[tuple[str, tuple[Counted, ...]]] = []
    keys: list[tuple[str, Callable[[BookCard], str]]] = [
        ("domain", lambda card: card.domain),
        ("country", lambda card: card.country),
        ("century", lambda card: f"{(card.year - 1) // 100 + 1}th"),
        ("narrator", lambda card: {1: "first person", 3: "third person"}[card.person]),
    ]
    for kind, key in keys:
        groups: defaultdict[str, list[Counted]] = defaultdict(list)
        for card, of_book in everything:
            groups[key(card)].append(of_book)
        kinds.append((kind, tuple(_together(name, groups[name]) for name in sorted(groups))))
    names = (*SPLITS[:-1], "all", "sample")
    return AnnotationStatistics(
        tuple(_together(name, splits[name]) for name in names), tuple(kinds)
    )


def _counted(book: AnnotatedBook, twice: int) -> Counted:
    """What is annotated in one book, `twice` of its chapters by two readings."""
    facts = book.annotations
    found = dialogues(tagged_facts(book))
    tags = Counter(derive_tags(facts))
    return Counted(
        name=book.card.book,
        books=1,
        chapters=len(book.chapters),
        twice=twice,
        spans=len(facts),
        utterances=sum(fact.is_utterance for fact in facts),
        unknown=sum(fact.speaker == UNKNOWN for fact in facts),
        conversations=len({(f.chapter, f.conversation) for f in facts if f.is_utterance}),
        turns=sum(len(dialogue.turns) for dialogue in found),
        pairs=sum(len(turn_pairs(dialogue)) for dialogue in found),
        interrupted=interrupted_pairs(facts),
        tags={str(tag): tags[tag] for tag in TAGS},
    )


def _together(name: str, counted: Sequence[Counted]) -> Counted:
    """The sum of what was counted in some books."""
    numbers = {
        field: sum(getattr(of_book, field) for of_book in counted)
        for field in Counted.__slots__
        if field not in ("name", "tags")
    }
    tags = {str(tag): sum(of_book.tags[str(tag)] for of_book in counted) for tag in TAGS}
    return Counted(name=name, tags=tags, **numbers)


def _plain(counted: Counted) -> dict[str, Any]:
    return {name: getattr(counted, name) for name in Counted.__slots__ if name != "name"}
