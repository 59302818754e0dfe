"""A folder of annotations -> annotated books, their tags and turns. It holds no book text.

The folder has `books.jsonl` with a row per book (its origin and its split), `gold/` with a file per
book, plain or in gzip, and `first/` and `second/`, packed in `readings.zip`, with two independent
readings of the chapters that were annotated twice. A row of such a file is one quoted span: its
place in the annotated edition, its fingerprint and two facts, who speaks and in which conversation.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from itertools import groupby, pairwise
from pathlib import Path
from reprlib import repr as shown
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from miner.annotation.alignment import Fingerprint, parse_fingerprint
from miner.books.book_file import LARGEST_FILE, open_archive
from miner.errors import InputError
from miner.files import (
    decode_text,
    file_signature,
    json_rows,
    printable,
    read_text,
    sha256_of,
)
from miner.speech.kinds import SpanKind
from miner.speech.spans import Span
from miner.speech.tag_files import LARGEST
from miner.speech.tags import CONTINUATION, Tag, TaggedBook, TaggedSpan

FOLDER = "annotations"
BOOKS = "books.jsonl"
GOLD = "gold"
_GZIP = ".gz"
READINGS = "readings.zip"  # the folders of the two readings, unless they lie beside the gold
SPLITS = ("train", "dev", "test", "sample")
ENGLISH = "en"  # the language that is read if none is named
EVERY = "all"  # as a split, all but the sample; as a language, any
UNKNOWN = "?"  # a speaker whom the text does not name
_LANGUAGE = re.compile("[a-z]{2,3}")
_KEYS = {
    "book": str,
    "chapter": int,
    "paragraph": int,
    "fingerprint": str,
    "speaker": str,
    "conversation": int,
}


@dataclass(frozen=True, slots=True)
class Annotation:
    """The facts of one quoted span."""

    chapter: int  # the number of the chapter in the annotated edition
    paragraph: int  # the number of the paragraph in the annotated edition
    fingerprint: Fingerprint  # what is kept of the text
    speaker: str  # the name, "?" if the text does not tell, or "" if the span is no utterance
    # the number, from 1 in each chapter; 0 if the span is no utterance. A resumed conversation
    # keeps its number.
    conversation: int
    remark: str = ""  # a note of the annotator

    @property
    def is_utterance(self) -> bool:
        """Whether the span is said aloud on this occasion."""
        return self.conversation > 0

    @property
    def kind(self) -> SpanKind:
        """The kind of the span; what nobody says is of no certain kind."""
        return SpanKind.UTTERANCE if self.is_utterance else SpanKind.OTHER


@dataclass(frozen=True, slots=True)
class BookCard:
    """The row of an annotated book in `books.jsonl`."""

    book: str  # the Gutenberg number, or "sample"
    title: str  # the title
    author: str  # the author. No author is in two splits.
    language: str  # the language of the text, a code of ISO 639 ("en")
    year: int  # the year of the first publication
    country: str  # the author's country
    domain: str  # the kind of novel
    person: int  # the narrator's grammatical person, 1 or 3
    split: str  # one of `SPLITS`
    file: str  # the name of the annotated file
    sha256: str  # the digest of the annotated file


_TYPES = {"str": str, "int": int}
_BOOK_KEYS = {field.name: _TYPES[str(field.type)] for field in fields(BookCard)}


@dataclass(frozen=True, slots=True)
class AnnotatedBook:
    """A book and its annotations, in reading order. `source` is the file's name and digest."""

    card: BookCard
    annotations: tuple[Annotation, ...]
    source: str = ""

    @property
    def chapters(self) -> tuple[int, ...]:
        """The numbers of the annotated chapters, in order."""
        return tuple(dict.fromkeys(item.chapter for item in self.annotations))


