"""The options of a query in Gutenberg's catalogue, and what a query left out."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from miner.errors import InputError

if TYPE_CHECKING:
    from miner.books.catalog import CatalogQuery
    from miner.books.catalog_search import CatalogResult


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


_WORDS = "all of these words, in any order"
_SEVERAL = {
    "language": ("CODE", "Texts in this language, perhaps among others: en, de."),
    "author": ("WORDS", f"Texts of an author whose name has {_WORDS}."),
    "title": ("WORDS", f"Texts whose title has {_WORDS}."),
    "subject": ("WORDS", f"Texts whose subjects have {_WORDS}: fiction, 'fiction england'."),
    "bookshelf": ("WORDS", f"Texts whose bookshelves have {_WORDS}: 'science fiction'."),
    "locc": ("CLASS", "Texts in this class of the Library of Congress, or in one below it: PR."),
}


def query_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options of a query. It gets a `CatalogQuery` or None as `query`."""

    @wraps(command)
    def with_query(*args: Any, numbers: Any, limit: Any, **values: Any) -> Any:  # noqa: ANN401
        given = {name: values.pop(name) for name in _SEVERAL}
        query = _query(given, numbers, limit)
        return command(*args, query=query, **values)

    options = [
        click.option(f"--{name}", name, multiple=True, metavar=metavar, help=help)
        for name, (metavar, help) in _SEVERAL.items()
    ]
    options += [
        click.option(
            "--numbers", type=NumberRange(), metavar="RANGE", help="Texts 100-200, 100- or -200."
        ),
        click.option(
            "--limit",
            type=click.IntRange(min=1),
            metavar="N",
            help="No more than N texts, those with the lowest numbers.",
        ),
    ]
    decorated = with_query
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


def _query(
    given: dict[str, tuple[str, ...]], numbers: tuple[int, int | None] | None, limit: int | None
) -> CatalogQuery | None:
    """The query of the options, or None where none is given."""
    if not any(given.values()) and numbers is None and limit is None:
        return None
    from miner.books.catalog import CatalogQuery

    first, last = numbers or (1, None)
    return CatalogQuery(**given, first=first, last=last, limit=limit)


def show_left_out(result: CatalogResult) -> None:
    """Prints a line for each reason why entries are left out, to stderr."""
    for line in result.describe_left_out():
        click.echo(f"{click.style('left out', fg='yellow')}: {line}", err=True)
