"""The annotations as a whole: fetched, checked against their books, counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from miner.agreement import tagged_facts
from miner.annotations import (
    SPLITS,
    UNKNOWN,
    AnnotatedBook,
    Annotations,
    BookCard,
    derive_tags,
    interrupted_pairs,
)
from miner.dialogues import dialogues, turn_pairs
from miner.editions import ReadBook, open_edition
from miner.locate import refuse_losses
from miner.tags import TAGS

_SAME_WORK = 0.5  # share of a book's long annotated spans found in another book that make it a copy
_LONG = 8  # words of a span that is not found in two works by chance


@dataclass(frozen=True, slots=True)
class CheckedBook:
    """How the annotations of one book fit the edition at hand."""

    card: BookCard
    n_chapters: int
    n_all: int
    n_found: int
    least_coverage: float
    is_annotated_one: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """What `check` looked at, and what is wrong, a line each; none where all is well."""

    books: tuple[CheckedBook, ...]
    problems: tuple[str, ...]


def check(annotations: Annotations, split: str, read: ReadBook) -> Checked:
    """Every span of the annotations against the edition at hand, and the annotations as a whole.

    Reading them has checked their form, and that no author is in two splits. Here: each book has
    annotations, each chapter is found (`locate.refuse_losses`), the derived tags are legal, the two
    readings cover the same chapters, and no two books are editions of one work.

    Args:
        annotations: all of them.
        split: which books to hold against their editions.
        read: gives the bytes of a book by its id.
    """
    checked: list[CheckedBook] = []
    problems: list[str] = []
    for annotated in annotations.part(split):
        if not annotated.annotations:
            book = annotated.card.book
            problems.append(f"gold/{book}: found no annotation, expected at least one chapter")
            continue
        try:
            edition = open_edition(annotated, read(annotated.card.book))
            located = edition.located
            shares = [located.n_found[n] / located.n_all[n] for n in located.n_all]
            checked.append(
                CheckedBook(
                    annotated.card,
                    len(shares),
                    sum(located.n_all.values()),
                    sum(located.n_found.values()),
                    min(shares),
                    edition.is_annotated_one,
                )
            )
            refuse_losses(located)
            dialogues(located.tagged())
        except (ValueError, OSError) as error:
            problems.append(str(error))
    problems += _copies(annotations.gold)
    first, second = (
        {book.card.book: book.chapters for book in reading}
        for reading in (annotations.first, annotations.second)
    )
    if first != second:
        problems.append("first, second: found other chapters in the one than in the other")
    gold = {book.card.book: set(book.chapters) for book in annotations.gold}
    problems += [
        f"first/{book}: found chapter {chapter}, which gold has not"
        for book, chapters in first.items()
        for chapter in chapters
        if chapter not in gold[book]
    ]
    return Checked(tuple(checked), tuple(problems))


def _copies(books: Sequence[AnnotatedBook]) -> list[str]:
    """Pairs of books that share too many long spans to be two works."""
    long_spans = {
        book.card.book: {
            fact.fingerprint for fact in book.annotations if len(fact.fingerprint.initials) >= _LONG
        }
        for book in books
    }
    found = []
    for n, (one, ours) in enumerate(long_spans.items()):
        for other, theirs in list(long_spans.items())[n + 1 :]:
            if len(ours & theirs) > _SAME_WORK * min(len(ours), len(theirs)):
                found.append(f"{one}, {other}: found the same spans, expected different works")
    return found


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
class Statistics:
    """The counts of each split and of all, then by domain, country, century and narrator."""

    splits: tuple[Counted, ...]
    kinds: tuple[tuple[str, tuple[Counted, ...]], ...]

    def to_json(self) -> dict[str, Any]:
        """The counts as plain values."""
        record: dict[str, Any] = {"splits": {c.name: _plain(c) for c in self.splits}}
        return record | {kind: {c.name: _plain(c) for c in rows} for kind, rows in self.kinds}


def statistics(annotations: Annotations) -> Statistics:
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
    return Statistics(tuple(_together(name, splits[name]) for name in names), tuple(kinds))


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


def fetch_books(
    books: Sequence[AnnotatedBook], find: Callable[[str], Path]
) -> Iterator[tuple[str, Path | str]]:
    """The file of each book, downloaded where need be, or why it cannot be had.

    The reason is one line without the book's id, which stands beside it.

    Args:
        books: whose files are wanted; the sample comes with the package.
        find: gives the file of a book by its id.
    """
    for book in books:
        id = book.card.book
        try:
            yield id, find(id)
        except (ValueError, OSError) as error:
            yield id, str(error).removeprefix(f"{id}: ")
