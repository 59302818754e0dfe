"""The bytes of a zip file -> its members, read within bounds; nothing is unpacked to a disk.

A few kilobytes of zip can hold gigabytes. So members are read piece by piece, and what they hold
together is limited, whatever the zip says of their sizes.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO

from miner.books.book_file import LARGEST_FILE
from miner.errors import InputError
from miner.files import one_line, printable

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
    """An open zip file.

    Args:
        file: the file.
        left: how many bytes may still be read from it.
    """

    file: zipfile.ZipFile
    left: int = LARGEST_FILE

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
