"""Words that name books -> the files of these books; nothing is downloaded here.

A Gutenberg number that is neither in the local folder nor in the cache has no file yet.
`miner.books.download.download` downloads it later. The names of files tell their number and form,
and which of several forms of a book is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path, PurePath
from typing import TypeVar

from miner.books.addresses import mask_secrets
from miner.books.book_file import find_file_fault
from miner.errors import InputError
from miner.files import printable

HTML_SUFFIXES = (".htm", ".html")
SUFFIXES = (*HTML_SUFFIXES, ".epub", ".txt", ".zip")
# The other forms in which Gutenberg gives its books.
UNREAD_SUFFIXES = (".mobi", ".azw3", ".pdf", ".rdf")
_NUMBERED_STEM = re.compile(
    r"(?:pg)?0*([1-9][0-9]{0,7})(?:-h|-images(?:-3)?|-noimages|-0|-8)?", re.IGNORECASE
)
# The forms of a book, the preferred one first. HTML says most about its text. In plain text, UTF-8
# ("-0") has all characters, latin-1 ("-8") some, and ASCII none beyond its own.
_FORMS = (
    ("{id}-h.htm", "{id}-h.html", "pg{id}-images.html", "pg{id}.html", "{id}.html", "{id}.htm"),
    ("{id}-h.zip", "pg{id}-h.zip"),
    ("pg{id}-images-3.epub", "pg{id}-images.epub", "pg{id}.epub", "pg{id}-noimages.epub")
    + ("{id}.epub",),
    ("{id}-0.txt", "pg{id}.txt", "{id}-8.txt", "{id}.txt"),
    ("{id}-0.zip", "{id}-8.zip", "{id}.zip"),
)
# Where they lie: in one folder, or as a mirror of Gutenberg has them.
_PLACES = ("", "{id}/", "{id}-h/", "{path}/", "{path}/{id}-h/", "cache/epub/{id}/")
_PLACES += ("epub/{id}/", "files/{id}/{id}-h/", "files/{id}/")
_Path = TypeVar("_Path", bound=PurePath)


def local_names(id: str) -> Iterator[str]:
    """The paths that the file of a number may have in a folder of books, the best form first."""
    path = classic_folder(id)
    for form in _FORMS:
        for place in _PLACES:
            for name in form:
                yield (place + name).format(id=id, path=path)


def classic_folder(id: str) -> str:
    """The folder of a number in the classic layout of a mirror.

    >>> classic_folder("1342"), classic_folder("5")
    ('1/3/4/1342', '0/5')
    """
    return "/".join([*(id[:-1] or "0"), id])


def id_of(path: PurePath) -> str:
    """The Gutenberg number in a file's name, else its stem: 1342 of 1342-h.htm."""
    return number_of(path) or printable(path.stem)


def number_of(path: PurePath) -> str:
    """The Gutenberg number in a file's name, or "".

    >>> number_of(PurePath("pg1342-images-3.epub")), number_of(PurePath("emma.txt"))
    ('1342', '')
    """
    match = _NUMBERED_STEM.fullmatch(path.stem)
    return match[1] if match else ""


def without_other_forms(paths: Iterable[_Path]) -> list[_Path]:
    """The paths without those that are another form of the same book, in their order.

    Files of one number are forms of one book, and so are files of one stem in one folder. All HTML
    files stay, since each may be an edition of its own; of a book without HTML, one file stays.
    """
    paths = list(paths)
    books: dict[tuple[str, PurePath | None], list[_Path]] = {}
    for path in paths:
        number = number_of(path)
        book = (number, None) if number else (path.stem, path.parent)
        books.setdefault(book, []).append(path)
    kept: set[_Path] = set()
    for forms in books.values():
        pages = [path for path in forms if path.suffix.lower() in HTML_SUFFIXES]
        kept.update(pages or [min(forms, key=_preference)])
    return [path for path in paths if path in kept]


def _preference(path: PurePath) -> tuple[int, int, str]:
    name, number = path.name.lower(), number_of(path)
    for n, form in enumerate(_FORMS):
        names = [pattern.format(id=number) for pattern in form]
        if number and name in names:
            return n, names.index(name), str(path)
    suffixes = [{name[name.rindex(".") :] for name in form} for form in _FORMS]
    n = max((n for n, form in enumerate(suffixes) if path.suffix.lower() in form), default=0)
    return n, len(_FORMS[n]), str(path)


