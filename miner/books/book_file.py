"""A book's file -> its bytes; a zip file -> its members; the bytes of a text -> the text.

Each is read within bounds, and nothing is unpacked to a disk. A few kilobytes of zip can hold
gigabytes, so members are read piece by piece, and what they hold together is limited, whatever the
zip says of their sizes. A few bad bytes of a text cost their own letters and no others.
"""

from __future__ import annotations

import codecs
import re
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from unicodedata import combining, normalize

from bs4.dammit import EncodingDetector

from miner.errors import InputError
from miner.files import one_line, printable

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


_START = (b"PK\3\4", b"PK\5\6")  # of a zip file, and of one without members
_ENTRY = b"PK\1\2"  # begins each line of its directory
MOST_ENTRIES = 20_000
_PIECE = 2**20  # bytes
# Those that EPUB allows and Gutenberg uses. zipfile unpacks all that bzip2 and LZMA make of a few
# kilobytes before it looks how much was asked for.
_METHODS = {zipfile.ZIP_STORED: "none (0)", zipfile.ZIP_DEFLATED: "deflate (8)"}
# zipfile raises what it finds: damage of its own and of zlib, and what it cannot read.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)


class MemberError(InputError):
    """A member of a zip file is missing, damaged or encrypted; one line names it."""


@dataclass(slots=True)
class Archive:
    """An open zip file."""

    file: zipfile.ZipFile
    left: int = LARGEST_FILE  # how many bytes may still be read from it

    def names(self) -> list[str]:
        """The names of its files, in order, without those that a system leaves beside them."""
        return [
            name for name in self.file.namelist() if not name.endswith("/") and not _is_hidden(name)
        ]

    def read(self, name: str, most: int = LARGEST_FILE) -> bytes:
        """The bytes of a file."""
        pieces: list[bytes] = []
        most = min(most, self.left)
        try:
            found = self.file.getinfo(name)
            if found.flag_bits & 1:
                raise MemberError(f"{printable(name)} is encrypted")
            if found.compress_type not in _METHODS:
                raise MemberError(
                    f"{printable(name)} is packed by method {found.compress_type}, "
                    f"expected {' or '.join(_METHODS.values())}"
                )
            with self.file.open(found) as member:
                while most >= 0 and (piece := member.read(min(_PIECE, most + 1))):
                    most -= len(piece)
                    self.left -= len(piece)
                    pieces.append(piece)
        except KeyError:
            raise MemberError(f"{printable(name)} is missing") from None
        except MemberError:
            raise
        except _DAMAGE as error:
            raise MemberError(f"{printable(name)} is damaged: {one_line(str(error))}") from error
        if self.left < 0:
            raise InputError(
                f"the zip file holds more than {LARGEST_FILE:,} bytes of text, expected a book"
            )
        if most < 0:
            n = sum(map(len, pieces)) - 1
            raise InputError(f"{printable(name)} has more than the {n:,} bytes allowed")
        return b"".join(pieces)


def is_archive(data: bytes) -> bool:
    """Whether bytes are those of a zip file, which an EPUB is, too."""
    return data.startswith(_START)


def open_archive(data: bytes) -> Archive:
    """The zip file in bytes."""
    if (n_entries := data.count(_ENTRY)) > MOST_ENTRIES:
        raise InputError(
            f"the zip file has {n_entries:,} members, expected at most {MOST_ENTRIES:,}"
        )
    try:
        return Archive(zipfile.ZipFile(BytesIO(data)))
    except _DAMAGE as error:
        raise InputError(f"the zip file is damaged: {one_line(str(error))}") from error


def _is_hidden(name: str) -> bool:
    parts: Iterable[str] = name.split("/")
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)


