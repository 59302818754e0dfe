"""`miner score`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from miner.app.cli.options import (
    PATH,
    json_option,
    resamples_option,
    seed_option,
)
from miner.app.cli.terminal import show


@click.command("score")
@click.option("--gold", type=PATH, required=True, help="Tags file, or CSV of the seed project.")
@click.option("--predicted", type=PATH, required=True, help="Tags file or CSV to judge.")
@click.option("--split", help="Of a seed CSV: train, validation or test.")
@resamples_option
@seed_option
@json_option
def command(
    gold: Path, predicted: Path, split: str | None, resamples: int, seed: int, as_json: bool
) -> None:
    """Score predicted tags against gold, with 95% intervals from resampled chapters.

    Two figures: end to end, where a missed utterance is a miss and a spurious one is false; and on
    the gold spans that were found, which judges the tagger alone.
    """
    from miner.annotation.mcn import read_any_tag_file
    from miner.app.tables import scores_tables
    from miner.evaluation.scores import score as score_all

    truth = read_any_tag_file(gold, split=split)
    guess = read_any_tag_file(predicted, repair=True)
    scores = score_all(
        truth.books, guess.as_read, split=split or "all", resamples=resamples, seed=seed
    )
    if as_json:
        click.echo(json.dumps(scores.to_json(), ensure_ascii=False, indent=2))
        return
    show(scores_tables(scores))
    if guess.n_repaired:
        click.echo(
            f"{guess.n_repaired} predicted tags may not follow the tag before; repaired for pairs"
        )
    click.echo(scores.signature)
