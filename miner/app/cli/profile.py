"""`miner profile`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from miner.app.cli.books import naming, one_book
from miner.app.cli.options import (
    books_option,
    json_option,
    mirror_option,
)
from miner.app.cli.terminal import show


@click.command("profile")
@click.argument("word", metavar="SOURCE")
@books_option
@mirror_option
@json_option
def command(word: str, books: Path | None, mirror: str | None, as_json: bool) -> None:
    """Show how a book marks speech, and the evidence for it.

    Each paragraph votes for the marks that open its first stretch of speech. What is printed can
    be overruled with --quotes in the other commands.
    """
    from miner.app.tables import typography_tables
    from miner.books.book import parse_book
    from miner.dialogue.typography import infer_typography

    source, data = one_book(word, books, mirror)
    with naming(word):
        typography = infer_typography(parse_book(data, source.id))
    if as_json:
        evidence = dict(typography.evidence)
        record = {"book": source.id, "language": typography.language, "marks": typography.names}
        record |= {"confidence": typography.confidence, "evidence": evidence}
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
    else:
        show(typography_tables(source.id, typography))
