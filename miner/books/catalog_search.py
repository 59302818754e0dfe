"""A query, or a title -> the texts of Gutenberg's catalogue that it fits, and what is left out."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from miner.books.catalog import TEXT, CatalogEntry, CatalogQuery, find_catalog, read_catalog
from miner.books.words import folded_words, words_within
from miner.errors import InputError
from miner.files import printable

BEYOND_LIMIT = "beyond the limit"  # why a text is left out


@dataclass(frozen=True, slots=True)
class CatalogResult:
    """What a query found.

    Args:
        query: the query.
        path: the file of the catalogue.
        entries: the texts, in the order of their numbers.
        left_out: how many entries fit the query and are left out, by reason: entries that are no
            texts by their type ("Sound"), and texts that are `BEYOND_LIMIT`.
        n_searched: how many entries the catalogue has.
    """

    query: CatalogQuery
    path: Path
    entries: tuple[CatalogEntry, ...]
    left_out: tuple[tuple[str, int], ...]
    n_searched: int

    @property
    def ids(self) -> tuple[str, ...]:
        """The numbers of the texts, as words that name books."""
        return tuple(str(entry.number) for entry in self.entries)

    def describe_left_out(self) -> Iterator[str]:
        """Yields a line for each kind of reason: what is left out, and how much."""
        reasons = dict(self.left_out)
        beyond = reasons.pop(BEYOND_LIMIT, 0)
        if others := sum(reasons.values()):
            types = ", ".join(f"{type} {n:,}" for type, n in reasons.items())
            what = "entries that are no texts" if others > 1 else "entry that is no text"
            yield f"{others:,} {what} ({types})"
        if beyond:
            yield f"{beyond:,} text{'s' * (beyond > 1)} beyond the limit of {self.query.limit:,}"

    def to_json(self) -> dict[str, Any]:
        """The result with its texts, for JSON."""
        return self.record() | {"texts": [entry.to_json() for entry in self.entries]}

    def record(self) -> dict[str, Any]:
        """The query and what it found in numbers, without the texts and without a path."""
        return {
            "query": self.query.to_json(),
            "found": len(self.entries),
            "left_out": dict(self.left_out),
        }


def search_catalog(query: CatalogQuery, path: str | Path | None = None) -> CatalogResult:
    """The texts of Gutenberg's catalogue that a query fits, in the order of their numbers.

    Only texts are found: recordings, pictures and data are counted in `CatalogResult.left_out`. The
    catalogue does not tell which few texts are in copyright; `Book.rights` does.

    Example:
        >>> import miner
        >>> found = miner.search_catalog(miner.CatalogQuery(author="Jane Austen"))  # doctest: +SKIP
        >>> [entry.title for entry in found.entries]  # doctest: +SKIP
        ['Persuasion', 'Northanger Abbey', 'Mansfield Park', ...]

    Args:
        query: what to look for.
        path: the file of the catalogue; None: that of `find_catalog`.

    Raises:
        InputError: if the file is no catalogue, or there is none and it cannot be downloaded.
        OSError: if the file cannot be read.
    """
    path = find_catalog() if path is None else Path(path)
    fits = _predicate(query)
    left_out = Counter[str]()
    found: dict[int, CatalogEntry] = {}
    n_searched = 0
    for entry in read_catalog(path):
        n_searched += 1
        if not fits(entry):
            continue
        if entry.type == TEXT:
            found.setdefault(entry.number, entry)
        else:
            left_out[entry.type or "no type"] += 1
    reasons = left_out.most_common()
    entries = sorted(found.values())
    if query.limit is not None and len(entries) > query.limit:
        reasons.append((BEYOND_LIMIT, len(entries) - query.limit))
    return CatalogResult(query, path, tuple(entries[: query.limit]), tuple(reasons), n_searched)


def find_texts(query: CatalogQuery, path: str | Path | None = None) -> CatalogResult:
    """The texts that a query fits, as `search_catalog` finds them, if there are any."""
    result = search_catalog(query, path)
    if result.entries:
        return result
    counted = "".join(f"; left out {line}" for line in result.describe_left_out())
    raise InputError(
        f"found no text in {printable(result.path.name)} with {query}, expected one or more among "
        f"its {result.n_searched:,} entries{counted}"
    )


def count_languages(entries: Iterable[CatalogEntry]) -> dict[str, int]:
    """How many entries are in each language, the most frequent first.

    An entry in several languages counts for each.
    """
    counts = Counter(language for entry in entries for language in entry.languages or ("",))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _predicate(query: CatalogQuery) -> Callable[[CatalogEntry], bool]:
    """Whether an entry fits; its type and the limit do not count."""
    words = {
        name: [frozenset(folded_words(value)) for value in getattr(query, name)]
        for name in ("author", "title", "subject", "bookshelf")
    }
    languages, classes = frozenset(query.language), tuple(query.locc)

    def fits(entry: CatalogEntry) -> bool:
        return (
            entry.number >= query.first
            and (query.last is None or entry.number <= query.last)
            and (not languages or not languages.isdisjoint(entry.languages))
            and (not classes or any(code.upper().startswith(classes) for code in entry.locc))
            and _have(entry.authors, words["author"])
            and _have((entry.title,), words["title"])
            and _have((" ".join(entry.subjects),), words["subject"])
            and _have((" ".join(entry.bookshelves),), words["bookshelf"])
        )

    return fits


def _have(texts: Iterable[str], wanted: list[frozenset[str]]) -> bool:
    """Whether a text has all words of a value, or no value is given."""
    return not wanted or any(
        value <= there for there in map(words_within, texts) for value in wanted
    )


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
