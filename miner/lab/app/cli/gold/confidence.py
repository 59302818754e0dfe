"""`miner gold confidence`: what `--min-confidence` keeps."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    OUTPUT,
    books_option,
    dtype_option,
    force_option,
    gold_option,
    json_option,
    language_option,
    mirror_option,
    resamples_option,
    seed_option,
    split_option,
    tagger_option,
)
from miner.app.cli.terminal import show, show_json
from miner.lab.app.cli.books import book_reader, show_left_out


@click.command("confidence", cls=Command)
@gold_option
@split_option("dev")
@language_option()
@tagger_option
@dtype_option
@resamples_option
@seed_option
@click.option("--plot", type=OUTPUT, help="File for a plot (PNG, SVG or PDF by its ending).")
@books_option
@mirror_option
@force_option
@json_option
def command(
    gold: Path,
    split: str,
    language: str,
    tagger: str,
    dtype: str,
    resamples: int,
    seed: int,
    plot: Path | None,
    books: Path | None,
    mirror: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Show what `mine --min-confidence` keeps.

    A checkpoint mines pairs from the annotated chapters of the books. For each minimum confidence
    the table has the number of pairs, their precision, and their recall of the gold pairs.

    \b
    miner gold confidence --split sample   needs no other book
    miner gold confidence --plot confidence.png
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import name_of_split, read_split
    from miner.extras import import_extra
    from miner.files import refuse_existing
    from miner.lab.app.tables.scores import tabulate_tradeoff
    from miner.lab.measure.confidence import judge_mined_pairs, measure_tradeoff
    from miner.tagger.load import load_tagger

    if plot:
        import_extra("matplotlib", "plots")
        refuse_existing(plot, force)
    judged = judge_mined_pairs(
        read_split(gold, split, language=language),
        book_reader(books, mirror),
        load_tagger(tagger, dtype=dtype),
    )
    show_left_out(judged.coverage)
    found = measure_tradeoff(judged.pairs, resamples=resamples, seed=seed)
    if plot:
        from miner.lab.app.plots.evaluation import plot_tradeoff, save_figure

        save_figure(plot_tradeoff(found, name_of_split(split, language)), plot, force)
    if as_json:
        rows = [item.to_json() for item in found]
        show_json({"rows": rows, "coverage": judged.coverage.to_json()})
    else:
        show(
            [
                *tabulate_tradeoff(found, tagger, name_of_split(split, language)),
                *judged.coverage.notes,
            ]
        )
