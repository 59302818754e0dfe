"""`miner gold agreement`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from miner.app.cli.options import (
    gold_option,
    json_option,
)
from miner.app.cli.terminal import show


@click.command("agreement")
@gold_option
@json_option
def command(gold: Path, as_json: bool) -> None:
    """How far two independent readings of the same chapters agree, and either with the gold."""
    from miner.annotation.annotations import read_annotations
    from miner.app.tables import agreement_table
    from miner.evaluation.agreement import reading_agreements

    agreements = reading_agreements(read_annotations(gold))
    if as_json:
        record = {name: agreement.to_json() for name, agreement in agreements.items()}
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
    else:
        show(agreement_table(agreements))
