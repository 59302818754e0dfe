"""Annotated books -> their editions: the miner's own spans, and the gold spans and tags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from miner.annotation.annotations import ENGLISH, AnnotatedBook, Annotations, BookCard
from miner.annotation.locate import Located, find_losses, locate, refuse_losses
from miner.errors import InputError
from miner.speech.dialogues import decode_dialogues
from miner.speech.read import parse_spans
from miner.speech.spans import BookSpans
from miner.speech.tags import TaggedBook, Tagger

# Below this, the percentile bootstrap is too narrow: of normal figures, a 95% interval from n
# chapters holds the true value in P(|t with n-1 degrees of freedom| < 1.96 sqrt(1 - 1/n)) of all
# cases, which is .85 of 5 chapters, .90 of 10 and .94 of 30.
FEW = 10


@dataclass(frozen=True, slots=True)
class LeftOutBook:
    """An annotated book that is not at hand, and why, in one line; as text, `1342: no such page`.

    `n_units` counts what is annotated in it, in the unit of the `Coverage`.
    """

    book: str
    why: str
    n_units: int

    def __str__(self) -> str:
        return f"{self.book}: {self.why}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """What figures are of: how many of the annotated chapters or novels, and what was left out."""

    unit: str  # what is counted, "chapters" or "novels"
    n_all: int  # how many there are in all annotated books that were asked for
    left_out: tuple[LeftOutBook, ...]  # the books that are not at hand

    @property
    def n_left_out(self) -> int:
        """How many of the unit are in the books that are not at hand."""
        return sum(book.n_units for book in self.left_out)

    @property
    def summary(self) -> str:
        """What is left, and which books are not at hand; "" if nothing was left out."""
        if not (n := len(self.left_out)):
            return ""
        names = ", ".join(book.book for book in self.left_out)
        return (
            f"{self.n_all - self.n_left_out} of {self.n_all} {self.unit}: "
            f"{n} {'book' if n == 1 else 'books'} not at hand ({names})"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines below a table: what its figures are of, if books are missing; if they are few."""
        missing = (f"figures are of {self.summary}",) if self.left_out else ()
        return missing + note_of_few({"": self.n_all - self.n_left_out}, self.unit)

    def to_json(self) -> dict[str, Any]:
        """The counts and the books that were left out, as plain values."""
        return {
            "unit": self.unit,
            "all": self.n_all,
            "left_out": self.n_left_out,
            "books_left_out": [{"book": item.book, "why": item.why} for item in self.left_out],
        }


def note_of_few(counts: Mapping[str, int], unit: str = "chapters") -> tuple[str, ...]:
    """A line below a table of scores of fewer than `FEW` chapters or novels; none of more."""
    few = [f"{name} {n}".strip() for name, n in counts.items() if n < FEW]
    if not few:
        return ()
    unit = unit.removesuffix("s") if few == ["1"] else unit
    return (
        f"{', '.join(few)} {unit}: too few to tell which is better, since 95% intervals of fewer "
        f"than {FEW} are too narrow; tests/benchmarks/README.md has tables of more (split test)",
    )


def read_or_leave_out(read: Callable[[str], bytes], book: str, n_units: int) -> bytes | LeftOutBook:
    """Returns the bytes of a book, or why it is not at hand."""
    try:
        return read(book)
    except (InputError, OSError) as error:
        return LeftOutBook(book, str(error).removeprefix(f"{book}: "), n_units)


def refuse_nothing(left_out: Sequence[LeftOutBook], n_books: int) -> None:
    """Raises an error if all books were left out."""
    if left_out and len(left_out) == n_books:
        raise InputError(f"found none of {n_books} annotated books, expected one; {left_out[0]}")


# Returns the bytes of a book by its id.
BookReader = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class Edition:
    """An annotated book and one edition of it."""

    annotated: AnnotatedBook  # the annotations
    book_spans: BookSpans  # the spans of the whole book as the miner finds them
    located: Located  # the annotated spans

    @property
    def is_annotated_one(self) -> bool:
        """Whether the edition is the file that was annotated."""
        return self.located.is_own

    def found_spans(self) -> BookSpans:
        """Returns the spans that the miner finds in the annotated chapters."""
        located = self.located.book_spans
        chapters = {span.chapter for span in located.spans}
        spans = tuple(span for span in self.book_spans.spans if span.chapter in chapters)
        return replace(located, spans=spans)


def read_editions(
    books: Iterable[AnnotatedBook],
    read: BookReader,
    leave_out: Callable[[str], object] | None = None,
    on_missing: Callable[[LeftOutBook], object] | None = None,
    *,
    classified: bool = True,
) -> Iterator[Edition]:
    """Yields the edition of each annotated book."""
    missing: list[LeftOutBook] = []
    n_books = 0
    for annotated in books:
        n_books += 1
        book, n_chapters = annotated.card.book, len(annotated.chapters)
        content = read_or_leave_out(read, book, n_chapters) if on_missing else read(book)
        if isinstance(content, LeftOutBook):
            assert on_missing is not None
            on_missing(content)
            missing.append(content)
            continue
        edition = open_edition(annotated, content, classified=classified)
        if leave_out is None:
            refuse_losses(edition.located)
        while leave_out and (poor := find_losses(edition.located)):
            for line in poor.values():
                leave_out(line)
            kept = [fact for fact in edition.annotated.annotations if fact.chapter not in poor]
            fewer = replace(annotated, annotations=tuple(kept))
            edition = Edition(fewer, edition.book_spans, locate(fewer, edition.book_spans))
        if edition.annotated.annotations or not annotated.annotations:
            yield edition
    refuse_nothing(missing, n_books)


