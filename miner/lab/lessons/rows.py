"""Files of JSON Lines, CSV, TSV and Parquet -> rows with their places, one after the other."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from reprlib import repr as shown
from typing import Any

import orjson

from miner.errors import InputError
from miner.extras import import_extra
from miner.files import printable, reason_of, whole_number
from miner.lab.lessons.examples import Context

Row = dict[str, Any]
# The history of a long dialogue is one cell. The largest number that every system takes as a limit.
_LONGEST_CELL = 2**31 - 1


def read_rows(path: Path, columns: Collection[str] | None = None) -> Iterator[tuple[str, Row]]:
    """Yields the rows of a file with their places, "file:line" ("file, row 7" of Parquet)."""
    return _reader_of(path)(path, columns)


def read_columns(path: Path) -> tuple[str, ...]:
    """Returns the columns of a file: the keys of its first row. () if it has no rows."""
    if path.suffix.lower() == ".parquet":
        return tuple(_open_parquet(path).schema_arrow.names)
    if path.suffix.lower() in _DELIMITERS:
        with _long_cells():
            return tuple(_fields(_open_csv(path), path))
    _, row = next(read_rows(path), ("", {}))
    return tuple(row)


def read_lines(path: Path) -> Iterator[str]:
    """Yields the lines of a UTF-8 file with their ends."""
    with path.open("rb") as file:  # so that an error names the line, and no other sign ends one
        for number, line in enumerate(file, 1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                where = f"{printable(path)}:{number}"
                raise InputError(
                    f"{where}: found bytes that are not UTF-8, expected UTF-8"
                ) from error


def _reader_of(path: Path) -> Callable[[Path, Collection[str] | None], Iterator[tuple[str, Row]]]:
    if reader := ENDINGS.get(path.suffix.lower()):
        return reader
    raise InputError(
        f"{printable(path)}: found a file that ends in {path.suffix or 'nothing'}, "
        f"expected {', '.join(ENDINGS)} or .txt"
    )


def _read_json_lines(path: Path, columns: Collection[str] | None) -> Iterator[tuple[str, Row]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            content = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
            if not content:
                continue
            where = f"{printable(path)}:{number}"
            try:
                row = orjson.loads(content)
            except orjson.JSONDecodeError as error:
                # orjson also refuses bytes that are not UTF-8.
                raise InputError(
                    f"{where}: found bad JSON ({reason_of(error)}), expected an object on each line"
                ) from error
            if not isinstance(row, dict):
                found = type(row).__name__
                raise InputError(f"{where}: found {found}, expected an object on each line")
            yield where, row


def _read_csv(path: Path, columns: Collection[str] | None) -> Iterator[tuple[str, Row]]:
    with _long_cells():
        table = _open_csv(path)
        _fields(table, path)
        try:
            for row in table:
                where = f"{printable(path)}:{table.line_num}"
                # What is too much stands under None, and what is missing is None.
                if None in row or None in row.values():
                    amount = "more" if None in row else "fewer"
                    raise InputError(
                        f"{where}: found {amount} cells than columns, expected as many"
                    )
                yield where, row
        except csv.Error as error:
            where = f"{printable(path)}:{table.line_num + 1}"
            raise InputError(f"{where}: {error}, expected a CSV file") from error


@contextmanager
def _long_cells() -> Iterator[None]:
    """Lets cells be long. The library has one limit for all readers of a process."""
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _open_csv(path: Path) -> csv.DictReader[str]:
    return csv.DictReader(read_lines(path), delimiter=_DELIMITERS[path.suffix.lower()])


def _fields(table: csv.DictReader[str], path: Path) -> list[str]:
    try:
        return list(table.fieldnames or [])
    except csv.Error as error:
        raise InputError(f"{printable(path)}:1: {error}, expected a CSV file") from error


def _read_parquet(path: Path, columns: Collection[str] | None) -> Iterator[tuple[str, Row]]:
    file = _open_parquet(path)
    names = file.schema_arrow.names
    wanted = names if columns is None else [name for name in names if name in columns]
    number = 0
    for batch in file.iter_batches(columns=wanted):
        for row in batch.to_pylist():
            number += 1
            yield f"{printable(path)}, row {number}", row


def _open_parquet(path: Path) -> Any:  # noqa: ANN401 - pyarrow has no types
    arrow = import_extra("pyarrow", "build")
    parquet = import_extra("pyarrow.parquet", "build")
    try:
        return parquet.ParquetFile(path)
    except arrow.ArrowInvalid as error:
        raise InputError(
            f"{printable(path)}: {reason_of(error).rstrip('.')}, expected a Parquet file"
        ) from error


_DELIMITERS = {".csv": ",", ".tsv": "\t"}
# What reads a file, by its ending.
ENDINGS: Mapping[str, Callable[[Path, Collection[str] | None], Iterator[tuple[str, Row]]]] = {
    ".jsonl": _read_json_lines,
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".parquet": _read_parquet,
}


CONTEXTS = "context/"  # of PolyAI's examples, before the number of a turn


def text_of(row: Row, name: str, where: str) -> str:
    """Returns the text in a cell, "" if there is none."""
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{where}: found {shown(value)} as {name}, expected text")
    return value


def book_of(row: Row, where: str) -> str:
    """Returns the id of the book of a row, "" if there is none."""
    value = row.get("book")
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int):
        return str(value)
    raise InputError(f"{where}: found {shown(value)} as book, expected its id")


def chapter_of(row: Row, where: str) -> int:
    """Returns the number of the chapter of a row, 0 if there is none."""
    value = row.get("chapter")
    if value in (None, ""):
        return 0
    if (number := whole_number(str(value))) is None:
        raise InputError(f"{where}: found {shown(value)} as chapter, expected its number")
    return number


def history_of(row: Row, where: str) -> Context:
    """Returns the turns before the context, the oldest first.

    They are in `history`: a list, in CSV as JSON or a turn a line; or in `context/0`, the turn
    before the context, `context/1`, and so on.
    """
    history = row.get("history")
    if isinstance(history, str):
        history = _turns_of_cell(history)
    if history is None:
        backwards: list[str] = []
        while text := text_of(row, f"{CONTEXTS}{len(backwards)}", where):
            backwards.append(text)
        return tuple(reversed(backwards))
    if not isinstance(history, list) or not all(isinstance(turn, str) for turn in history):
        raise InputError(f"{where}: found {shown(history)} as history, expected a list of texts")
    return tuple(turn for turn in history if turn.strip())


def _turns_of_cell(cell: str) -> object:
    if cell.startswith("["):
        try:
            return orjson.loads(cell)
        except orjson.JSONDecodeError:
            pass  # a turn that begins with a bracket
    return cell.splitlines()
