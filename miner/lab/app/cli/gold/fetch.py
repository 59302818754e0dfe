"""`miner gold fetch`: download the annotated books."""

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
from miner.lab.app.cli.books import book_finder


@click.command("fetch", cls=Command)
@gold_option
@split_option()
@language_option()
@books_option
@mirror_option
@quiet_option
def command(
    gold: Path, split: str, language: str, books: Path | None, mirror: str | None, quiet: bool
) -> None:
    """Download the annotated books.

    Books that are not on this machine are downloaded one at a time. They are stored in the cache,
    where every command looks. If a book cannot be downloaded, the reason is printed, the others are
    downloaded, and the exit code is 1.

    \b
    miner gold fetch --split test
    miner gold fetch
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import read_split
    from miner.books.download import download_books

    wanted = read_split(gold, split, language=language)
    failed = 0
    ids = [book.card.book for book in wanted]
    for book, found in download_books(ids, book_finder(books, mirror)):
        failed += isinstance(found, str)
        if isinstance(found, str) or not quiet:
            click.echo(f"{book}: {found}", err=isinstance(found, str))
    if failed:
        raise Failure(f"{failed} of {len(wanted)} books could not be downloaded")
