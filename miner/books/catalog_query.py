"""What to look for in Gutenberg's catalogue."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from miner.books.words import folded_words
from miner.errors import InputError
from miner.languages.registry import code_from_name

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


_CHECKS: dict[str, Callable[[str, str], str]] = {
    "language": _check_language,
    "locc": _check_class,
}
