"""`miner annotate`."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.books import mark_names, naming, one_book
from miner.app.cli.options import (
    books_option,
    mirror_option,
    out_option,
    quotes_option,
)


@click.command("annotate")
@click.argument("word", metavar="SOURCE")
@click.option(
    "--chapter",
    type=click.IntRange(min=0),
    required=True,
    help="As the book's tags number them.",
)
@out_option(
    "File of annotations (JSON Lines), as in annotations/gold; continued if it is there.", True
)
@click.option(
    "--tagger",
    help="What guesses, to confirm or correct: gap, tuned-gap, narration, or the path of a tags "
    "file or of a checkpoint. Without it nothing is guessed.",
)
@quotes_option
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Where to listen on this machine; 0 for any port that is free.",
)
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
@books_option
@mirror_option
def command(
    word: str,
    chapter: int,
    out: Path,
    tagger: str | None,
    quotes: str | None,
    port: int,
    no_open: bool,
    books: Path | None,
    mirror: str | None,
) -> None:
    """Annotate a chapter by hand, on a page in the browser.

    For every quoted span, say who speaks and in which conversation, or that it is no utterance; the
    tags follow from that. Each answer is saved at once, to a file without any text of the book. The
    page is served to this machine only, until it says that it is done, or until Ctrl-C.

    \b
    miner annotate 1342 --chapter 3 -o 1342.jsonl
    miner annotate 1342 --chapter 3 -o 1342.jsonl --tagger CHECKPOINT   the unsure ones first
    """  # noqa: D301 - click's mark for lines that are to stay as they are
    from miner.app.annotator.server import AnnotationServer
    from miner.app.annotator.sheet_file import SheetFile
    from miner.dialogue.read import read_spans
    from miner.models.load import load_tagger

    loaded = load_tagger(tagger) if tagger else None
    source, data = one_book(word, books, mirror)
    with naming(word):
        book_spans = read_spans(data, source.id, mark_names(quotes))
    tagged = loaded.tag(book_spans) if loaded else ()
    sheet_file = SheetFile(out, book_spans, chapter, tagged)
    server = AnnotationServer(sheet_file, port)
    for lost in sheet_file.current().sheet.lost:
        click.echo(f"found on no span, kept: paragraph {lost.paragraph}, {lost.fingerprint}")
    click.echo(server.url)
    if not no_open:
        server.open_browser()
    server.run()
    sheet = sheet_file.current().sheet
    click.echo(f"{out}: chapter {chapter}, {sheet.n_decided} of {len(sheet.spans)} spans saved")
