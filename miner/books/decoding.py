"""Bytes of HTML or plain text -> the text. A few bad bytes cost their own letters and no others."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from unicodedata import normalize

from bs4.dammit import EncodingDetector

from miner.books.cleaning import REPLACEMENT, clean_text, limit_marks
from miner.errors import InputError

# The mark of UTF-32 begins with that of UTF-16, so it comes first.
_MARKS = (
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
    """The text of a file.

    Args:
        text: in composed form (NFC).
        warnings: what is doubtful in it, one line each.
    """

    text: str
    warnings: tuple[str, ...]


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
    for mark, encoding in _MARKS:
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
