"""`miner view`."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.books import mark_names, naming, one_book
from miner.app.cli.options import (
    PATH,
    books_option,
    force_option,
    mirror_option,
    out_option,
    quiet_option,
    quotes_option,
)


@click.command("view")
@click.argument("word", metavar="SOURCE")
@click.option(
    "--tagger",
    "taggers",
    multiple=True,
    default=("auto",),
    show_default=True,
    help="A layer of the page: auto (the trained tagger for English books, gap for others), gap, "
    "tuned-gap, narration, or the path of a tags file or of a checkpoint. May be given more than "
    "once.",
)
@click.option(
    "--gold",
    type=PATH,
    help="Folder of annotations: the first layer, which the others are scored against.",
)
@quotes_option
@out_option("HTML file to write.", required=True)
@books_option
@mirror_option
@force_option
@quiet_option
def command(
    word: str,
    taggers: tuple[str, ...],
    gold: Path | None,
    quotes: str | None,
    out: Path,
    books: Path | None,
    mirror: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Show a book as a page: who answers whom, conversation by conversation.

    One HTML file with everything in it, to open in a browser; it needs no network. Utterances are
    marked by turn, conversations bracketed in the margin. Each tagger is a layer, and so is the
    gold: keys 1 to 9 switch between them, b shows two side by side, d goes to the next place where
    they part, and ? tells the other keys.

    \b
    miner view sample -o sample.html
    miner view sample --gold annotations --tagger gap --tagger narration -o sample.html
    miner view 1342 --books DIR --tagger CHECKPOINT -o 1342.html
    """  # noqa: D301 - click's mark for lines that are to stay as they are
    from miner.annotation.annotations import read_annotations
    from miner.app.viewer.layers import build_layers, name_layers
    from miner.app.viewer.page import view_html
    from miner.dialogue.read import read_spans
    from miner.files import refuse_existing, whole_file
    from miner.models.load import load_tagger, tagger_label

    refuse_existing(out, force)
    labels = name_layers(tagger_label(name) for name in taggers)
    named = [(label, load_tagger(name)) for label, name in zip(labels, taggers, strict=True)]
    annotations = read_annotations(gold) if gold else None
    source, data = one_book(word, books, mirror)
    with naming(word):
        book_spans = read_spans(data, source.id, mark_names(quotes))
        page = view_html(build_layers(book_spans, named, annotations))
    with whole_file(out, force) as file:
        file.write(page)
    if not quiet:
        click.echo(f"wrote {out}")
