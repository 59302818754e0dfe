"""`miner gold import`: read annotations from Label Studio."""

from __future__ import annotations

from pathlib import Path

import click

from miner.app.cli.command import Command
from miner.app.cli.options import (
    PATH,
    force_option,
    out_option,
)


@click.command("import", cls=Command)
@click.argument("exported", type=PATH)
@out_option("Folder for the files, one for each book, as in annotations/gold.", required=True)
@force_option
def command(exported: Path, out: Path, force: bool) -> None:
    """Turn an export of Label Studio into annotations.

    The files hold no book text.

    \b
    miner gold import project-1.json -o gold
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.lab.gold.export.label_studio import import_exported

    for path in import_exported(exported, out, force):
        click.echo(path)
