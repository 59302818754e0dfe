"""The commands on one book: `miner tag`, `miner view`, `miner profile` and `miner annotate`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    PATH,
    STDOUT,
    books_options,
    characters_option,
    force_option,
    front_matter_option,
    json_option,
    out_option,
    quiet_option,
    quotes_option,
    source_argument,
    tagger_options,
)
from miner.app.cli.terminal import show_result, show_warnings
from miner.files import one_line


@click.command(cls=Command)
@source_argument
@tagger_options()
@quotes_option
@front_matter_option
@characters_option
@out_option("File for the tags (JSON Lines). Without it, or with -, they are printed.")
@books_options
@force_option
def tag(
    source: str,
    tagger: str,
    dtype: str,
    characters: Path | None,
    out: Path | None,
    force: bool,
    **where: Any,  # noqa: ANN401 - how the book is found and read
) -> None:
    """Tag every span of a book; each span is one JSON row.

    B-START begins a conversation and its first turn, I-START continues that turn, B-OTHER begins
    the turn of another speaker, I-OTHER continues it, and O is all else. The kind of a span is
    "utterance", "narration", or what quoted text is that nobody says: "letter", "verse" and so on.

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
    book_spans = read_spans(source, **where)
    id = book_spans.book.id
    if given is not None:
        given.refuse_others([id])
    show_warnings(id, book_spans.book.warnings)
    tagged = loaded.tag(book_spans)
    if given is not None and all(item.speaker is None for item in tagged):
        show_warnings(id, [f"the tagger {tagger} names no speakers: --characters changed nothing"])
    rows = b"".join(json_line(row_from_span(id, item)) for item in tagged)
    if out is None:
        click.echo(rows, nl=False)
    else:
        with whole_file(out, force) as file:
            file.write(rows)


@click.command(cls=Command)
@source_argument
@tagger_options("A layer of the page, may be repeated: {taggers}", ("auto",), multiple=True)
@click.option(
    "--gold",
    type=PATH,
    help="Folder of annotations: the first layer, against which the others are scored.",
)
@quotes_option
@front_matter_option
@characters_option
@out_option("HTML file to write.", required=True)
@books_options
@force_option
@quiet_option
def view(
    source: str,
    out: Path,
    force: bool,
    quiet: bool,
    **options: Any,  # noqa: ANN401 - those of `view_html`
) -> None:
    """Show a book as a page: its conversations and who speaks.

    The page is one HTML file that needs no network. Utterances are marked by turn and speaker, and
    brackets in the margin mark conversations. Each tagger is a layer, and so is the gold. Keys 1 to
    9 switch between layers, b shows two side by side, d goes to the next difference between them, w
    lists the cast, / finds words, l copies a link to a conversation, and ? lists the other keys.

    \b
    miner view sample -o sample.html
    miner view sample --gold annotations --tagger gap --tagger auto -o sample.html
    miner view 1342 --tagger auto --tagger gap:300 -o 1342.html
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.app.viewer.page import view_html
    from miner.files import refuse_existing, whole_file

    refuse_existing(out, force)
    page = view_html(source, **options)
    with whole_file(out, force) as file:
        file.write(page)
    if not quiet:
        click.echo(f"wrote {out}")


@click.command(cls=Command)
@source_argument
@books_options
@click.option(
    "--suspicious",
    is_flag=True,
    help="List each place where a mark is wrong, missing or unclear, and what is read there.",
)
@json_option
def profile(
    source: str, books: Path | None, mirror: str | None, suspicious: bool, as_json: bool
) -> None:
    """Show how a book marks speech, and what parts it has.

    Each paragraph of the story votes for the marks that open its first speech. The option --quotes
    of the other commands overrules the result. Only the story is mined, unless --front-matter is
    given. Marks that cannot be right as printed are counted; with --suspicious each of these places
    is a line, for whoever mends the text.

    \b
    miner profile sample
    miner profile 1342 --json
    miner profile 1342 --suspicious
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.app.tables import list_repairs, tabulate_parts, tabulate_typography
    from miner.corpus.reading import read_book
    from miner.speech.spans import split_book
    from miner.speech.typography import infer_typography

    book = read_book(source, books=books, mirror=mirror)
    typography = infer_typography(book)
    repairs = split_book(book, typography).repairs
    show_warnings(book.id, book.warnings)
    record = {"book": book.id, "language": typography.language, "marks": typography.names}
    record |= {"confidence": typography.confidence, "evidence": dict(typography.evidence)}
    record["words_by_part"] = {part.value: count for part, count in book.words_by_part.items()}
    record["repairs"] = dict(sorted(Counter(repair.kind for repair in repairs).items()))
    shown = [*tabulate_typography(book.id, typography, repairs), tabulate_parts(book)]
    if suspicious:
        record["suspicious"] = [asdict(repair) for repair in repairs]
        shown += list_repairs(book, repairs)
    show_result(shown, record, as_json)


@click.command(cls=Command)
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
@tagger_options(
    "Makes guesses to confirm or correct: {taggers} Without it there are no guesses.", None
)
@quotes_option
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port on this machine; 0 for any free port.",
)
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
@books_options
def annotate(
    source: str,
    chapter: int | None,
    out: Path,
    tagger: str | None,
    dtype: str,
    port: int,
    no_open: bool,
    **where: Any,  # noqa: ANN401 - how the book is found and read
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
    from miner.app.annotator.server import AnnotationServer
    from miner.app.annotator.sheet_file import NOTHING_TAGGED, BookSheets, refuse_no_file
    from miner.corpus.reading import read_spans
    from miner.people.attributor import attribute_speakers
    from miner.tagger.load import load_tagger

    refuse_no_file(out)
    loaded = load_tagger(tagger, dtype=dtype) if tagger else None
    book_spans = read_spans(source, **where)
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
    place, done = "", sheets.find_progress()
    if chapter is not None:
        place = f"chapter {chapter}, "
        done = next(item for item in done.chapters if item.chapter == chapter)
    click.echo(f"{one_line(str(out))}: {place}{done.n_decided} of {done.n_spans} spans saved")
