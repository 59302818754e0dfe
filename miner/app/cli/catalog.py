"""`miner catalog`: find books in Gutenberg's own catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from miner.app.cli.command import Command
from miner.app.cli.options import json_option
from miner.app.cli.query import query_options, show_left_out
from miner.app.cli.terminal import open_console, show, show_json

if TYPE_CHECKING:
    from miner.books.catalog import CatalogQuery


@click.command("catalog", cls=Command)
@query_options
@click.option("--ids", "as_ids", is_flag=True, help="Print the numbers only, one a line.")
@json_option
@click.option(
    "--refresh",
    is_flag=True,
    help="Download the catalogue anew; Gutenberg renews it once a week. If that fails, the old one "
    "stays.",
)
def command(query: CatalogQuery | None, as_ids: bool, as_json: bool, refresh: bool) -> None:
    """Find books in Gutenberg's own catalogue.

    The catalogue is downloaded once and kept; MINER_CATALOG may name a file of it. Without options,
    the texts are counted by language. A text must fit every option that is given. An option may be
    repeated: then one of its values is enough. Words are whole; case and accents do not count. Only
    texts are found, no recordings, pictures and data. The same options choose books for `miner
    mine`.

    \b
    miner catalog --language de --subject fiction
    miner catalog --author "jane austen" --ids
    miner catalog --locc PR --numbers 1-2000 --json
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.app.tables.catalog import tabulate_languages, tabulate_texts
    from miner.books.catalog import CatalogQuery, day_of, refresh_catalog
    from miner.books.catalog_search import count_languages, find_texts

    if as_ids and as_json:
        raise click.UsageError("found --ids and --json, expected one of them")
    path = refresh_catalog() if refresh else None
    result = find_texts(query or CatalogQuery(), path)
    counts = None if query else count_languages(result.entries)
    if as_ids:
        click.echo("\n".join(result.ids))
    elif as_json:
        show_json(result.record() | {"languages": counts} if counts else result.to_json())
    else:
        if counts:
            show(tabulate_languages(counts))
        else:
            show(tabulate_texts(result, open_console().width))
        n = len(result.entries)
        of = f"{result.path.name} of {day_of(result.path)}"
        click.echo(f"{n:,} text{'s' * (n > 1)} of {result.n_searched:,} entries in {of}")
    show_left_out(result)
