"""A command whose outputs are none of its inputs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from miner.app.cli.options import BookWord, OutputPath
from miner.errors import InputError
from miner.files import PUBLISHED, printable

_BOOKS = "books"  # of the folder in which a book is looked up


class Command(click.Command):
    """A command that refuses to write to what it reads, whatever `--force` says."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click has it
        """Runs the command, if no output is an input."""
        refuse_inputs(self, ctx.params)
        return super().invoke(ctx)


def refuse_inputs(command: click.Command, values: dict[str, Any]) -> None:
    """Raises an error if a command would write to a file or a folder that it reads."""
    kinds = {param.name or "": param.type for param in command.params}
    outputs = [
        path
        for name, kind in kinds.items()
        if isinstance(kind, OutputPath) and (path := values.get(name)) and os.path.exists(path)
    ]
    if not outputs:
        return
    books = values.get(_BOOKS)
    for name, kind in kinds.items():
        if isinstance(kind, OutputPath):
            continue
        words = list(_texts(values.get(name)))
        inputs = [Path(part) for word in words for part in (word, word.rpartition(":")[0]) if part]
        if isinstance(kind, BookWord) or name == _BOOKS:
            inputs = [path for path in inputs if path.is_file()] + _books(words, books)
        for path in outputs:
            if any(_is_read(path, one) for one in inputs):
                raise InputError(f"{printable(path)}: found an input, expected another output")


def _texts(value: object) -> Iterator[str]:
    """The texts and paths in the value of a parameter, which may have several."""
    if isinstance(value, str | Path):
        yield str(value)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _texts(part)


def _books(words: list[str], books: Path | None) -> list[Path]:
    """The files of the books that words name."""
    from miner.books.catalog_search import number_from_title
    from miner.books.sources import find_sources

    sources, _ = find_sources(words, books, number_from_title=number_from_title)
    return [source.path for source in sources if source.path]


def _is_read(output: Path, given: Path) -> bool:
    """Whether an output that exists is an input, or a file in a folder that is one."""
    if not os.path.exists(given):
        return False
    if os.path.samefile(output, given):
        return True
    if not (output.is_file() and given.is_dir()):
        return False
    # What was measured of a checkpoint is written beside it.
    return output.name != PUBLISHED and output.resolve().is_relative_to(given.resolve())
