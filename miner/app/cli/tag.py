"""`miner tag`: tag every span of a book."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    STDOUT,
    books_option,
    characters_option,
    dtype_option,
    force_option,
    mirror_option,
    out_option,
    quotes_option,
    source_argument,
    tagger_option,
)
from miner.app.cli.terminal import show_warnings


@click.command("tag", cls=Command)
@source_argument
@tagger_option
@dtype_option
@quotes_option
@characters_option
@out_option("File for the tags (JSON Lines). Without it, or with -, they are printed.")
@books_option
@mirror_option
@force_option
def command(
    source: str,
    tagger: str,
    dtype: str,
    quotes: tuple[str, ...],
    characters: Path | None,
    out: Path | None,
    books: Path | None,
    mirror: str | None,
    force: bool,
) -> None:
    """Tag every span of a book; each span is one JSON row.

    B-START begins a conversation and its first turn, I-START continues that turn, B-OTHER begins
    the turn of another speaker, I-OTHER continues it, and O is narration. Quoted text that is no
    speech is narration with "quoted": true.

    \b
    miner tag sample -o sample.tags
    miner mine sample --tagger sample.tags -o mined   after correcting the file
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.corpus.reading import read_spans
    from miner.files import json_line, refuse_existing, whole_file
    from miner.people.character_files import NO_CHARACTERS, open_characters
    from miner.speech.tag_files import row_from_span
    from miner.tagger.load import load_tagger

    if out == STDOUT:
        out = None
    if out:
        refuse_existing(out, force)
    given = None if characters is None else open_characters(characters)
    loaded = load_tagger(tagger, dtype, NO_CHARACTERS if given is None else given)
    book_spans = read_spans(source, quotes=quotes, books=books, mirror=mirror)
    id = book_spans.book.id
    if given is not None:
        given.refuse_others([id])
    show_warnings(id, book_spans.book.warnings)
    tagged = loaded.tag(book_spans)
    if given is not None and all(item.speaker is None for item in tagged):
        show_warnings(id, [f"the tagger {tagger} names no speakers: --characters changed nothing"])
    rows = [json_line(row_from_span(id, item)) for item in tagged]
    if out is None:
        click.echo(b"".join(rows), nl=False)
    else:
        with whole_file(out, force) as file:
            file.write(b"".join(rows))
