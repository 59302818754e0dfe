"""Scores of taggers and of speakers: `miner compare`, `score`, `quotations`, `speakers`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    OUTPUT,
    PATH,
    force_option,
    json_option,
    out_option,
    quiet_option,
    tagger_options,
)
from miner.app.cli.terminal import open_console, show, show_json, show_left_out, show_result
from miner.errors import InputError
from miner.lab.app.cli.options import (
    SPLIT,
    Gold,
    gold_options,
    language_option,
    reader_options,
    resamples_options,
)
from miner.lab.training.speakers import ABLATIONS

if TYPE_CHECKING:
    from miner.lab.gold.pdnc import PdncNovel
    from miner.lab.measure.speakers import Speak
    from miner.people.attributor import SpeakerAttributor

Read = Callable[[str], bytes]  # a book by its number


@click.command(cls=Command)
@click.option(
    "--gold",
    type=PATH,
    required=True,
    envvar="MINER_ANNOTATIONS",
    show_envvar=True,
    help="Folder of annotations, folder of the project MCN, or a tags file.",
)
@tagger_options(
    "Tagger to compare, may be repeated: {taggers} Without it the heuristics are compared.",
    default=None,
    multiple=True,
)
@click.option(
    "--split",
    type=SPLIT,
    help="Split of the gold, or several joined by +.  [default: test; all for a tags file]",
)
@language_option()
@resamples_options
@click.option("--plots", type=OUTPUT, help="Folder for plots of the comparison (PNG).")
@reader_options
@force_option
@json_option
def compare(
    gold: Path,
    taggers: tuple[str, ...],
    dtype: str,
    plots: Path | None,
    force: bool,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - those of the library's `compare`
) -> None:
    """Compare taggers on the same gold.

    The tables have B-START, turn pairs and span pairs. All taggers tag the spans of the gold. With
    annotations, each tagger is also scored on the spans that the miner finds in the book. With the
    folder of the project "Mining Conversations from Novels" (MCN), the table also has MCN's own
    heuristic and model. --plots draws the scores side by side, the confusion of tags, the lengths
    of conversations, and how often a checkpoint's tags are right by their confidence.

    \b
    miner compare --gold annotations --split sample   a try on five chapters, without a download
    miner compare --gold annotations --tagger auto    downloads the books of the split test
    miner compare --gold sample.tags --tagger gap:300
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.extras import import_extra
    from miner.files import refuse_existing
    from miner.lab.app.tables.scores import tabulate_comparison
    from miner.lab.measure.compare import compare
    from miner.tagger.load import BASELINES, load_tagger, tagger_label

    if plots:
        import_extra("matplotlib", "plots")
        refuse_existing(plots, force)
    named = [(tagger_label(name), load_tagger(name, dtype=dtype)) for name in taggers or BASELINES]
    comparison = compare(gold, named, **options)
    if comparison.coverage:
        show_left_out(comparison.coverage.left_out)
    drawn: list[Path] = []
    if plots:
        from miner.lab.app.plots.evaluation import draw_comparison, save_figures

        drawn = save_figures(draw_comparison(comparison), plots, force)
    if as_json:
        show_json(comparison.to_json())
        return
    show(tabulate_comparison(comparison))
    for note in comparison.notes:
        click.echo(note)
    for row in comparison.rows:
        click.echo(f"{row.name}: {row.scores.signature}")
    if plots:
        click.echo(f"wrote {', '.join(path.name for path in drawn)} in {plots}")


