"""The options of formats that have a table for each kind of row."""

from __future__ import annotations

from dataclasses import dataclass

from miner.corpus.export import refuse_other_than_tables
from miner.corpus.schema import KINDS


@dataclass(frozen=True, slots=True)
class KindOptions:
    """Which kinds of rows are written, for a format with a table for each kind.

    Args:
        tables: some of "spans", "dialogues", "pairs" and "characters".

    Raises:
        InputError: if there is no such table.
    """

    tables: tuple[str, ...] = tuple(KINDS)

    def __post_init__(self) -> None:
        refuse_other_than_tables(self.tables, KINDS)
