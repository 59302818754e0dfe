"""The annotations: files without any book text -> facts, and the tags that follow from them.

A folder of annotations holds `books.jsonl` (a row per book: where it comes from and its split),
`gold/` with a file per book, and `first/` and `second/` with the two independent readings of those
chapters that were read twice. A row of such a file is one quoted span: its place in the annotated
edition, the fingerprint of its letters, and two facts, who speaks and in which conversation.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from miner.annotation.alignment import words
from miner.dialogue.spans import Span
from miner.dialogue.tag_files import json_rows, source_of, text_of
from miner.dialogue.tags import CONTINUATION, Tag, TaggedBook, TaggedSpan

BOOKS = "books.jsonl"
GOLD = "gold"
READINGS = ("first", "second")
SPLITS = ("train", "dev", "test", "sample")
UNKNOWN = "?"  # a speaker that the text does not tell
QUOTES = "\"'“”‘’„‚«»"  # marks of speech; editions differ in them
_BOOK_KEYS = {
    "book": str,
    "title": str,
    "author": str,
    "year": int,
    "country": str,
    "domain": str,
    "person": int,
    "split": str,
    "file": str,
    "sha256": str,
}
_KEYS = {
    "book": str,
    "chapter": int,
    "paragraph": int,
    "fingerprint": str,
    "speaker": str,
    "conversation": int,
}
_FINGERPRINT = re.compile(r"(?P<initials>\w*)\.(?P<letters>\d+)\.(?P<digest>[0-9a-f]{8})")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What is kept of the letters of a span: enough to find it, too little to read it.

    `initials` has the first letter of each word, `n_letters` counts all letters and `digest` has
    the first 8 hexadecimal digits of their SHA-256; letters are folded by `align.words`. Of a
    span without letters ("——!") the digest is of all its characters but the quotation marks.
    """

    initials: str
    n_letters: int
    digest: str

    def __str__(self) -> str:
        return f"{self.initials}.{self.n_letters}.{self.digest}"


def fingerprint(text: str) -> Fingerprint:
    """The fingerprint of a span's text, the same in every edition with the same letters.

    >>> str(fingerprint("“Don't _you_?”"))
    'dty.7.1ec0df8c'
    """
    folded = words(text)
    letters = "".join(folded)
    digested = letters or "".join(c for c in text if c not in QUOTES).strip()
    digest = hashlib.sha256(digested.encode()).hexdigest()[:8]
    return Fingerprint("".join([word[0] for word in folded]), len(letters), digest)


@dataclass(frozen=True, slots=True)
class Annotation:
    """The facts of one quoted span.

    `chapter` and `paragraph` are numbers of the annotated edition: for people to find the place,
    and to tell where a paragraph begins. `conversation` counts from 1 in each chapter; a resumed
    conversation has its old number. It is 0, and `speaker` empty, where what is quoted is no
    utterance. `speaker` is "?" where the text does not tell.
    """

    chapter: int
    paragraph: int
    fingerprint: Fingerprint
    speaker: str
    conversation: int
    remark: str = ""

    @property
    def is_utterance(self) -> bool:
        """Whether it is said aloud on this occasion."""
        return self.conversation > 0


@dataclass(frozen=True, slots=True)
class BookCard:
    """What is known of an annotated book, as `books.jsonl` has it.

    `author` decides that no author is in two splits; `year` is of the first publication, `person`
    the narrator's (1 or 3); `file` and `sha256` are of the edition that was annotated.
    """

    book: str
    title: str
    author: str
    year: int
    country: str
    domain: str
    person: int
    split: str
    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class AnnotatedBook:
    """A book and its annotations, in reading order; `source` is the file's name and digest."""

    card: BookCard
    annotations: tuple[Annotation, ...]
    source: str = ""

    @property
    def chapters(self) -> tuple[int, ...]:
        """The annotated chapters, in order."""
        return tuple(dict.fromkeys(item.chapter for item in self.annotations))


