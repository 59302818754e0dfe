"""`miner catalog`: find books in Gutenberg's own catalogue; and its options, for other commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from miner.app.cli.command import Command
from miner.app.cli.options import as_one, json_option
from miner.app.cli.terminal import open_console, show, show_json, show_left_out
from miner.errors import InputError

if TYPE_CHECKING:
    from miner.books.catalog import CatalogQuery


class NumberRange(click.ParamType):
    """A range of numbers: "100-200", "100-", "-200" or "84"."""

    name = "range"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int | None]:
        """The first and the last number."""
        from miner.books.catalog import numbers_from_text

        try:
            return numbers_from_text(value)
        except InputError as error:
            self.fail(str(error).removeprefix("numbers: "), param, ctx)


def _query(
    language: tuple[str, ...],
    author: tuple[str, ...],
    title: tuple[str, ...],
    subject: tuple[str, ...],
    bookshelf: tuple[str, ...],
    locc: tuple[str, ...],
    numbers: tuple[int, int | None] | None,
    limit: int | None,
) -> CatalogQuery | None:
    """The query of the options, or None where none is given."""
    chosen = (language, author, title, subject, bookshelf, locc)
    if not any(chosen) and numbers is None and limit is None:
        return None
    from miner.books.catalog import CatalogQuery

    first, last = numbers or (1, None)
    return CatalogQuery(*chosen, first=first, last=last, limit=limit)


def _several(name: str, metavar: str, help: str) -> Any:  # noqa: ANN401 - as click decorates
    return click.option(f"--{name}", multiple=True, metavar=metavar, help=help)


_WORDS = "all of these words, in any order"
query_options = as_one(
    "query",
    _query,
    _several("language", "CODE", "Texts in this language, perhaps among others: en, de."),
    _several("author", "WORDS", f"Texts of an author whose name has {_WORDS}."),
    _several("title", "WORDS", f"Texts whose title has {_WORDS}."),
    _several(
        "subject", "WORDS", f"Texts whose subjects have {_WORDS}: fiction, 'fiction england'."
    ),
    _several("bookshelf", "WORDS", f"Texts whose bookshelves have {_WORDS}: 'science fiction'."),
    _several(
        "locc", "CLASS", "Texts in this class of the Library of Congress, or in one below it: PR."
    ),
    click.option(
        "--numbers", type=NumberRange(), metavar="RANGE", help="Texts 100-200, 100- or -200."
    ),
    click.option(
        "--limit",
        type=click.IntRange(min=1),
        metavar="N",
        help="No more than N texts, those with the lowest numbers.",
    ),
)


@click.command(cls=Command)
@query_options
@click.option("--ids", "as_ids", is_flag=True, help="Print the numbers only, one a line.")
@json_option
@click.option(
    "--refresh",
    is_flag=True,
    help="Download the catalogue anew; Gutenberg renews it once a week. If that fails, the old one "
    "stays.",
)
def catalog(query: CatalogQuery | None, as_ids: bool, as_json: bool, refresh: bool) -> None:
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
    from miner.app.tables import tabulate_catalog_languages, tabulate_texts
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
            show(tabulate_catalog_languages(counts))
        else:
            show(tabulate_texts(result, open_console().width))
        n = len(result.entries)
        of = f"{result.path.name} of {day_of(result.path)}"
        click.echo(f"{n:,} text{'s' * (n > 1)} of {result.n_searched:,} entries in {of}")
    show_left_out(result.describe_left_out())
