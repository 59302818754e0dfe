"""`miner gold export`: write annotated chapters for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.books import book_reader
from miner.app.cli.options import (
    books_option,
    force_option,
    gold_option,
    mirror_option,
    out_option,
    split_option,
)


@click.command("export")
@gold_option
@split_option()
@click.option(
    "--format",
    type=click.Choice(["labelstudio", "conll", "tags", "datasets"]),
    required=True,
    help="Label Studio tasks (JSON), CoNLL columns (IOB2), a tags file, a folder for load_dataset.",
)
@out_option("File to write; for datasets, a folder.", required=True)
@books_option
@mirror_option
@force_option
def command(
    gold: Path,
    split: str,
    format: str,
    out: Path,
    books: Path | None,
    mirror: str | None,
    force: bool,
) -> None:
    """Write the annotated chapters for other tools."""
    from miner.annotation.annotations import read_split
    from miner.annotation.exchange import export

    export(read_split(gold, split), book_reader(books, mirror), format, out, force)
