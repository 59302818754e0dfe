"""Statistics of annotations: how much is annotated, and how many speakers a conversation has."""

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
    count_interrupted_pairs,
    derive_tags,
    group_by_conversation,
    is_same_speaker,
    tag_annotations,
)
from miner.lab.gold.dialogue_statistics import Lengths, shares_from_counts
from miner.speech.dialogues import decode_dialogues, turn_pairs
from miner.speech.tags import TAGS

# The speakers of a conversation by their number of turns.
RANKS = ("the most talkative", "the second", "the third", "all others")


@dataclass(frozen=True, slots=True)
class Company:
    """The speakers of one annotated conversation."""

    book: str  # the id of the book
    chapter: int  # the number of the chapter
    conversation: int  # the number of the conversation in the chapter
    # each known speaker with the number of turns, the most talkative first
    turns: tuple[tuple[str, int], ...]
    n_unknown: int  # the number of utterances of unknown speakers

    @property
    def n_speakers(self) -> int:
        """The number of known speakers."""
        return len(self.turns)

    @property
    def n_turns(self) -> int:
        """The number of turns of known speakers."""
        return sum(n for _, n in self.turns)


@dataclass(frozen=True, slots=True)
class CompanySize:
    """All conversations with one number of speakers."""

    n_speakers: int  # the number of speakers
    is_largest: bool  # whether conversations with more speakers are included
    n_conversations: int  # the number of conversations
    n_turns: int  # the number of their turns
    # the share of the turns, 0..1, that speakers of each of `RANKS` have. All are NaN if there is
    # no such conversation.
    by_rank: tuple[float, ...]

    @property
    def name(self) -> str:
        """The number of speakers as a label: "2", "5 or more"."""
        return f"{self.n_speakers} or more" if self.is_largest else str(self.n_speakers)


@dataclass(frozen=True, slots=True)
class CompanySizes:
    """The conversations of some books by the number of speakers, from one speaker up.

    `n_unknown` counts the conversations with an unknown speaker, which are in none of the sizes.
    """

    sizes: tuple[CompanySize, ...]
    n_unknown: int

    @property
    def conversation_shares(self) -> tuple[float, ...]:
        """The share of the conversations of each size, 0..1; NaN without conversations."""
        return shares_from_counts([size.n_conversations for size in self.sizes])

    @property
    def turn_shares(self) -> tuple[float, ...]:
        """The share of the turns of each size, 0..1; NaN without turns."""
        return shares_from_counts([size.n_turns for size in self.sizes])


def measure_conversations(name: str, books: Iterable[AnnotatedBook]) -> Lengths:
    """Returns the number of turns of each annotated conversation without unknown speakers."""
    known = (company for company in find_companies(books) if not company.n_unknown)
    return Lengths(name, tuple(company.n_turns for company in known))


