"""`miner gold`: what there is in the annotations, and how well taggers do on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from miner.app.cli.command import CommandGroup, Failure
from miner.app.cli.options import (
    OUTPUT,
    PATH,
    books_options,
    force_option,
    json_option,
    out_option,
    quiet_option,
    quotes_option,
    source_argument,
    tagger_options,
)
from miner.app.cli.terminal import show, show_json, show_left_out, show_result
from miner.lab.app.cli.options import (
    Gold,
    book_finder,
    gold_option,
    gold_options,
    language_option,
    reader_options,
    resamples_options,
)
from miner.lab.gold.export import describe_formats, find_writer

_FORMATS = describe_formats()
Read = Callable[[str], bytes]  # a book by its number


@click.group(cls=CommandGroup)
def gold() -> None:
    """Work with the annotations, which hold no book text.

    The folder `annotations` in the source of the package says who speaks in which conversation, for
    every quoted span of some chapters of many novels. A span is identified by a fingerprint of its
    letters, so most commands need the books: in a folder (--books), or downloaded. A book that is
    not at hand is left out, and the figures say so.

    \b
    miner gold stats                         count the annotations
    miner gold fetch                         download the annotated books
    miner gold check                         find every annotated span in them
    miner compare --gold annotations         score taggers against the annotations
    """  # noqa: D301 - click keeps the lines of a paragraph after \b


@gold.command()
@gold_options()
@books_options
@quiet_option
def fetch(gold: Gold, books: Path | None, mirror: str | None, quiet: bool) -> None:
    """Download the annotated books.

    Books that are not on this machine are downloaded one at a time. They are stored in the cache,
    where every command looks. If a book cannot be downloaded, the reason is printed, the others are
    downloaded, and the exit code is 1.

    \b
    miner gold fetch --split test
    miner gold fetch
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.books.download import download_books

    ids = [book.card.book for book in gold.read()]
    failed = 0
    for book, found in download_books(ids, book_finder(books, mirror)):
        failed += isinstance(found, str)
        if isinstance(found, str) or not quiet:
            click.echo(f"{book}: {found}", err=isinstance(found, str))
    if failed:
        raise Failure(f"{failed} of {len(ids)} books could not be downloaded")


@gold.command()
@gold_options()
@reader_options
@quiet_option
def check(gold: Gold, read: Read, quiet: bool) -> None:
    """Check the annotations and find each span in its book.

    The form, the splits and the tags are checked, too. Each problem is printed in one line. The
    exit code is 1 if there is any.

    \b
    miner gold check --split sample     needs no other book
    miner gold check --split dev+test
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import read_annotations
    from miner.lab.app.tables.scores import tabulate_check
    from miner.lab.gold.editions import check_annotations

    checked = check_annotations(read_annotations(gold.gold), gold.split, read, gold.language)
    if not quiet:
        show(tabulate_check(checked))
    for problem in checked.problems:
        click.echo(problem, err=True)
    if checked.problems:
        raise Failure(f"{len(checked.problems)} problems found in {gold.gold}")


@gold.command()
@gold_option
@language_option()
@json_option
def stats(gold: Path, language: str, as_json: bool) -> None:
    """Count the annotations by split and by kind of book.

    \b
    miner gold stats
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import read_annotations
    from miner.lab.app.tables.scores import tabulate_statistics
    from miner.lab.gold.statistics import count_annotations

    counted = count_annotations(read_annotations(gold).of_language(language))
    show_result(tabulate_statistics(counted), counted.to_json(), as_json)


@gold.command()
@gold_option
@language_option()
@json_option
def agreement(gold: Path, language: str, as_json: bool) -> None:
    """Show how far two independent readings agree.

    Each reading is also compared with the gold. Of several languages, each has a column.

    \b
    miner gold agreement
    miner gold agreement --language de,fr
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import read_annotations
    from miner.lab.app.tables.scores import tabulate_agreement
    from miner.lab.measure.agreement import compare_readings, compare_readings_by_language

    chosen = read_annotations(gold).of_language(language)
    compare = compare_readings_by_language if len(chosen.languages) > 1 else compare_readings
    agreements = compare(chosen)
    record = {name: agreement.to_json() for name, agreement in agreements.items()}
    show_result(tabulate_agreement(agreements), record, as_json)


@gold.command()
@gold_options("test", "all")
@tagger_options("Tagger to score, may be repeated: {taggers}", ("auto", "gap"), multiple=True)
@resamples_options
@reader_options
@json_option
def languages(
    gold: Gold,
    taggers: tuple[str, ...],
    dtype: str,
    read: Read,
    as_json: bool,
    **draws: Any,  # noqa: ANN401 - of the intervals
) -> None:
    """Score what is mined from books, language by language.

    Everything is judged from the book: speech by its exact ends and by its letters, beginnings of
    conversations, and pairs of turns, also at several least confidences. Several languages have a
    mean.

    \b
    miner gold languages --split sample --language en     needs no other book
    miner gold languages --language de,es,fr,hu,it,nl,pt --tagger auto --tagger gd
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.lab.app.tables.scores import tabulate_languages
    from miner.lab.measure.language_scores import compare_by_language
    from miner.tagger.load import load_tagger, tagger_label

    named = [(tagger_label(name), load_tagger(name, dtype=dtype)) for name in taggers]
    compared = compare_by_language(gold.read(), read, named, **draws)
    show_left_out(compared.coverage.left_out)
    shown = [*tabulate_languages(compared.rows, gold.split), *compared.notes]
    show_result(shown, {"rows": compared.rows, "coverage": compared.coverage.to_json()}, as_json)


