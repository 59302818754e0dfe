"""`miner gold export`: write annotated chapters for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.errors import Failure
from miner.app.cli.options import (
    books_option,
    force_option,
    gold_option,
    language_option,
    mirror_option,
    out_option,
    split_option,
)
from miner.lab.app.cli.books import book_reader, show_left_out
from miner.lab.gold.export import describe_formats, find_writer

_FORMATS = describe_formats()


@click.command("export", cls=Command)
@gold_option
@split_option()
@language_option()
@click.option(
    "--format",
    type=click.Choice(list(_FORMATS)),
    required=True,
    help="; ".join(f"{name}: {description}" for name, description in _FORMATS.items()) + ".",
)
@out_option("File to write; for datasets, a folder.", required=True)
@books_option
@mirror_option
@force_option
def command(
    gold: Path,
    split: str,
    language: str,
    format: str,
    out: Path,
    books: Path | None,
    mirror: str | None,
    force: bool,
) -> None:
    """Write the annotated chapters for other tools.

    A book that is not at hand is left out with the reason. The others are written, and the exit
    code is 1.

    \b
    miner gold export --split sample --format tags -o sample.tags
    miner gold export --split train+dev --format datasets -o annotated
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import read_split
    from miner.lab.gold.editions import LeftOutBook, coverage_of, read_editions

    wanted = read_split(gold, split, language=language)
    missing: list[LeftOutBook] = []
    found = read_editions(wanted, book_reader(books, mirror), on_missing=missing.append)
    find_writer(format)(found, out, force)
    coverage = coverage_of(wanted, missing)
    show_left_out(coverage)
    if coverage.left_out:
        raise Failure(f"{out} has {coverage.summary}")
