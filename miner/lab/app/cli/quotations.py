"""`miner quotations`: score the quotations that are found against PDNC."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    PATH,
    books_option,
    json_option,
    mirror_option,
    quiet_option,
)
from miner.app.cli.terminal import open_console, show, show_json
from miner.lab.app.cli.books import book_reader, show_left_out


@click.command("quotations", cls=Command)
@click.option("--pdnc", type=PATH, required=True, help="Folder of the corpus, with its index file.")
@books_option
@mirror_option
@quiet_option
@json_option
def command(pdnc: Path, books: Path | None, mirror: str | None, quiet: bool, as_json: bool) -> None:
    """Score the quotations that are found against a corpus.

    The corpus is the Project Dialogism Novel Corpus (PDNC). Each novel is read from its Gutenberg
    file and aligned with the corpus by its letters. The table also has the scores of two simple
    rules on the corpus's own text. Thoughts in quotation marks count as quotations, because the
    corpus counts them.

    \b
    miner quotations --pdnc PDNC                the books are downloaded
    miner quotations --pdnc PDNC --books DIR    those in DIR are not
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.lab.app.tables.scores import tabulate_quotations
    from miner.lab.measure.quotations import score_corpus

    scored = score_corpus(pdnc, book_reader(books, mirror))
    show_left_out(scored.coverage)
    if as_json:
        show_json(scored.to_json())
    elif not quiet:
        show(tabulate_quotations(scored, open_console().width))
