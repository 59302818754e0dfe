"""What a user names -> the book, or its spans: a number, a path, a title or "sample"."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import TypeVar

from miner.books.book import Book, parse_book
from miner.books.book_file import read_book_file
from miner.books.catalog import CatalogQuery
from miner.books.catalog_search import CatalogResult, find_texts, number_from_title
from miner.books.download import find_book
from miner.books.sources import Missing, Source, find_sources
from miner.errors import InputError
from miner.files import printable
from miner.speech.read import parse_spans
from miner.speech.spans import BookSpans

Parsed = TypeVar("Parsed")


def read_book(
    source: str | int | Path, *, books: str | Path | None = None, mirror: str | None = None
) -> Book:
    """A book: its title, its language and its blocks of text.

    Example:
        >>> import miner
        >>> miner.read_book("sample").title
        'The Lock-Keeper’s Winter'

    Args:
        source: a Gutenberg number (1342), the path of a book's file, a title, or "sample".
        books: folder in which a number is looked up first.
        mirror: URL template from which a number is downloaded, if it is in no folder.

    Raises:
        InputError: if there is no such book, or its file cannot be parsed; in one line.
        TypeError: if `source` is of another type.
    """
    return _parse(source, books, mirror, parse_book)


def read_spans(
    source: str | int | Path,
    *,
    quotes: Iterable[str] = (),
    front_matter: bool = False,
    books: str | Path | None = None,
    mirror: str | None = None,
) -> BookSpans:
    """The utterances and the narration of a book, in reading order: what a tagger tags.

    Example:
        >>> import miner
        >>> spans = miner.read_spans("sample")
        >>> tagged = miner.load_tagger("gap").tag(spans)
        >>> len(tagged) == len(spans.spans)
        True

    Args:
        source: a Gutenberg number (1342), the path of a book's file, a title, or "sample".
        quotes: names of the marks that open speech; without any they are inferred.
        front_matter: whether the spans are those of the whole book, not only of its story.
        books: folder in which a number is looked up first.
        mirror: URL template from which a number is downloaded, if it is in no folder.

    Raises:
        InputError: if there is no such book, or it holds no dialogue; in one line.
        TypeError: if `source` is of another type.
    """
    marks = names_of_marks(quotes)
    parse = partial(parse_spans, quotes=marks, front_matter=front_matter)
    return _parse(source, books, mirror, parse)


def find_source(source: str | int | Path, books: str | Path | None, mirror: str | None) -> Source:
    """The one book that a user names, on disk. It is downloaded if it is in no folder."""
    word = word_of(source)
    found, path = find_book(word, Path(books) if books else None, mirror)
    return replace(found, path=path)


def word_of(source: str | int | Path) -> str:
    """A source as a word of the command line."""
    if isinstance(source, os.PathLike):
        path = Path(source)
        # A bare name would be tried as a number or a title first.
        return str(path) if len(path.parts) > 1 else f"./{path}"
    # A column of a table holds integers of NumPy, which are no `int`.
    if isinstance(source, str | Integral) and not isinstance(source, bool):
        return str(source)
    raise TypeError(
        f"found {type(source).__name__} as a book, "
        "expected a Gutenberg number, a path, a title or 'sample'"
    )


def find_all(
    sources: Iterable[str | int | Path | CatalogQuery], books: str | Path | None
) -> tuple[list[Source], list[Missing], list[CatalogResult]]:
    """The books that a user names, the words that name none, and what each query found.

    A query stands for the numbers of the texts that it fits.
    """
    words: list[str] = []
    results: list[CatalogResult] = []
    for source in sources:
        if isinstance(source, CatalogQuery):
            results.append(find_texts(source))
            words += results[-1].ids
        else:
            words.append(word_of(source))
    folder = Path(books) if books else None
    return *find_sources(words, folder, number_from_title=number_from_title), results


def names_of_marks(quotes: Iterable[str]) -> tuple[str, ...]:
    """The names of marks; one name may stand alone."""
    return (quotes,) if isinstance(quotes, str) else tuple(quotes)


def _parse(
    source: str | int | Path,
    books: str | Path | None,
    mirror: str | None,
    parse: Callable[[bytes, str], Parsed],
) -> Parsed:
    """What a function makes of the book that a user names, whom its errors tell of that name."""
    found = find_source(source, books, mirror)
    assert found.path is not None  # `find_source` gives it
    try:
        return parse(read_book_file(found.path), found.id)
    except InputError as error:
        raise InputError(f"{printable(found.word)}: {error}") from error
