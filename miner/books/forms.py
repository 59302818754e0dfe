"""The bytes of a book's file in any form -> its page.

What a file is, its bytes say: a zip file is an EPUB or holds the file of a book, a text with tags
is HTML, and any other is plain text. After this stage no other knows the form.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from miner.books.archive import is_archive, open_archive
from miner.books.decoding import decode_book
from miner.books.epub import CONTAINER, read_epub
from miner.books.names import HTML_SUFFIXES, number_of, without_other_forms
from miner.books.page import Page, is_html, read_html
from miner.books.plain_text import read_plain_text
from miner.errors import InputError
from miner.files import printable

_SHOWN = 3  # names in a message


def read_page(data: bytes) -> Page:
    """The page of a book's file: HTML, plain text, EPUB, or a zip file that holds one of these."""
    if is_archive(data):
        archive = open_archive(data)
        if CONTAINER in archive.file.NameToInfo:
            return read_epub(archive)
        return _read_member(archive.read(_find_book(archive.names())))
    return _read_member(data)


def _read_member(data: bytes) -> Page:
    decoded = decode_book(data)
    return read_html(decoded) if is_html(decoded.text) else read_plain_text(decoded)


def _find_book(names: list[str]) -> str:
    """The name of the one book among the files of a zip file; HTML comes before plain text."""
    paths = [PurePosixPath(name) for name in names]
    pages = [path for path in paths if path.suffix.lower() in HTML_SUFFIXES]
    texts = [path for path in paths if path.suffix.lower() == ".txt"]
    found = pages or texts
    # A page of a picture or a notice beside a book has no number.
    numbered = [path for path in found if number_of(path)]
    books = without_other_forms(numbered or found)
    if len(books) == 1:
        return str(books[0])
    if not books:
        raise InputError("the zip file holds no book, expected a file of HTML or plain text")
    shown = ", ".join(printable(str(path)) for path in books[:_SHOWN])
    more = ", ..." * (len(books) > _SHOWN)
    raise InputError(f"the zip file holds {len(books)} books ({shown}{more}), expected one")
