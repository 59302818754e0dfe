"""A title -> its number in Gutenberg's own catalogue."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from miner.books.catalog import TEXT, CatalogEntry, find_catalog, read_catalog
from miner.books.words import folded_words, words_within
from miner.errors import InputError
from miner.files import printable

_SHOWN = 5  # books listed in an error
_EDITION = re.compile(
    r"(?: html| illustrated| complete)?(?: edition| version)?(?: illustrated)?"
    r"(?: (?:chapters?|part|volume|vol) (?:\d+|[ivxlc]+)\b.*)?$"
)


def find_title(title: str, catalog: Path) -> str:
    """The Gutenberg number of the text with this title.

    Case, accents and punctuation do not count, and the part after ":", ";" or a line break may be
    left out. A title in full comes before one without its last part, and that before titles that
    have all the words, in any order. Of several editions by one author the lowest number is taken.
    """
    wanted = _folded(title)
    entries = [entry for entry in read_catalog(catalog) if entry.type == TEXT and entry.title]
    found = [entry for entry in entries if wanted and _folded(entry.title) == wanted] or [
        entry for entry in entries if wanted and _folded(_main_title(entry.title)) == wanted
    ]
    if found:
        works = _first_editions(found, by_title=False)
        what = f"{len(works)} authors of texts with the title {title!r}"
    else:
        words = frozenset(wanted.split())
        found = [entry for entry in entries if words and words <= words_within(entry.title)]
        works = _first_editions(found, by_title=True)
        works.sort(key=lambda entry: (len(folded_words(_main_title(entry.title))), entry))
        what = f"no text with the title {title!r}, but {len(works)} with its words"
    if not works:
        raise InputError(f"found no text with the title {title!r}{_closest(wanted, entries)}")
    if len(works) > 1:
        shown = "; ".join(map(str, works[:_SHOWN]))
        more = f"; `miner catalog --title {shlex.quote(title)}` shows all"
        raise InputError(f"found {what}, expected one of the numbers: {shown}{more}")
    return str(works[0].number)


def number_from_title(title: str) -> str:
    """The Gutenberg number of the text with this title in the file of `find_catalog`."""
    try:
        path = find_catalog()
    except InputError as error:
        raise InputError(f"there is no catalogue of titles: {error}") from error
    try:
        return find_title(title, path)
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be read: {error.strerror}") from error


def _first_editions(entries: Iterable[CatalogEntry], by_title: bool) -> list[CatalogEntry]:
    """The entry with the lowest number of each author, or of each author's titles.

    "Emma, Illustrated Edition" is the title "Emma".
    """
    works: dict[tuple[str, str], CatalogEntry] = {}
    for entry in sorted(entries):
        title = _EDITION.sub("", _folded(_main_title(entry.title))) if by_title else ""
        works.setdefault((next(iter(entry.authors), ""), title), entry)
    return list(works.values())


def _main_title(title: str) -> str:
    return re.split(r"[:;\n]", title, maxsplit=1)[0]


def _folded(title: str) -> str:
    return " ".join(folded_words(title))


def _closest(wanted: str, entries: list[CatalogEntry]) -> str:
    titles = {_folded(title): title for entry in entries if (title := _main_title(entry.title))}
    closest = get_close_matches(wanted, titles, n=3)
    return f", expected one such as {' or '.join(repr(titles[n]) for n in closest)}" * bool(closest)
