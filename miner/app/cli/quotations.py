"""`miner quotations`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from miner.app.cli.books import book_reader
from miner.app.cli.options import (
    PATH,
    books_option,
    json_option,
    mirror_option,
    quiet_option,
)
from miner.app.cli.terminal import console, show


@click.command("quotations")
@click.option("--pdnc", type=PATH, required=True, help="Folder of the corpus, with its index.")
@books_option
@mirror_option
@quiet_option
@json_option
def command(pdnc: Path, books: Path | None, mirror: str | None, quiet: bool, as_json: bool) -> None:
    """Score the finding of quotations against the Project Dialogism Novel Corpus.

    Each novel is parsed from its Gutenberg file and aligned with the corpus by its letters. Two
    simple rules on the corpus's own text stand beside ours. The corpus counts thoughts in quotation
    marks, so they count here.
    """
    from miner.app.tables import quotation_tables
    from miner.evaluation.quotations import score_corpus

    scores = score_corpus(pdnc, book_reader(books, mirror))
    if as_json:
        record = [score.to_json() for score in scores]
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
    elif not quiet:
        show(quotation_tables(scores, console().width))