@dataclass(frozen=True, slots=True)
class Annotations:
    """The books of a folder: the gold, and two readings of the chapters annotated twice."""

    folder: Path
    gold: tuple[AnnotatedBook, ...]
    first: tuple[AnnotatedBook, ...]
    second: tuple[AnnotatedBook, ...]

    def of_split(self, split: str, language: str = ENGLISH) -> tuple[AnnotatedBook, ...]:
        """Returns the gold books of a split ("test"), of several ("train+dev") or of "all".

        "all" leaves out the sample.
        """
        of_book = {book.card.book: book.card for book in self.gold}
        cards = _cards_of(self.folder, of_book, split, language)
        return tuple(book for book in self.gold if book.card.book in cards)

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of the languages of the books, in alphabetical order."""
        return tuple(sorted({book.card.language for book in self.gold}))

    def of_language(self, language: str) -> Annotations:
        """Returns the annotations of the books in some languages, as `of_split` takes them."""
        of_book = {book.card.book: book.card for book in self.gold}
        codes = _codes_of(self.folder, of_book, language)
        gold, first, second = (
            tuple(book for book in reading if book.card.language in codes)
            for reading in (self.gold, self.first, self.second)
        )
        return Annotations(self.folder, gold, first, second)


def is_annotations(folder: Path) -> bool:
    """Whether a path is a folder of annotations. A corpus has a file `books.jsonl`, too."""
    # Both are False, too, where no path can be so long.
    return os.path.isfile(folder / BOOKS) and os.path.isdir(folder / GOLD)


def annotations_folder() -> Path:
    """The folder of annotations that is read if none is named.

    It is the folder in the variable MINER_ANNOTATIONS. Without it, it is `annotations` here or in
    the source of the package, the first that there is; without any, `annotations`.
    """
    if named := os.environ.get("MINER_ANNOTATIONS"):
        return Path(named)
    here = Path(FOLDER)
    return next(filter(is_annotations, (here, *(at / FOLDER for at in source_folders()))), here)


def refuse_no_annotations(folder: Path) -> None:
    """Raises an error that says how to get the annotations if a path is not a folder of them."""
    if not is_annotations(folder):
        raise InputError(
            f"{folder}: found no annotations, expected a folder with {BOOKS}; the package comes "
            f"without, so get its source ({how_to_get_source()}), and name the folder {FOLDER} in "
            "it with `gold=` or MINER_ANNOTATIONS"
        )


def read_annotations(folder: Path | str) -> Annotations:
    """Returns the annotations of a folder, with books in the order of `books.jsonl`.

    Raises:
        InputError: if the folder has no `books.jsonl`, a line is not JSON, a key is missing or has
            the wrong type, a split is unknown, an author is in two splits, rows are out of order,
            or `books.jsonl` lacks the book of a file; names the file and the line.
        OSError: if a file cannot be read.
    """
    folder = Path(folder)
    refuse_no_annotations(folder)
    cards = read_cards(folder / BOOKS)
    gold = _read_gold(folder, cards, cards)
    first, second = (_read_books(folder / name, cards, cards) for name in ("first", "second"))
    return Annotations(folder, gold, first, second)


def read_split(
    folder: Path, split: str, without: Collection[str] = (), language: str = ENGLISH
) -> tuple[AnnotatedBook, ...]:
    """Returns the gold books of a split, and reads no other file."""
    refuse_no_annotations(folder)
    cards = read_cards(folder / BOOKS)
    of_split = _cards_of(folder, cards, split, language)
    if unknown := sorted({*without}.difference(of_split)):
        raise InputError(f"{folder}: found no book {unknown[0]} in split {split} to leave out")
    kept = {book: card for book, card in of_split.items() if book not in without}
    if not kept:
        raise InputError(f"{folder}: found no book of split {split} but those left out")
    return _read_gold(folder, cards, kept)


def name_of_split(split: str, language: str = ENGLISH) -> str:
    """Returns what tables and signatures call a split: "test" in English, else "de test"."""
    return split if language == ENGLISH else f"{language} {split}"


def _cards_of(
    folder: Path, cards: Mapping[str, BookCard], split: str, language: str
) -> dict[str, BookCard]:
    """Returns the cards of a split (see `Annotations.of_split`) by book id."""
    names = [name for name in SPLITS if name != "sample"] if split == EVERY else split.split("+")
    if unknown := [name for name in names if name not in SPLITS]:
        raise InputError(
            f"{folder}: found no split {unknown[0]!r}, "
            f"expected {', '.join(SPLITS)}, all, or several with + between"
        )
    codes = _codes_of(folder, cards, language)
    found = {
        book: card for book, card in cards.items() if card.split in names and card.language in codes
    }
    if not found:
        raise InputError(f"{folder}: found no book of split {name_of_split(split, language)}")
    return found


def _codes_of(folder: Path, cards: Mapping[str, BookCard], language: str) -> set[str]:
    """Returns the codes of the languages that are named (see `Annotations.of_split`)."""
    known = sorted({card.language for card in cards.values()})
    if language == EVERY:
        return set(known)
    codes = [code.strip() for code in language.split(",")]
    if unknown := [code for code in codes if code not in known]:
        raise InputError(
            f"{folder}: found no book in language {unknown[0]!r}, "
            f"expected {', '.join(known)}, all, or several with commas between"
        )
    return set(codes)


def is_annotation_file(path: Path) -> bool:
    """Whether a file has annotations, as `gold/1342.jsonl` has and `miner annotate` saves them."""
    _, row = next(json_rows(path, decode_text(_content_of(path), path)), (path, {}))
    return "fingerprint" in row


def read_annotation_file(path: Path) -> tuple[str, tuple[Annotation, ...], str]:
    """Returns a book, its annotations, and the name and digest of their file."""
    content = _content_of(path)
    path = path.with_suffix("") if path.suffix == _GZIP else path
    text = decode_text(content, path)
    first = next(_rows(path, text, _KEYS), None)
    if first is None:
        raise InputError(f"{path}: found no annotation, expected at least one")
    book = first[1]["book"]
    return book, parse_annotations(text, book, path), file_signature(path, sha256_of(content))


def read_cards(path: Path) -> dict[str, BookCard]:
    """Returns the rows of `books.jsonl` by book id. Errors: see `read_annotations`."""
    cards: dict[str, BookCard] = {}
    split_of: dict[str, str] = {}
    for where, row in _rows(path, read_text(path), _BOOK_KEYS):
        card = BookCard(*(row[key] for key in _BOOK_KEYS))
        if card.book in cards:
            raise InputError(f"{where}: found book {card.book} a second time, expected it once")
        if card.split not in SPLITS:
            raise InputError(
                f"{where}: found split {shown(card.split)}, expected {', '.join(SPLITS)}"
            )
        if not _LANGUAGE.fullmatch(card.language):
            raise InputError(
                f"{where}: found language {shown(card.language)}, expected a code such as 'en'"
            )
        if card.person not in (1, 3):
            raise InputError(f"{where}: found {card.person} as person, expected 1 or 3")
        if split_of.setdefault(card.author, card.split) != card.split:
            raise InputError(
                f"{where}: found {card.author} in split {card.split}, "
                f"expected {split_of[card.author]}, as the author's other books"
            )
        cards[card.book] = card
    return cards


def parse_annotations(text: str, book: str, path: Path) -> tuple[Annotation, ...]:
    """Returns the annotations in the text of a file. Errors: see `read_annotations`."""
    annotations: list[Annotation] = []
    last: dict[int, int] = {}
    for where, row in _rows(path, text, _KEYS):
        if row["book"] != book:
            raise InputError(f"{where}: found book {shown(row['book'])}, expected {shown(book)}")
        annotation = _annotation(row, where)
        before = annotations[-1] if annotations else annotation
        if before.chapter > annotation.chapter or before.paragraph > annotation.paragraph:
            raise InputError(
                f"{where}: found chapter {annotation.chapter}, paragraph {annotation.paragraph} "
                f"after chapter {before.chapter}, paragraph {before.paragraph}, "
                "expected reading order"
            )
        newest = last.get(annotation.chapter, 0)
        if annotation.conversation > newest + 1:
            raise InputError(
                f"{where}: found conversation {annotation.conversation}, expected at most "
                f"{newest + 1}, the next number of the chapter"
            )
        last[annotation.chapter] = max(newest, annotation.conversation)
        annotations.append(annotation)
    return tuple(annotations)


def row_from_annotation(book: str, annotation: Annotation) -> dict[str, Any]:
    """Returns the row of an annotation. It has the key `remark` only if there is a remark."""
    row = {
        "book": book,
        "chapter": annotation.chapter,
        "paragraph": annotation.paragraph,
        "fingerprint": str(annotation.fingerprint),
        "speaker": annotation.speaker,
        "conversation": annotation.conversation,
    }
    return row | ({"remark": annotation.remark} if annotation.remark else {})


def _read_gold(
    folder: Path, cards: Mapping[str, BookCard], chosen: Mapping[str, BookCard]
) -> tuple[AnnotatedBook, ...]:
    """Returns the gold of the chosen books; a missing file is an error."""
    gold = _read_books(folder / GOLD, cards, chosen)
    if absent := set(chosen) - {book.card.book for book in gold}:
        raise InputError(f"{folder / GOLD}: found no {min(absent)}.jsonl, expected one per book")
    return gold


def _read_books(
    folder: Path, cards: Mapping[str, BookCard], chosen: Mapping[str, BookCard]
) -> tuple[AnnotatedBook, ...]:
    """Returns the chosen books that a folder has. The file of an unknown book is an error."""
    files = {path.stem: (path, read) for path, read in _files_of(folder)}
    if foreign := sorted(set(files) - set(cards)):
        raise InputError(f"{files[foreign[0]][0]}: found no book {foreign[0]} in {BOOKS}")
    return tuple(_read_book(*files[book], card) for book, card in chosen.items() if book in files)


def _files_of(folder: Path) -> Iterator[tuple[Path, Callable[[], bytes]]]:
    """Yields each file of a folder of rows, which may be packed, and what reads its bytes."""
    packed = folder.with_name(READINGS)
    if folder.is_dir() or not packed.is_file():
        for path in folder.glob("*.jsonl.gz"):
            yield path.with_suffix(""), partial(_content_of, path)
        yield from ((path, path.read_bytes) for path in folder.glob("*.jsonl"))
        return
    try:
        archive = open_archive(packed.read_bytes())
    except InputError as error:
        raise InputError(f"{packed}: {error}") from error
    for name in archive.names():
        path = packed / name
        if path.suffix == ".jsonl" and path.parent == packed / folder.name:
            yield path, partial(archive.read, name)


def _content_of(path: Path) -> bytes:
    """The bytes of a file of rows, which may be compressed."""
    if path.suffix != _GZIP:
        return path.read_bytes()
    with gzip.open(path) as file:
        try:
            content = file.read(LARGEST_FILE + 1)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(f"{printable(path)}: found no gzip file ({error})") from error
    if len(content) > LARGEST_FILE:
        raise InputError(f"{printable(path)}: found more than {LARGEST_FILE:,} bytes")
    return content


def _read_book(path: Path, read: Callable[[], bytes], card: BookCard) -> AnnotatedBook:
    try:
        content = read()
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    annotations = parse_annotations(decode_text(content, path), card.book, path)
    return AnnotatedBook(card, annotations, file_signature(path, sha256_of(content)))


def _rows(
    path: Path, text: str, keys: dict[str, Callable[..., Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the objects of a JSON Lines file with their places; each must have the keys."""
    for where, row in json_rows(path, text):
        for key, kind in keys.items():
            value: Any = row.get(key)
            if type(value) is not kind or (kind is int and abs(value) > LARGEST):
                expected = f"int up to {LARGEST}" if kind is int else kind.__name__
                raise InputError(f"{where}: found {shown(value)} as {key}, expected {expected}")
        yield where, row