@dataclass(frozen=True, slots=True)
class Annotations:
    """A folder of annotations: the gold, and the two readings of what was read twice."""

    folder: Path
    gold: tuple[AnnotatedBook, ...]
    first: tuple[AnnotatedBook, ...]
    second: tuple[AnnotatedBook, ...]

    def of_split(self, split: str) -> tuple[AnnotatedBook, ...]:
        """The gold books of a split, of several ("train+dev"), or of all but the sample ("all").

        Raises:
            ValueError: if there is no such split, or no book in it.
        """
        cards = _cards_of(self.folder, {book.card.book: book.card for book in self.gold}, split)
        return tuple(book for book in self.gold if book.card.book in cards)


def is_annotations(folder: Path) -> bool:
    """Whether a path is a folder of annotations."""
    return (folder / BOOKS).is_file()


def read_annotations(folder: Path) -> Annotations:
    """The annotations of a folder; books in the order of `books.jsonl`.

    Raises:
        ValueError: with file and line, on bad JSON, a key that is missing or of the wrong kind, an
            unknown split, an author in two splits, rows out of order, or a file of a book that
            `books.jsonl` does not have.
        OSError: if a file cannot be read.
    """
    cards = read_cards(folder / BOOKS)
    gold = _read_gold(folder, cards, cards)
    first, second = (_read_books(folder / name, cards, cards) for name in READINGS)
    return Annotations(folder, gold, first, second)


def read_split(folder: Path, split: str) -> tuple[AnnotatedBook, ...]:
    """The gold books of a split, as `Annotations.of_split` gives them; the files of others stay unread.

    Raises:
        ValueError: as `read_annotations` and `Annotations.of_split` do.
        OSError: if a file cannot be read.
    """
    cards = read_cards(folder / BOOKS)
    return _read_gold(folder, cards, _cards_of(folder, cards, split))


def _cards_of(folder: Path, cards: Mapping[str, BookCard], split: str) -> dict[str, BookCard]:
    """The cards of a split, as `Annotations.of_split` has splits, by id."""
    names = [name for name in SPLITS if name != "sample"] if split == "all" else split.split("+")
    if unknown := [name for name in names if name not in SPLITS]:
        raise ValueError(
            f"{folder}: found no split {unknown[0]!r}, "
            f"expected {', '.join(SPLITS)}, all, or several with + between"
        )
    found = {book: card for book, card in cards.items() if card.split in names}
    if not found:
        raise ValueError(f"{folder}: found no book of split {split}")
    return found


def read_cards(path: Path) -> dict[str, BookCard]:
    """The books of `books.jsonl` by id, in the order of the file; errors as `read_annotations`."""
    cards: dict[str, BookCard] = {}
    split_of: dict[str, str] = {}
    for where, row in _rows(path, text_of(path)[0], _BOOK_KEYS):
        card = BookCard(*(row[key] for key in _BOOK_KEYS))
        if card.book in cards:
            raise ValueError(f"{where}: found book {card.book} a second time, expected it once")
        if card.split not in SPLITS:
            raise ValueError(f"{where}: found split {card.split!r}, expected {', '.join(SPLITS)}")
        if split_of.setdefault(card.author, card.split) != card.split:
            raise ValueError(
                f"{where}: found {card.author} in split {card.split}, "
                f"expected {split_of[card.author]}, as the author's other books"
            )
        cards[card.book] = card
    return cards


def read_file(path: Path, book: str) -> tuple[Annotation, ...]:
    """The annotations of one file, in the order of the file; errors as `read_annotations`."""
    return annotations_in(text_of(path)[0], book, path)


