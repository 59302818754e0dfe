"""`miner gold confidence`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from miner.app.cli.books import book_reader
from miner.app.cli.options import (
    PATH,
    books_option,
    force_option,
    gold_option,
    json_option,
    mirror_option,
    resamples_option,
    seed_option,
    tagger_option,
)
from miner.app.cli.terminal import show


@click.command("confidence")
@gold_option
@click.option("--split", default="dev", show_default=True, help="As in the other commands.")
@tagger_option
@resamples_option
@seed_option
@click.option("--plot", type=PATH, help="Picture to draw of it (PNG, SVG or PDF by its ending).")
@books_option
@mirror_option
@force_option
@json_option
def command(
    gold: Path,
    split: str,
    tagger: str,
    resamples: int,
    seed: int,
    plot: Path | None,
    books: Path | None,
    mirror: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Show what `mine --min-confidence` keeps, and how much of it is right.

    The pairs that a checkpoint mines from the books, in the annotated chapters: how many are at
    least so sure, what share of them is right, and what share of the gold pairs they are.
    """
    from miner.annotation.annotations import read_split
    from miner.app.tables import tradeoff_table
    from miner.evaluation.compare import mined_pairs
    from miner.evaluation.confidence import tradeoff
    from miner.files import refuse_existing
    from miner.models.load import load_tagger

    if plot:
        refuse_existing(plot, force)
    judged = mined_pairs(read_split(gold, split), book_reader(books, mirror), load_tagger(tagger))
    found = tradeoff(judged, resamples=resamples, seed=seed)
    if plot:
        from miner.app.plots.evaluation import save, tradeoff_plot

        save(tradeoff_plot(found, split), plot, force)
    if as_json:
        click.echo(json.dumps([item.to_json() for item in found], indent=2))
    else:
        show(tradeoff_table(found, tagger, split))
