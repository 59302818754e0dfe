"""`miner view`: show a book as a page with its conversations."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    PATH,
    TAGGERS,
    TaggerOption,
    books_option,
    characters_option,
    dtype_option,
    force_option,
    mirror_option,
    out_option,
    quiet_option,
    quotes_option,
    source_argument,
)


@click.command("view", cls=Command)
@source_argument
@click.option(
    "--tagger",
    "taggers",
    cls=TaggerOption,
    multiple=True,
    default=("auto",),
    show_default=True,
    help=f"A layer of the page, may be repeated: {TAGGERS}",
)
@dtype_option
@click.option(
    "--gold",
    type=PATH,
    help="Folder of annotations: the first layer, against which the others are scored.",
)
@quotes_option
@characters_option
@out_option("HTML file to write.", required=True)
@books_option
@mirror_option
@force_option
@quiet_option
def command(
    source: str,
    taggers: tuple[str, ...],
    dtype: str,
    gold: Path | None,
    quotes: tuple[str, ...],
    characters: Path | None,
    out: Path,
    books: Path | None,
    mirror: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Show a book as a page: its conversations and who speaks.

    The page is one HTML file that needs no network. Utterances are marked by turn and speaker, and
    brackets in the margin mark conversations. Each tagger is a layer, and so is the gold. Keys 1 to
    9 switch between layers, b shows two side by side, d goes to the next difference between them, w
    lists the cast, / finds words, l copies a link to a conversation, and ? lists the other keys.

    \b
    miner view sample -o sample.html
    miner view sample --gold annotations --tagger gap --tagger auto -o sample.html
    miner view 1342 --tagger auto --tagger gap:300 -o 1342.html
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.app.viewer.view import view_html
    from miner.files import refuse_existing, whole_file

    refuse_existing(out, force)
    page = view_html(
        source,
        taggers=taggers,
        gold=gold,
        quotes=quotes,
        books=books,
        mirror=mirror,
        dtype=dtype,
        characters=characters,
    )
    with whole_file(out, force) as file:
        file.write(page)
    if not quiet:
        click.echo(f"wrote {out}")
