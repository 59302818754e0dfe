"""`miner profile`: show how a book marks speech."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    books_option,
    json_option,
    mirror_option,
    source_argument,
)
from miner.app.cli.terminal import show, show_json, show_warnings


@click.command("profile", cls=Command)
@source_argument
@books_option
@mirror_option
@json_option
def command(source: str, books: Path | None, mirror: str | None, as_json: bool) -> None:
    """Show how a book marks speech, and the evidence for it.

    Each paragraph votes for the marks that open its first speech. The option --quotes of the other
    commands overrules the result.

    \b
    miner profile sample
    miner profile 1342 --json
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.app.tables.mining import tabulate_typography
    from miner.corpus.reading import read_book
    from miner.speech.typography import infer_typography

    book = read_book(source, books=books, mirror=mirror)
    typography = infer_typography(book)
    show_warnings(book.id, book.warnings)
    if as_json:
        evidence = dict(typography.evidence)
        record = {"book": book.id, "language": typography.language, "marks": typography.names}
        record |= {"confidence": typography.confidence, "evidence": evidence}
        show_json(record)
    else:
        show(tabulate_typography(book.id, typography))