def annotations_in(text: str, book: str, path: Path) -> tuple[Annotation, ...]:
    """The annotations in the text of a file, one per line that is not blank; as `read_file`.

    Args:
        text: what the file holds.
        book: the id that each row must have.
        path: what errors call the file.
    """
    annotations: list[Annotation] = []
    last: dict[int, int] = {}
    for where, row in _rows(path, text, _KEYS):
        if row["book"] != book:
            raise ValueError(f"{where}: found book {row['book']!r}, expected {book!r}")
        annotation = _annotation(row, where)
        before = annotations[-1] if annotations else annotation
        if before.chapter > annotation.chapter or before.paragraph > annotation.paragraph:
            raise ValueError(
                f"{where}: found chapter {annotation.chapter}, paragraph {annotation.paragraph} "
                f"after chapter {before.chapter}, paragraph {before.paragraph}, "
                "expected reading order"
            )
        newest = last.get(annotation.chapter, 0)
        if annotation.conversation > newest + 1:
            raise ValueError(
                f"{where}: found conversation {annotation.conversation}, expected at most "
                f"{newest + 1}, the next number of the chapter"
            )
        last[annotation.chapter] = max(newest, annotation.conversation)
        annotations.append(annotation)
    return tuple(annotations)


def row_of(book: str, annotation: Annotation) -> dict[str, Any]:
    """The row of a file, keys in the file's order; `remark` only where there is one."""
    row = {
        "book": book,
        "chapter": annotation.chapter,
        "paragraph": annotation.paragraph,
        "fingerprint": str(annotation.fingerprint),
        "speaker": annotation.speaker,
        "conversation": annotation.conversation,
    }
    return row | ({"remark": annotation.remark} if annotation.remark else {})


def derive_tags(facts: Iterable[Annotation]) -> list[Tag]:
    """The tags that follow from the facts, one per annotation, O where there is no utterance.

    Walks the utterances of each chapter in reading order, leaving the rest out: another
    conversation than the utterance before (a resumed one, too) gives B-START; the same speaker
    goes on with the turn; another speaker gives B-OTHER. An unknown speaker ("?") before or after
    is another speaker in a new paragraph and the same one within a paragraph.
    """
    tags: list[Tag] = []
    before: Annotation | None = None
    tag = Tag.O
    for fact in facts:
        if not fact.is_utterance:
            tags.append(Tag.O)
            continue
        if before is None or _occasion(before) != _occasion(fact):
            tag = Tag.B_START
        elif not is_same_speaker(before, fact):
            tag = Tag.B_OTHER
        else:
            tag = CONTINUATION[tag]
        tags.append(tag)
        before = fact
    return tags


def is_same_speaker(before: Annotation, fact: Annotation) -> bool:
    """Whether an utterance goes on with the turn of the one before, as `derive_tags` has it."""
    if UNKNOWN in (before.speaker, fact.speaker):
        return before.paragraph == fact.paragraph
    return before.speaker == fact.speaker


def renumbered(facts: Iterable[Annotation]) -> list[Annotation]:
    """The annotations of a chapter with conversations counted from 1 in the order they begin."""
    numbers = {0: 0}
    return [
        replace(fact, conversation=numbers.setdefault(fact.conversation, len(numbers)))
        for fact in facts
    ]


def by_conversation(
    facts: Iterable[Annotation],
) -> Iterator[tuple[tuple[int, int], list[Annotation]]]:
    """The utterances of each conversation, in reading order, by chapter and conversation."""
    # Sorting is stable: reading order within a conversation.
    ordered = sorted((fact for fact in facts if fact.is_utterance), key=_occasion)
    for occasion, group in groupby(ordered, key=_occasion):
        yield occasion, list(group)


def interrupted_pairs(facts: Sequence[Annotation]) -> int:
    """How many pairs reach across an interruption: tags cannot say them, the facts can.

    A pair is a turn and the next turn of the same conversation by another speaker, with utterances
    of other conversations in between.
    """
    n_pairs = 0
    place = {id(fact): n for n, fact in enumerate(fact for fact in facts if fact.is_utterance)}
    for _, group in by_conversation(facts):
        for before, fact in pairwise(group):
            apart = place[id(fact)] - place[id(before)] > 1
            n_pairs += apart and not is_same_speaker(before, fact)
    return n_pairs


