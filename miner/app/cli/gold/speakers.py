"""`miner gold speakers`."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.books import book_reader
from miner.app.cli.options import (
    PATH,
    books_option,
    gold_option,
    mirror_option,
)
from miner.app.cli.terminal import show


@click.command("speakers")
@gold_option
@click.option("--pdnc", type=PATH, required=True, help="Folder of the corpus, with its index.")
@click.option("--differences", is_flag=True, help="List them, with both names.")
@books_option
@mirror_option
def command(
    gold: Path, pdnc: Path, differences: bool, books: Path | None, mirror: str | None
) -> None:
    """Compare our speakers with those of the Project Dialogism Novel Corpus."""
    from miner.annotation.annotations import read_split
    from miner.annotation.pdnc import pdnc_novels
    from miner.app.tables import speakers_tables
    from miner.evaluation.speakers import speaker_pairs

    pairs = speaker_pairs(read_split(gold, "all"), pdnc_novels(pdnc), book_reader(books, mirror))
    show(speakers_tables(pairs, differences))
