"""`miner gold errors`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from miner.app.cli.books import book_reader
from miner.app.cli.options import (
    books_option,
    gold_option,
    json_option,
    mirror_option,
    tagger_option,
)
from miner.app.cli.terminal import show


@click.command("errors")
@gold_option
@click.option("--split", default="test", show_default=True, help="As in the other commands.")
@tagger_option
@books_option
@mirror_option
@json_option
def command(
    gold: Path,
    split: str,
    tagger: str,
    books: Path | None,
    mirror: str | None,
    as_json: bool,
) -> None:
    """Of the pairs that a tagger mines, count the wrong ones, by cause."""
    from miner.annotation.annotations import read_split
    from miner.app.tables import errors_table
    from miner.evaluation.compare import mined_pairs
    from miner.evaluation.pair_errors import pair_errors
    from miner.models.load import load_tagger, tagger_label

    books_of_split = read_split(gold, split)
    found = pair_errors(
        mined_pairs(books_of_split, book_reader(books, mirror), load_tagger(tagger))
    )
    if as_json:
        click.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=2))
    else:
        show(errors_table(found, tagger_label(tagger), split))
