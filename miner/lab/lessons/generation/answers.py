"""Answers of dialogue models to contexts whose true responses are known, and their files.

| what | form | contexts |
|---|---|---|
| a table | jsonl, csv, tsv, parquet | `context`, and the turns before in `history` |
| a folder of three texts | `contexts.txt`, `responses.txt`, `predicted.txt` | a line each |

A table has the columns `context`, `response` (the true one) and `predicted`; perhaps `history`,
`book` and `chapter`, as the tables of pairs have them. Lines of the same number
belong together in the three texts, which is how other people's systems write answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from miner.errors import InputError
from miner.files import json_lines, printable, whole_file
from miner.lab.lessons.examples import Context
from miner.lab.lessons.rows import (
    Row,
    book_of,
    chapter_of,
    history_of,
    read_columns,
    read_lines,
    read_rows,
    text_of,
)

_CONTEXT, _RESPONSE, _PREDICTED = COLUMNS = ("context", "response", "predicted")
TEXTS = ("contexts.txt", "responses.txt", "predicted.txt")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered, and what was answered in truth."""

    book: str  # the id of its book, "" where the source names none
    context: Context  # the turns before the response, the oldest first; at least one
    response: str  # the true one
    predicted: str  # that of the model, "" where it said nothing
    chapter: int = 0  # the number of its chapter, 0 where the source has none

    def __post_init__(self) -> None:
        """Refuses an answer to nothing."""
        if not self.context:
            raise InputError(f"found answer {self.predicted!r:.60} without a context")


def read_answers(path: Path | str) -> list[Answer]:
    """Returns the answers of a file or a folder, in its order."""
    path = Path(path)
    found = list(_read_folder(path) if path.is_dir() else _read_table(path))
    if not found:
        raise InputError(f"{printable(path)}: found no rows, expected answers")
    return found


def write_answers(path: Path, answers: Sequence[Answer], force: bool = False) -> None:
    """Writes answers as JSON Lines, which `read_answers` reads."""
    with whole_file(path, force) as file:
        file.write(json_lines(map(_row_of, answers)))


def _row_of(answer: Answer) -> Row:
    return {
        "book": answer.book,
        "chapter": answer.chapter,
        "history": list(answer.context[:-1]),
        "context": answer.context[-1],
        "response": answer.response,
        "predicted": answer.predicted,
    }


def _read_table(path: Path) -> Iterator[Answer]:
    columns = read_columns(path)
    if not columns:
        return
    _refuse_missing(columns, printable(path))
    for where, row in read_rows(path):
        _refuse_missing(tuple(row), where)  # JSON Lines may have other columns in each row
        context, response, predicted = (text_of(row, name, where) for name in COLUMNS)
        _refuse_empty(context, _CONTEXT, where)
        _refuse_empty(response, _RESPONSE, where)
        turns = (*history_of(row, where), context)
        yield Answer(book_of(row, where), turns, response, predicted, chapter_of(row, where))


def _refuse_missing(columns: Sequence[str], where: str) -> None:
    if absent := [name for name in COLUMNS if name not in columns]:
        raise InputError(
            f"{where}: found no column {' and no column '.join(absent)} ({', '.join(columns)}), "
            f"expected {', '.join(COLUMNS)}, and perhaps history, book and chapter"
        )


def _refuse_empty(text: str, name: str, where: str) -> None:
    if not text.strip():
        raise InputError(f"{where}: found an empty {name}, expected text")


def _read_folder(folder: Path) -> Iterator[Answer]:
    paths = [folder / name for name in TEXTS]
    if absent := [path.name for path in paths if not path.is_file()]:
        raise InputError(
            f"{printable(folder)}: found no {' and no '.join(absent)}, expected a file of answers "
            f"or a folder of {', '.join(TEXTS)}"
        )
    contexts, *others = ([line.strip() for line in read_lines(path)] for path in paths)
    for path, lines in zip(paths[1:], others, strict=True):
        if len(lines) != len(contexts):
            raise InputError(
                f"{printable(path)}: found {len(lines):,} lines, expected {len(contexts):,} as in "
                f"{TEXTS[0]}"
            )
    for number, texts in enumerate(zip(contexts, *others, strict=True), 1):
        context, response, predicted = texts
        _refuse_empty(context, _CONTEXT, f"{printable(paths[0])}:{number}")
        _refuse_empty(response, _RESPONSE, f"{printable(paths[1])}:{number}")
        yield Answer("", (context,), response, predicted)
