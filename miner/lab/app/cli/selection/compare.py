"""`miner selection compare`: score several trained methods on the same pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    OUTPUT,
    PATH,
    books_option,
    force_option,
    json_option,
    language_option,
    mirror_option,
)
from miner.app.cli.terminal import CountBar, open_console, show, show_json
from miner.lab.app.cli.sources import SourceName, open_source, split_option

if TYPE_CHECKING:
    from miner.lab.lessons.selection.comparison import MethodComparison

# The defaults are those of `Scoring`, which is imported when a command runs.
_SCORING = (
    click.option(
        "--most-examples",
        type=click.IntRange(min=100),
        default=50_000,
        show_default=True,
        metavar="N",
        help="Score N examples of a source that has more, drawn by chance.",
    ),
    click.option(
        "--shuffles",
        type=click.IntRange(min=1),
        default=10,
        show_default=True,
        metavar="N",
        help="Draw the false responses so often; a score is the mean.",
    ),
    click.option(
        "--resamples",
        type=click.IntRange(min=1),
        default=1000,
        show_default=True,
        metavar="N",
        help="Draws of books for the 95% intervals.",
    ),
    click.option(
        "--harder",
        is_flag=True,
        help="Score 1 in 10 with false responses of the same chapter, and with those most like "
        "the true one, too.",
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Random seed of all that is drawn."
    ),
)


def scoring_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options of a scoring, and --show."""
    shown = click.option(
        "--show",
        "n_shown",
        type=click.IntRange(0, 100),
        default=0,
        metavar="N",
        help="Print N contexts with what each method ranks first among 100 responses.",
    )
    for option in reversed((*_SCORING, shown)):
        command = option(command)
    return command


@click.command("compare", cls=Command)
@click.argument("folders", metavar="METHOD...", nargs=-1, required=True, type=PATH)
@click.option(
    "--on",
    "source",
    type=SourceName(),
    required=True,
    metavar="SOURCE",
    help="The pairs that are scored, of books that no METHOD was trained on.",
)
@split_option
@scoring_options
@click.option(
    "--papers", is_flag=True, help="Print the figures that the papers have for their data, too."
)
@click.option("--plots", type=OUTPUT, help="Folder for plots of the comparison (PNG).")
@language_option()
@books_option
@mirror_option
@force_option
@json_option
def command(
    folders: tuple[Path, ...],
    source: str,
    papers: bool,
    plots: Path | None,
    force: bool,
    as_json: bool,
    **values: Any,  # noqa: ANN401 - the values of shared options
) -> None:
    """Score several trained methods on the same pairs.

    Each METHOD is a folder of `miner selection train`. The table has the methods and the tasks,
    with 95% intervals over books, and a line says exactly what was scored. A book that a method was
    trained on is refused. --plots draws the scores, the curves of the trainings, and, if methods of
    one kind were trained on several numbers of pairs, the scores by that number.

    \b
    miner selection compare tfidf bm25 --on corpus
    miner selection compare runs/* --on annotations --books BOOKS --plots plots
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from dataclasses import asdict

    from miner.extras import import_extra
    from miner.files import refuse_existing
    from miner.lab.app.tables.selection import tabulate_comparison, tabulate_published
    from miner.lab.lessons.papers import SELECTION

    if plots:
        import_extra("matplotlib", "plots")
        refuse_existing(plots, force)
    compared = compare_folders(folders, source, quiet=as_json, **values)
    drawn: list[Path] = []
    if plots:
        from miner.lab.app.plots.evaluation import save_figures
        from miner.lab.app.plots.selection import draw_selection

        drawn = save_figures(draw_selection(compared), plots, force)
    if as_json:
        published = {"papers": [asdict(table) for table in SELECTION]} if papers else {}
        show_json(compared.to_json() | published)
        return
    show(tabulate_comparison(compared, open_console().width))
    if papers:
        click.echo()
        show(tabulate_published(SELECTION, open_console().width))
    if plots:
        click.echo(f"wrote {', '.join(path.name for path in drawn)} in {plots}")


def compare_folders(
    folders: Sequence[Path],
    source: str,
    *,
    split: str | None,
    language: str,
    books: Path | None,
    mirror: str | None,
    n_shown: int,
    quiet: bool,
    **scoring: Any,  # noqa: ANN401 - the fields of `Scoring`
) -> MethodComparison:
    """Returns the scores of methods on a source, and shows a bar meanwhile."""
    from miner.lab.lessons.selection.comparison import compare_methods, read_records
    from miner.lab.lessons.selection.scoring import Scoring

    read_records(folders)  # before the source, which may take long
    found = open_source(source, split, "test", language, books, mirror)
    with CountBar("scoring", quiet) as bar:
        return compare_methods(
            folders,
            found,
            Scoring(**scoring),
            n_shown=n_shown,
            begin=lambda name: bar.rename(f"scoring {name}"),
            progress=bar.show,
        )