def find_companies(books: Iterable[AnnotatedBook]) -> list[Company]:
    """Returns the company of every annotated conversation.

    A conversation that is interrupted and resumed is one conversation. A turn ends when another
    speaker of the same conversation speaks; other conversations do not end it.
    """
    return [
        _company(book.card.book, chapter, conversation, facts)
        for book in books
        for (chapter, conversation), facts in group_by_conversation(book.annotations)
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


def count_company_sizes(found: Iterable[Company], largest: int = 5) -> CompanySizes:
    """Counts companies by their number of speakers, those of `largest` and more together."""
    found = list(found)
    known = [company for company in found if not company.n_unknown]
    sizes = (
        _size(n, n == largest, [item for item in known if min(item.n_speakers, largest) == n])
        for n in range(1, largest + 1)
    )
    return CompanySizes(tuple(sizes), len(found) - len(known))


def _size(n_speakers: int, is_largest: bool, found: Sequence[Company]) -> CompanySize:
    by_rank = Counter[int]()
    for company in found:
        for rank, (_, n) in enumerate(company.turns):
            by_rank[min(rank, len(RANKS) - 1)] += n
    of_ranks = shares_from_counts([by_rank[rank] for rank in range(len(RANKS))])
    return CompanySize(n_speakers, is_largest, len(found), by_rank.total(), of_ranks)


@dataclass(frozen=True, slots=True)
class AnnotationCounts:
    """How much is annotated in some books."""

    name: str  # the name of the group of books
    books: int  # the number of books
    chapters: int  # the number of annotated chapters
    twice: int  # the number of chapters that were annotated twice
    spans: int  # the number of annotated spans
    utterances: int  # the number of those that are utterances
    unknown: int  # the number of utterances of unknown speakers
    conversations: int  # the number of conversations
    turns: int  # the number of turns by the derived tags
    pairs: int  # the number of turn pairs by the derived tags
    interrupted: int  # the number of pairs across an interruption, which tags cannot express
    tags: dict[str, int]  # the number of utterances with each derived tag


@dataclass(frozen=True, slots=True)
class AnnotationStatistics:
    """The counts by split, and by domain, country, century and narrator.

    Books in several languages are counted by language, too.
    """

    splits: tuple[AnnotationCounts, ...]
    kinds: tuple[tuple[str, tuple[AnnotationCounts, ...]], ...]

    def to_json(self) -> dict[str, Any]:
        """Returns the counts as values that JSON can hold."""
        record: dict[str, Any] = {"splits": {c.name: _values(c) for c in self.splits}}
        return record | {kind: {c.name: _values(c) for c in rows} for kind, rows in self.kinds}


def count_annotations(annotations: Annotations) -> AnnotationStatistics:
    """Counts what is annotated, without the books. "all" leaves out the sample."""
    twice = {book.card.book: len(book.chapters) for book in annotations.second}
    counted = [
        (book.card, _count_book(book, twice.get(book.card.book, 0))) for book in annotations.gold
    ]
    everything = [(card, of_book) for card, of_book in counted if card.split != "sample"]
    splits = {name: [of_book for card, of_book in counted if card.split == name] for name in SPLITS}
    splits["all"] = [of_book for _, of_book in everything]
    kinds: list[tuple[str, tuple[AnnotationCounts, ...]]] = []
    keys: list[tuple[str, Callable[[BookCard], str]]] = [
        ("domain", lambda card: card.domain),
        ("country", lambda card: card.country),
        ("century", lambda card: f"{(card.year - 1) // 100 + 1}th"),
        ("narrator", lambda card: {1: "first person", 3: "third person"}[card.person]),
    ]
    if len(annotations.languages) > 1:
        keys.insert(0, ("language", lambda card: card.language))
    for kind, key in keys:
        groups: defaultdict[str, list[AnnotationCounts]] = defaultdict(list)
        for card, of_book in everything:
            groups[key(card)].append(of_book)
        kinds.append((kind, tuple(_sum_of(name, groups[name]) for name in sorted(groups))))
    names = (*SPLITS[:-1], "all", "sample")
    return AnnotationStatistics(tuple(_sum_of(name, splits[name]) for name in names), tuple(kinds))


def _count_book(book: AnnotatedBook, twice: int) -> AnnotationCounts:
    """Counts what is annotated in a book of which `twice` chapters were annotated twice."""
    facts = book.annotations
    found = decode_dialogues(tag_annotations(book))
    tags = Counter(derive_tags(facts))
    return AnnotationCounts(
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
        interrupted=count_interrupted_pairs(facts),
        tags={str(tag): tags[tag] for tag in TAGS},
    )


def _sum_of(name: str, counted: Sequence[AnnotationCounts]) -> AnnotationCounts:
    """Returns the sum of the counts of some books."""
    numbers = {
        field: sum(getattr(of_book, field) for of_book in counted)
        for field in AnnotationCounts.__slots__
        if field not in ("name", "tags")
    }
    tags = {str(tag): sum(of_book.tags[str(tag)] for of_book in counted) for tag in TAGS}
    return AnnotationCounts(name=name, tags=tags, **numbers)


def _values(counted: AnnotationCounts) -> dict[str, Any]:
    """Returns the counts by name, without the name of the group."""
    return {name: getattr(counted, name) for name in AnnotationCounts.__slots__ if name != "name"}
