"""CSV tables, with a row a turn in place of a row a dialogue.

The files are UTF-8, as RFC 4180 has it, with a line of column names. A list is JSON, because a name
or an id may hold any separator: `["hester", "ned-orchard"]`. A flag is `true` or `false`, and what
is unknown is empty.

A text that begins with =, +, -, @, a tab or a carriage return is a formula to a spreadsheet, which
may fetch an address or run a program. It is written as it is by default, because any sign before it
would become a part of the text for all other readers. The option `spreadsheets` writes an
apostrophe before it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from miner.corpus.export import BookRows, refuse_other_than_flag, refuse_other_than_tables
from miner.corpus.schema import DIALOGUE, KINDS, SCHEMAS, Columns, Row, rows_from_lines

_TURNS = "turns"
_TABLES = {
    "spans": KINDS["spans"],
    _TURNS: "the turns of the dialogues, with the narration around them",
    "pairs": KINDS["pairs"],
    "characters": KINDS["characters"],
}
_PLACE = (*DIALOGUE, "turn", "chapter", "paragraph")  # of a turn
_MAY_BE_EMPTY = {"spans": ("dialogue", "part", "turn"), "characters": ("chapter",)}  # of numbers

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")

FILES = {f"{name}.csv": about for name, about in _TABLES.items()}


@dataclass(frozen=True, slots=True)
class Options:
    """Which tables are written."""

    tables: tuple[str, ...] = tuple(_TABLES)  # some of "spans", "turns", "pairs" and "characters"
    # whether an apostrophe is before each text that a spreadsheet would compute.
    spreadsheets: bool = False

    def __post_init__(self) -> None:
        refuse_other_than_tables(self.tables, _TABLES)
        refuse_other_than_flag("spreadsheets", self.spreadsheets)


_ALL = Options()


def schemas(options: Options = _ALL) -> Mapping[str, Columns]:
    """Returns the columns of the files: a list is text, a number that may be empty a float64."""
    (turn,) = SCHEMAS["dialogues"]["turns"]
    place = {name: SCHEMAS["pairs"][name] for name in _PLACE}
    tables = {**SCHEMAS, _TURNS: {**place, **turn}}
    return {
        f"{table}.csv": {
            name: _type_of(kind, name in _MAY_BE_EMPTY.get(table, ()))
            for name, kind in tables[table].items()
        }
        for table in options.tables
    }


def _type_of(kind: Any, may_be_empty: bool) -> str:  # noqa: ANN401 - as in `Columns`
    if isinstance(kind, list):
        return "string"
    return "float64" if may_be_empty else kind


def write_books(
    folder: Path, books: Iterable[BookRows], split: str = "train", options: Options = _ALL
) -> None:
    """Writes the columns of `schema.SCHEMAS`; a turn has its place and its own columns."""
    cell = _safe_cell if options.spreadsheets else _cell
    columns = {name.removesuffix(".csv"): list(kinds) for name, kinds in schemas(options).items()}
    with ExitStack() as opened:
        writers: dict[str, csv.DictWriter[str]] = {}
        for name in options.tables:
            path = folder / f"{name}.csv"
            file = opened.enter_context(path.open("w", encoding="utf-8", newline=""))
            writers[name] = csv.DictWriter(file, columns[name])
            writers[name].writeheader()
        for book in books:
            for name, writer in writers.items():
                rows = _turn_rows(book) if name == _TURNS else rows_from_lines(book[name])
                for row in rows:
                    writer.writerow({key: cell(value) for key, value in row.items()})


def _turn_rows(book: BookRows) -> Iterator[Row]:
    for dialogue in rows_from_lines(book["dialogues"]):
        for number, turn in enumerate(dialogue["turns"]):
            place = {key: dialogue[key] for key in DIALOGUE}
            place |= {key: turn["spans"][0][key] for key in ("chapter", "paragraph")}
            yield {**place, "turn": number, **turn}


def _cell(value: Any) -> str | int | float | None:  # noqa: ANN401 - any value of a row
    return orjson.dumps(value).decode() if isinstance(value, bool | list) else value


def _safe_cell(value: Any) -> str | int | float | None:  # noqa: ANN401 - any value of a row
    cell = _cell(value)
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULAS) else cell