@gold.command()
@gold_option
@click.option("--pdnc", type=PATH, required=True, help="Folder of the corpus, with its index file.")
@click.option("--differences", is_flag=True, help="List the differences, with both names.")
@reader_options
def speakers(gold: Path, pdnc: Path, differences: bool, read: Read) -> None:
    """Compare our speakers with those of an annotated corpus.

    The corpus is the Project Dialogism Novel Corpus (PDNC).

    \b
    miner gold speakers --pdnc PDNC
    miner gold speakers --pdnc PDNC --differences
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import read_split
    from miner.lab.app.tables.scores import tabulate_speakers
    from miner.lab.gold.pdnc import find_novels
    from miner.lab.measure.pdnc_speakers import compare_speakers

    compared = compare_speakers(read_split(gold, "all"), find_novels(pdnc), read)
    show_left_out(compared.coverage.left_out)
    show([*tabulate_speakers(compared.pairs, differences), *compared.coverage.notes])


@gold.command()
@gold_options("train+dev")
@reader_options
@resamples_options
@click.option(
    "--on-test",
    is_flag=True,
    help="Sweep the split test, too. Do not choose a gap by it: a number that was tuned on test "
    "makes all scores on test worthless, because they no longer tell how it does on unseen books.",
)
@json_option
def sweep(
    gold: Gold,
    read: Read,
    on_test: bool,
    as_json: bool,
    **draws: Any,  # noqa: ANN401 - of the intervals
) -> None:
    """Score the gap heuristic with many gaps.

    The gaps are 50 to 2000 characters. Use the result to choose the gap of tuned-gap. The split
    test is refused, because a gap that is chosen on it makes its scores worthless as a test.

    \b
    miner gold sweep --split sample   needs no other book
    miner gold sweep
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.lab.app.tables.scores import tabulate_sweep
    from miner.lab.measure.compare import GAPS, sweep_gaps
    from miner.tagger.load import load_tagger

    taggers = [(gap, load_tagger(f"gap:{gap}")) for gap in GAPS]
    swept = sweep_gaps(gold.read(), read, taggers, split=gold.name, on_test=on_test, **draws)
    show_left_out(swept.coverage.left_out)
    shown = [*tabulate_sweep(swept.gaps, gold.name), *swept.coverage.notes]
    show_result(shown, swept.to_json(), as_json)


@gold.command()
@gold_options("test")
@tagger_options()
@reader_options
@json_option
def errors(gold: Gold, tagger: str, dtype: str, read: Read, as_json: bool) -> None:
    """Count the wrong pairs that a tagger mines, by cause.

    \b
    miner gold errors --split sample     needs no other book
    miner gold errors --tagger gap:300
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from msgspec import to_builtins

    from miner.lab.app.tables.scores import tabulate_errors
    from miner.lab.measure.confidence import count_pair_errors, judge_mined_pairs
    from miner.tagger.load import load_tagger, tagger_label

    judged = judge_mined_pairs(gold.read(), read, load_tagger(tagger, dtype=dtype))
    show_left_out(judged.coverage.left_out)
    found = count_pair_errors(judged.pairs)
    shown = [*tabulate_errors(found, tagger_label(tagger), gold.name), *judged.coverage.notes]
    show_result(shown, to_builtins(found) | {"coverage": judged.coverage.to_json()}, as_json)


@gold.command()
@gold_options("dev")
@tagger_options()
@resamples_options
@click.option("--plot", type=OUTPUT, help="File for a plot (PNG, SVG or PDF by its ending).")
@reader_options
@force_option
@json_option
def confidence(
    gold: Gold,
    tagger: str,
    dtype: str,
    plot: Path | None,
    read: Read,
    force: bool,
    as_json: bool,
    **draws: Any,  # noqa: ANN401 - of the intervals
) -> None:
    """Show what `mine --min-confidence` keeps.

    A checkpoint mines pairs from the annotated chapters of the books. For each minimum confidence
    the table has the number of pairs, their precision, and their recall of the gold pairs.

    \b
    miner gold confidence --split sample   needs no other book
    miner gold confidence --plot confidence.png
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.extras import import_extra
    from miner.files import refuse_existing
    from miner.lab.app.tables.scores import tabulate_tradeoff
    from miner.lab.measure.confidence import judge_mined_pairs, measure_tradeoff
    from miner.tagger.load import load_tagger

    if plot:
        import_extra("matplotlib", "plots")
        refuse_existing(plot, force)
    judged = judge_mined_pairs(gold.read(), read, load_tagger(tagger, dtype=dtype))
    show_left_out(judged.coverage.left_out)
    found = measure_tradeoff(judged.pairs, **draws)
    if plot:
        from miner.lab.app.plots.evaluation import plot_tradeoff, save_figure

        save_figure(plot_tradeoff(found, gold.name), plot, force)
    shown = [*tabulate_tradeoff(found, tagger, gold.name), *judged.coverage.notes]
    show_result(shown, {"rows": found, "coverage": judged.coverage.to_json()}, as_json)


