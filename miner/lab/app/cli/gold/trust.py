"""`miner gold trust`: measure a tagger for the cards of what it mines."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    books_option,
    dtype_option,
    force_option,
    gold_option,
    language_option,
    mirror_option,
    out_option,
    resamples_option,
    seed_option,
    split_option,
    tagger_option,
)
from miner.app.cli.terminal import show_json
from miner.lab.app.cli.books import book_reader


@click.command("trust", cls=Command)
@gold_option
@split_option("test")
@language_option()
@tagger_option
@dtype_option
@out_option("File for the measurement (JSON). Beside a checkpoint its name is trust.json.")
@resamples_option
@seed_option
@books_option
@mirror_option
@force_option
def command(
    gold: Path,
    split: str,
    language: str,
    tagger: str,
    dtype: str,
    out: Path | None,
    resamples: int,
    seed: int,
    books: Path | None,
    mirror: str | None,
    force: bool,
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

    from miner.annotation.annotations import name_of_split, read_split
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
    annotated = read_split(gold, split, language=language)
    name = choose_one_tagger(tagger, (book.card.language for book in annotated))
    attributor = attributor_of(language)
    trust = measure_tagger(
        annotated,
        book_reader(books, mirror),
        load_tagger(name, dtype),
        attributor and Speaking(raw_tagger(name, dtype), attributor),
        name=tagger_signature(name),
        dtype=dtype,
        weights=weight_signatures(),
        split=name_of_split(split, language),
        resamples=resamples,
        seed=seed,
    )
    if out is None:
        show_json(trust.to_json())
        return
    with whole_file(out, force) as file:
        file.write(json.dumps(trust.to_json(), indent=2).encode() + b"\n")
    click.echo(f"wrote {out}")