@click.command(cls=Command)
@click.option(
    "--gold",
    type=PATH,
    required=True,
    help="Tags file, CSV file of the project MCN, or a file that `miner annotate` saved.",
)
@click.option("--predicted", type=PATH, required=True, help="Tags file or CSV file to score.")
@click.option("--split", help="Split of a CSV file of MCN: train, validation or test.")
@resamples_options
@json_option
def score(
    gold: Path,
    predicted: Path,
    split: str | None,
    as_json: bool,
    **draws: Any,  # noqa: ANN401 - of the intervals
) -> None:
    """Score predicted tags against gold tags.

    There are two tables, with 95% intervals from resampled chapters. End to end, a missed utterance
    counts as missed and a spurious one as wrong. On gold spans, only the utterances that both files
    have are scored: the tagger alone. Annotations hold no text, so they are found in that of the
    predicted tags.

    \b
    miner tag sample -o sample.tags
    miner score --gold sample.tags --predicted sample.tags
    miner score --gold annotations/gold/sample.jsonl --predicted sample.tags
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.lab.app.tables.scores import tabulate_scores
    from miner.lab.gold.mcn import read_any_tag_file, read_gold_tags
    from miner.lab.measure.scores import score

    guess = read_any_tag_file(predicted, repair=True)
    truth = read_gold_tags(gold, guess.books, split)
    scores = score(truth, guess.as_read, split=split or "all", **draws)
    shown = tabulate_scores(scores)
    if guess.n_repaired:
        shown.append(
            f"{guess.n_repaired} predicted tags may not follow the tag before; repaired for pairs"
        )
    show_result([*shown, *scores.notes, scores.signature], scores.to_json(), as_json)


@click.command(cls=Command)
@click.option("--pdnc", type=PATH, required=True, help="Folder of the corpus, with its index file.")
@reader_options
@quiet_option
@json_option
def quotations(pdnc: Path, read: Read, quiet: bool, as_json: bool) -> None:
    """Score the quotations that are found against a corpus.

    The corpus is the Project Dialogism Novel Corpus (PDNC). Each novel is read from its Gutenberg
    file and aligned with the corpus by its letters. The table also has the scores of two simple
    rules on the corpus's own text. Thoughts in quotation marks count as quotations, because the
    corpus counts them.

    \b
    miner quotations --pdnc PDNC                the books are downloaded
    miner quotations --pdnc PDNC --books DIR    those in DIR are not
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.lab.app.tables.scores import tabulate_quotations
    from miner.lab.measure.quotations import score_corpus

    scored = score_corpus(pdnc, read)
    show_left_out(scored.coverage.left_out)
    if as_json or not quiet:
        shown = tabulate_quotations(scored, open_console().width)
        show_result(shown, scored.to_json(), as_json)


