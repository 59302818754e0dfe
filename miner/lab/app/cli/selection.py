"""`miner selection`: train methods of response selection, and score them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from miner.app.cli.command import CommandGroup
from miner.app.cli.options import OUTPUT, PATH, force_option, json_option, together
from miner.app.cli.terminal import CountBar, open_console, show, show_json, show_result
from miner.lab.app.cli.options import (
    SOURCE,
    language_option,
    open_source,
    reader_options,
    source_argument,
    source_split_option,
)
from miner.lab.app.cli.training import KindGroup, Trainer, train_command

if TYPE_CHECKING:
    from miner.lab.lessons.selection.comparison import MethodComparison


@click.group(cls=CommandGroup)
def selection() -> None:
    """Measure what dialogues teach: find the true response.

    A method learns from pairs of a context and its response. It is judged by how often it finds the
    true response among others, as in "A Repository of Conversational Datasets" and "The Ubuntu
    Dialogue Corpus". Train one method on what two miners mined, and score both on the same pairs.

    \b
    SOURCE is
      a folder of pairs    the output of `miner mine` or `miner build`, in any
                           format, or a folder in it
      a file of pairs      CSV, TSV, JSON Lines or Parquet with columns context
                           and response, perhaps history, book and chapter
      annotations          the true turns of the annotated books (--books)
      the folder of MCN    the labels of "Mining Conversations from Novels"
      one with its split   corpus:train, annotations:dev+test, corpus:all

    \b
    miner selection train tf-idf corpus -o tf-idf          learn from a corpus
    miner selection score tf-idf corpus                    on its split test, if any
    miner selection compare tf-idf bm25 --on annotations   side by side
    """  # noqa: D301 - click keeps the lines of a paragraph after \b


_HELP = """{about}.

It learns from the pairs of SOURCE and writes a folder: the method, its card (README.md), what it
was trained on (method.json), and the curve of its training (curve.jsonl). What a SOURCE is, `miner
selection --help` says.

\b
miner selection train {name} corpus -o {folder}
"""


def _describe() -> dict[str, str]:
    from miner.lab.lessons.selection.methods import describe_methods

    return describe_methods()


def _command_of(name: str) -> click.Command:
    """Returns the command that trains a method, with the options of the method last."""
    from miner.lab.lessons.selection.methods import find_method

    help = _HELP.format(about=_describe()[name], name=name, folder=name.replace("-", ""))
    return train_command(find_method(name), _trainer, "method", 0, help)


def _trainer() -> Trainer:
    from miner.lab.app.tables.lessons import describe_method_step, describe_method_training
    from miner.lab.lessons.selection.training import read_curve, train_method

    return Trainer(train_method, describe_method_step, describe_method_training, read_curve)


@selection.group(
    cls=KindGroup,
    noun="method",
    describe=_describe,
    command_of=_command_of,
    subcommand_metavar="METHOD SOURCE -o OUT [OPTIONS]",
)
def train() -> None:
    """Train a method.

    `miner selection train METHOD --help` has the options of a method. METHOD is one of those below.

    \b
    miner selection train tf-idf corpus -o tf-idf
    miner selection train bm25 pairs.csv --most-pairs 10000 -o bm25
    miner selection train tf-idf mined --without-books-of annotations:dev+test -o b
    """  # noqa: D301 - click keeps the lines of a paragraph after \b


# The defaults are those of `Scoring`, which is imported when a command runs.
scoring_options = together(
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
    click.option(
        "--show",
        "n_shown",
        type=click.IntRange(0, 100),
        default=0,
        metavar="N",
        help="Print N contexts with what each method ranks first among 100 responses.",
    ),
)


@selection.command()
@click.argument("folder", metavar="METHOD", type=PATH)
@source_argument
@source_split_option
@scoring_options
@language_option()
@reader_options
@json_option
def score(
    folder: Path,
    source: str,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - those of the source and of the scoring
) -> None:
    """Score a trained METHOD on the pairs of SOURCE.

    METHOD is a folder of `miner selection train`. Each score is the share of contexts whose true
    response it ranks first, or among the first k, with a 95% interval over books. A book that the
    method was trained on is refused.

    \b
    miner selection score tfidf corpus
    miner selection score tfidf annotations --books BOOKS
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.lab.app.tables.lessons import tabulate_method_scores

    compared = _compare_folders((folder,), source, quiet=as_json, **options)
    shown = tabulate_method_scores(compared, open_console().width)
    show_result(shown, compared.to_json(), as_json)


@selection.command()
@click.argument("folders", metavar="METHOD...", nargs=-1, required=True, type=PATH)
@click.option(
    "--on",
    "source",
    type=SOURCE,
    required=True,
    metavar="SOURCE",
    help="The pairs that are scored, of books that no METHOD was trained on.",
)
@source_split_option
@scoring_options
@click.option(
    "--papers", is_flag=True, help="Print the figures that the papers have for their data, too."
)
@click.option("--plots", type=OUTPUT, help="Folder for plots of the comparison (PNG).")
@language_option()
@reader_options
@force_option
@json_option
def compare(
    folders: tuple[Path, ...],
    source: str,
    papers: bool,
    plots: Path | None,
    force: bool,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - those of the source and of the scoring
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
    from miner.extras import import_extra
    from miner.files import refuse_existing
    from miner.lab.app.tables.lessons import tabulate_methods, tabulate_published_methods
    from miner.lab.lessons.papers import SELECTION

    if plots:
        import_extra("matplotlib", "plots")
        refuse_existing(plots, force)
    compared = _compare_folders(folders, source, quiet=as_json, **options)
    drawn: list[Path] = []
    if plots:
        from miner.lab.app.plots.evaluation import save_figures
        from miner.lab.app.plots.selection import draw_selection

        drawn = save_figures(draw_selection(compared), plots, force)
    if as_json:
        published = {"papers": [asdict(table) for table in SELECTION]} if papers else {}
        show_json(compared.to_json() | published)
        return
    width = open_console().width
    show(tabulate_methods(compared, width))
    if papers:
        click.echo()
        show(tabulate_published_methods(SELECTION, width))
    if plots:
        click.echo(f"wrote {', '.join(path.name for path in drawn)} in {plots}")


def _compare_folders(
    folders: Sequence[Path],
    source: str,
    *,
    split: str | None,
    language: str,
    read: Any,  # noqa: ANN401 - of `reader_options`
    n_shown: int,
    quiet: bool,
    **scoring: Any,  # noqa: ANN401 - the fields of `Scoring`
) -> MethodComparison:
    """Returns the scores of methods on a source, and shows a bar meanwhile."""
    from miner.lab.lessons.selection.comparison import compare_methods, read_records
    from miner.lab.lessons.selection.scoring import Scoring

    read_records(folders)  # before the source, which may take long
    found = open_source(source, split, "test", language, read)
    with CountBar("scoring", quiet) as bar:
        return compare_methods(
            folders,
            found,
            Scoring(**scoring),
            n_shown=n_shown,
            begin=lambda name: bar.rename(f"scoring {name}"),
            progress=bar.show,
        )
