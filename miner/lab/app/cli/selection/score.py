"""`miner selection score`: score one trained method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    PATH,
    books_option,
    json_option,
    language_option,
    mirror_option,
)
from miner.app.cli.terminal import open_console, show, show_json
from miner.lab.app.cli.selection.compare import compare_folders, scoring_options
from miner.lab.app.cli.sources import SourceName, split_option


@click.command("score", cls=Command)
@click.argument("folder", metavar="METHOD", type=PATH)
@click.argument("source", metavar="SOURCE", type=SourceName())
@split_option
@scoring_options
@language_option()
@books_option
@mirror_option
@json_option
def command(
    folder: Path,
    source: str,
    as_json: bool,
    **values: Any,  # noqa: ANN401 - the values of shared options
) -> None:
    """Score a trained METHOD on the pairs of SOURCE.

    METHOD is a folder of `miner selection train`. Each score is the share of contexts whose true
    response it ranks first, or among the first k, with a 95% interval over books. A book that the
    method was trained on is refused.

    \b
    miner selection score tfidf corpus
    miner selection score tfidf annotations --books BOOKS
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.lab.app.tables.selection import tabulate_scores

    compared = compare_folders((folder,), source, quiet=as_json, **values)
    if as_json:
        show_json(compared.to_json())
    else:
        show(tabulate_scores(compared, open_console().width))
