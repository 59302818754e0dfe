"""How all tables look, and how a long text is cut to make room."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.table import Table

# One thing that a command prints: a line of text or a table.
Shown: TypeAlias = "Table | str"

_MIN_TEXT = 12  # columns that are left to a text that is cut
_GAP = 2  # blanks between two columns of a table
_LEAST_TEXT = 20  # characters of a line of text beside its label


def new_table(columns: Sequence[str], texts: Sequence[str] = ()) -> Table:
    """Returns an empty table without a frame; numbers are aligned right."""
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
    """Cuts the texts of one column so that the table fits into a width."""
    widths = [max(map(len, cells)) for cells in zip(names, *rows, strict=True)]
    room = max(_MIN_TEXT, width - sum(widths) - _GAP * (len(names) - 1) + widths[column])
    return [
        [
            f"{cell[: room - 1].rstrip()}…" if i == column and len(cell) > room else cell
            for i, cell in enumerate(row)
        ]
        for row in rows
    ]


def divide_columns(
    names: Sequence[str], columns: Sequence[tuple[str, Sequence[str]]], width: int
) -> list[Table]:
    """Returns columns in as many tables as a terminal needs; each begins with the names of rows."""
    first = max(map(len, names))
    parts: list[list[tuple[str, Sequence[str]]]] = []
    room = 0
    for head, cells in columns:
        taken = max(map(len, (head, *cells))) + _GAP
        if not parts or taken > room:
            parts.append([])
            room = width - first
        parts[-1].append((head, cells))
        room -= taken
    tables: list[Table] = []
    for part in parts:
        table = new_table(("", *(head for head, _ in part)))
        for number, name in enumerate(names):
            table.add_row(name, *(cells[number] for _, cells in part))
        tables.append(table)
    return tables


def label_texts(texts: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Returns texts in lines, each beside its label."""
    indent = max(len(label) for label, _ in texts) + _GAP
    return [
        fill(
            " ".join(text.split()),
            max(width, indent + _LEAST_TEXT),
            initial_indent=label.ljust(indent),
            subsequent_indent=" " * indent,
        )
        for label, text in texts
    ]
