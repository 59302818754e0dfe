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
        except KeyboardInterrupt as error:
            raise _Interrupted(_noted("interrupted", error, "nothing was written")) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # whoever read the output has seen enough
            place = f"{error.filename}: " if error.filename else ""
            raise _Failure(_noted(f"{place}{error.strerror or error}", error)) from error
        except ValueError as error:
            raise _Failure(_noted(str(error), error)) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


def _noted(line: str, error: BaseException, otherwise: str = "") -> str:
    """The line with what the library noted on the error."""
    notes = getattr(error, "__notes__", []) or [otherwise]
    return "; ".join(filter(None, [line, *notes]))


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
    default="auto",
    show_default=True,
    help="What tags the utterances: auto (the trained tagger for English books, gap for others), "
    "gap, tuned-gap, narration, or the path of a tags file or of a checkpoint.",
)
_annotations = click.option(
    "--gold",
    type=PATH,
    default=Path("annotations"),
    show_default=True,
    help="Folder of annotations.",
)
_split = click.option(
    "--split",
    default="all",
    show_default=True,
    help="Of the annotations: train, dev, test, sample, several with + between, or all.",
)
_resamples = click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Draws of chapters for the intervals.",
)
_seed = click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
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
    miner view sample -o sample.html    the book as a page, its conversations marked
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
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Leave out pairs less sure; the dialogue is divided there. Heuristics are sure of none.",
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
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with an interrupted run into OUT, if there is one, to the same files.",
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
    min_confidence: float,
    books: Path | None,
    mirror: str | None,
    workers: int,
    resume: bool,
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
    from miner.corpus import mine_corpus
    from miner.fetch import DEFAULT_MIRROR, fetch
    from miner.mine import Options
    from miner.sources import find_sources

    options = Options(
        tagger=tagger,
        gap=gap,
        quotes=_names(quotes),
        pairs_by_span=pairs == "span",
        max_utterance_words=max_utterance_words,
        min_turns=min_turns,
        min_confidence=min_confidence,
        format="parquet" if format == "parquet" else "jsonl",
    )
    sources, missing = find_sources(words, books)
    with _progress([*sources, *missing], quiet or as_json) as on_book:
        run = mine_corpus(
            [*sources, *missing],
            out,
            options,
            fetch=lambda id: fetch(id, mirror=mirror or DEFAULT_MIRROR),
            workers=workers,
            force=force,
            resume=resume,
            on_book=on_book,
        )
    from miner.report import run_table, tagged_by

    if as_json:
        record = {"totals": run.totals, "files": [str(path) for path in run.paths]}
        record["set_aside"] = [[item.name, item.why] for item in run.set_aside]
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
    elif not quiet and run.entries:
        _show(run_table(run, _console().width))
        click.echo(f"tagged by {tagged_by(run)}")
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
@_gap
@click.option(
    "--gold",
    type=PATH,
    help="Folder of annotations: the first layer, which the others are scored against.",
)
@_quotes
@_out("HTML file to write.", required=True)
@_books
@_mirror
@_force
@_quiet
def view(
    word: str,
    taggers: tuple[str, ...],
    gap: int,
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
    from miner.annotations import read_annotations
    from miner.files import refuse_existing, whole_file
    from miner.layers import layer_names, layered
    from miner.mine import split_source
    from miner.taggers import load_tagger, tagger_label
    from miner.view import view_html

    refuse_existing(out, force)
    labels = layer_names(tagger_label(name, gap) for name in taggers)
    named = [(label, load_tagger(name, gap)) for label, name in zip(labels, taggers, strict=True)]
    annotations = read_annotations(gold) if gold else None
    source, data = _one_book(word, books, mirror)
    with _naming(word):
        book_spans, _ = split_source(data, source.id, _names(quotes))
        page = view_html(layered(book_spans, named, annotations))
    with whole_file(out, force) as file:
        file.write(page)
    if not quiet:
        click.echo(f"wrote {out}")


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
@_resamples
@_seed
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
    "--gold",
    type=PATH,
    required=True,
    help="Folder of annotations, folder of the seed project, or a tags file.",
)
@click.option(
    "--tagger",
    "taggers",
    multiple=True,
    help="May be given more than once. [gap, tuned-gap, narration]",
)
@_gap
@click.option("--split", help="Of the gold, several with + between. [test; a tags file: all]")
@_resamples
@_seed
@click.option("--plots", type=PATH, help="Folder for pictures of the comparison (PNG).")
@_books
@_mirror
@_force
@_json
def compare(
    gold: Path,
    taggers: tuple[str, ...],
    gap: int,
    split: str | None,
    resamples: int,
    seed: int,
    plots: Path | None,
    books: Path | None,
    mirror: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Compare taggers on the same gold spans: B-START, turn pairs, span pairs.

    With annotations, also from the book to the tags, on the spans that the miner finds. With the
    seed project's folder, its own two rows are scored on the same labels as ours. --plots draws
    the scores side by side, which tags are taken for which, how long the conversations are, and how
    far a checkpoint's confidence can be believed.

    \b
    miner compare --gold annotations --split sample   at once, without any book
    miner gold fetch --gold annotations               downloads the books of the rest
    miner compare --gold annotations --split test
    """  # noqa: D301 - click's mark for lines that are to stay as they are
    from miner.compare import compare as compare_all
    from miner.files import refuse_existing
    from miner.report import comparison_tables
    from miner.taggers import HEURISTICS, load_tagger, tagger_label

    if plots:
        refuse_existing(plots, force)
    named = [(tagger_label(name, gap), load_tagger(name, gap)) for name in taggers or HEURISTICS]
    chosen = split or ("test" if gold.is_dir() else "all")
    comparison = compare_all(
        gold, named, chosen, read=_reader(books, mirror), resamples=resamples, seed=seed
    )
    drawn: list[Path] = []
    if plots:
        from miner.figures import comparison_figures
        from miner.plots import save_all

        drawn = save_all(comparison_figures(comparison), plots, force)
    if as_json:
        click.echo(json.dumps(comparison.to_json(), ensure_ascii=False, indent=2))
        return
    _show(comparison_tables(comparison))
    for note in comparison.notes:
        click.echo(note)
    for row in comparison.rows:
        click.echo(f"{row.name}: {row.scores.signature}")
    if plots:
        click.echo(f"wrote {', '.join(path.name for path in drawn)} in {plots}")


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

    scores = score_corpus(pdnc, _reader(books, mirror))
    if as_json:
        record = [score.to_json() for score in scores]
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
    elif not quiet:
        _show(quotation_tables(scores, _console().width))


@main.command()
@click.argument("word", metavar="SOURCE")
@click.option(
    "--chapter",
    type=click.IntRange(min=0),
    required=True,
    help="As the book's tags number them.",
)
@_out("File of annotations (JSON Lines), as in annotations/gold; continued if it is there.", True)
@click.option(
    "--tagger",
    help="What guesses, to confirm or correct: gap, tuned-gap, narration, or the path of a tags "
    "file or of a checkpoint. Without it nothing is guessed.",
)
@_gap
@_quotes
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Where to listen on this machine; 0 for any port that is free.",
)
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
@_books
@_mirror
def annotate(
    word: str,
    chapter: int,
    out: Path,
    tagger: str | None,
    gap: int,
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
    from miner.annotate import AnnotationServer
    from miner.mine import split_source
    from miner.sheetfile import SheetFile
    from miner.taggers import load_tagger

    loaded = load_tagger(tagger, gap) if tagger else None
    source, data = _one_book(word, books, mirror)
    with _naming(word):
        book_spans, _ = split_source(data, source.id, _names(quotes))
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


@main.group(cls=_Group)
def gold() -> None:
    """Work with the annotations, which hold labels and no book text.

    They lie in the folder `annotations` of the project: who speaks and in which conversation, for
    every quoted span of some chapters of many novels. A span is known by a fingerprint of its
    letters, so the books themselves are needed: in a folder (--books), or downloaded.

    \b
    miner gold stats                         what is annotated
    miner gold fetch                         download the books
    miner gold check                         find every annotated span in them
    miner compare --gold annotations         taggers against the annotations
    """  # noqa: D301 - click's mark for lines that are to stay as they are


@gold.command("fetch")
@_annotations
@_split
@_books
@_mirror
@_quiet
def gold_fetch(gold: Path, split: str, books: Path | None, mirror: str | None, quiet: bool) -> None:
    """Download the annotated books that are not here yet, one polite request at a time.

    They go to the cache, where every command looks. A book that cannot be had is named, the others
    go on, and the exit code is 1.
    """
    from miner.annotations import read_part
    from miner.goldset import fetch_books

    wanted = read_part(gold, split)
    failed = 0
    for book, found in fetch_books(wanted, lambda id: _file_of(id, books, mirror)[1]):
        failed += isinstance(found, str)
        if isinstance(found, str) or not quiet:
            click.echo(f"{book}: {found}", err=isinstance(found, str))
    if failed:
        raise _Failure(f"{failed} of {len(wanted)} books could not be had")


@gold.command("check")
@_annotations
@_split
@_books
@_mirror
@_quiet
def gold_check(gold: Path, split: str, books: Path | None, mirror: str | None, quiet: bool) -> None:
    """Check the annotations: their form, splits and tags, and every span against its book.

    What is wrong is listed, a line each; the exit code is 1 if anything is.
    """
    from miner.annotations import read_annotations
    from miner.goldset import check
    from miner.report import check_table

    checked = check(read_annotations(gold), split, _reader(books, mirror))
    if not quiet:
        _show(check_table(checked))
    for problem in checked.problems:
        click.echo(problem, err=True)
    if checked.problems:
        raise _Failure(f"{len(checked.problems)} problems found in {gold}")


@gold.command("stats")
@_annotations
@_json
def gold_stats(gold: Path, as_json: bool) -> None:
    """Count what is annotated, by split and by kind of book; the table of the datasheet."""
    from miner.annotations import read_annotations
    from miner.goldset import statistics
    from miner.report import statistics_tables

    counted = statistics(read_annotations(gold))
    if as_json:
        click.echo(json.dumps(counted.to_json(), ensure_ascii=False, indent=2))
    else:
        _show(statistics_tables(counted))


@gold.command("agreement")
@_annotations
@_json
def gold_agreement(gold: Path, as_json: bool) -> None:
    """How far two independent readings of the same chapters agree, and either with the gold."""
    from miner.agreement import reading_agreements
    from miner.annotations import read_annotations
    from miner.report import agreement_table

    agreements = reading_agreements(read_annotations(gold))
    if as_json:
        record = {name: agreement.to_json() for name, agreement in agreements.items()}
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
    else:
        _show(agreement_table(agreements))


@gold.command("speakers")
@_annotations
@click.option("--pdnc", type=PATH, required=True, help="Folder of the corpus, with its index.")
@click.option("--differences", is_flag=True, help="List them, with both names.")
@_books
@_mirror
def gold_speakers(
    gold: Path, pdnc: Path, differences: bool, books: Path | None, mirror: str | None
) -> None:
    """Compare our speakers with those of the Project Dialogism Novel Corpus."""
    from miner.annotations import read_part
    from miner.pdnc import pdnc_novels
    from miner.report import speakers_tables
    from miner.speakers import speaker_pairs

    pairs = speaker_pairs(read_part(gold, "all"), pdnc_novels(pdnc), _reader(books, mirror))
    _show(speakers_tables(pairs, differences))


@gold.command("sweep")
@_annotations
@click.option("--split", default="train+dev", show_default=True, help="Not the test split.")
@_books
@_mirror
@_resamples
@_seed
@_json
def gold_sweep(
    gold: Path,
    split: str,
    books: Path | None,
    mirror: str | None,
    resamples: int,
    seed: int,
    as_json: bool,
) -> None:
    """Score the gap heuristic with gaps of 50 to 2000 characters, to tune it."""
    from miner.annotations import read_part
    from miner.compare import sweep
    from miner.report import sweep_table
    from miner.taggers import load_tagger, swept_gaps

    swept = sweep(
        read_part(gold, split),
        _reader(books, mirror),
        [(gap, load_tagger("gap", gap)) for gap in swept_gaps()],
        split=split,
        resamples=resamples,
        seed=seed,
    )
    if as_json:
        record = {item.gap: item.scores.to_json() for item in swept}
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
    else:
        _show(sweep_table(swept, split))


@gold.command("errors")
@_annotations
@click.option("--split", default="test", show_default=True, help="As in the other commands.")
@_tagger
@_gap
@_books
@_mirror
@_json
def gold_errors(
    gold: Path,
    split: str,
    tagger: str,
    gap: int,
    books: Path | None,
    mirror: str | None,
    as_json: bool,
) -> None:
    """Of the pairs that a tagger mines, count the wrong ones, by cause."""
    from miner.annotations import read_part
    from miner.compare import mined_pairs
    from miner.errors import pair_errors
    from miner.report import errors_table
    from miner.taggers import load_tagger, tagger_label

    books_of_split = read_part(gold, split)
    found = pair_errors(
        mined_pairs(books_of_split, _reader(books, mirror), load_tagger(tagger, gap))
    )
    if as_json:
        click.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=2))
    else:
        _show(errors_table(found, tagger_label(tagger, gap), split))


@gold.command("confidence")
@_annotations
@click.option("--split", default="dev", show_default=True, help="As in the other commands.")
@_tagger
@_resamples
@_seed
@click.option("--plot", type=PATH, help="Picture to draw of it (PNG, SVG or PDF by its ending).")
@_books
@_mirror
@_force
@_json
def gold_confidence(
    gold: Path,
    split: str,
    tagger: str,
    resamples: int,
    seed: int,
    plot: Path | None,
    books: Path | None,
    mirror: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Show what `mine --min-confidence` keeps, and how much of it is right.

    The pairs that a checkpoint mines from the books, in the annotated chapters: how many are at
    least so sure, what share of them is right, and what share of the gold pairs they are.
    """
    from miner.annotations import read_part
    from miner.compare import mined_pairs
    from miner.files import refuse_existing
    from miner.report import tradeoff_table
    from miner.taggers import load_tagger
    from miner.tradeoff import tradeoff

    if plot:
        refuse_existing(plot, force)
    judged = mined_pairs(read_part(gold, split), _reader(books, mirror), load_tagger(tagger))
    found = tradeoff(judged, resamples=resamples, seed=seed)
    if plot:
        from miner.plots import save, tradeoff_plot

        save(tradeoff_plot(found, split), plot, force)
    if as_json:
        click.echo(json.dumps([item.to_json() for item in found], indent=2))
    else:
        _show(tradeoff_table(found, tagger, split))


@gold.command("export")
@_annotations
@_split
@click.option(
    "--format",
    type=click.Choice(["labelstudio", "conll", "tags", "datasets"]),
    required=True,
    help="Label Studio tasks (JSON), CoNLL columns (IOB2), a tags file, a folder for load_dataset.",
)
@_out("File to write; for datasets, a folder.", required=True)
@_books
@_mirror
@_force
def gold_export(
    gold: Path,
    split: str,
    format: str,
    out: Path,
    books: Path | None,
    mirror: str | None,
    force: bool,
) -> None:
    """Write the annotated chapters, text and labels together, for other tools."""
    from miner.annotations import read_part
    from miner.exchange import export

    export(read_part(gold, split), _reader(books, mirror), format, out, force)


@gold.command("tasks")
@click.argument("word", metavar="SOURCE")
@click.option(
    "--chapter",
    "chapters",
    type=click.IntRange(min=0),
    multiple=True,
    required=True,
    help="As the book's tags number them; may be given more than once.",
)
@_out("File for the tasks (JSON).", required=True)
@_quotes
@_books
@_mirror
@_force
def gold_tasks(
    word: str,
    chapters: tuple[int, ...],
    out: Path,
    quotes: str | None,
    books: Path | None,
    mirror: str | None,
    force: bool,
) -> None:
    """Write Label Studio tasks of chapters that nobody has annotated yet.

    Every quoted span is marked; who speaks, in which conversation, and what is no utterance is left
    to the annotator. The labeling interface is written beside, in a file ending in .xml.
    """
    from miner.exchange import tasks_file
    from miner.labelstudio import blank_tasks
    from miner.mine import split_source

    with tasks_file(out, force) as write:
        source, data = _one_book(word, books, mirror)
        with _naming(word):
            book_spans, _ = split_source(data, source.id, _names(quotes))
        write(blank_tasks(book_spans, chapters))


@gold.command("import")
@click.argument("exported", type=PATH)
@_out("Folder for the files, one per book, as in annotations/gold.", required=True)
@_force
def gold_import(exported: Path, out: Path, force: bool) -> None:
    """Turn what Label Studio exported (JSON) into files of annotations without book text."""
    from miner.exchange import import_labelstudio

    for path in import_labelstudio(exported, out, force):
        click.echo(path)


def _reader(books: Path | None, mirror: str | None) -> Callable[[str], bytes]:
    """Gives the bytes of a book by its number."""
    return lambda id: _one_book(id, books, mirror)[1]


def _names(quotes: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in quotes.split(",") if name.strip()) if quotes else ()


def _one_book(word: str, books: Path | None, mirror: str | None) -> tuple[Source, bytes]:
    """The one book that a word names, and its bytes."""
    source, path = _file_of(word, books, mirror)
    return source, path.read_bytes()


def _file_of(word: str, books: Path | None, mirror: str | None) -> tuple[Source, Path]:
    """The one book that a word names, and its file, downloaded if it is in no folder."""
    from miner.fetch import DEFAULT_MIRROR, find_book

    return find_book(word, books, mirror or DEFAULT_MIRROR)


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
