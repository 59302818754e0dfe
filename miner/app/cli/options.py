"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

PATH = click.Path(path_type=Path)

books_option = click.option(
    "--books",
    type=PATH,
    envvar="MINER_BOOKS",
    show_envvar=True,
    help="Folder in which a Gutenberg number is looked up first (1342-h.htm, pg1342-images.html).",
)

mirror_option = click.option(
    "--mirror",
    envvar="MINER_MIRROR",
    show_envvar=True,
    help="Where to download a number from, if it is in no folder and not in the cache: a URL with "
    "{id} (or {path}/{id} for classic mirrors).",
)

quotes_option = click.option(
    "--quotes",
    help="Marks that open speech, instead of those inferred: names as `miner profile` prints them, "
    "with commas between.",
)

tagger_option = click.option(
    "--tagger",
    default="auto",
    show_default=True,
    help="What tags the utterances: auto (the trained tagger for English books, gap for others), "
    "gap, tuned-gap, narration, or the path of a tags file or of a checkpoint.",
)

gold_option = click.option(
    "--gold",
    type=PATH,
    default=Path("annotations"),
    show_default=True,
    help="Folder of annotations.",
)

split_option = click.option(
    "--split",
    default="all",
    show_default=True,
    help="Of the annotations: train, dev, test, sample, several with + between, or all.",
)

resamples_option = click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Draws of chapters for the intervals.",
)

seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, help="Of the bootstrap."
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")

force_option = click.option("--force", is_flag=True, help="Replace files that exist.")


def out_option(help: str, required: bool = False) -> Callable[[Any], Any]:
    return click.option("-o", "--out", type=PATH, required=required, help=help)
