"""`miner score`: score predicted tags against gold tags."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    PATH,
    json_option,
    resamples_option,
    seed_option,
)
from miner.app.cli.terminal import show, show_json


@click.command("score", cls=Command)
@click.option(
    "--gold",
    type=PATH,
    required=True,
    help="Tags file, CSV file of the project MCN, or a file that `miner annotate` saved.",
)
@click.option("--predicted", type=PATH, required=True, help="Tags file or CSV file to score.")
@click.option("--split", help="Split of a CSV file of MCN: train, validation or test.")
@resamples_option
@seed_option
@json_option
def command(
    gold: Path, predicted: Path, split: str | None, resamples: int, seed: int, as_json: bool
) -> None:
    """Score predicted tags against gold tags.

    There are two tables, with 95% intervals from resampled chapters. End to end, a missed utterance
    counts as missed and a spurious one as wrong. On gold spans, only the utterances that both files
    have are scored: the tagger alone. Annotations hold no text, so they are found in that of the
    predicted tags.

    \b
    miner tag sample -o sample.tags
    miner score --gold sample.tags --predicted sample.tags
    miner score --gold annotations/gold/sample.jsonl --predicted sample.tags
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.lab.app.tables.scores import tabulate_scores
    from miner.lab.gold.mcn import read_any_tag_file, read_gold_tags
    from miner.lab.measure.scores import score as score_all

    guess = read_any_tag_file(predicted, repair=True)
    truth = read_gold_tags(gold, guess.books, split)
    scores = score_all(truth, guess.as_read, split=split or "all", resamples=resamples, seed=seed)
    if as_json:
        show_json(scores.to_json())
        return
    show(tabulate_scores(scores))
    if guess.n_repaired:
        click.echo(
            f"{guess.n_repaired} predicted tags may not follow the tag before; repaired for pairs"
        )
    for note in scores.notes:
        click.echo(note)
    click.echo(scores.signature)
