"""Gutenberg's own catalogue, pg_catalog.csv: where it is, its entries, and what to look for."""

from __future__ import annotations

import csv
import gzip
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from miner.books.book_file import LARGEST_FILE, clean_line
from miner.books.sources import NUMBER, cache_folder
from miner.books.web import DownloadError, FileKind, Limits, download_file
from miner.books.words import folded_words
from miner.errors import InputError
from miner.files import printable
from miner.languages.registry import code_from_name

CATALOG_URL = "https://www.gutenberg.org/cache/epub/feeds/pg_catalog.csv"
CATALOG_NAME = "pg_catalog.csv"
TEXT = "Text"  # the type of an entry that is a text
_KIND = FileKind("Gutenberg's catalogue", re.compile(rb"^\W{0,3}Text#,"), b"\n")
# One repetition: a misspelled file name must not wait long for a network that is not there.
_LIMITS = Limits(timeout=10, retries=1)
_NUMBER, _TYPE, _TITLE, _AUTHORS = "Text#", "Type", "Title", "Authors"
_REQUIRED = (_NUMBER, _TYPE, _TITLE, _AUTHORS)
_LONGEST_LINE = 2**20  # characters; a thousand times the longest of the catalogue


@dataclass(frozen=True, slots=True, order=True)
class CatalogEntry:
    """One row of the catalogue. Entries are ordered by number."""

    number: int  # the Gutenberg number
    # "Text"; others are "Sound", "Dataset", "Image", "MovingImage", "StillImage" and
    # "Collection"
    type: str
    issued: str  # the day on which Gutenberg published it, "1998-06-01"
    title: str  # on one line or several
    languages: tuple[str, ...]  # codes, most often one
    authors: tuple[str, ...]  # with their years and roles, "Austen, Jane, 1775-1817"
    subjects: tuple[str, ...]  # headings of the Library of Congress, "England -- Fiction"
    locc: tuple[str, ...]  # classes of the Library of Congress, "PR"
    bookshelves: tuple[str, ...]  # Gutenberg's own groups of books

    @property
    def title_line(self) -> str:
        """The title on one line."""
        return " ".join(self.title.split())

    def __str__(self) -> str:
        return f"{self.number} {self.title_line} ({'; '.join(self.authors) or 'no author'})"

    def to_json(self) -> dict[str, Any]:
        """The columns by name, for JSON."""
        return asdict(self)


def find_catalog(
    *, cache: Path | None = None, url: str = CATALOG_URL, limits: Limits | None = None
) -> Path:
    """The file of Gutenberg's catalogue, pg_catalog.csv.

    It is the file that the variable MINER_CATALOG names, or else the one in the cache. If the cache
    has none, it is downloaded once, by the same code as books. Either file may be compressed with
    gzip, if its name then ends in .gz.
    """
    if named := os.environ.get("MINER_CATALOG"):
        if not Path(named).is_file():
            raise InputError(
                f"MINER_CATALOG: found no file {printable(named)}, expected a {CATALOG_NAME}"
            )
        return Path(named)
    folder = cache_folder() if cache is None else cache
    path, packed = folder / CATALOG_NAME, folder / f"{CATALOG_NAME}.gz"
    if not path.is_file() and packed.is_file():
        return packed
    return download_file(CATALOG_NAME, (url,), path, _KIND, limits or _LIMITS)


def refresh_catalog(
    *, cache: Path | None = None, url: str = CATALOG_URL, limits: Limits | None = None
) -> Path:
    """The file of the catalogue in the cache, downloaded anew.

    Gutenberg renews the catalogue once a week. The new file replaces the old one whole or not at
    all.
    """
    if named := os.environ.get("MINER_CATALOG"):
        raise InputError(
            f"MINER_CATALOG: found {printable(named)}, expected it to be unset to refresh the "
            "catalogue in the cache"
        )
    path = (cache_folder() if cache is None else cache) / CATALOG_NAME
    try:
        return download_file(CATALOG_NAME, (url,), path, _KIND, limits or _LIMITS, again=True)
    except DownloadError as error:
        if not path.is_file():
            raise
        raise DownloadError(
            f"{error}; the catalogue of {day_of(path)} is kept in {printable(path)}"
        ) from error


