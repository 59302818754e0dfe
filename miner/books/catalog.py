"""A title -> its number in Gutenberg's own catalogue."""

from __future__ import annotations

import csv
import os
import re
import unicodedata
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from miner.books.sources import cache_folder
from miner.books.web import FileKind, Limits, download_file
from miner.files import printable

CATALOG_URL = "https://www.gutenberg.org/cache/epub/feeds/pg_catalog.csv"
_NAME = "pg_catalog.csv"
_KIND = FileKind("Gutenberg's catalogue", re.compile(rb"^\W{0,3}Text#,"), b"\n")
# One repetition: a misspelled file name must not wait long for a network that is not there.
_LIMITS = Limits(timeout=10, retries=1)
_WORD, _APOSTROPHE = re.compile(r"\w+"), re.compile("['’‘]")
_COLUMNS = ("Text#", "Type", "Title", "Authors")
_SHOWN = 5  # books listed in an error


class CatalogEntry(NamedTuple):
    """A text of the catalogue; `title` may have several lines, `authors` have "; " between them."""

    number: int
    title: str
    authors: str

    def __str__(self) -> str:
        return f"{self.number} {' '.join(self.title.split())} ({self.authors or 'no author'})"


def find_catalog(*, cache: Path | None = None, url: str = CATALOG_URL) -> Path:
    """The file of Gutenberg's catalogue, pg_catalog.csv.

    It is the file that the variable MINER_CATALOG names, or else the one in the cache. If the cache
    has none, it is downloaded once, by the same code as books.

    Args:
        cache: folder of downloaded files; None: `cache_folder()`.
        url: where to download it from.

    Raises:
        ValueError: if MINER_CATALOG names no file.
        DownloadError: if it cannot be downloaded.
    """
    if named := os.environ.get("MINER_CATALOG"):
        if not Path(named).is_file():
            raise ValueError(f"MINER_CATALOG: found no file {printable(named)}, expected a {_NAME}")
        return Path(named)
    folder = cache_folder() if cache is None else cache
    return download_file(_NAME, (url,), folder / _NAME, _KIND, _LIMITS)


def find_title(title: str, catalog: Path) -> str:
    """The Gutenberg number of the text with this title.

    Case, accents and punctuation do not count, and the part after ":", ";" or a line break may be
    left out. A title in full comes before one without its last part. Of several editions by one
    author the lowest number is taken.

    Args:
        title: the title, "Pride and Prejudice".
        catalog: the file of the catalogue, see `find_catalog`.

    Raises:
        OSError: if the catalogue cannot be read.
        ValueError: if the file is no catalogue, if no text has this title (names the closest
            titles), or if texts by different authors have it (names up to five).
    """
    wanted = _folded(title)
    entries = list(_read_texts(catalog))
    found = [entry for entry in entries if wanted and _folded(entry.title) == wanted] or [
        entry for entry in entries if wanted and _folded(_main_title(entry.title)) == wanted
    ]
    if not found:
        raise ValueError(f"found no text with the title {title!r}{_closest(wanted, entries)}")
    by_author: dict[str, CatalogEntry] = {}
    for entry in sorted(found):
        by_author.setdefault(entry.authors.split(";")[0].strip(), entry)
    if len(by_author) > 1:
        shown = "; ".join(map(str, list(by_author.values())[:_SHOWN]))
        raise ValueError(
            f"found {len(by_author)} authors of texts with the title {title!r}, "
            f"expected one of the numbers: {shown}"
        )
    return str(min(found).number)


def number_from_title(title: str) -> str:
    """The Gutenberg number of the text with this title in the file of `find_catalog`.

    Raises:
        ValueError: as `find_title` raises it, or if the catalogue cannot be read.
    """
    try:
        path = find_catalog()
    except ValueError as error:
        raise ValueError(f"there is no catalogue of titles: {error}") from error
    try:
        return find_title(title, path)
    except OSError as error:
        raise ValueError(f"{printable(path)}: cannot be read: {error.strerror}") from error


def _read_texts(catalog: Path) -> Iterator[CatalogEntry]:
    """The texts of the catalogue; sound recordings, pictures and data are left out."""
    with catalog.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = csv.DictReader(file)
        if missing := [name for name in _COLUMNS if name not in (rows.fieldnames or ())]:
            raise ValueError(
                f"{printable(catalog)}: found no column {', '.join(missing)}, "
                f"expected Gutenberg's {_NAME}"
            )
        for row in rows:
            number, title = row["Text#"] or "", row["Title"]
            if row["Type"] == "Text" and title and number.isdecimal():
                yield CatalogEntry(int(number), title, row["Authors"] or "")


def _main_title(title: str) -> str:
    return re.split(r"[:;\n]", title, maxsplit=1)[0]


def _folded(title: str) -> str:
    """A title in small letters, without accents, apostrophes and punctuation; "&" is "and"."""
    letters = title.casefold()
    if not letters.isascii():
        decomposed = unicodedata.normalize("NFKD", letters)
        letters = "".join(char for char in decomposed if not unicodedata.combining(char))
    return " ".join(_WORD.findall(_APOSTROPHE.sub("", letters.replace("&", " and "))))


def _closest(wanted: str, entries: list[CatalogEntry]) -> str:
    titles = {_folded(title): title for entry in entries if (title := _main_title(entry.title))}
    closest = get_close_matches(wanted, titles, n=3)
    return f", expected one such as {' or '.join(repr(titles[n]) for n in closest)}" * bool(closest)
