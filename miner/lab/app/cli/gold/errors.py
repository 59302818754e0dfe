"""`miner gold errors`: count wrong pairs by cause."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    books_option,
    dtype_option,
    gold_option,
    json_option,
    language_option,
    mirror_option,
    split_option,
    tagger_option,
)
from miner.app.cli.terminal import show, show_json
from miner.lab.app.cli.books import book_reader, show_left_out


@click.command("errors", cls=Command)
@gold_option
@split_option("test")
@language_option()
@tagger_option
@dtype_option
@books_option
@mirror_option
@json_option
def command(
    gold: Path,
    split: str,
    language: str,
    tagger: str,
    dtype: str,
    books: Path | None,
    mirror: str | None,
    as_json: bool,
) -> None:
    """Count the wrong pairs that a tagger mines, by cause.

    \b
    miner gold errors --split sample     needs no other book
    miner gold errors --tagger gap:300
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import name_of_split, read_split
    from miner.lab.app.tables.scores import tabulate_errors
    from miner.lab.measure.confidence import count_pair_errors, judge_mined_pairs
    from miner.tagger.load import load_tagger, tagger_label

    judged = judge_mined_pairs(
        read_split(gold, split, language=language),
        book_reader(books, mirror),
        load_tagger(tagger, dtype=dtype),
    )
    show_left_out(judged.coverage)
    found = count_pair_errors(judged.pairs)
    if as_json:
        show_json(found.to_json() | {"coverage": judged.coverage.to_json()})
    else:
        show(
            [
                *tabulate_errors(found, tagger_label(tagger), name_of_split(split, language)),
                *judged.coverage.notes,
            ]
        )
