"""`miner gold tasks`."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.books import mark_names, naming, one_book
from miner.app.cli.options import (
    books_option,
    force_option,
    mirror_option,
    out_option,
    quotes_option,
)


@click.command("tasks")
@click.argument("word", metavar="SOURCE")
@click.option(
    "--chapter",
    "chapters",
    type=click.IntRange(min=0),
    multiple=True,
    required=True,
    help="As the book's tags number them; may be given more than once.",
)
@out_option("File for the tasks (JSON).", required=True)
@quotes_option
@books_option
@mirror_option
@force_option
def command(
    word: str,
    chapters: tuple[int, ...],
    out: Path,
    quotes: str | None,
    books: Path | None,
    mirror: str | None,
    force: bool,
) -> None:
    """Write Label Studio tasks of chapters that nobody has annotated yet.

    Every quoted span is marked; who speaks, in which conversation, and what is no utterance is left
    to the annotator. The labeling interface is written beside, in a file ending in .xml.
    """
    from miner.annotation.label_studio import blank_tasks, tasks_file
    from miner.dialogue.read import read_spans

    with tasks_file(out, force) as write:
        source, data = one_book(word, books, mirror)
        with naming(word):
            book_spans = read_spans(data, source.id, mark_names(quotes))
        write(blank_tasks(book_spans, chapters))