def day_of(path: Path) -> str:
    """The day on which a file was written, "2026-05-01"; in UTC."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()


def read_catalog(path: Path) -> Iterator[CatalogEntry]:
    """Yields the entries of a catalogue, in the order of the file. Rows without a number are none.

    Control characters are read as U+FFFD.
    """
    try:
        with _open(path) as file:
            rows = csv.DictReader(_lines(file, path))
            if missing := [name for name in _REQUIRED if name not in (rows.fieldnames or ())]:
                raise InputError(
                    f"{printable(path)}: found no column {', '.join(missing)}, "
                    f"expected Gutenberg's {CATALOG_NAME}"
                )
            for row in rows:
                if NUMBER.fullmatch(row[_NUMBER] or ""):
                    yield _entry(row)
    except (csv.Error, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            f"{printable(path)}: found a damaged file ({error}), expected Gutenberg's "
            f"{CATALOG_NAME}"
        ) from error


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
    return path.open(encoding="utf-8-sig", errors="replace", newline="")


def _lines(file: TextIO, path: Path) -> Iterator[str]:
    """The lines of a file, none of which is read whole before its length is known."""
    left = LARGEST_FILE
    while line := file.readline(_LONGEST_LINE + 1):
        left -= len(line)
        if len(line) > _LONGEST_LINE or left < 0:
            what, limit = ("text", LARGEST_FILE) if left < 0 else ("a line", _LONGEST_LINE)
            raise InputError(
                f"{printable(path)}: found {what} of more than {limit:,} characters, expected "
                f"Gutenberg's {CATALOG_NAME}"
            )
        yield line


def _entry(row: dict[str, str | None]) -> CatalogEntry:
    def line(name: str) -> str:
        return clean_line(row.get(name) or "")

    def parts(name: str) -> tuple[str, ...]:
        return tuple(filter(None, map(str.strip, line(name).split(";"))))

    return CatalogEntry(
        int(row[_NUMBER] or ""),
        line(_TYPE),
        line("Issued"),
        "\n".join(map(clean_line, (row[_TITLE] or "").splitlines())),
        parts("Language"),
        parts(_AUTHORS),
        parts("Subjects"),
        parts("LoCC"),
        parts("Bookshelves"),
    )


_CODE = re.compile("[a-z]{2,3}")
_CLASS = re.compile("[A-Z]{1,3}[0-9.]*")
_RANGE = re.compile(r"\s*(\d{1,8})?\s*(?:(-)\s*(\d{1,8})?)?\s*")
_TEXTS = ("language", "author", "title", "subject", "bookshelf", "locc")

Given: TypeAlias = str | Collection[str]  # one value or several; a query holds a tuple


@dataclass(frozen=True, slots=True)
class CatalogQuery:
    """What to look for in Gutenberg's catalogue.

    A text fits if it fits every field that is given. A field may have several values, of which one
    is enough.

    A value of `author`, `title`, `subject` or `bookshelf` fits if all its words are there, in any
    order. The words of an author must be in the name of one author; those of a subject may be in
    several subjects of the book, and so with bookshelves. Words are whole words: "fiction" is not
    "nonfiction". Case, accents and punctuation do not count.

    Example:
        >>> CatalogQuery(language="de", subject="Fiction", limit=50)
        CatalogQuery(language=('de',), author=(), title=(), subject=('Fiction',), bookshelf=(), \
locc=(), first=1, last=None, limit=50)
        >>> print(CatalogQuery(author=["Dickens", "Jane Austen"], last=2000))
        author "Dickens" or "Jane Austen", numbers 1-2000

    Args:
        language: codes: "en". A text in several languages fits if one of them is asked for.
        author: words of a name: "Jane Austen"; years and roles belong to it.
        title: words of the title, the part after ":" included.
        subject: words of the subjects: "fiction england".
        bookshelf: words of the bookshelves: "science fiction".
        locc: classes of the Library of Congress: "PR". A class fits those below it, "P" and "PR".
        first: the lowest number.
        last: the highest number; None for no end.
        limit: the most texts, those with the lowest numbers; None for all.

    Raises:
        InputError: if a value has no words, or is no code, class or number; names the field.
        TypeError: if a value is of another type.
    """

    language: Given = ()
    author: Given = ()
    title: Given = ()
    subject: Given = ()
    bookshelf: Given = ()
    locc: Given = ()
    first: int = 1
    last: int | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        for name in _TEXTS:
            check = _CHECKS.get(name, _check_words)
            values = tuple(check(name, value) for value in _listed(name, getattr(self, name)))
            object.__setattr__(self, name, values)  # the class is frozen
        for name in ("first", "last", "limit"):
            value = getattr(self, name)
            if value is None and name != "first":
                continue
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{name}: found {value!r}, expected a whole number")
            if value < 1:
                raise InputError(f"{name}: found {value}, expected 1 or more")
        if self.last is not None and self.last < self.first:
            raise InputError(
                f"numbers: found {self.first}-{self.last}, expected the lower number first"
            )

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for, so that every text fits."""
        return self == CatalogQuery()

    def __str__(self) -> str:
        parts = []
        for name in _TEXTS:
            if values := getattr(self, name):
                marks = "" if name in _CHECKS else '"'
                parts.append(f"{name} {' or '.join(f'{marks}{value}{marks}' for value in values)}")
        if self.first > 1 or self.last is not None:
            parts.append(f"numbers {self.first}-{'' if self.last is None else self.last}")
        if self.limit is not None:
            parts.append(f"limit {self.limit}")
        return ", ".join(parts) or "all texts"

    def to_json(self) -> dict[str, Any]:
        """The fields that are given, by name."""
        return {
            item.name: value if isinstance(value, int) else list(value)
            for item in fields(self)
            if (value := getattr(self, item.name)) != item.default
        }