@click.command(cls=Command)
@gold_options("test")
@click.option(
    "--pdnc",
    type=PATH,
    help="Folder of the Project Dialogism Novel Corpus, which is scored instead of annotations.",
)
@tagger_options()
@click.option(
    "--attributor",
    type=PATH,
    help="Weights of the network of the speakers, as train.py writes them.  [default: the "
    "package's]",
)
@click.option(
    "--leave-one-author-out",
    "examples",
    type=PATH,
    help="Prepared examples, as train.py writes them. Each novel of --pdnc is judged by a network "
    "that is trained on the books of all other authors. Needs the extra train.",
)
@click.option(
    "--ablate",
    "ablations",
    type=click.Choice(list(ABLATIONS)),
    multiple=True,
    help="Also score ours without a part of it, may be repeated. "
    + " ".join(f"{name}: {about}." for name, about in ABLATIONS.items()),
)
@click.option(
    "--errors",
    "n_errors",
    type=click.IntRange(min=1),
    help="Write so many wrong utterances, drawn at random, to the file of --out, to be read. With "
    "--pdnc they are those with the characters given, unless --end-to-end.",
)
@click.option("--end-to-end", is_flag=True, help="Write the errors of --pdnc end to end.")
@out_option("File for the wrong utterances of --errors (JSON Lines).")
@reader_options
@resamples_options
@force_option
@json_option
def speakers(
    gold: Gold,
    pdnc: Path | None,
    tagger: str,
    dtype: str,
    attributor: Path | None,
    examples: Path | None,
    ablations: tuple[str, ...],
    n_errors: int | None,
    end_to_end: bool,
    out: Path | None,
    read: Read,
    resamples: int,
    seed: int,
    force: bool,
    as_json: bool,
) -> None:
    """Score the speakers of utterances.

    With annotations, an utterance is right if its speaker is the character whom the annotator
    names. From the book, the miner's own utterances, tags and characters are used, and an utterance
    that it does not find is wrong. On the spans of the gold, the utterances are given. Intervals
    are from resampled chapters.

    With --pdnc, the quotations of whole novels are scored, with the list of characters given and
    end to end, beside published figures. Intervals are from resampled novels.

    Quotations are explicit ("said Mara"), anaphoric ("said she", "said the waiter") or implicit.

    \b
    miner speakers --split sample --ablate masked    needs no other book
    miner speakers --split dev --errors 100 -o errors.jsonl
    miner speakers --pdnc PDNC --leave-one-author-out examples.npz
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.files import json_lines, refuse_existing, whole_file
    from miner.lab.measure.speakers import draw_errors
    from miner.lab.training.speakers.systems import find_systems
    from miner.people.attributor import attributor_of, load_attributor
    from miner.tagger.load import raw_tagger

    if (n_errors is None) != (out is None):
        raise click.UsageError("--errors and --out need each other")
    if not pdnc and (examples or end_to_end):
        raise click.UsageError("--leave-one-author-out and --end-to-end need --pdnc")
    if examples and attributor:
        raise click.UsageError("--leave-one-author-out trains the weights: --attributor is none")
    if out:
        refuse_existing(out, force)
    tags, gap = raw_tagger(tagger, dtype), raw_tagger("gap")

    def ways_by(ours: SpeakerAttributor) -> Sequence[tuple[str, Speak]]:
        return find_systems(tags, gap, ours, ablations)

    shipped = load_attributor(attributor) if attributor else attributor_of("en")
    if shipped is None:
        raise InputError("found no weights of the speakers in the package, expected --attributor")
    if pdnc is None:
        from miner.lab.app.tables.speakers import tabulate_speaker_scores
        from miner.lab.measure.speakers import score_annotated_speakers

        scored = score_annotated_speakers(
            gold.read(), read, ways_by(shipped), split=gold.name, resamples=resamples, seed=seed
        )
        coverage, errors, record = scored.coverage, scored.errors, scored.to_json()
        tables = tabulate_speaker_scores(scored, gold.name)
    else:
        from miner.lab.app.tables.speakers import tabulate_corpus_speakers
        from miner.lab.measure.pdnc_speakers import score_corpus_speakers

        ways_of, notes = (lambda _: ways_by(shipped)), [_KNOWN_AUTHORS]
        if examples:
            attributor_for, notes = _cross_validation(examples, pdnc)
            ways_of = lambda novel: ways_by(attributor_for(novel))  # noqa: E731
        corpus_scores = score_corpus_speakers(pdnc, read, ways_of)
        task = corpus_scores.end_to_end if end_to_end else corpus_scores.given
        coverage, errors = corpus_scores.coverage, task.errors
        record = corpus_scores.to_json(resamples, seed) | {"notes": list(notes)}
        width = open_console().width
        tables = [*tabulate_corpus_speakers(corpus_scores, width, resamples, seed), *notes]
    show_left_out(coverage.left_out)
    if out and n_errors:
        with whole_file(out, force) as file:
            file.write(json_lines(error.to_json() for error in draw_errors(errors, n_errors, seed)))
    show_result(tables, record, as_json)


_KNOWN_AUTHORS = (
    "the weights may have been trained on books by these authors: --leave-one-author-out judges "
    "without them"
)


def _cross_validation(
    examples: Path, pdnc: Path
) -> tuple[Callable[[PdncNovel], SpeakerAttributor], list[str]]:
    """Returns what trains an attributor for each novel, and lines that say without what."""
    from miner.extras import import_extra
    from miner.lab.gold.pdnc import find_novels

    import_extra("torch", "train")
    from miner.lab.training.speakers.training import LeaveOneAuthorOut, load_examples

    novels = find_novels(pdnc)
    loaded = load_examples(examples)
    validation = LeaveOneAuthorOut(loaded, novels)
    counts = validation.count_left_out(novel for novel in novels if novel.gutenberg_id)
    without = ", ".join(f"{author} {count}" for author, count in sorted(counts.items()))
    return validation.attributor_of, [
        f"each novel by a network trained on {len(loaded)} chapters without those of its author: "
        f"{without}"
    ]
