"""`miner profile`: show how a book marks speech."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.books import naming_book, open_book
from miner.app.cli.options import (
    books_option,
    json_option,
    mirror_option,
)
from miner.app.cli.terminal import show, show_json


@click.command("profile")
@click.argument("word", metavar="SOURCE")
@books_option
@mirror_option
@json_option
def command(word: str, books: Path | None, mirror: str | None, as_json: bool) -> None:
    """Show how a book marks speech, and the evidence for it.

    Each paragraph votes for the marks that open its first speech. The option --quotes of the other
    commands overrules the result.
    """
    from miner.app.tables.mining import typography_tables
    from miner.books.book import parse_book
    from miner.dialogue.typography import infer_typography

    source, data = open_book(word, books, mirror)
    with naming_book(word):
        typography = infer_typography(parse_book(data, source.id))
    if as_json:
        evidence = dict(typography.evidence)
        record = {"book": source.id, "language": typography.language, "marks": typography.names}
        record |= {"confidence": typography.confidence, "evidence": evidence}
        show_json(record)
    else:
        show(typography_tables(source.id, typography))
