"""What a command shows on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from miner.app.tables import Shown
    from miner.books.sources import Missing, Source
    from miner.corpus.mined_book import MinedBook
    from miner.corpus.pipeline import SetAside


@contextmanager
def progress(
    sources: Iterable[Source | Missing], quiet: bool
) -> Iterator[Callable[[MinedBook | SetAside], None]]:
    """A bar with books, words and an estimate, on stderr, where somebody is looking."""
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


def console() -> Console:
    """Standard output; a pipe gets as many columns as the tables need."""
    from rich.console import Console

    # Titles and file names are shown as they are, square brackets and colons included.
    width = None if sys.stdout.isatty() else 160
    return Console(width=width, highlight=False, markup=False, emoji=False)


def show(shown: Iterable[Shown]) -> None:
    """Prints tables with an empty line after each, and lines of text as they are."""
    terminal = console()
    for item in shown:
        terminal.print(item, soft_wrap=isinstance(item, str))
        if not isinstance(item, str):
            terminal.print()
