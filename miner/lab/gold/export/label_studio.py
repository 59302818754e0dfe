"""Label Studio tasks (JSON).

The labeling interface is written beside them, in a file ending in .xml. The module
`miner.lab.gold.label_studio` has the form of a task and reads what Label Studio exports.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from miner.lab.gold.editions import Edition
from miner.lab.gold.label_studio import tasks_file, tasks_from_edition


def write_editions(found: Iterable[Edition], out: Path, force: bool) -> None:
    """Writes a task per annotated chapter to the file `out`."""
    with tasks_file(out, force) as write:
        write([task for edition in found for task in tasks_from_edition(edition)])
