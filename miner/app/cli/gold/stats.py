"""`miner gold stats`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from miner.app.cli.options import (
    gold_option,
    json_option,
)
from miner.app.cli.terminal import show


@click.command("stats")
@gold_option
@json_option
def command(gold: Path, as_json: bool) -> None:
    """Count what is annotated, by split and by kind of book; the table of the datasheet."""
    from miner.annotation.annotations import read_annotations
    from miner.annotation.statistics import count_annotations
    from miner.app.tables import statistics_tables

    counted = count_annotations(read_annotations(gold))
    if as_json:
        click.echo(json.dumps(counted.to_json(), ensure_ascii=False, indent=2))
    else:
        show(statistics_tables(counted))
