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
_MOST_ENTRIES = 20_000
_PIECE = 2**20  # bytes
# zipfile raises what it finds: damage of its own, of zlib and of lzma, and methods that it lacks.
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

    def read(self, name: str) -> bytes:
        """The bytes of a file.

        Raises:
            MemberError: if it is missing, damaged or encrypted.
            InputError: if all that was read has more than `LARGEST_FILE` bytes.
        """
        pieces: list[bytes] = []
        try:
            found = self.file.getinfo(name)
            if found.flag_bits & 1:
                raise MemberError(f"{printable(name)} is encrypted")
            with self.file.open(found) as member:
                while piece := member.read(min(_PIECE, self.left + 1)):
                    self.left -= len(piece)
                    if self.left < 0:
                        break
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
        return b"".join(pieces)


def is_archive(data: bytes) -> bool:
    """Whether bytes are those of a zip file, which an EPUB is, too."""
    return data.startswith(_START)


def open_archive(data: bytes) -> Archive:
    """The zip file in bytes.

    Raises:
        InputError: if it is damaged, or has more than `_MOST_ENTRIES` members.
    """
    if (n_entries := data.count(_ENTRY)) > _MOST_ENTRIES:
        raise InputError(
            f"the zip file has {n_entries:,} members, expected at most {_MOST_ENTRIES:,}"
        )
    try:
        return Archive(zipfile.ZipFile(BytesIO(data)))
    except _DAMAGE as error:
        raise InputError(f"the zip file is damaged: {one_line(str(error))}") from error


def _is_hidden(name: str) -> bool:
    parts: Iterable[str] = name.split("/")
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)