def _annotation(row: dict[str, Any], where: str) -> Annotation:
    """Returns the annotation of a row; errors begin with `where`."""
    try:
        found = parse_fingerprint(row["fingerprint"])
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    speaker, conversation, remark = row["speaker"], row["conversation"], row.get("remark", "")
    if min(row["chapter"], row["paragraph"], conversation) < 0:
        raise InputError(
            f"{where}: found a number below 0, expected chapter, paragraph and conversation from 0"
        )
    if bool(speaker.strip()) != (conversation > 0):
        raise InputError(
            f"{where}: found speaker {shown(speaker)} in conversation {conversation}, "
            "expected a name in conversations from 1, and none in 0"
        )
    if not isinstance(remark, str):
        raise InputError(f"{where}: found {shown(remark)} as remark, expected text")
    return Annotation(row["chapter"], row["paragraph"], found, speaker, conversation, remark)


_DISTRIBUTION = "conversation-miner"
_PARENT = Path(__file__).parents[2]  # of the package; it is the source if nothing was installed


def source_folders() -> Iterator[Path]:
    """Yields the folders on this disk that are or may be the source of the package."""
    yield _PARENT
    url = urlsplit(_installed_from())
    if url.scheme == "file":
        yield Path(url2pathname(url.path))


def how_to_get_source() -> str:
    """Returns how to get the source of the package: the command, if its address is known."""
    url = _installed_from()
    if url and not url.startswith("file:"):
        return f"git clone {url}"
    return f"the repository of {_DISTRIBUTION}"


