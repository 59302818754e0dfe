"""Annotated chapters -> files for other tools, text and labels together. Each module is one format.

The name of a format is the name of its module without underscores, and the first line of the
module's docstring describes it. The module has one function, `write_editions`; see
`WriteEditions`. A new module here is a new format of `miner gold export`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from miner.plugins import describe_modules, import_named

if TYPE_CHECKING:
    from miner.lab.gold.editions import Edition


class WriteEditions(Protocol):
    """The function of a format."""

    def __call__(self, found: Iterable[Edition], out: Path, force: bool) -> None:
        """Writes the annotated chapters of some books.

        Args:
            found: the editions, which may be read lazily.
            out: the file or folder to write.
            force: whether existing files are replaced.

        Raises:
            InputError: if `out` exists and `force` is False. No edition is read before this check.
        """
        ...


def describe_formats() -> dict[str, str]:
    """Returns the names of all formats, in alphabetical order, each with its description."""
    return describe_modules(sys.modules[__name__])


def find_writer(name: str) -> WriteEditions:
    """Returns the function that writes a format.

    Raises:
        InputError: if there is no format with that name.
    """
    return import_named(sys.modules[__name__], name).write_editions
