"""The options that name sources of examples, and what is said of a source that was read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from miner.lab.app.cli.books import book_reader, show_left_out

if TYPE_CHECKING:
    from miner.lab.lessons.sources import Role, SourceExamples


class SourceName(click.ParamType):
    """A folder or a file, perhaps with a colon and a split."""

    name = "source"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Files."""
        return [CompletionItem(incomplete, type="file")]


split_option = click.option(
    "--split",
    metavar="NAME",
    help="Split of SOURCE, several joined by +, or all.  [default: train to train, test to score]",
)


def open_source(
    source: str,
    split: str | None,
    role: Role,
    language: str,
    books: Path | None,
    mirror: str | None,
) -> SourceExamples:
    """Returns the examples of a source, and prints to stderr what is left out of it."""
    from miner.lab.lessons.sources import read_source

    read = book_reader(books, mirror)
    found = read_source(source, split, role, language=language, read=read)
    show_left_out(found.coverage)
    for reason, n in found.left_out.items():
        click.echo(
            f"{click.style('left out', fg='yellow')}: {found.name}: {n:,} {reason}", err=True
        )
    return found
