"""`miner build`: build a corpus from a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    OUTPUT,
    PATH,
    STDOUT,
    books_options,
    force_option,
    json_option,
    out_option,
    quiet_option,
    workers_option,
)
from miner.app.cli.terminal import (
    BuildBar,
    logging_to,
    open_console,
    show,
    show_json,
    show_note,
    show_set_aside,
)
from miner.corpus.ray_executor import ENGINES
from miner.errors import InputError
from miner.files import RUN_RECORD

_MOST_SHOWN = 10  # sources that are set aside


def _print_example(ctx: click.Context, option: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from miner.corpus.recipe import example_recipe

    click.echo(example_recipe(), nl=False)
    ctx.exit()


@click.command(cls=Command, short_help="Build a corpus of many books from a recipe.")
@click.argument("recipe", metavar="RECIPE", type=PATH)
@click.option(
    "--example",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_example,
    help="Print a recipe with every setting and a comment, to begin with.",
)
@out_option("Folder for the corpus; it must not exist yet.", required=True)
@books_options
@workers_option
@click.option(
    "--engine",
    type=click.Choice(list(ENGINES)),
    default="local",
    show_default=True,
    help="Where the work is done. "
    + "; ".join(f"{name}: {place}" for name, place in ENGINES.items())
    + ". The output does not depend on it.",
)
@click.option(
    "--resume", is_flag=True, help="Resume an interrupted build into OUT, if there is one."
)
@click.option(
    "--log",
    type=OUTPUT,
    metavar="FILE",
    help="Append to this file, with the time, a line for each book and each stage.",
)
@force_option
@quiet_option
@json_option
def build(
    recipe: Path,
    out: Path,
    workers: int,
    engine: str,
    log: Path | None,
    quiet: bool,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - those of `build_corpus`
) -> None:
    """Build a corpus from RECIPE into OUT.

    RECIPE is a TOML file; --example prints one to begin with. Sources that
    cannot be mined are set aside with the reason, and the others are built.

    \b
    FORMAT/           the dialogues in each format of the recipe, by split
    README.md         a dataset card: statistics, filters, how far to trust it
    figures/          plots of it, if the recipe asks for them
    books.jsonl       each book: its split, or why it was left out
    duplicates.jsonl  each dialogue that another book has: both dialogues
    recipe.toml       the recipe
    run.json          versions, settings, counts and digests of all files

    Two people with the same recipe and the same books get the same bytes.

    \b
    miner build --example > recipe.toml
    miner build recipe.toml -o corpus
    miner build recipe.toml -o corpus --workers 8 --log build.log --resume
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.app.tables import tabulate_account
    from miner.corpus.build import build_corpus
    from miner.corpus.ray_executor import find_executor
    from miner.corpus.recipe import read_recipe
    from miner.extras import import_extra

    if out == STDOUT:
        raise InputError("-o -: found standard output, expected a folder")
    draw = None
    if read_recipe(recipe).plots:
        import_extra("matplotlib", "plots")
        from miner.app.plots import draw_corpus as draw
    with logging_to(log), BuildBar(quiet or as_json) as bar:
        built = build_corpus(
            recipe,
            out,
            workers=workers,
            executor=find_executor(engine, workers, out),
            draw=draw,
            on_progress=bar.show_mining,
            on_stage=bar.show_stage,
            **options,
        )
    if as_json:
        show_json(built.record)
    elif not quiet:
        show(tabulate_account(built.account, open_console().width))
        click.echo(f"wrote {len(built.paths)} files in {out}")
    if leaks := built.record["books_that_share_text_over_splits"]:
        shared = "1 pair" if len(leaks) == 1 else f"{len(leaks):,} pairs"
        show_note(
            "warning",
            f"{shared} of books in two splits with text in common; {out / RUN_RECORD} names them",
        )
    if empty := built.record["empty_splits"]:
        show_note("warning", empty)
    if unused := built.record["unused_of_split_list"]:
        unknown = f"{len(unused):,} book{'' if len(unused) == 1 else 's'}"
        click.echo(f"the list of splits has {unknown} that the corpus lacks", err=True)
    show_set_aside(built.set_aside[:_MOST_SHOWN])
    if (n_more := len(built.set_aside) - _MOST_SHOWN) > 0:
        click.echo(f"{n_more:,} more are set aside; {out / RUN_RECORD} names them", err=True)
    # A play is set aside each time. A book that could not be read now may be there tomorrow.
    if not all(item.is_lasting for item in built.set_aside):
        raise SystemExit(1)
