"""A tags file.

It has the gold tags, in the form that `miner tag` writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from miner.files import json_line, whole_file
from miner.lab.gold.editions import Edition
from miner.speech.tag_files import row_from_span


def write_editions(found: Iterable[Edition], out: Path, force: bool) -> None:
    """Writes a row per span to the file `out`."""
    with whole_file(out, force) as file:
        for edition in found:
            tagged = edition.located.tagged()
            file.write(
                b"".join(json_line(row_from_span(tagged.book, item)) for item in tagged.spans)
            )
