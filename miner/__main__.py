"""The command line: reads words, calls the library, shows what came back. It holds no logic.

Modules are imported where a command needs them, so that `miner --help` is there at once.
"""

from __future__ import annotations

import errno
import json
import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from miner import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from miner.mine import SetAside, Summary
    from miner.report import Shown
    from miner.sources import Missing, Source

PATH = click.Path(path_type=Path)


class _Failure(click.ClickException):
    """One line on stderr, and exit code 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"miner: {self.message}", err=True)


class _Interrupted(_Failure):
    """The exit code that a shell expects after Ctrl-C."""

    exit_code = 128 + signal.SIGINT


class _Group(click.Group):
    """Turns the errors of the library into one line each; lists commands as they are defined."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _Interrupted("interrupted, nothing was written") from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # whoever read the output has seen enough
            place = f"{error.filename}: " if error.filename else ""
            raise _Failure(f"{place}{error.strerror or error}") from error
        except ValueError as error:
            raise _Failure(str(error)) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


_books = click.option(
    "--books",
    type=PATH,
    envvar="MINER_BOOKS",
    show_envvar=True,
    help="Folder in which a Gutenberg number is looked up first (1342-h.htm, pg1342-images.html).",
)
_mirror = click.option(
    "--mirror",
    envvar="MINER_MIRROR",
    show_envvar=True,
    help="Where to download a number from, if it is in no folder and not in the cache: a URL with "
    "{id} (or {path}/{id} for classic mirrors).",
)
_quotes = click.option(
    "--quotes",
    help="Marks that open speech, instead of those inferred: names as `miner profile` prints them, "
    "with commas between.",
)
_gap = click.option(
    "--gap",
    type=click.IntRange(min=0),
    default=150,
    show_default=True,
    help="Characters of narration that begin a new conversation, for the gap tagger.",
)
_tagger = click.option(
    "--tagger",
    default="gap",
    show_default=True,
    help="What tags the utterances: gap, narration, or the path of a tags file.",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
_quiet = click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
_force = click.option("--force", is_flag=True, help="Replace files that exist.")


def _out(help: str, required: bool = False) -> Callable[[Any], Any]:
    return click.option("-o", "--out", type=PATH, required=required, help=help)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="miner")
def main() -> None:
    """Mine conversations from Project Gutenberg novels.

    A book goes in as an HTML file, a folder or glob of them, a Gutenberg number, or the word
    `sample` (a short work that comes with the package). Out come its utterances and narration in
    order, tagged; its dialogues, turn by turn; and pairs of a turn and its answer.

    \b
    miner mine sample -o mined          the whole way, in one step
    miner profile 1342-h.htm            how a book marks speech, and the evidence
    miner tag 1342-h.htm -o tags.jsonl  one tag per span, to correct or to score
    miner score --gold G --predicted P  how far to trust it
    """  # noqa: D301 - click's mark for lines that are to stay as they are
    # Whoever stops the program in another way than Ctrl-C gets no half file, either.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@main.command()
