"""What commands show on the terminal: tables, JSON, a progress bar."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from miner.app.tables.layout import Shown
    from miner.books.sources import Missing, Source
    from miner.corpus.mined_book import MinedBook
    from miner.corpus.pipeline import SetAside


@contextmanager
def show_progress(
    sources: Iterable[Source | Missing], quiet: bool
) -> Iterator[Callable[[MinedBook | SetAside], None]]:
    """Shows a bar on stderr with books, words and remaining time; yields what advances it.

    There is no bar for fewer than two books, if `quiet`, or if stderr is no terminal.
    """
    total = len(list(sources))
    if quiet or total < 2 or not sys.stderr.isatty():
        yield lambda result: None
        return
    from rich import progress
    from rich.console import Console

    from miner.corpus.pipeline import SetAside

    bar = progress.Progress(
        progress.TextColumn("mining"),
        progress.BarColumn(bar_width=20),
        progress.MofNCompleteColumn(),
        progress.TextColumn("books, {task.fields[words]:,} words"),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("mining", total=total, words=0)
        n_words = 0

        def on_book(result: MinedBook | SetAside) -> None:
            nonlocal n_words
            n_words += 0 if isinstance(result, SetAside) else result.n_words
            bar.update(task, advance=1, words=n_words)

        yield on_book


def open_console() -> Console:
    """Returns the console of standard output; in a pipe it is as wide as the tables need."""
    from rich.console import Console

    # Titles and file names are shown as they are, with their square brackets and colons.
    width = None if sys.stdout.isatty() else 160
    return Console(width=width, highlight=False, markup=False, emoji=False)


def show(shown: Iterable[Shown]) -> None:
    """Prints lines of text, and tables with an empty line after each."""
    console = open_console()
    for item in shown:
        console.print(item, soft_wrap=isinstance(item, str))
        if not isinstance(item, str):
            console.print()


def show_warnings(name: str, warnings: Iterable[str]) -> None:
    """Prints what is doubtful in a book to stderr, one line each."""
    for warning in warnings:
        click.echo(f"{click.style('warning', fg='yellow')}: {name}: {warning}", err=True)


def show_json(record: object) -> None:
    """Prints a record as JSON."""
    click.echo(json.dumps(record, ensure_ascii=False, indent=2))
