"""How all tables look, and how a long text is cut to make room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.table import Table

# One thing that a command prints: a line of text or a table.
Shown: TypeAlias = "Table | str"

_MIN_TEXT = 12  # columns that are left to a text that is cut
_GAP = 2  # blanks between two columns of a table


def new_table(columns: Sequence[str], texts: Sequence[str] = ()) -> Table:
    """Returns an empty table without a frame; numbers are aligned right.

    Args:
        columns: the heads.
        texts: the heads of the columns that hold words, besides the first column.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for position, column in enumerate(columns):
        is_text = column in texts
        table.add_column(
            column,
            justify="left" if is_text or not position else "right",
            no_wrap=True,
        )
    return table


def cut_column(
    rows: Sequence[Sequence[str]], column: int, names: Sequence[str], width: int
) -> list[list[str]]:
    """Cuts the texts of one column so that the table fits into a width.

    Args:
        rows: the cells.
        column: the index of the column to cut.
        names: the heads of the columns.
        width: of the terminal, in characters.
    """
    widths = [max(map(len, cells)) for cells in zip(names, *rows, strict=True)]
    room = max(_MIN_TEXT, width - sum(widths) - _GAP * (len(names) - 1) + widths[column])
    return [
        [
            f"{cell[: room - 1].rstrip()}…" if i == column and len(cell) > room else cell
            for i, cell in enumerate(row)
        ]
        for row in rows
    ]
