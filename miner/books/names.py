"""The name of a book's file -> its number and form, and which of several forms is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import TypeVar

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
