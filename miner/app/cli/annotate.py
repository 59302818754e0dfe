"""`miner annotate`: annotate a chapter by hand, in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.errors import one_line
from miner.app.cli.options import (
    TAGGERS,
    TaggerOption,
    books_option,
    dtype_option,
    mirror_option,
    out_option,
    quotes_option,
    source_argument,
)
from miner.app.cli.terminal import show_warnings


@click.command("annotate", cls=Command)
@source_argument
@click.option(
    "--chapter",
    type=click.IntRange(min=0),
    help="Number of the chapter, as in the output of `miner tag`. Without it, the page lists the "
    "chapters and how far each is done.",
)
@out_option(
    "File of annotations (JSON Lines), as in annotations/gold; continued if it exists.", True
)
@click.option(
    "--tagger",
    cls=TaggerOption,
    help=f"Makes guesses to confirm or correct: {TAGGERS} Without it there are no guesses.",
)
@dtype_option
@quotes_option
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port on this machine; 0 for any free port.",
)
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
@books_option
@mirror_option
def command(
    source: str,
    chapter: int | None,
    out: Path,
    tagger: str | None,
    dtype: str,
    quotes: tuple[str, ...],
    port: int,
    no_open: bool,
    books: Path | None,
    mirror: str | None,
) -> None:
    """Annotate chapters by hand, on a page in the browser.

    For each quoted span, say who speaks in which conversation, or that it is no utterance. The tags
    are derived from these answers. Each answer is saved at once, to a file that holds no text of
    the book. The page is served to this machine only, until you end it there or press Ctrl-C.

    \b
    miner annotate 1342 -o 1342.jsonl                 a list of chapters to choose from
    miner annotate 1342 -o 1342.jsonl --chapter 3     opens chapter 3
    miner annotate 1342 -o 1342.jsonl --tagger auto   with guesses, unsure ones first
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.extras import import_extra

    import_extra("flask", "annotate")
    from miner.app.annotator.book_sheets import BookSheets
    from miner.app.annotator.server import AnnotationServer
    from miner.app.annotator.sheet_file import NOTHING_TAGGED, refuse_no_file
    from miner.corpus.reading import read_spans
    from miner.people.attributor import attribute_speakers
    from miner.tagger.load import load_tagger

    refuse_no_file(out)
    loaded = load_tagger(tagger, dtype=dtype) if tagger else None
    book_spans = read_spans(source, quotes=quotes, books=books, mirror=mirror)
    spoken = NOTHING_TAGGED
    if loaded:
        spoken = attribute_speakers(book_spans, loaded.tag(book_spans), revise=False)
    show_warnings(book_spans.book.id, book_spans.book.warnings)
    sheets = BookSheets(out, book_spans, spoken)
    server = AnnotationServer(sheets, port, chapter)
    if chapter is not None:
        for lost in sheets.open(chapter).current().sheet.lost:
            click.echo(
                f"kept, but found on no span: paragraph {lost.paragraph}, {lost.fingerprint}"
            )
    click.echo(server.url)
    if not no_open:
        server.open_browser()
    server.run()
    progress = sheets.find_progress()
    if chapter is None:
        place, done = "", progress
    else:
        place = f"chapter {chapter}, "
        done = next(item for item in progress.chapters if item.chapter == chapter)
    click.echo(f"{one_line(str(out))}: {place}{done.n_decided} of {done.n_spans} spans saved")
