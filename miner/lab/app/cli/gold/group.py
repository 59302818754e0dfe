"""`miner gold`: its commands, in the order in which the help lists them."""

import click

from miner.app.cli.errors import CommandGroup
from miner.lab.app.cli.gold import (
    agreement,
    check,
    confidence,
    errors,
    export,
    fetch,
    import_,
    languages,
    speakers,
    stats,
    sweep,
    tasks,
    trust,
)


@click.group("gold", cls=CommandGroup)
def group() -> None:
    """Work with the annotations, which hold no book text.

    The folder `annotations` in the source of the package says who speaks in which conversation, for
    every quoted span of some chapters of many novels. A span is identified by a fingerprint of its
    letters, so most commands need the books: in a folder (--books), or downloaded. A book that is
    not at hand is left out, and the figures say so.

    \b
    miner gold stats                         count the annotations
    miner gold fetch                         download the annotated books
    miner gold check                         find every annotated span in them
    miner compare --gold annotations         score taggers against the annotations
    """  # noqa: D301 - click keeps the lines of a paragraph after \b


for _module in (
    fetch,
    check,
    stats,
    agreement,
    languages,
    speakers,
    sweep,
    errors,
    confidence,
    trust,
    export,
    tasks,
    import_,
):
    group.add_command(_module.command)
