"""Gutenberg's own catalogue, pg_catalog.csv: where it is, and its entries."""

from __future__ import annotations

import csv
import gzip
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from miner.books.book_file import LARGEST_FILE
from miner.books.cleaning import clean_line
from miner.books.sources import NUMBER, cache_folder
from miner.books.web import DownloadError, FileKind, Limits, download_file
from miner.errors import InputError
from miner.files import printable

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
    """One row of the catalogue. Entries are ordered by number.

    Args:
        number: the Gutenberg number.
        type: "Text"; others are "Sound", "Dataset", "Image", "MovingImage", "StillImage" and
            "Collection".
        issued: the day on which Gutenberg published it, "1998-06-01".
        title: on one line or several.
        languages: codes, most often one.
        authors: with their years and roles, "Austen, Jane, 1775-1817".
        subjects: headings of the Library of Congress, "England -- Fiction".
        locc: classes of the Library of Congress, "PR".
        bookshelves: Gutenberg's own groups of books.
    """

    number: int
    type: str
    issued: str
    title: str
    languages: tuple[str, ...]
    authors: tuple[str, ...]
    subjects: tuple[str, ...]
    locc: tuple[str, ...]
    bookshelves: tuple[str, ...]

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
