"""`miner gold stats`: count the annotations."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    gold_option,
    json_option,
    language_option,
)
from miner.app.cli.terminal import show, show_json


@click.command("stats", cls=Command)
@gold_option
@language_option()
@json_option
def command(gold: Path, language: str, as_json: bool) -> None:
    """Count the annotations by split and by kind of book.

    \b
    miner gold stats
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import read_annotations
    from miner.lab.app.tables.annotations import tabulate_statistics
    from miner.lab.gold.statistics import count_annotations

    counted = count_annotations(read_annotations(gold).of_language(language))
    if as_json:
        show_json(counted.to_json())
    else:
        show(tabulate_statistics(counted))
