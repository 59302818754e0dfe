"""`miner gold agreement`: how far two readings agree."""

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


@click.command("agreement", cls=Command)
@gold_option
@language_option()
@json_option
def command(gold: Path, language: str, as_json: bool) -> None:
    """Show how far two independent readings agree.

    Each reading is also compared with the gold. Of several languages, each has a column.

    \b
    miner gold agreement
    miner gold agreement --language de,fr
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import read_annotations
    from miner.lab.app.tables.annotations import tabulate_agreement
    from miner.lab.measure.agreement import compare_readings, compare_readings_by_language

    chosen = read_annotations(gold).of_language(language)
    compare = compare_readings_by_language if len(chosen.languages) > 1 else compare_readings
    agreements = compare(chosen)
    if as_json:
        record = {name: agreement.to_json() for name, agreement in agreements.items()}
        show_json(record)
    else:
        show(tabulate_agreement(agreements))
