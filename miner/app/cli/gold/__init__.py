"""`miner gold`: work with the annotations; a file a command."""

import click

from miner.app.cli.errors import Group
from miner.app.cli.gold import (
    agreement,
    check,
    confidence,
    errors,
    export,
    fetch,
    import_,
    speakers,
    stats,
    sweep,
    tasks,
)


@click.group("gold", cls=Group)
def group() -> None:
    """Work with the annotations, which hold labels and no book text.

    They lie in the folder `annotations` of the project: who speaks and in which conversation, for
    every quoted span of some chapters of many novels. A span is known by a fingerprint of its
    letters, so the books themselves are needed: in a folder (--books), or downloaded.

    \b
    miner gold stats                         what is annotated
    miner gold fetch                         download the books
    miner gold check                         find every annotated span in them
    miner compare --gold annotations         taggers against the annotations
    """  # noqa: D301 - click's mark for lines that are to stay as they are


for _module in (
    fetch,
    check,
    stats,
    agreement,
    speakers,
    sweep,
    errors,
    confidence,
    export,
    tasks,
    import_,
):
    group.add_command(_module.command)
