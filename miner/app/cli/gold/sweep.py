"""`miner gold sweep`: score the gap heuristic with many gaps."""

from __future__ import annotations

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
    split_option,
)
from miner.app.cli.terminal import show, show_json


@click.command("sweep")
@gold_option
@split_option("train+dev")
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
    """Score the gap heuristic with many gaps.

    The gaps are 50 to 2000 characters. Use the result to choose the gap of tuned-gap.
    """
    from miner.annotation.annotations import read_split
    from miner.app.tables.scores import tabulate_sweep
    from miner.evaluation.gap_sweep import GAPS, sweep_gaps
    from miner.models.load import load_tagger

    swept = sweep_gaps(
        read_split(gold, split),
        book_reader(books, mirror),
        [(gap, load_tagger(f"gap:{gap}")) for gap in GAPS],
        split=split,
        resamples=resamples,
        seed=seed,
    )
    if as_json:
        record = {item.gap: item.scores.to_json() for item in swept}
        show_json(record)
    else:
        show(tabulate_sweep(swept, split))
