"""`miner gold tasks`: write Label Studio tasks."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    books_option,
    force_option,
    mirror_option,
    out_option,
    quotes_option,
    source_argument,
)


@click.command("tasks", cls=Command)
@source_argument
@click.option(
    "--chapter",
    "chapters",
    type=click.IntRange(min=0),
    multiple=True,
    required=True,
    help="Number of a chapter, as in the output of `miner tag`; may be repeated.",
)
@out_option("File for the tasks (JSON).", required=True)
@quotes_option
@books_option
@mirror_option
@force_option
def command(
    source: str,
    chapters: tuple[int, ...],
    out: Path,
    quotes: tuple[str, ...],
    books: Path | None,
    mirror: str | None,
    force: bool,
) -> None:
    """Write Label Studio tasks for new chapters.

    Every quoted span is marked. The annotator decides who speaks in which conversation, or that the
    span is no utterance. The labeling interface is written beside the tasks, with the ending .xml.

    \b
    miner gold tasks sample --chapter 2 -o tasks.json
    miner gold tasks 1342 --chapter 3 --chapter 4 -o 1342.json
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.corpus.reading import read_spans
    from miner.lab.gold.export.label_studio import tasks_file, tasks_from_spans

    with tasks_file(out, force) as write:
        book_spans = read_spans(source, quotes=quotes, books=books, mirror=mirror)
        write(tasks_from_spans(book_spans, chapters))