REPLACEMENT = "\ufffd"  # stands for what is no text
# A terminal takes them for commands, even in the title of a book.
_CONTROL = re.compile("[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_MAY_BE_MARK = re.compile("[\u0300-\u1fff\u20d0-\U0010ffff]")
_MANY_MARKS = re.compile(r"[^\w\s\0-\u02ff\u2000-\u206f]{100,}")  # no letter has a tenth of it


def clean_text(text: str) -> str:
    """The text with U+FFFD in the place of each control character."""
    return text if text.isprintable() else _CONTROL.sub(REPLACEMENT, text)


def clean_line(text: str) -> str:
    r"""The clean text on one line, with single spaces.

    >>> clean_line("The Lamp\n \x1b[2J")
    'The Lamp \ufffd[2J'
    """
    return clean_text(" ".join(text.split()))


def limit_marks(text: str) -> str:
    """The text with U+FFFD in the place of 100 and more marks on one letter.

    Unicode's forms sort the marks on a letter, which takes the square of their number.
    """
    if text.isascii() or not _MAY_BE_MARK.search(text):
        return text
    return _MANY_MARKS.sub(_without_marks, text)


def _without_marks(run: re.Match[str]) -> str:
    return REPLACEMENT * len(run[0]) if any(map(combining, run[0])) else run[0]


# The mark of UTF-32 begins with that of UTF-16, so it comes first.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Which of four bytes in a row are NUL: always (1), often (+) or hardly ever (0). Markup is ASCII,
# and ASCII has NUL bytes in these encodings.
_NUL_PATTERNS = (
    ("0+11", "utf-32-le"),
    ("11+0", "utf-32-be"),
    ("0+0+", "utf-16-le"),
    ("+0+0", "utf-16-be"),
)
_SHARES = {"1": (0.99, 1.0), "+": (0.25, 1.0), "0": (0.0, 0.01)}
# Control characters that no text has; compressed data is a tenth of them.
_CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\v\f\r"))
_LARGEST_SHARE_OF_CONTROLS = 0.02
# Declarations of an encoding that the bytes do not have, or that HTML reads as windows-1252.
_READ_AS_1252 = re.compile(r"utf-?(?:8|16|32)\b.*|iso-?8859-?1|(?:iso-)?latin-?1|(?:us-)?ascii")
# A line of Gutenberg's header, "Character set encoding: ISO-8859-2", and where it is looked for.
_NAMED = re.compile(rb"character set encoding:\s{0,9}([\w-]{1,20})", re.IGNORECASE)
_HEADER = 4096  # bytes
_DECLARATIONS = 16 * 2**10  # bytes; the search for them is quadratic
_CODE_PAGE = re.compile(r"^(?:codepage|cp|windows)-?(?=\d{3,4}$)")


@dataclass(frozen=True, slots=True)
class DecodedText:
    """The text of a file."""

    text: str  # in composed form (NFC)
    warnings: tuple[str, ...]  # what is doubtful in it, one line each


def decode_book(data: bytes) -> DecodedText:
    """The text of an HTML or plain-text file.

    Bytes that are valid UTF-8 are read as UTF-8, even where the file declares another encoding: no
    real latin-1 text with accents or quotation marks is valid UTF-8 by accident. So are bytes that
    are mostly valid: they begin with the byte order mark, or have more characters beyond ASCII than
    bad bytes. UTF-16 and UTF-32 are known by their byte order mark or their NUL bytes. Other bytes
    are read in the declared encoding (XML declaration, meta element, or "Character set encoding" in
    Gutenberg's header). Latin-1 and ASCII are read as windows-1252, as the HTML standard says.
    U+FFFD stands for bytes that are no text, such as NUL and other control characters.
    """
    if not data.strip():
        raise InputError("the file is empty, expected a book")
    wide = _wide_encoding(data)
    if not wide and b"\0" in data and _is_binary(data):
        raise InputError("the file is binary, expected a book")
    encoding = wide or "utf-8"
    text, n_bad = _decode(data, encoding)
    warnings: tuple[str, ...] = ()
    if n_bad and not wide and not data.startswith(codecs.BOM_UTF8):
        if n_bad >= _n_beyond_ascii(text):
            text, warnings = _decode_declared(data, n_bad)
            n_bad = 0
    n_before = text.count(REPLACEMENT)
    text = limit_marks(clean_text(text))
    n_bad += (text.count(REPLACEMENT) - n_before) * len("\0".encode(encoding))
    if n_bad:
        warnings += (f"bytes that are no text in {encoding.upper()}: {n_bad:,}, read as U+FFFD",)
    text = text.removeprefix("\ufeff")
    return DecodedText(text if text.isascii() else normalize("NFC", text), warnings)


def _wide_encoding(data: bytes) -> str:
    """The UTF-16 or UTF-32 of the bytes, or ""."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding
    if b"\0" not in data or len(data) < 4:
        return ""
    quarters = [data[first::4] for first in range(4)]
    shares = [quarter.count(0) / len(quarter) for quarter in quarters]
    for pattern, encoding in _NUL_PATTERNS:
        bounds = [_SHARES[sign] for sign in pattern]
        if all(low <= share <= high for share, (low, high) in zip(shares, bounds, strict=True)):
            return encoding
    return ""


def _is_binary(data: bytes) -> bool:
    n_controls = len(data) - len(data.translate(None, _CONTROLS))
    return n_controls > _LARGEST_SHARE_OF_CONTROLS * len(data)


def _decode(data: bytes, encoding: str) -> tuple[str, int]:
    """The text in a Unicode encoding, and how many bytes were replaced in it."""
    try:
        return data.decode(encoding), 0
    except UnicodeDecodeError:
        text = data.decode(encoding, errors="replace")
        return text, len(data) - len(text.replace(REPLACEMENT, "").encode(encoding))


def _n_beyond_ascii(text: str) -> int:
    """The number of characters beyond ASCII that were read."""
    return len(text) - len(text.encode("ascii", "ignore")) - text.count(REPLACEMENT)


def _decode_declared(data: bytes, n_bad: int) -> tuple[str, tuple[str, ...]]:
    """The text in the encoding that the file declares, or in windows-1252, and the warnings."""
    start = data[:_DECLARATIONS]
    declared = EncodingDetector.find_declared_encoding(start, True, search_entire_document=True)
    if not declared and (named := _NAMED.search(data[:_HEADER])):
        declared = named[1].decode()
    declared = _CODE_PAGE.sub("cp", (declared or "").lower().replace("_", "-"))
    if declared and not _READ_AS_1252.fullmatch(declared):
        try:
            return data.decode(declared), ()
        except (UnicodeError, LookupError):
            pass
    # HTML reads the five bytes that windows-1252 leaves undefined as control characters.
    code_points = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}
    text = data.decode("latin-1").translate(code_points)
    if declared not in ("utf-8", "utf8"):
        return text, ()
    return text, (f"bytes that are no text in the declared UTF-8: {n_bad:,}, read as windows-1252",)
