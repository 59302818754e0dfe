"""Texts on disk, for what does not fit in memory."""

from __future__ import annotations

import struct
from pathlib import Path
from tempfile import TemporaryFile
from typing import Self

_END = struct.Struct("<Q")


class Spool:
    """A sequence of texts in a temporary file, as a context manager.

    The memory that it takes does not grow with the texts. They are gone when the block ends, or
    when the process is killed.
    """

    def __init__(self, folder: Path) -> None:
        """Makes an empty sequence."""
        self._texts = TemporaryFile(dir=folder)
        self._ends = TemporaryFile(dir=folder)  # of the texts: 8 bytes for each
        self._n = self._n_bytes = 0

    def append(self, text: str) -> None:
        """Adds a text at the end. Nothing has been read yet."""
        content = text.encode()
        self._texts.write(content)
        self._n_bytes += len(content)
        self._ends.write(_END.pack(self._n_bytes))
        self._n += 1

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, number: int) -> str:
        if not 0 <= number < self._n:
            raise IndexError(f"found text {number}, expected one of {self._n}")
        self._ends.seek(_END.size * max(0, number - 1))
        start = _END.unpack(self._ends.read(_END.size))[0] if number else 0
        (end,) = _END.unpack(self._ends.read(_END.size))
        self._texts.seek(start)
        return self._texts.read(end - start).decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._texts.close()
        self._ends.close()
