"""Tables of a corpus that was built."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from miner.app.tables.layout import Shown


def tabulate_corpus(record: Mapping[str, Any]) -> list[Shown]:
    """What run.json of a corpus says, as tables."""
    return []