@click.argument("words", metavar="SOURCE...", nargs=-1, required=True)
@_out("Folder for the files; it must not exist yet.", required=True)
@_tagger
@_gap
@_quotes
@click.option(
    "--format",
    type=click.Choice(["jsonl", "parquet"]),
    default="jsonl",
    show_default=True,
    help="Of the three files.",
)
@click.option(
    "--pairs",
    type=click.Choice(["turn", "span"]),
    default="turn",
    show_default=True,
    help="Pair turns, or spans as the seed work does.",
)
@click.option(
    "--max-utterance-words",
    type=click.IntRange(min=1),
    help="Leave out longer turns; the dialogue is divided there. The dialogue paper uses 100.",
)
@click.option(
    "--min-turns",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Leave out dialogues of fewer turns.",
)
@_books
@_mirror
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes; the output is the same with any number.",
)
@_force
@_quiet
@_json
def mine(
    words: tuple[str, ...],
    out: Path,
    tagger: str,
    gap: int,
    quotes: str | None,
    format: str,
    pairs: str,
    max_utterance_words: int | None,
    min_turns: int,
    books: Path | None,
    mirror: str | None,
    workers: int,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Mine conversations from books into OUT.

    \b
    spans       every utterance and every stretch of narration, in order, tagged
    dialogues   conversations with their turns and the narration around them
    pairs       a turn and the next turn of the same conversation
    run.json    versions, options, sources with their digests, counts, what was dropped and why

    Open them with datasets.load_dataset(OUT, "pairs"). A book that cannot be mined is set aside
    with its reason, the others go on, and the exit code is 1.

    \b
    miner mine 1342 84 --books DIR -o mined
    miner mine DIR --workers 4 --format parquet -o mined
    miner mine sample --max-utterance-words 100 --min-turns 2 -o mined
    """  # noqa: D301 - click's mark for lines that are to stay as they are
    from miner.fetch import DEFAULT_MIRROR, fetch
    from miner.mine import Options
    from miner.mine import mine as mine_all
    from miner.sources import find_sources

    options = Options(
        tagger=tagger,
        gap=gap,
        quotes=_names(quotes),
        pairs_by_span=pairs == "span",
        max_utterance_words=max_utterance_words,
        min_turns=min_turns,
        format="parquet" if format == "parquet" else "jsonl",
    )
    sources, missing = find_sources(words, books)
    with _progress([*sources, *missing], quiet or as_json) as on_book:
        run = mine_all(
            [*sources, *missing],
            out,
            options,
            fetch=lambda id: fetch(id, mirror=mirror or DEFAULT_MIRROR),
            workers=workers,
            force=force,
            on_book=on_book,
        )
    from miner.report import run_table

    if as_json:
        record = {"totals": run.totals, "files": [str(path) for path in run.paths]}
        record["set_aside"] = [[item.name, item.why] for item in run.set_aside]
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
    elif not quiet and run.entries:
        _show(run_table(run, _console().width))
        click.echo(f"wrote {', '.join(path.name for path in run.paths)} in {out}")
    for item in run.set_aside:
        click.echo(f"{click.style('set aside', fg='yellow')}: {item.name}: {item.why}", err=True)
    if run.set_aside:
        raise SystemExit(1)


@main.command()
@click.argument("word", metavar="SOURCE")
@_tagger
@_gap
@_quotes
@_out("File for the tags (JSON Lines); standard output without it.")
@_books
@_mirror
@_force
def tag(
    word: str,
    tagger: str,
    gap: int,
    quotes: str | None,
    out: Path | None,
    books: Path | None,
    mirror: str | None,
    force: bool,
) -> None:
    """Tag every span of a book: one JSON row each.

    B-START opens a conversation, I-START goes on with its first turn, B-OTHER is the turn of
    another speaker, I-OTHER goes on with it, O is narration. Quoted text that was judged not to be
    speech is narration with "quoted" true.
    """
    from miner.files import json_line, refuse_existing, whole_file
    from miner.gold import tags_row
    from miner.mine import split_source
    from miner.taggers import load_tagger

    if out:
        refuse_existing(out, force)
    loaded = load_tagger(tagger, gap)
    source, data = _one_book(word, books, mirror)
    with _naming(word):
        book_spans, _ = split_source(data, source.id, _names(quotes))
        rows = [json_line(tags_row(source.id, item)) for item in loaded.tag(book_spans)]
    if out is None:
        click.echo(b"".join(rows), nl=False)
    else:
        with whole_file(out, force) as file:
            file.write(b"".join(rows))


@main.command()
@click.argument("word", metavar="SOURCE")
@_books
@_mirror
@_json
def profile(word: str, books: Path | None, mirror: str | None, as_json: bool) -> None:
    """Show how a book marks speech, and the evidence for it.

    Each paragraph votes for the marks that open its first stretch of speech. What is printed can
    be overruled with --quotes in the other commands.
    """
    from miner.book import parse_book
    from miner.report import typography_tables
    from miner.typography import infer_typography

    source, data = _one_book(word, books, mirror)
    with _naming(word):
        typography = infer_typography(parse_book(data, source.id))
    if as_json:
        evidence = dict(typography.evidence)
        record = {"book": source.id, "language": typography.language, "marks": typography.names}
        record |= {"confidence": typography.confidence, "evidence": evidence}
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
    else:
        _show(typography_tables(source.id, typography))


@main.command()
@click.option("--gold", type=PATH, required=True, help="Tags file, or CSV of the seed project.")
@click.option("--predicted", type=PATH, required=True, help="Tags file or CSV to judge.")
@click.option("--split", help="Of a seed CSV: train, validation or test.")
@click.option("--resamples", type=click.IntRange(min=1), default=1000, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@_json
def score(
    gold: Path, predicted: Path, split: str | None, resamples: int, seed: int, as_json: bool
) -> None:
    """Score predicted tags against gold, with 95% intervals from resampled chapters.

    Two figures: end to end, where a missed utterance is a miss and a spurious one is false; and on
    the gold spans that were found, which judges the tagger alone.
    """
    from miner.gold import read_annotated
    from miner.report import scores_tables
    from miner.scores import score as score_all

    truth = read_annotated(gold, split=split)
    guess = read_annotated(predicted, mend=True)
    scores = score_all(
        truth.books, guess.as_read, split=split or "all", resamples=resamples, seed=seed
    )
    if as_json:
        click.echo(json.dumps(scores.to_json(), ensure_ascii=False, indent=2))
        return
    _show(scores_tables(scores))
    if guess.n_mended:
        click.echo(
            f"{guess.n_mended} predicted tags may not follow the tag before; mended for pairs"
        )
    click.echo(scores.signature)


@main.command()
@click.option(
    "--gold", type=PATH, required=True, help="Folder of the seed project, or a tags file."
)
@click.option(
    "--tagger", "taggers", multiple=True, help="May be given more than once. [gap, narration]"
)
@_gap
@click.option("--split", help="Of the gold. [the seed's: test; a tags file: all]")
@click.option("--resamples", type=click.IntRange(min=1), default=1000, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@_json
def compare(
    gold: Path,
    taggers: tuple[str, ...],
    gap: int,
    split: str | None,
    resamples: int,
    seed: int,
    as_json: bool,
) -> None:
    """Compare taggers on the same gold spans: B-START, turn pairs, span pairs.

    With the seed project's folder, its own two rows are scored on the same labels as ours.
    """
    from miner.compare import compare as compare_all
    from miner.report import comparison_tables
    from miner.taggers import load_tagger

    named = [
        (f"gap {gap}" if name == "gap" else name, load_tagger(name, gap))
        for name in taggers or ("gap", "narration")
    ]
    chosen = split or ("test" if gold.is_dir() else "all")
    comparison = compare_all(gold, named, chosen, resamples=resamples, seed=seed)
    if as_json:
        click.echo(json.dumps(comparison.to_json(), ensure_ascii=False, indent=2))
        return
    _show(comparison_tables(comparison))
    for note in comparison.notes:
        click.echo(note)
    for row in comparison.rows:
        click.echo(f"{row.name}: {row.scores.signature}")


@main.command()
@click.option("--pdnc", type=PATH, required=True, help="Folder of the corpus, with its index.")
@_books
@_mirror
@_quiet
@_json
def quotations(
    pdnc: Path, books: Path | None, mirror: str | None, quiet: bool, as_json: bool
) -> None:
    """Score the finding of quotations against the Project Dialogism Novel Corpus.

    Each novel is parsed from its Gutenberg file and aligned with the corpus by its letters. Two
    simple rules on the corpus's own text stand beside ours. The corpus counts thoughts in quotation
    marks, so they count here.
    """
    from miner.quotations import score_corpus
    from miner.report import quotation_tables

    scores = score_corpus(pdnc, lambda id: _one_book(id, books, mirror)[1])
    if as_json:
        record = [score.to_json() for score in scores]
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
    elif not quiet:
        _show(quotation_tables(scores, _console().width))


def _names(quotes: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in quotes.split(",") if name.strip()) if quotes else ()


def _one_book(word: str, books: Path | None, mirror: str | None) -> tuple[Source, bytes]:
    """The one book that a word names, and its bytes."""
    from miner.fetch import DEFAULT_MIRROR, fetch
    from miner.sources import find_sources

    sources, missing = find_sources([word], books)
    if missing:
        raise ValueError(str(missing[0]))
    if len(sources) != 1:
        raise ValueError(f"{word}: found {len(sources)} books, expected one")
    path = sources[0].path or fetch(sources[0].id, mirror=mirror or DEFAULT_MIRROR)
    return sources[0], path.read_bytes()


@contextmanager
def _naming(word: str) -> Iterator[None]:
    """Puts the book's name before an error that lacks it."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{word}: {error}") from error


@contextmanager
def _progress(
    sources: Iterable[Source | Missing], quiet: bool
) -> Iterator[Callable[[Summary | SetAside], None]]:
    """A bar with books, words and an estimate, on stderr, where somebody is looking."""
    total = len(list(sources))
    if quiet or total < 2 or not sys.stderr.isatty():
        yield lambda result: None
        return
    from rich import progress
    from rich.console import Console

    from miner.mine import SetAside

    bar = progress.Progress(
        progress.TextColumn("mining"),
        progress.BarColumn(bar_width=20),
        progress.MofNCompleteColumn(),
        progress.TextColumn("books, {task.fields[words]:,} words"),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("mining", total=total, words=0)
        n_words = 0

        def on_book(result: Summary | SetAside) -> None:
            nonlocal n_words
            n_words += 0 if isinstance(result, SetAside) else result.n_words
            bar.update(task, advance=1, words=n_words)

        yield on_book


def _console() -> Console:
    """Standard output; a pipe gets as many columns as the tables need."""
    from rich.console import Console

    # Titles and file names are shown as they are, square brackets and colons included.
    width = None if sys.stdout.isatty() else 160
    return Console(width=width, highlight=False, markup=False, emoji=False)


def _show(shown: Iterable[Shown]) -> None:
    """Prints tables with an empty line after each, and lines of text as they are."""
    console = _console()
    for item in shown:
        console.print(item, soft_wrap=isinstance(item, str))
        if not isinstance(item, str):
            console.print()


if __name__ == "__main__":
    main()