@gold.command()
@gold_options("test")
@tagger_options()
@out_option("File for the measurement (JSON). Beside a checkpoint its name is trust.json.")
@resamples_options
@reader_options
@force_option
def trust(
    gold: Gold,
    tagger: str,
    dtype: str,
    out: Path | None,
    read: Read,
    force: bool,
    **draws: Any,  # noqa: ANN401 - of the intervals
) -> None:
    """Measure how far what a tagger mines can be trusted.

    The pairs of turns at several least confidences, the beginnings of conversations and the
    speakers are judged from the book. The dataset card of what the tagger mines quotes the file,
    if it is in the folder of the checkpoint, and says that nothing was measured, if there is none.
    "auto" stands for the package's tagger for the languages, which must be one.

    \b
    miner gold trust --books BOOKS --tagger runs/a -o runs/a/trust.json
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    import json

    from miner.files import refuse_existing, whole_file
    from miner.lab.measure.confidence import measure_tagger
    from miner.lab.training.speakers.systems import Speaking
    from miner.people.attributor import attributor_of
    from miner.tagger.load import (
        choose_one_tagger,
        load_tagger,
        raw_tagger,
        tagger_signature,
        weight_signatures,
    )

    if out:
        refuse_existing(out, force)
    annotated = gold.read()
    name = choose_one_tagger(tagger, (book.card.language for book in annotated))
    attributor = attributor_of(gold.language)
    measured = measure_tagger(
        annotated,
        read,
        load_tagger(name, dtype),
        attributor and Speaking(raw_tagger(name, dtype), attributor),
        name=tagger_signature(name),
        dtype=dtype,
        weights=weight_signatures(),
        split=gold.name,
        **draws,
    )
    if out is None:
        show_json(measured.to_json())
        return
    with whole_file(out, force) as file:
        file.write(json.dumps(measured.to_json(), indent=2).encode() + b"\n")
    click.echo(f"wrote {out}")


@gold.command()
@gold_options()
@click.option(
    "--format",
    type=click.Choice(list(_FORMATS)),
    required=True,
    help="; ".join(f"{name}: {description}" for name, description in _FORMATS.items()) + ".",
)
@out_option("File to write; for datasets, a folder.", required=True)
@reader_options
@force_option
def export(gold: Gold, format: str, out: Path, read: Read, force: bool) -> None:
    """Write the annotated chapters for other tools.

    A book that is not at hand is left out with the reason. The others are written, and the exit
    code is 1.

    \b
    miner gold export --split sample --format tags -o sample.tags
    miner gold export --split train+dev --format datasets -o annotated
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.lab.gold.editions import LeftOutBook, coverage_of, read_editions

    wanted = gold.read()
    missing: list[LeftOutBook] = []
    find_writer(format)(read_editions(wanted, read, on_missing=missing.append), out, force)
    coverage = coverage_of(wanted, missing)
    show_left_out(coverage.left_out)
    if coverage.left_out:
        raise Failure(f"{out} has {coverage.summary}")


@gold.command()
@source_argument
@click.option(
    "--chapter",
    "chapters",
    type=click.IntRange(min=0),
    multiple=True,
    required=True,
    help="Number of a chapter, as in the output of `miner tag`; may be repeated.",
)
@out_option("File for the tasks (JSON).", required=True)
@quotes_option
@books_options
@force_option
def tasks(
    source: str,
    chapters: tuple[int, ...],
    out: Path,
    force: bool,
    **where: Any,  # noqa: ANN401 - how the book is found and read
) -> None:
    """Write Label Studio tasks for new chapters.

    Every quoted span is marked. The annotator decides who speaks in which conversation, or that the
    span is no utterance. The labeling interface is written beside the tasks, with the ending .xml.

    \b
    miner gold tasks sample --chapter 2 -o tasks.json
    miner gold tasks 1342 --chapter 3 --chapter 4 -o 1342.json
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.corpus.reading import read_spans
    from miner.lab.gold.export.label_studio import tasks_file, tasks_from_spans

    with tasks_file(out, force) as write:
        write(tasks_from_spans(read_spans(source, **where), chapters))


@gold.command("import")
@click.argument("exported", type=PATH)
@out_option("Folder for the files, one for each book, as in annotations/gold.", required=True)
@force_option
def import_(exported: Path, out: Path, force: bool) -> None:
    """Turn an export of Label Studio into annotations.

    The files hold no book text.

    \b
    miner gold import project-1.json -o gold
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.lab.gold.export.label_studio import import_exported

    for path in import_exported(exported, out, force):
        click.echo(path)
