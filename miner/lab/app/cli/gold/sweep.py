"""`miner gold sweep`: score the gap heuristic with many gaps."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    books_option,
    gold_option,
    json_option,
    language_option,
    mirror_option,
    resamples_option,
    seed_option,
    split_option,
)
from miner.app.cli.terminal import show, show_json
from miner.lab.app.cli.books import book_reader, show_left_out


@click.command("sweep", cls=Command)
@gold_option
@split_option("train+dev")
@language_option()
@books_option
@mirror_option
@resamples_option
@seed_option
@click.option(
    "--on-test",
    is_flag=True,
    help="Sweep the split test, too. Do not choose a gap by it: a number that was tuned on test "
    "makes all scores on test worthless, because they no longer tell how it does on unseen books.",
)
@json_option
def command(
    gold: Path,
    split: str,
    language: str,
    books: Path | None,
    mirror: str | None,
    resamples: int,
    seed: int,
    on_test: bool,
    as_json: bool,
) -> None:
    """Score the gap heuristic with many gaps.

    The gaps are 50 to 2000 characters. Use the result to choose the gap of tuned-gap. The split
    test is refused, because a gap that is chosen on it makes its scores worthless as a test.

    \b
    miner gold sweep --split sample   needs no other book
    miner gold sweep
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import name_of_split, read_split
    from miner.lab.app.tables.scores import tabulate_sweep
    from miner.lab.measure.compare import GAPS, sweep_gaps
    from miner.tagger.load import load_tagger

    swept = sweep_gaps(
        read_split(gold, split, language=language),
        book_reader(books, mirror),
        [(gap, load_tagger(f"gap:{gap}")) for gap in GAPS],
        split=name_of_split(split, language),
        resamples=resamples,
        seed=seed,
        on_test=on_test,
    )
    show_left_out(swept.coverage)
    if as_json:
        show_json(swept.to_json())
    else:
        show([*tabulate_sweep(swept.gaps, name_of_split(split, language)), *swept.coverage.notes])
