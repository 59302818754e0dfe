"""The file of a book -> its bytes, if it can be one; and whether a page is the book asked for."""

from __future__ import annotations

import re
from pathlib import Path

from miner.errors import InputError
from miner.files import printable

# The largest books of Project Gutenberg are a tenth of this; pictures are files of their own.
LARGEST_FILE = 64 * 2**20
_EDGE = 64 * 2**10  # bytes at the start and the end that hold Gutenberg's header and footer
_HEADER_OR_FOOTER = re.compile(
    rb"\*{3}\s*(?:START|END)\W+OF\W+(?:THE|THIS)\W+PROJECT\s+GUTENBERG|"
    rb"\*END\W{0,9}THE SMALL PRINT!|\bEnd of (?:the |this )?Project\s+Gutenberg",
    re.IGNORECASE,
)
_SHOWN = 40  # bytes in a message
_TAG = re.compile(rb"<(?:html|body|p|div|pre|br|h[1-6])\b", re.IGNORECASE)
_ZIP = re.compile(rb"\APK")
# What the bytes of a file hold, by the suffix of its name. Plain text may begin in any way.
_KINDS = {
    ".htm": ("HTML", _TAG, "tags such as <p>"),
    ".html": ("HTML", _TAG, "tags such as <p>"),
    ".epub": ("an EPUB", _ZIP, "a zip file"),
    ".zip": ("a zip file", _ZIP, "one"),
}
_NUMBER = re.compile(rb"\be-?(?:book|text)\s{0,9}#\s{0,9}0*([1-9]\d{0,7})", re.IGNORECASE)


def read_book_file(path: Path) -> bytes:
    """The bytes of a file that is no larger than a book can be."""
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise InputError(
            f"{printable(path.name)} has {size:,} bytes, expected a book of at most "
            f"{LARGEST_FILE:,} bytes"
        )
    data = path.read_bytes()
    name, pattern, expected = _KINDS.get(path.suffix.lower(), ("", None, ""))
    # Whether bytes are text at all, and which letters are wide ones, is for whoever decodes them.
    is_text = pattern is _ZIP or b"\0" not in data
    if pattern and data.strip() and is_text and not pattern.search(data):
        start = " ".join(data[:_SHOWN].decode("ascii", "replace").split())
        raise InputError(f"the file is not {name}: it starts {start!r}, expected {expected}")
    return data


def find_page_fault(page: bytes, id: str) -> str:
    """Why a page is not the Gutenberg book of a number, or "".

    A page of Gutenberg has its header or its footer, which name the book's number in most files. So
    a server's notice and the page of another book are told from the book.

    >>> find_page_fault(b"<p>Are you human?</p>", "84")
    "a page without Gutenberg's header and footer"
    """
    if not _HEADER_OR_FOOTER.search(page):
        return "a page without Gutenberg's header and footer"
    numbers = {match[1].decode() for match in _NUMBER.finditer(page)}
    if numbers and id not in numbers:
        return f"book {min(numbers, key=int)} and not {id}"
    return ""


def find_file_fault(path: Path, id: str) -> str:
    """Why a file is not the Gutenberg book of a number, or "". Only its two ends are read."""
    with path.open("rb") as file:
        page = file.read(_EDGE)
        file.seek(max(_EDGE, path.stat().st_size - _EDGE))
        return find_page_fault(page + b"\n" + file.read(_EDGE), id)
