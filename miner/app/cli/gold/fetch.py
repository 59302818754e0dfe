"""`miner gold fetch`."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.books import file_of
from miner.app.cli.errors import Failure
from miner.app.cli.options import (
    books_option,
    gold_option,
    mirror_option,
    quiet_option,
    split_option,
)


@click.command("fetch")
@gold_option
@split_option
@books_option
@mirror_option
@quiet_option
def command(gold: Path, split: str, books: Path | None, mirror: str | None, quiet: bool) -> None:
    """Download the annotated books that are not here yet, one polite request at a time.

    They go to the cache, where every command looks. A book that cannot be had is named, the others
    go on, and the exit code is 1.
    """
    from miner.annotation.annotations import read_split
    from miner.books.download import download_books

    wanted = read_split(gold, split)
    failed = 0
    ids = [book.card.book for book in wanted]
    for book, found in download_books(ids, lambda id: file_of(id, books, mirror)[1]):
        failed += isinstance(found, str)
        if isinstance(found, str) or not quiet:
            click.echo(f"{book}: {found}", err=isinstance(found, str))
    if failed:
        raise Failure(f"{failed} of {len(wanted)} books could not be had")