def numbers_from_text(text: str) -> tuple[int, int | None]:
    """The first and the last number of a range.

    >>> numbers_from_text("100-200"), numbers_from_text("100-"), numbers_from_text("-200")
    ((100, 200), (100, None), (1, 200))
    >>> numbers_from_text("84")
    (84, 84)
    """
    match = _RANGE.fullmatch(text)
    if not match or not (match[1] or match[3]):
        raise InputError(f"numbers: found {text!r}, expected a range such as 100-200")
    first, dash, last = match.groups()
    if not dash:
        return int(first), int(first)
    return int(first or 1), int(last) if last else None


def _listed(name: str, given: object) -> Iterator[str]:
    """The values of a field; one may stand alone."""
    values = [given] if isinstance(given, str) else given
    if not isinstance(values, Collection):
        raise TypeError(f"{name}: found {given!r}, expected a text or several")
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{name}: found {value!r}, expected a text")
        yield value


def _check_words(name: str, value: str) -> str:
    if not folded_words(value):
        raise InputError(f"{name}: found {value!r}, expected words")
    return value


def _check_language(name: str, value: str) -> str:
    code = value.strip().lower()
    if not _CODE.fullmatch(code):
        known = code_from_name(code)
        example = known if _CODE.fullmatch(known) else "en"
        raise InputError(f"{name}: found {value!r}, expected a code such as {example}")
    return code


def _check_class(name: str, value: str) -> str:
    code = value.strip().upper()
    if not _CLASS.fullmatch(code):
        raise InputError(
            f"{name}: found {value!r}, expected a class of the Library of Congress such as PR"
        )
    return code


_CHECKS: dict[str, Callable[[str, str], str]] = {"language": _check_language, "locc": _check_class}
