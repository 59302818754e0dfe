"""`miner mine`: mine conversations from books into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from miner.app.cli.catalog import query_options
from miner.app.cli.command import Command
from miner.app.cli.options import (
    OUTPUT,
    STDOUT,
    BookWord,
    TurnCount,
    books_options,
    characters_option,
    force_option,
    front_matter_option,
    json_option,
    out_option,
    quiet_option,
    quotes_option,
    tagger_options,
    workers_option,
)
from miner.app.cli.terminal import (
    MiningBar,
    logging_to,
    open_console,
    show,
    show_json,
    show_left_out,
    show_set_aside,
    show_warnings,
)
from miner.corpus.export import describe_formats
from miner.errors import InputError

if TYPE_CHECKING:
    from miner.books.catalog import CatalogQuery

_FORMATS = describe_formats()


@click.command(cls=Command)
@click.argument("words", metavar="[SOURCE]...", nargs=-1, type=BookWord())
@out_option("Folder for the files; it must not exist yet.", required=True)
@tagger_options()
@quotes_option
@front_matter_option
@characters_option
@click.option(
    "--format",
    type=click.Choice(list(_FORMATS)),
    default="jsonl",
    show_default=True,
    help="Format of the files. "
    + "; ".join(f"{name}: {description}" for name, description in _FORMATS.items())
    + ".",
)
@click.option(
    "--pairs",
    type=click.Choice(["turn", "span"]),
    default="turn",
    show_default=True,
    help="Pair turns, or single spans as the project MCN does.",
)
@click.option(
    "--history-turns",
    type=TurnCount(),
    default=0,
    show_default=True,
    help="How many turns before its context a pair has, or `all`.",
)
@click.option(
    "--max-utterance-words",
    type=click.IntRange(min=1),
    help="Leave out longer turns and divide the dialogue there.",
)
@click.option(
    "--min-turns",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Leave out dialogues of fewer turns; 1 keeps what nobody answers.",
)
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Leave out pairs with less confidence and divide the dialogue there. This needs "
    "a checkpoint, because heuristics give no confidence.",
)
@query_options
@books_options
@workers_option
@click.option(
    "--resume",
    is_flag=True,
    help="Resume an interrupted run into OUT, if there is one. Books that it finished are not "
    "mined again, unless their files have changed.",
)
@click.option(
    "--log",
    type=OUTPUT,
    metavar="FILE",
    help="Append to this file, with the time, a line for each book that is mined or set aside, "
    "each warning, and the end of the run.",
)
@force_option
@quiet_option
@json_option
def mine(
    words: tuple[str, ...],
    query: CatalogQuery | None,
    out: Path,
    pairs: str,
    log: Path | None,
    quiet: bool,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - those of `mine_corpus`
) -> None:
    """Mine conversations from books into OUT.

    \b
    spans       every utterance and every piece of narration, in order, tagged
    dialogues   conversations with their turns and the narration around them
    pairs       a turn and the next turn of the same conversation
    characters  the people with their names; correct them, then mine with --characters
    run.json    versions, options, sources with digests, counts, what was left out and why

    Open them with datasets.load_dataset(OUT, "pairs"). A book that cannot be mined is set aside
    with the reason; so is a work whose header says that it is in copyright. The other books are
    mined, and the exit code is 1.

    --language, --author, --title, --subject, --bookshelf, --locc, --numbers and --limit choose
    texts from Gutenberg's catalogue, as `miner catalog` shows them, instead of SOURCE or besides
    it.

    \b
    miner mine 1342 84 --books DIR -o mined
    miner mine --language de --subject fiction --limit 50 -o novels
    miner mine DIR -o mined --log mined.log --resume    a long run, begun or resumed
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.corpus.run import mine_corpus

    if not words and query is None:
        raise click.UsageError(
            "Missing argument 'SOURCE...', or an option that chooses from the catalogue, "
            "such as --author."
        )
    if out == STDOUT:
        raise InputError(
            "-o -: found standard output, expected a folder, since the output is several files; "
            "`miner tag` prints the tags of a book"
        )
    with (
        logging_to(log),
        MiningBar(quiet or as_json) as bar,
        mine_corpus(
            [*words, query] if query else words,
            out,
            pairs_by_span=pairs == "span",
            on_progress=bar.show,
            **options,
        ) as run,
    ):
        for search in () if quiet else run.searches:
            show_left_out(search.describe_left_out())
        run.finish()
    from miner.app.tables import (
        describe_left_out,
        describe_speakers,
        describe_taggers,
        tabulate_run,
    )

    if as_json:
        record = {"totals": run.totals, "files": [str(path) for path in run.paths]}
        record["set_aside"] = [[item.name, item.why] for item in run.set_aside]
        show_json(record)
    elif not quiet and run.entries:
        show(tabulate_run(run, open_console().width))
        click.echo(f"tagged by {describe_taggers(run)}")
        if speakers := describe_speakers(run):
            click.echo(f"{speakers} have a speaker")
        if left_out := describe_left_out(run):
            click.echo(f"left out {left_out}")
        click.echo(f"wrote {', '.join(path.name for path in run.paths)} in {out}")
    if not quiet:
        for entry in run.entries:
            show_warnings(entry["file"], entry["warnings"])
    show_set_aside(run.set_aside)
    if run.set_aside:
        raise SystemExit(1)
