"""Filters on books: which books a corpus takes.

A filter is a callable that looks at the spans of a book. It answers True, or why the corpus leaves
the book out. `mine_corpus` sets such a book aside with that reason, which run.json records. A
filter that answers False gives its name as the reason. Filters on dialogues are in
`miner.speech`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from miner.corpus.options import describe
from miner.speech.spans import BookSpans


class BookFilter(Protocol):
    """A filter. With several workers it runs in all of them, so it must be picklable."""

    def __call__(self, book_spans: BookSpans) -> bool | str:
        """True for a book that the corpus takes, else False or the reason in a few words."""
        ...


class LanguageFilter:
    """Takes books of some languages, by their codes.

    >>> LanguageFilter("de", "nl")
    LanguageFilter('de', 'nl')
    """

    def __init__(self, *languages: str) -> None:
        self._languages = languages

    def __call__(self, book_spans: BookSpans) -> bool | str:
        """True, or which language the book has."""
        found = book_spans.language
        if found in self._languages:
            return True
        return f"a book in {found}, expected {' or '.join(self._languages)}"

    def __repr__(self) -> str:
        return f"LanguageFilter({', '.join(map(repr, self._languages))})"


def find_reason(book_spans: BookSpans, filters: tuple[BookFilter, ...]) -> str:
    """Why the first filter that refuses a book does so, or "" if all take it."""
    for book_filter in filters:
        answer = book_filter(book_spans)
        if isinstance(answer, str) and answer:
            return answer
        if not answer:
            return f"refused by {describe(book_filter)}"
    return ""


def list_filters(filters: BookFilter | Iterable[BookFilter]) -> tuple[BookFilter, ...]:
    """The filters; one may stand alone."""
    listed = (filters,) if callable(filters) else tuple(filters)
    for item in listed:
        if not callable(item):
            raise TypeError(
                f"found {item!r} as a filter, expected a function of a book's spans "
                "or an object such as LanguageFilter('en')"
            )
    return listed
