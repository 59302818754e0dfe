"""`miner gold languages`: score what is found in books of several languages."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    TAGGERS,
    TaggerOption,
    books_option,
    dtype_option,
    gold_option,
    json_option,
    language_option,
    mirror_option,
    resamples_option,
    seed_option,
    split_option,
)
from miner.app.cli.terminal import show, show_json
from miner.lab.app.cli.books import book_reader, show_left_out


@click.command("languages", cls=Command)
@gold_option
@split_option("test")
@language_option("all")
@click.option(
    "--tagger",
    "taggers",
    cls=TaggerOption,
    multiple=True,
    default=("auto", "gap"),
    show_default=True,
    help=f"Tagger to score, may be repeated: {TAGGERS}",
)
@dtype_option
@resamples_option
@seed_option
@books_option
@mirror_option
@json_option
def command(
    gold: Path,
    split: str,
    language: str,
    taggers: tuple[str, ...],
    dtype: str,
    resamples: int,
    seed: int,
    books: Path | None,
    mirror: str | None,
    as_json: bool,
) -> None:
    """Score what is mined from books, language by language.

    Everything is judged from the book: speech by its exact ends and by its letters, beginnings of
    conversations, and pairs of turns, also at several least confidences. Several languages have a
    mean.

    \b
    miner gold languages --split sample --language en     needs no other book
    miner gold languages --language de,es,fr,hu,it,nl,pt --tagger auto --tagger gd
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.annotation.annotations import read_split
    from miner.lab.app.tables.languages import tabulate_languages
    from miner.lab.measure.language_scores import compare_by_language
    from miner.tagger.load import load_tagger, tagger_label

    compared = compare_by_language(
        read_split(gold, split, language=language),
        book_reader(books, mirror),
        [(tagger_label(name), load_tagger(name, dtype=dtype)) for name in taggers],
        resamples=resamples,
        seed=seed,
    )
    show_left_out(compared.coverage)
    if as_json:
        rows = [row.to_json() for row in compared.rows]
        show_json({"rows": rows, "coverage": compared.coverage.to_json()})
    else:
        show([*tabulate_languages(compared.rows, split), *compared.notes])
