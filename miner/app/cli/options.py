"""The options that several commands share."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

PATH = click.Path(path_type=Path)
STDOUT = Path("-")  # as the value of an option


class TaggerOption(click.Option):
    """An option that names a tagger; its help lists the registered taggers for `{registered}`."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The help, with the taggers that are registered now."""
        from miner.models.load import find_registered_taggers

        shown = copy.copy(self)
        shown.help = (self.help or "").format(registered=", ".join(find_registered_taggers()))
        return super(TaggerOption, shown).get_help_record(ctx)


# What the value of a tagger option may be, for its help.
TAGGERS = (
    "auto (the package's tagger for English books, gap for others), {registered}, or the path of a "
    "tags file or of a checkpoint. A heuristic may take a number, as in gap:300."
)

tagger_option = click.option(
    "--tagger",
    cls=TaggerOption,
    default="auto",
    show_default=True,
    help=f"The tagger of the utterances: {TAGGERS}",
)

dtype_option = click.option(
    "--dtype",
    type=click.Choice(["float32", "bfloat16"]),
    default="float32",
    show_default=True,
    help="Type of the numbers with which a checkpoint computes. bfloat16 is faster on some "
    "processors, but a few tags may differ. Heuristics ignore it.",
)

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
    help="Where to download a number that is in no folder and not in the cache: a URL with {id} "
    "(or {path}/{id} for classic mirrors).",
)


def _split_names(ctx: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (value or "").split(",") if name.strip())


quotes_option = click.option(
    "--quotes",
    callback=_split_names,
    help="Marks that open speech, instead of those inferred from the book: names as `miner "
    "profile` prints them, separated by commas.",
)

gold_option = click.option(
    "--gold",
    type=PATH,
    default=Path("annotations"),
    show_default=True,
    help="Folder of annotations.",
)


def split_option(default: str = "all") -> Callable[[Any], Any]:
    """The option that chooses a split of the annotations."""
    return click.option(
        "--split",
        default=default,
        show_default=True,
        help="Split of the annotations: train, dev, test, sample, several joined by +, or all.",
    )


resamples_option = click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Draws of chapters for the 95% intervals.",
)

seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, help="Random seed of these draws."
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")

force_option = click.option("--force", is_flag=True, help="Replace files that exist.")


def out_option(help: str, required: bool = False) -> Callable[[Any], Any]:
    """The option that names the output, with its own help."""
    return click.option("-o", "--out", type=PATH, required=required, help=help)
