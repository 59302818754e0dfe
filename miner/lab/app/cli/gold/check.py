"""`miner gold check`: check the annotations against their books."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.errors import Failure
from miner.app.cli.options import (
    books_option,
    gold_option,
    language_option,
    mirror_option,
    quiet_option,
    split_option,
)
from miner.app.cli.terminal import show
from miner.lab.app.cli.books import book_reader


@click.command("check", cls=Command)
@gold_option
@split_option()
@language_option()
@books_option
@mirror_option
@quiet_option
def command(
    gold: Path, split: str, language: str, books: Path | None, mirror: str | None, quiet: bool
) -> None:
    """Check the annotations and find each span in its book.

    The form, the splits and the tags are checked, too. Each problem is printed in one line. The
    exit code is 1 if there is any.

    \b
    miner gold check --split sample     needs no other book
    miner gold check --split dev+test
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import read_annotations
    from miner.lab.app.tables.annotations import tabulate_check
    from miner.lab.gold.editions import check_annotations

    read = book_reader(books, mirror)
    checked = check_annotations(read_annotations(gold), split, read, language)
    if not quiet:
        show(tabulate_check(checked))
    for problem in checked.problems:
        click.echo(problem, err=True)
    if checked.problems:
        raise Failure(f"{len(checked.problems)} problems found in {gold}")