def read_editions_at_hand(
    books: Iterable[AnnotatedBook], read: BookReader
) -> tuple[list[Edition], Coverage]:
    """Returns the editions of the annotated books that `read` can give, and what they cover."""
    books, missing = list(books), []
    editions = list(read_editions(books, read, on_missing=missing.append))
    return editions, coverage_of(books, missing)


@dataclass(frozen=True, slots=True)
class GoldBook:
    """A book with gold tags, whatever they come from."""

    tagged: TaggedBook  # the gold
    spans: BookSpans  # those that are tagged to be compared with it, perhaps in more chapters
    found: BookSpans | None = None  # those that the miner finds in the same chapters
    domain: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Gold:
    """Books with gold tags: of annotations (`open_gold`), of MCN, or of a tags file (`mcn`)."""

    name: str
    books: tuple[GoldBook, ...]
    coverage: Coverage | None = None  # what of the annotations is at hand
    notes: tuple[str, ...] = ()
    published: tuple[tuple[str, TaggedBook], ...] = ()  # predictions that come with the gold

    @property
    def tagged(self) -> list[TaggedBook]:
        """The gold tags."""
        return [book.tagged for book in self.books]

    def tag(self, tagger: Tagger, name: str = "", *, found: bool = False) -> list[TaggedBook]:
        """Tags the spans of the gold, or those that the miner finds; `name` is their source.

        Only the chapters of the gold are kept.
        """
        tagged: list[TaggedBook] = []
        for book in self.books:
            spans = book.found if found else book.spans
            assert spans is not None
            chapters = {item.span.chapter for item in book.tagged.spans}
            kept = tuple(item for item in tagger.tag(spans) if item.span.chapter in chapters)
            tagged.append(TaggedBook(book.tagged.book, kept, name))
        return tagged


def open_gold(books: Sequence[AnnotatedBook], read: BookReader, name: str = "") -> Gold:
    """Returns the gold of annotated books. One that is not at hand is left out and counted."""
    opened, coverage = read_editions_at_hand(books, read)
    notes = list(coverage.notes)
    if other := [edition for edition in opened if not edition.is_annotated_one]:
        n_lost = sum(len(edition.located.lost) for edition in opened)
        names = ", ".join(edition.annotated.card.book for edition in other)
        notes.append(
            f"{len(other)} of {len(opened)} books are other editions than those annotated "
            f"({names}): {n_lost} annotated spans not found in them"
        )
    of_books = (
        GoldBook(
            edition.located.tagged(),
            edition.located.book_spans,
            edition.found_spans(),
            edition.annotated.card.domain,
            edition.annotated.card.language,
        )
        for edition in opened
    )
    return Gold(name, tuple(of_books), coverage, tuple(notes))


def coverage_of(books: Iterable[AnnotatedBook], missing: Iterable[LeftOutBook]) -> Coverage:
    """Returns what the figures are of if some of the annotated books are missing."""
    return Coverage("chapters", sum(len(book.chapters) for book in books), tuple(missing))


def open_edition(annotated: AnnotatedBook, data: bytes, *, classified: bool = True) -> Edition:
    """Returns the edition of an annotated book, even if few of its spans are found."""
    card = annotated.card
    try:
        book_spans = parse_spans(data, card.book, classified=classified)
        located = locate(annotated, book_spans)
        if located.lost:  # a preface may have been annotated, which is not mined
            whole = parse_spans(data, card.book, classified=classified, front_matter=True)
            located = max(located, locate(annotated, whole), key=lambda one: -len(one.lost))
    except InputError as error:
        raise InputError(f"{card.book}: {error}") from error
    return Edition(annotated, book_spans, located)


# Two books are editions of one work if they share more than this part of the long spans of the
# book that has fewer of them.
_SAME_WORK = 0.5
_LONG = 8  # a span of this many words does not occur in two works by chance


@dataclass(frozen=True, slots=True)
class CheckedBook:
    """How many annotations of one book are found in an edition."""

    card: BookCard  # the row of the book
    n_chapters: int  # the number of annotated chapters
    n_all: int  # the number of annotations
    n_found: int  # the number of annotations that were found
    least_coverage: float  # the least share, 0..1, of a chapter's annotations that was found
    is_annotated_one: bool  # whether the edition is the file that was annotated


@dataclass(frozen=True, slots=True)
class Checked:
    """The books that were checked, and a line for each problem."""

    books: tuple[CheckedBook, ...]
    problems: tuple[str, ...]


def check_annotations(
    annotations: Annotations, split: str, read: BookReader, language: str = ENGLISH
) -> Checked:
    """Checks the annotations against their books and against one another.

    `read_annotations` has checked the form of the files. This checks that each book has
    annotations, that each chapter is found (see `locate.find_losses`), that the derived tags are
    legal, that the two readings cover the same chapters and that no two books are editions of one
    work.
    """
    checked: list[CheckedBook] = []
    problems: list[str] = []
    for annotated in annotations.of_split(split, language):
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
            decode_dialogues(located.tagged())
        except (InputError, OSError) as error:
            problems.append(str(error))
    problems += _copies(annotations.gold)
    first, second = (
        {book.card.book: book.chapters for book in reading}
        for reading in (annotations.first, annotations.second)
    )
    if first != second:
        problems.append("first, second: found different chapters, expected the same")
    gold = {book.card.book: set(book.chapters) for book in annotations.gold}
    problems += [
        f"first/{book}: found chapter {chapter}, expected a chapter of the gold"
        for book, chapters in first.items()
        for chapter in chapters
        if chapter not in gold[book]
    ]
    return Checked(tuple(checked), tuple(problems))


def _copies(books: Sequence[AnnotatedBook]) -> list[str]:
    """Returns a problem for each two books that share too many long spans."""
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
