"""`miner gold sweep`."""

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
    resamples_option,
    seed_option,
)
from miner.app.cli.terminal import show


@click.command("sweep")
@gold_option
@click.option("--split", default="train+dev", show_default=True, help="Not the test split.")
@books_option
@mirror_option
@resamples_option
@seed_option
@json_option
def command(
    gold: Path,
    split: str,
    books: Path | None,
    mirror: str | None,
    resamples: int,
    seed: int,
    as_json: bool,
) -> None:
    """Score the gap heuristic with gaps of 50 to 2000 characters, to tune it."""
    from miner.annotation.annotations import read_split
    from miner.app.tables import sweep_table
    from miner.evaluation.compare import SWEPT_GAPS, sweep
    from miner.models.load import load_tagger

    swept = sweep(
        read_split(gold, split),
        book_reader(books, mirror),
        [(gap, load_tagger(f"gap:{gap}")) for gap in SWEPT_GAPS],
        split=split,
        resamples=resamples,
        seed=seed,
    )
    if as_json:
        record = {item.gap: item.scores.to_json() for item in swept}
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
    else:
        show(sweep_table(swept, split))
