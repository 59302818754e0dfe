"""`miner speakers`: score the speakers of utterances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    PATH,
    books_option,
    dtype_option,
    force_option,
    gold_option,
    json_option,
    language_option,
    mirror_option,
    out_option,
    resamples_option,
    seed_option,
    split_option,
    tagger_option,
)
from miner.app.cli.terminal import open_console, show, show_json
from miner.errors import InputError
from miner.lab.app.cli.books import book_reader, show_left_out
from miner.lab.training.speakers import ABLATIONS

if TYPE_CHECKING:
    from miner.lab.gold.pdnc import PdncNovel
    from miner.lab.measure.speakers import ShownError, Speak
    from miner.people.attributor import SpeakerAttributor


@click.command("speakers", cls=Command)
@gold_option
@split_option("test")
@language_option()
@click.option(
    "--pdnc",
    type=PATH,
    help="Folder of the Project Dialogism Novel Corpus, which is scored instead of annotations.",
)
@tagger_option
@dtype_option
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
@books_option
@mirror_option
@resamples_option
@seed_option
@force_option
@json_option
def command(
    gold: Path,
    split: str,
    language: str,
    pdnc: Path | None,
    tagger: str,
    dtype: str,
    attributor: Path | None,
    examples: Path | None,
    ablations: tuple[str, ...],
    n_errors: int | None,
    end_to_end: bool,
    out: Path | None,
    books: Path | None,
    mirror: str | None,
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
    from miner.files import refuse_existing
    from miner.lab.training.speakers.systems import find_ways
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
        return find_ways(tags, gap, ours, ablations)

    shipped = load_attributor(attributor) if attributor else attributor_of("en")
    if shipped is None:
        raise InputError("found no weights of the speakers in the package, expected --attributor")
    read = book_reader(books, mirror)
    if pdnc is None:
        from miner.annotation.annotations import name_of_split, read_split
        from miner.lab.app.tables.speakers import tabulate_speaker_scores
        from miner.lab.measure.speakers import score_annotated_speakers

        scored = score_annotated_speakers(
            read_split(gold, split, language=language),
            read,
            ways_by(shipped),
            split=name_of_split(split, language),
            resamples=resamples,
            seed=seed,
        )
        coverage, errors, record = scored.coverage, scored.errors, scored.to_json()
        tables = tabulate_speaker_scores(scored, name_of_split(split, language))
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
    show_left_out(coverage)
    if out and n_errors:
        _write_errors(out, errors, n_errors, seed, force)
    if as_json:
        show_json(record)
    else:
        show(tables)


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
    from miner.lab.training.speakers.cross_validation import LeaveOneAuthorOut
    from miner.lab.training.speakers.examples import load_examples

    novels = find_novels(pdnc)
    loaded, _ = load_examples(examples)
    validation = LeaveOneAuthorOut(loaded, novels)
    counts = validation.count_left_out(novel for novel in novels if novel.gutenberg_id)
    without = ", ".join(f"{author} {count}" for author, count in sorted(counts.items()))
    return validation.attributor_of, [
        f"each novel by a network trained on {len(loaded)} chapters without those of its author: "
        f"{without}"
    ]


def _write_errors(
    out: Path, errors: Sequence[ShownError], n_errors: int, seed: int, force: bool
) -> None:
    from miner.files import json_lines, whole_file
    from miner.lab.measure.speakers import draw_errors

    with whole_file(out, force) as file:
        file.write(json_lines(error.to_json() for error in draw_errors(errors, n_errors, seed)))
