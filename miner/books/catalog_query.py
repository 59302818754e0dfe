"""A query -> the texts of Gutenberg's catalogue that it fits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from miner.books.catalog import TEXT, CatalogEntry, find_catalog, read_catalog
from miner.books.words import folded_words
from miner.files import printable
from miner.languages.registry import code_from_name

_CODE = re.compile("[a-z]{2,3}")
_CLASS = re.compile("[A-Z]{1,3}[0-9.]*")
_RANGE = re.compile(r"\s*(\d{1,8})?\s*(?:(-)\s*(\d{1,8})?)?\s*")
_TEXTS = ("language", "author", "title", "subject", "bookshelf", "locc")
BEYOND_LIMIT = "beyond the limit"  # why a text is left out

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
        ValueError: if a value has no words, or is no code, class or number; names the field.
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
                raise ValueError(f"{name}: found {value}, expected 1 or more")
        if self.last is not None and self.last < self.first:
            raise ValueError(
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
        ValueError: if the file is no catalogue, or there is none and it cannot be downloaded.
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
    """The texts that a query fits, as `search_catalog` finds them, if there are any.

    Raises:
        ValueError: if there are none, and as `search_catalog` does; in one line.
        OSError: as `search_catalog` does.
    """
    result = search_catalog(query, path)
    if result.entries:
        return result
    counted = "".join(f"; left out {line}" for line in result.describe_left_out())
    raise ValueError(
        f"found no text in {printable(result.path.name)} with {query}, expected one or more among "
        f"its {result.n_searched:,} entries{counted}"
    )


def count_languages(entries: Iterable[CatalogEntry]) -> dict[str, int]:
    """How many entries are in each language, the most frequent first.

    An entry in several languages counts for each.
    """
    counts = Counter(language for entry in entries for language in entry.languages or ("",))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def numbers_from_text(text: str) -> tuple[int, int | None]:
    """The first and the last number of a range.

    >>> numbers_from_text("100-200"), numbers_from_text("100-"), numbers_from_text("-200")
    ((100, 200), (100, None), (1, 200))
    >>> numbers_from_text("84")
    (84, 84)

    Raises:
        ValueError: if the text is no range.
    """
    match = _RANGE.fullmatch(text)
    if not match or not (match[1] or match[3]):
        raise ValueError(f"numbers: found {text!r}, expected a range such as 100-200")
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
        raise ValueError(f"{name}: found {value!r}, expected words")
    return value


def _check_language(name: str, value: str) -> str:
    code = value.strip().lower()
    if not _CODE.fullmatch(code):
        known = code_from_name(code)
        example = known if _CODE.fullmatch(known) else "en"
        raise ValueError(f"{name}: found {value!r}, expected a code such as {example}")
    return code


def _check_class(name: str, value: str) -> str:
    code = value.strip().upper()
    if not _CLASS.fullmatch(code):
        raise ValueError(
            f"{name}: found {value!r}, expected a class of the Library of Congress such as PR"
        )
    return code


_CHECKS: dict[str, Callable[[str, str], str]] = {
    "language": _check_language,
    "locc": _check_class,
}


def _predicate(query: CatalogQuery) -> Callable[[CatalogEntry], bool]:
    """Whether an entry fits; its type and the limit do not count."""
    words = {
        name: [frozenset(folded_words(value)) for value in getattr(query, name)]
        for name in _TEXTS
        if name not in _CHECKS
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
        value <= there for there in (set(folded_words(text)) for text in texts) for value in wanted
    )
