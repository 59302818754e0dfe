"""`miner generation answer`: let a trained model answer the contexts of a source."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    PATH,
    books_option,
    force_option,
    json_option,
    language_option,
    mirror_option,
    out_option,
    quiet_option,
)
from miner.app.cli.terminal import CountBar, show_json
from miner.extras import import_extra
from miner.lab.app.cli.config_options import config_options
from miner.lab.app.cli.sources import SourceName, open_source, split_option
from miner.lab.lessons.generation.decoding import Decoding


@click.command("answer", cls=Command, context_settings={"show_default": True})
@click.argument("folder", metavar="MODEL", type=PATH)
@click.argument("source", metavar="SOURCE", type=SourceName())
@out_option("File for the answers (JSON Lines).", required=True)
@split_option
@click.option(
    "--most-pairs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Answer N contexts, drawn by chance.",
)
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=32,
    help="Contexts that are answered at a time; fewer need less memory.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Random seed of the answers.")
@language_option()
@books_option
@mirror_option
@force_option
@quiet_option
@json_option
@config_options(Decoding)
def command(
    folder: Path,
    source: str,
    out: Path,
    split: str | None,
    most_pairs: int | None,
    batch: int,
    seed: int,
    language: str,
    books: Path | None,
    mirror: str | None,
    force: bool,
    quiet: bool,
    as_json: bool,
    **values: Any,  # noqa: ANN401 - the fields of `Decoding`
) -> None:
    """Let a trained MODEL answer the contexts of SOURCE.

    MODEL is a folder of `miner generation train`. The file has each context with its true response
    and the answer of the model, for `miner generation score`. A book that the model was trained on
    is refused. A context that is longer than the model reads loses its oldest tokens, and a line
    says how many did.

    \b
    miner generation answer model corpus -o answers.jsonl
    miner generation answer model pairs.csv --decoding beam -o answers.jsonl
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    import_extra("torch", "generation")
    from miner.files import refuse_existing
    from miner.lab.app.tables.model_training import describe_answers
    from miner.lab.lessons.generation.answering import answer_examples
    from miner.lab.lessons.generation.answers import write_answers
    from miner.lab.lessons.generation.model_folder import load_model, read_record
    from miner.lab.lessons.sources import draw_pairs

    refuse_existing(out, force)
    decoding = Decoding(**values)
    read_record(folder)  # before the source, which may take long
    found = open_source(source, split, "test", language, books, mirror)
    if most_pairs:
        found = draw_pairs(found, most_pairs, seed)
    trained = load_model(folder)
    with CountBar("answering", quiet or as_json) as bar:
        answered = answer_examples(trained, found.examples, decoding, seed, batch, bar.show)
    write_answers(out, answered.answers, force)
    name = ", ".join((found.name, *found.notes))
    if as_json:
        about = {"source": name, "decoding": decoding.describe(), "seed": seed}
        counts = {name: value for name, value in asdict(answered).items() if name != "answers"}
        show_json(about | {"answers": len(answered.answers)} | counts)
    elif not quiet:
        click.echo(describe_answers(answered, name, decoding, trained.tokens))
        click.echo(f"wrote {out}")
