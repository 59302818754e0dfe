"""Filters on books: which books a corpus takes.

A filter is a callable that looks at the spans of a book. It answers True, or why the corpus leaves
the book out. `mine_corpus` sets such a book aside with that reason, which run.json records. Filters
on dialogues are in `miner.dialogue`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from miner.dialogue.spans import BookSpans
from miner.dialogue.typography import infer_language


class BookFilter(Protocol):
    """A filter. With several workers it runs in all of them, so it must be picklable."""

    def __call__(self, book_spans: BookSpans) -> Literal[True] | str:
        """True for a book that the corpus takes, else the reason in a few words."""
        ...


@dataclass(frozen=True, slots=True)
class LanguageFilter:
    """Takes books of one language, by its code: "en"."""

    language: str

    def __call__(self, book_spans: BookSpans) -> Literal[True] | str:
        """True, or which language the book has."""
        found = infer_language(book_spans.book)
        return True if found == self.language else f"a book in {found}, expected {self.language}"


def find_reason(book_spans: BookSpans, filters: tuple[BookFilter, ...]) -> str:
    """Why the first filter that refuses a book does so, or "" if all take it."""
    for book_filter in filters:
        answer = book_filter(book_spans)
        if answer is not True:
            return str(answer)
    return ""
