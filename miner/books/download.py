"""A Gutenberg number -> the file of its book in the cache, downloaded if it is not there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from miner.books.addresses import check_url, mask_secrets
from miner.books.book import parse_book
from miner.books.book_file import find_page_fault, read_book_file
from miner.books.catalog_search import number_from_title
from miner.books.sources import (
    NUMBER,
    Source,
    cache_folder,
    cached_file,
    classic_folder,
    find_sources,
)
from miner.books.web import Allowance, FileKind, Limits, download_file
from miner.errors import InputError
from miner.files import printable

DEFAULT_MIRROR = "https://www.gutenberg.org/cache/epub/{id}/pg{id}-images.html"
_HTML_START = re.compile(rb"<(?:!doctype\s+html|html|p)[\s>]", re.IGNORECASE)


def urls_from_mirror(mirror: str, id: str) -> tuple[str, ...]:
    """The URLs of a book on a mirror, one for each template, in order."""
    templates = re.split(r"[\s,]+", mirror.strip(" ,\t\r\n"))
    path = classic_folder(id)
    for template in templates:
        # A blank or a comma in a password divides it, so its parts are not shown either.
        shown = mask_secrets(re.sub(r"[\s,]", "", mirror) if "@" in mirror else template)
        unknown = set(re.findall(r"\{.*?\}", template)) - {"{id}", "{path}"}
        if "{id}" not in template or unknown:
            found = f"found {', '.join(sorted(unknown))}" if unknown else "found no {id}"
            raise InputError(f"mirror {shown!r}: {found}, expected {{id}} and perhaps {{path}}")
        try:
            check_url(template.replace("{id}", id).replace("{path}", path))
        except InputError as error:
            raise InputError(f"mirror {shown!r}: {error}") from None
    return tuple(template.replace("{id}", id).replace("{path}", path) for template in templates)


def find_book(
    word: str, books: Path | None = None, mirror: str | None = None
) -> tuple[Source, Path]:
    """The one book that a word names, and its file, downloaded if it is on no disk."""
    sources, missing = find_sources([word], books, number_from_title=number_from_title)
    if missing:
        raise InputError(str(missing[0]))
    if len(sources) != 1:
        raise InputError(f"{printable(word)}: found {len(sources)} books, expected one")
    return sources[0], sources[0].path or download(sources[0].id, mirror=mirror)


def read_book_bytes(word: str, books: Path | None = None, mirror: str | None = None) -> bytes:
    """The bytes of the one book that a word names, as `find_book` finds it."""
    return read_book_file(find_book(word, books, mirror)[1])


def download(
    id: str,
    *,
    mirror: str | None = None,
    cache: Path | None = None,
    limits: Limits | None = None,
    allowance: Allowance | None = None,
) -> Path:
    """The cached file of a Gutenberg book, which is downloaded first if it is not there.

    A cached file is used without any request, even if it came from another mirror, but only if it
    is this book. A page is kept only if it is this book.

    The rules of gutenberg.org for robots are kept: two seconds between requests, and no more books
    in 24 hours than it allows. The second rule does not hold for mirrors.
    """
    if not (match := NUMBER.fullmatch(id)):
        raise InputError(f"{id!r}: not a Gutenberg number, expected 1 to 99999999")
    id = match[1]
    mirror = mirror or os.environ.get("MINER_MIRROR") or DEFAULT_MIRROR
    folder = cache_folder() if cache is None else cache
    kind = FileKind("an HTML book", _HTML_START, b"</html", partial(_find_fault, id=id))
    return download_file(
        id,
        urls_from_mirror(mirror, id),
        cached_file(folder, id),
        kind,
        limits or Limits(),
        allowance=allowance or Allowance(folder),
    )


def _find_fault(page: bytes, id: str) -> str:
    """What a page is instead of the book of a number, or ""."""
    if fault := find_page_fault(page, id):
        return fault
    try:
        parse_book(page, id)
    except InputError as error:
        return f"a page that is no book: {error}"
    return ""


def fetch_books(
    ids: Iterable[str],
    books: Path | None = None,
    *,
    mirror: str | None = None,
    limits: Limits | None = None,
) -> dict[str, Path]:
    """The files of the books that can be had, by number: those on this disk, and downloads.

    The first book that cannot be downloaded ends the downloads, so without a network nobody waits
    for every book in turn. A book that cannot be had is left out; `find_book` says why.
    """
    sources, _ = find_sources(ids, books)
    paths = {source.id: source.path for source in sources}
    wanted = [id for id, path in paths.items() if path is None]
    for id, found in download_books(wanted, partial(download, mirror=mirror, limits=limits)):
        if not isinstance(found, Path):
            break
        paths[id] = found
    return {id: path for id, path in paths.items() if path is not None}


def download_books(
    ids: Iterable[str], find: Callable[[str], Path]
) -> Iterator[tuple[str, Path | str]]:
    """Each id with the file of its book, or with the reason why there is none.

    The reason is one line without the id.
    """
    for id in ids:
        try:
            yield id, find(id)
        except (InputError, OSError) as error:
            yield id, str(error).removeprefix(f"{id}: ")