SAMPLE = "sample"
_NUMBERS_SHOWN = 3  # in a message about files that are not read
# A Gutenberg number as a user writes it; the group leaves out leading zeros.
NUMBER = re.compile(r"0*([1-9][0-9]{0,7})")
_SUFFIXES_SHOWN = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
_UNREAD_STEM = re.compile(r"(?:pg)?0*([1-9][0-9]{0,7})(?:-[a-z0-9]+)*", re.IGNORECASE)
_PG_NUMBER = re.compile(r"pg(\d+)", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?://)?(?:www\.|m\.)?gutenberg\.org/", re.IGNORECASE)
_NUMBER_IN_ADDRESS = re.compile(
    r"/(?:ebooks|files|etext|cache/epub)/0*([1-9][0-9]{0,7})(?![0-9])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Source:
    """One book to read."""

    word: str  # the word that named the book
    id: str  # the id of the book in all output
    path: Path | None  # its file; None for a Gutenberg number that is on no disk


@dataclass(frozen=True, slots=True)
class Missing:
    """A word that names no book, with the reason; as text, `emma.htm: no such file`."""

    word: str
    why: str

    def __str__(self) -> str:
        return f"{printable(self.word) or repr(self.word)}: {self.why}"


def cache_folder() -> Path:
    """The folder of downloaded files: the one in MINER_CACHE, else this system's cache."""
    if folder := os.environ.get("MINER_CACHE"):
        return Path(folder)
    from platformdirs import user_cache_path

    return user_cache_path("conversation-miner") / "books"


def books_folder() -> Path | None:
    """The folder in which numbers are looked up first: the variable MINER_BOOKS, or none."""
    folder = os.environ.get("MINER_BOOKS")
    return Path(folder) if folder else None


def cached_file(cache: Path, id: str) -> Path:
    """The path of a book in the cache, which may not exist yet."""
    return cache / f"{id}.html"


def find_sources(
    words: Iterable[str],
    books: Path | None = None,
    cache: Path | None = None,
    *,
    number_from_title: Callable[[str], str] | None = None,
) -> tuple[list[Source], list[Missing]]:
    """The books that words name, in the order of the words, and the words that name none.

    A word is `sample` (the packaged file), a Gutenberg number (1342 or pg1342), the address of a
    book at gutenberg.org, a file (HTML, EPUB, plain text, or a zip file with one of Gutenberg's), a
    folder (its files of these kinds by name, without those in subfolders), a glob pattern or a
    title. It is tried in that order, so a folder called 1342 is written `./1342`. No book is
    downloaded. A file in the cache that is not the book of its number does not count.

    Several forms of one book in a folder or under a pattern are one book: HTML comes before a zip
    file of HTML, then EPUB, then plain text, then zip files of it. The same order holds where a
    number is looked up. A file that is named itself is always taken.

    A file named twice is one source, under the first word. Ids are distinct: of several files of
    one number the first keeps the number, and a later one gets its full stem ("pg1342-images"). If
    that is taken too, a count is added ("emma-2"). A book that is still to be downloaded always
    keeps its number, and the sample keeps its name.
    """
    books = books_folder() if books is None else books
    if books is not None and not books.is_dir():
        raise InputError(
            f"{printable(books)}: no such folder, expected a folder of Gutenberg books"
        )
    cache = cache_folder() if cache is None else cache
    found: dict[Path | str, Source] = {}
    missing: list[Missing] = []
    for word in words:
        named = _named(word, books, cache)
        if isinstance(named, Missing) and number_from_title and _may_be_title(word):
            try:
                numbered = _numbered(number_from_title(word), books, cache)
            except InputError as error:
                named = Missing(word, f"{named.why}; {error}")
            else:
                named = [replace(source, word=word) for source in numbered]
        if isinstance(named, Missing):
            missing.append(named)
            continue
        for source in named:
            found.setdefault(source.path.resolve() if source.path else source.id, source)
    return list(_distinct(list(found.values()))), missing


def _named(word: str, books: Path | None, cache: Path) -> list[Source] | Missing:
    """The sources of a word that is no title; ids may still repeat."""
    if not word.strip():
        return Missing(word, "an empty word, expected a file, a folder or a Gutenberg number")
    if "\0" in word:
        return Missing(word, "a NUL in a name, expected a file, a folder or a Gutenberg number")
    if word == SAMPLE:
        return _sample()
    number = match[1] if (match := _PG_NUMBER.fullmatch(word)) else word
    if number.isdecimal():
        if match := NUMBER.fullmatch(number):
            return [replace(source, word=word) for source in _numbered(match[1], books, cache)]
        return Missing(word, "not a Gutenberg number, expected 1 to 99999999")
    if _is_address(word):
        return _at_address(word, books, cache)
    try:
        return _on_disk(word)
    except (FileNotFoundError, NotADirectoryError):
        return Missing(word, "no such file")
    except OSError as error:
        return Missing(word, f"cannot be read: {error.strerror}")


def _on_disk(word: str) -> list[Source] | Missing:
    """The sources of a file, a folder or a glob pattern."""
    path = Path(word)
    if path.is_file():
        if path.suffix.lower() in SUFFIXES:
            return [Source(word, id_of(path), path)]
        if path.suffix.lower() in UNREAD_SUFFIXES:
            return Missing(word, _why_unread([path]))
        return Missing(word, f"not a book, expected a name ending in {_SUFFIXES_SHOWN}")
    if path.is_dir():
        holds, entries = "holds", list(path.iterdir())
    elif any(sign in word for sign in "*?["):
        from glob import glob

        holds, entries = "matches", [Path(name) for name in glob(word, recursive=True)]
    else:
        path.stat()  # raises, with the reason, unless the word names something of another kind
        return Missing(word, "neither a file nor a folder")
    if sources := _of_files(word, entries):
        return sources
    why = f"{holds} no {_SUFFIXES_SHOWN} file"
    unread = sorted(entry for entry in entries if entry.suffix.lower() in UNREAD_SUFFIXES)
    return Missing(word, f"{why}; {_why_unread(unread)}" if unread else why)


def _is_address(word: str) -> bool:
    return word.lower().startswith(("http://", "https://")) or bool(_ADDRESS.match(word))


def _at_address(word: str, books: Path | None, cache: Path) -> list[Source] | Missing:
    """The book at an address of gutenberg.org."""
    match = _NUMBER_IN_ADDRESS.search(word)
    if not match or not _ADDRESS.match(word):
        return Missing(
            mask_secrets(word),
            "not the address of a book at gutenberg.org, "
            "expected one such as https://www.gutenberg.org/ebooks/1342",
        )
    page = word[match.end() :].lower()
    for suffix in UNREAD_SUFFIXES:
        if re.search(rf"{re.escape(suffix)}\b|{re.escape(suffix)}\d", page):
            return Missing(word, f"{suffix} files are not read, expected the number {match[1]}")
    return [replace(source, word=word) for source in _numbered(match[1], books, cache)]


def _why_unread(paths: Sequence[Path]) -> str:
    """Why files of a form that is not read are no books, and what to give instead."""
    suffixes = " and ".join(sorted({path.suffix.lower() for path in paths}))
    numbers = [match[1] for path in paths if (match := _UNREAD_STEM.fullmatch(path.stem))]
    shown = f" ({', '.join(numbers[:_NUMBERS_SHOWN])})" if numbers else ""
    return f"{suffixes} files are not read, expected the HTML file or the Gutenberg number{shown}"


def _may_be_title(word: str) -> bool:
    """Whether a word that names no book may be a title: no path, no number, no glob pattern.

    Titles end in question marks, so a question mark alone makes no pattern.
    """
    is_path = word.lower().endswith(SUFFIXES) or any(sign in word for sign in "/\\*[")
    return any(map(str.isalpha, word)) and not is_path and not os.path.lexists(word)


def _of_files(word: str, paths: Iterable[Path]) -> list[Source]:
    """The files of books among the paths, sorted, each with its number or stem as id."""
    files = (
        path
        for path in sorted(paths)
        # Other systems leave hidden files beside a book ("._1342-h.htm").
        if path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()
    )
    return [Source(word, id_of(path), path) for path in without_other_forms(files)]


def _sample() -> list[Source] | Missing:
    from importlib.resources import files

    path = Path(str(files("miner.books") / "sample.html"))
    if path.is_file():
        return [Source(SAMPLE, SAMPLE, path)]
    return Missing(
        SAMPLE, f"{printable(path)} is not there, expected it to be installed with the package"
    )


def _numbered(id: str, books: Path | None, cache: Path) -> list[Source]:
    """The book of a Gutenberg number: in the local folder, in the cache, or on no disk yet."""
    local = (books / name for name in local_names(id)) if books else ()
    path = next((path for path in local if path.is_file()), None)
    if path is None and _is_cached(cached_file(cache, id), id):
        path = cached_file(cache, id)
    return [Source(id, id, path)]


def _is_cached(path: Path, id: str) -> bool:
    """Whether a file of the cache is the book of a number, or cannot be read to tell."""
    try:
        return path.is_file() and not find_file_fault(path, id)
    except OSError:
        return True  # whoever reads it says why it cannot be read


def _distinct(sources: list[Source]) -> Iterator[Source]:
    """The sources with distinct ids, as `find_sources` describes."""
    taken = {source.id for source in sources if source.path is None or source.word == SAMPLE}
    for source in sources:
        if source.path is not None and source.word != SAMPLE:
            stem = printable(source.path.stem)
            ids = chain([source.id, stem], (f"{stem}-{n}" for n in count(2)))
            source = replace(source, id=next(id for id in ids if id not in taken))
            taken.add(source.id)
        yield source
