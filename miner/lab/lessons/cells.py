"""The cells of a row -> its texts, the turns before, its book and its chapter."""

from __future__ import annotations

from reprlib import repr as shown

import orjson

from miner.errors import InputError
from miner.files import whole_number
from miner.lab.lessons.example import Context
from miner.lab.lessons.rows import Row

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
