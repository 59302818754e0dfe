"""`miner generation score`: score the answers of dialogue models, side by side."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    PATH,
    books_option,
    json_option,
    language_option,
    mirror_option,
)
from miner.app.cli.terminal import CountBar, open_console, show, show_json
from miner.lab.app.cli.sources import SourceName, open_source


@click.command("score", cls=Command)
@click.argument("paths", metavar="ANSWERS...", nargs=-1, required=True, type=PATH)
@click.option(
    "--reference",
    type=SourceName(),
    required=True,
    metavar="SOURCE",
    help="What the models were trained on: the probabilities of its words, and random responses; "
    "its split train, unless another one is named (corpus:all).",
)
@click.option(
    "--vectors",
    metavar="NAME",
    help="Vectors of words for AVG, EXT, GRE and COH: a text file of fastText or word2vec, or a "
    "sentence encoder (a folder, an installed package that holds one, or a name on the Hugging "
    "Face Hub). Without them, these have no value.",
)
@click.option(
    "--papers", is_flag=True, help="Print the figures that the paper has for its data, too."
)
@click.option(
    "--show",
    "n_shown",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Print N contexts, drawn by chance, with what each model answered.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    metavar="N",
    help="Draws of books for the 95% intervals.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed of all that is drawn.",
)
@language_option()
@books_option
@mirror_option
@json_option
def command(
    paths: tuple[Path, ...],
    reference: str,
    vectors: str | None,
    papers: bool,
    n_shown: int,
    resamples: int,
    seed: int,
    language: str,
    books: Path | None,
    mirror: str | None,
    as_json: bool,
) -> None:
    """Score the answers of dialogue models, side by side.

    Each of ANSWERS has those of one model to the same contexts: a table (JSON Lines, CSV, TSV or
    Parquet) with columns context, response and predicted, perhaps history, book and chapter; or a
    folder of contexts.txt, responses.txt and predicted.txt, a line each. The metrics are those of
    "The Gutenberg Dialogue Dataset", with 95% intervals over books, and a line says exactly what
    was scored. They were made for English. Below the models stand random responses and the true
    ones, which tell what a value means.

    \b
    miner generation score answers.jsonl --reference corpus
    miner generation score trf.csv gpt2.csv --reference corpus --vectors wiki.vec
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from dataclasses import asdict

    from miner.files import name_paths
    from miner.lab.app.tables.generation import tabulate_answers, tabulate_published
    from miner.lab.lessons.generation.answers import read_answers
    from miner.lab.lessons.generation.comparison import Scoring, compare_answers
    from miner.lab.lessons.generation.metrics import make_reference
    from miner.lab.lessons.generation.words import nltk_version
    from miner.lab.lessons.papers import GENERATION

    nltk_version()  # its absence is told at once
    answers = {
        name: read_answers(path) for name, path in zip(name_paths(paths), paths, strict=True)
    }
    found = open_source(reference, None, "train", language, books, mirror)
    with CountBar("reference", as_json) as bar:
        of_training = make_reference(
            found.examples, ", ".join((found.name, *found.notes)), progress=bar.show
        )
        compared = compare_answers(
            answers,
            of_training,
            vectors,
            Scoring(resamples, seed),
            n_shown=n_shown,
            begin=bar.rename,
            progress=bar.show,
        )
    if as_json:
        published = {"papers": [asdict(table) for table in GENERATION]} if papers else {}
        show_json(compared.to_json() | published)
        return
    width = open_console().width
    show(tabulate_answers(compared, width))
    if papers:
        click.echo()
        show(tabulate_published(GENERATION, width))
