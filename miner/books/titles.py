"""A title -> its number in Gutenberg's own catalogue."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

from miner.books.catalog import TEXT, CatalogEntry, find_catalog, read_catalog
from miner.books.words import folded_words
from miner.errors import InputError
from miner.files import printable

_SHOWN = 5  # books listed in an error


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
        InputError: if the file is no catalogue, if no text has this title (names the closest
            titles), or if texts by different authors have it (names up to five).
    """
    wanted = _folded(title)
    entries = [entry for entry in read_catalog(catalog) if entry.type == TEXT and entry.title]
    found = [entry for entry in entries if wanted and _folded(entry.title) == wanted] or [
        entry for entry in entries if wanted and _folded(_main_title(entry.title)) == wanted
    ]
    if not found:
        raise InputError(f"found no text with the title {title!r}{_closest(wanted, entries)}")
    by_author: dict[str, CatalogEntry] = {}
    for entry in sorted(found):
        by_author.setdefault(next(iter(entry.authors), ""), entry)
    if len(by_author) > 1:
        shown = "; ".join(map(str, list(by_author.values())[:_SHOWN]))
        raise InputError(
            f"found {len(by_author)} authors of texts with the title {title!r}, "
            f"expected one of the numbers: {shown}"
        )
    return str(min(found).number)


def number_from_title(title: str) -> str:
    """The Gutenberg number of the text with this title in the file of `find_catalog`.

    Raises:
        InputError: as `find_title` raises it, or if the catalogue cannot be read.
    """
    try:
        path = find_catalog()
    except InputError as error:
        raise InputError(f"there is no catalogue of titles: {error}") from error
    try:
        return find_title(title, path)
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be read: {error.strerror}") from error


def _main_title(title: str) -> str:
    return re.split(r"[:;\n]", title, maxsplit=1)[0]


def _folded(title: str) -> str:
    return " ".join(folded_words(title))


def _closest(wanted: str, entries: list[CatalogEntry]) -> str:
    titles = {_folded(title): title for entry in entries if (title := _main_title(entry.title))}
    closest = get_close_matches(wanted, titles, n=3)
    return f", expected one such as {' or '.join(repr(titles[n]) for n in closest)}" * bool(closest)
