"""`miner compare`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from miner.app.cli.books import book_reader
from miner.app.cli.options import (
    PATH,
    books_option,
    force_option,
    json_option,
    mirror_option,
    resamples_option,
    seed_option,
)
from miner.app.cli.terminal import show


@click.command("compare")
@click.option(
    "--gold",
    type=PATH,
    required=True,
    help="Folder of annotations, folder of the seed project, or a tags file.",
)
@click.option(
    "--tagger",
    "taggers",
    multiple=True,
    help="May be given more than once. [gap, tuned-gap, narration]",
)
@click.option("--split", help="Of the gold, several with + between. [test; a tags file: all]")
@resamples_option
@seed_option
@click.option("--plots", type=PATH, help="Folder for pictures of the comparison (PNG).")
@books_option
@mirror_option
@force_option
@json_option
def command(
    gold: Path,
    taggers: tuple[str, ...],
    split: str | None,
    resamples: int,
    seed: int,
    plots: Path | None,
    books: Path | None,
    mirror: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Compare taggers on the same gold spans: B-START, turn pairs, span pairs.

    With annotations, also from the book to the tags, on the spans that the miner finds. With the
    seed project's folder, its own two rows are scored on the same labels as ours. --plots draws
    the scores side by side, which tags are taken for which, how long the conversations are, and how
    far a checkpoint's confidence can be believed.

    \b
    miner compare --gold annotations --split sample   at once, without any book
    miner gold fetch --gold annotations               downloads the books of the rest
    miner compare --gold annotations --split test
    """  # noqa: D301 - click's mark for lines that are to stay as they are
    from miner.app.tables import comparison_tables
    from miner.evaluation.compare import compare as compare_all
    from miner.files import refuse_existing
    from miner.models.load import BASELINES, load_tagger, tagger_label

    if plots:
        refuse_existing(plots, force)
    named = [(tagger_label(name), load_tagger(name)) for name in taggers or BASELINES]
    chosen = split or ("test" if gold.is_dir() else "all")
    comparison = compare_all(
        gold, named, chosen, read=book_reader(books, mirror), resamples=resamples, seed=seed
    )
    drawn: list[Path] = []
    if plots:
        from miner.app.plots.comparison import comparison_figures
        from miner.app.plots.evaluation import save_all

        drawn = save_all(comparison_figures(comparison), plots, force)
    if as_json:
        click.echo(json.dumps(comparison.to_json(), ensure_ascii=False, indent=2))
        return
    show(comparison_tables(comparison))
    for note in comparison.notes:
        click.echo(note)
    for row in comparison.rows:
        click.echo(f"{row.name}: {row.scores.signature}")
    if plots:
        click.echo(f"wrote {', '.join(path.name for path in drawn)} in {plots}")
