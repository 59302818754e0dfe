"""`miner gold speakers`: compare speakers with PDNC."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    PATH,
    books_option,
    gold_option,
    mirror_option,
)
from miner.app.cli.terminal import show
from miner.lab.app.cli.books import book_reader, show_left_out


@click.command("speakers", cls=Command)
@gold_option
@click.option("--pdnc", type=PATH, required=True, help="Folder of the corpus, with its index file.")
@click.option("--differences", is_flag=True, help="List the differences, with both names.")
@books_option
@mirror_option
def command(
    gold: Path, pdnc: Path, differences: bool, books: Path | None, mirror: str | None
) -> None:
    """Compare our speakers with those of an annotated corpus.

    The corpus is the Project Dialogism Novel Corpus (PDNC).

    \b
    miner gold speakers --pdnc PDNC
    miner gold speakers --pdnc PDNC --differences
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import read_split
    from miner.lab.app.tables.annotations import tabulate_speakers
    from miner.lab.gold.pdnc import find_novels
    from miner.lab.measure.speakers import compare_speakers

    reader = book_reader(books, mirror)
    compared = compare_speakers(read_split(gold, "all"), find_novels(pdnc), reader)
    show_left_out(compared.coverage)
    show([*tabulate_speakers(compared.pairs, differences), *compared.coverage.notes])
