"""A book -> the split of a corpus that it is in.

A hash of the work decides (or of the book, or of the author), so a book never moves when a corpus
grows, and all editions of a work are in one split. The default, 90% for training and 5% each for
validation and test, is that of GD, section 3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from miner.corpus.work_keys import author_key, work_key
from miner.corpus.works import BookRecord
from miner.errors import InputError
from miner.files import csv_rows, printable, read_text

SPLITS = ("train", "validation", "test")
_KEYS = ("work", "book", "author")
_UNLISTED = ("error", "hash")
_COLUMNS = ["book", "split"]


@dataclass(frozen=True, slots=True)
class SplitSettings:
    """How books are divided.

    Args:
        by: what is never divided: a "work", a "book" or an "author". By "book", translations and
            volumes of one work may be in two splits.
        train: percent of the works, books or authors that are for training.
        validation: percent that are for validation; 0 leaves this split out, as with the others.
        test: percent that are for the test.
        unlisted: what happens to a book that a fixed list does not name: "error" or "hash".
    """

    by: str = "work"
    train: float = 90
    validation: float = 5
    test: float = 5
    unlisted: str = "error"

    def __post_init__(self) -> None:
        for name, expected in (("by", _KEYS), ("unlisted", _UNLISTED)):
            if (found := getattr(self, name)) not in expected:
                raise InputError(f"{name}: found {found!r}, expected one of {', '.join(expected)}")
        for name in SPLITS:
            share = getattr(self, name)
            if isinstance(share, bool) or not isinstance(share, int | float):
                raise InputError(f"{name}: found {share!r}, expected a number of percent")
            if not 0 <= share <= 100:
                raise InputError(f"{name}: found {share} percent, expected 0 to 100")
        if abs((total := self.train + self.validation + self.test) - 100) > 1e-6:
            shares = ", ".join(f"{name} {getattr(self, name):g}" for name in SPLITS)
            raise InputError(f"found splits of {total:g} percent ({shares}), expected 100")

    @property
    def names(self) -> tuple[str, ...]:
        """The splits that are not left out."""
        return tuple(name for name in SPLITS if getattr(self, name))


@dataclass(frozen=True, slots=True)
class Division:
    """The splits of the books of a corpus.

    Args:
        splits: the split of each book by its id, in the order of the books.
        unused: the books that a fixed list names and the corpus does not have.
    """

    splits: Mapping[str, str]
    unused: tuple[str, ...] = ()


def divide_books(
    books: Iterable[BookRecord],
    settings: SplitSettings,
    listed: Mapping[str, str] | None = None,
) -> Division:
    """The split of each book."""
    splits: dict[str, str] = {}
    lacking: list[str] = []
    for book in books:
        if listed is not None and book.id in listed:
            splits[book.id] = listed[book.id]
        elif listed is not None and settings.unlisted == "error":
            lacking.append(book.id)
        else:
            splits[book.id] = split_of(book, settings)
    if lacking:
        others = f" and {len(lacking) - 1:,} more" if len(lacking) > 1 else ""
        raise InputError(
            f"the list of splits has no book {lacking[0]}{others}, expected every book "
            "(or unlisted = 'hash')"
        )
    return Division(splits, tuple(id for id in listed or () if id not in splits))


def split_of(book: BookRecord, settings: SplitSettings) -> str:
    """The split of a book, which depends on this book and the settings alone."""
    match settings.by:
        case "work":
            key = work_key(book.title, book.author, book.id)
        case "author":
            key = author_key(book.title, book.author, book.id)
        case _:
            key = f"book {book.id}"
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    place = int.from_bytes(digest, "little") / 2**64 * 100
    for name in settings.names:
        place -= getattr(settings, name)
        if place < 0:
            return name
    return settings.names[-1]  # shares whose sum is a hair below 100


def explain_empty_splits(filled: Collection[str], settings: SplitSettings, n_books: int) -> str:
    """One line that names the splits without a book and says what helps; "" if there are none."""
    empty = [name for name in settings.names if name not in filled]
    if not empty:
        return ""
    shares = " and ".join(f"{name} ({getattr(settings, name):g}%)" for name in empty)
    books = f"{n_books:,} book{'s' * (n_books != 1)}"
    finer = 'by = "work", ' if settings.by == "author" else ""
    return (
        f"no book is in {shares}: a hash of the {settings.by} divides {books}, which are too few; "
        f"what helps is more books, more percent, {finer}or a list of books, under [splits]"
    )


def read_split_list(path: Path) -> dict[str, str]:
    """The split of each book in a fixed list: a CSV file with the columns book and split."""
    rows = csv_rows(path, read_text(path))
    where, cells = next(rows, (f"{printable(path)}:1", []))
    header = [name.strip() for name in cells]
    if header != _COLUMNS:
        raise InputError(f"{where}: found {','.join(header)!r}, expected 'book,split'")
    listed: dict[str, str] = {}
    for where, row in rows:
        if not row:
            continue
        if len(row) != len(_COLUMNS):
            raise InputError(f"{where}: found {len(row)} columns, expected book and split")
        book, split = (cell.strip() for cell in row)
        if split not in SPLITS:
            raise InputError(f"{where}: found split {split!r}, expected one of {', '.join(SPLITS)}")
        if not book or book in listed:
            found = f"book {book} twice" if book else "no book"
            raise InputError(f"{where}: found {found}, expected each book once")
        listed[book] = split
    return listed