def _occasion(fact: Annotation) -> tuple[int, int]:
    return fact.chapter, fact.conversation


def _read_gold(
    folder: Path, cards: Mapping[str, BookCard], chosen: Mapping[str, BookCard]
) -> tuple[AnnotatedBook, ...]:
    """The gold of the chosen books, which must all be there."""
    gold = _read_books(folder / GOLD, cards, chosen)
    if absent := set(chosen) - {book.card.book for book in gold}:
        raise ValueError(f"{folder / GOLD}: found no {min(absent)}.jsonl, expected one per book")
    return gold


def _read_books(
    folder: Path, cards: Mapping[str, BookCard], chosen: Mapping[str, BookCard]
) -> tuple[AnnotatedBook, ...]:
    """The chosen books of a folder, which may be missing; a file that is no book's is refused."""
    paths = {path.stem: path for path in folder.glob("*.jsonl")}
    if foreign := sorted(set(paths) - set(cards)):
        raise ValueError(f"{paths[foreign[0]]}: found no book {foreign[0]} in {BOOKS}")
    return tuple(
        AnnotatedBook(
            card, read_file(paths[book], book), source_of(paths[book], text_of(paths[book])[1])
        )
        for book, card in chosen.items()
        if book in paths
    )


def _rows(
    path: Path, text: str, keys: dict[str, Callable[..., Any]]
) -> Iterable[tuple[str, dict[str, Any]]]:
    """The objects of a JSON Lines file, each with file:line, checked to have the keys."""
    for where, row in json_rows(path, text):
        for key, kind in keys.items():
            if type(row.get(key)) is not kind:
                raise ValueError(
                    f"{where}: found {row.get(key)!r} as {key}, expected {kind.__name__}"
                )
        yield where, row


def _annotation(row: dict[str, Any], where: str) -> Annotation:
    match = _FINGERPRINT.fullmatch(row["fingerprint"])
    if match is None:
        raise ValueError(
            f"{where}: found fingerprint {row['fingerprint']!r}, "
            "expected initials, number of letters and 8 hexadecimal digits, with points between"
        )
    speaker, conversation, remark = row["speaker"], row["conversation"], row.get("remark", "")
    if min(row["chapter"], row["paragraph"], conversation) < 0:
        raise ValueError(
            f"{where}: found a number below 0, expected chapter, paragraph and conversation from 0"
        )
    if bool(speaker.strip()) != (conversation > 0):
        raise ValueError(
            f"{where}: found speaker {speaker!r} in conversation {conversation}, "
            "expected a name in conversations from 1, and none in 0"
        )
    if not isinstance(remark, str):
        raise ValueError(f"{where}: found {remark!r} as remark, expected text")
    found = Fingerprint(match["initials"], int(match["letters"]), match["digest"])
    return Annotation(row["chapter"], row["paragraph"], found, speaker, conversation, remark)


def tagged_facts(annotated: AnnotatedBook) -> TaggedBook:
    """The annotations as a tagged book without its text: fingerprints stand for the spans.

    Two readings of one edition can be scored against each other so, without the book.
    """
    spans: list[TaggedSpan] = []
    tags = derive_tags(annotated.annotations)
    index = start = 0
    for fact, tag in zip(annotated.annotations, tags, strict=True):
        text, place = str(fact.fingerprint), (fact.chapter, fact.paragraph)
        if not spans or place != (spans[-1].span.chapter, spans[-1].span.paragraph):
            index = start = 0
        end = start + len(text)
        spoken = fact.is_utterance
        spans.append(TaggedSpan(Span(*place, index, start, end, text, spoken, not spoken), tag))
        index, start = index + 1, end
    return TaggedBook(annotated.card.book, tuple(spans), annotated.source)
