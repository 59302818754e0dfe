"""`miner compare`: compare taggers on the same gold."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    OUTPUT,
    PATH,
    TAGGERS,
    SplitName,
    TaggerOption,
    books_option,
    dtype_option,
    force_option,
    json_option,
    language_option,
    mirror_option,
    resamples_option,
    seed_option,
)
from miner.app.cli.terminal import show, show_json
from miner.lab.app.cli.books import book_reader, show_left_out


@click.command("compare", cls=Command)
@click.option(
    "--gold",
    type=PATH,
    required=True,
    envvar="MINER_ANNOTATIONS",
    show_envvar=True,
    help="Folder of annotations, folder of the project MCN, or a tags file.",
)
@click.option(
    "--tagger",
    "taggers",
    cls=TaggerOption,
    multiple=True,
    help=f"Tagger to compare, may be repeated: {TAGGERS} Without it the heuristics are compared.",
)
@dtype_option
@click.option(
    "--split",
    type=SplitName(),
    help="Split of the gold, or several joined by +.  [default: test; all for a tags file]",
)
@language_option()
@resamples_option
@seed_option
@click.option("--plots", type=OUTPUT, help="Folder for plots of the comparison (PNG).")
@books_option
@mirror_option
@force_option
@json_option
def command(
    gold: Path,
    taggers: tuple[str, ...],
    dtype: str,
    split: str | None,
    language: str,
    resamples: int,
    seed: int,
    plots: Path | None,
    books: Path | None,
    mirror: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Compare taggers on the same gold.

    The tables have B-START, turn pairs and span pairs. All taggers tag the spans of the gold. With
    annotations, each tagger is also scored on the spans that the miner finds in the book. With the
    folder of the project "Mining Conversations from Novels" (MCN), the table also has MCN's own
    heuristic and model. --plots draws the scores side by side, the confusion of tags, the lengths
    of conversations, and how often a checkpoint's tags are right by their confidence.

    \b
    miner compare --gold annotations --split sample   a try on five chapters, without a download
    miner compare --gold annotations --tagger auto    downloads the books of the split test
    miner compare --gold sample.tags --tagger gap:300
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.extras import import_extra
    from miner.files import refuse_existing
    from miner.lab.app.tables.scores import tabulate_comparison
    from miner.lab.measure.compare import compare
    from miner.tagger.load import BASELINES, load_tagger, tagger_label

    if plots:
        import_extra("matplotlib", "plots")
        refuse_existing(plots, force)
    named = [(tagger_label(name), load_tagger(name, dtype=dtype)) for name in taggers or BASELINES]
    comparison = compare(
        gold,
        named,
        split,
        language,
        read=book_reader(books, mirror),
        resamples=resamples,
        seed=seed,
    )
    show_left_out(comparison.coverage)
    drawn: list[Path] = []
    if plots:
        from miner.lab.app.plots.comparison import draw_comparison
        from miner.lab.app.plots.evaluation import save_figures

        drawn = save_figures(draw_comparison(comparison), plots, force)
    if as_json:
        show_json(comparison.to_json())
        return
    show(tabulate_comparison(comparison))
    for note in comparison.notes:
        click.echo(note)
    for row in comparison.rows:
        click.echo(f"{row.name}: {row.scores.signature}")
    if plots:
        click.echo(f"wrote {', '.join(path.name for path in drawn)} in {plots}")