def _installed_from() -> str:
    """Returns the URL from which the package was installed; "" if that is not recorded."""
    try:
        recorded = distribution(_DISTRIBUTION).read_text("direct_url.json")
        return str(json.loads(recorded or "{}").get("url", ""))
    except (PackageNotFoundError, ValueError):
        return ""


def derive_tags(facts: Iterable[Annotation]) -> list[Tag]:
    """Returns the tag of each annotation; O for a span that is no utterance.

    The tag of an utterance follows from the utterance before it. Another conversation, also a
    resumed one, gives B-START. The same speaker continues the turn. Another speaker gives B-OTHER.
    If one of the two speakers is unknown ("?"), the speaker is the same within a paragraph and
    another in a new paragraph.
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
    """Whether an utterance continues the turn of the one before, by the rule of `derive_tags`."""
    if UNKNOWN in (before.speaker, fact.speaker):
        return before.paragraph == fact.paragraph
    return before.speaker == fact.speaker


def renumber_conversations(facts: Iterable[Annotation]) -> list[Annotation]:
    """Returns the annotations of a chapter with conversations numbered in the order they begin."""
    numbers = {0: 0}
    return [
        replace(fact, conversation=numbers.setdefault(fact.conversation, len(numbers)))
        for fact in facts
    ]


def group_by_conversation(
    facts: Iterable[Annotation],
) -> Iterator[tuple[tuple[int, int], list[Annotation]]]:
    """Yields each conversation: its chapter and number, and its utterances in reading order."""
    # Sorting is stable: reading order within a conversation.
    ordered = sorted((fact for fact in facts if fact.is_utterance), key=_occasion)
    for occasion, group in groupby(ordered, key=_occasion):
        yield occasion, list(group)


def count_interrupted_pairs(facts: Sequence[Annotation]) -> int:
    """Returns the number of pairs with utterances of other conversations between their turns.

    Such a pair is a turn and the next turn of the same conversation by another speaker. The facts
    have it, but tags cannot express it.
    """
    n_pairs = 0
    place = {id(fact): n for n, fact in enumerate(fact for fact in facts if fact.is_utterance)}
    for _, group in group_by_conversation(facts):
        for before, fact in pairwise(group):
            apart = place[id(fact)] - place[id(before)] > 1
            n_pairs += apart and not is_same_speaker(before, fact)
    return n_pairs


def _occasion(fact: Annotation) -> tuple[int, int]:
    return fact.chapter, fact.conversation


def tag_annotations(annotated: AnnotatedBook) -> TaggedBook:
    """Returns the annotations as a tagged book in which fingerprints replace the text of the spans.

    So two readings of one edition can be scored against each other without the book.
    """
    spans: list[TaggedSpan] = []
    tags = derive_tags(annotated.annotations)
    index = start = 0
    for fact, tag in zip(annotated.annotations, tags, strict=True):
        text, place = str(fact.fingerprint), (fact.chapter, fact.paragraph)
        if not spans or place != (spans[-1].span.chapter, spans[-1].span.paragraph):
            index = start = 0
        end = start + len(text)
        spans.append(TaggedSpan(Span(*place, index, start, end, text, fact.kind), tag))
        index, start = index + 1, end
    card = annotated.card
    return TaggedBook(card.book, tuple(spans), annotated.source, card.language)
