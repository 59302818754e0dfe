"""The folder of what was trained: its record and its curve; and what an interruption leaves.

Any room may import this module.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar

from msgspec import Meta, ValidationError, convert

from miner.errors import InputError
from miner.files import (
    json_line,
    json_lines,
    json_rows,
    make_folders,
    one_line,
    parse_json,
    printable,
    read_text,
    refuse_another,
    remove_unfinished,
    whole_file,
    whole_folder,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Step = TypeVar("Step")  # a point of a curve
Typed = TypeVar("Typed")
Count = Annotated[int, Meta(ge=0)]

CURVE = "curve.jsonl"
_STATE, _MADE = "state", "made"  # in the folder of the state: what a training keeps, its files


class PartRecord(TypedDict):
    """What a record says of the examples of a training; see `Part.describe`."""

    source: str
    chosen: list[str]
    examples: Count
    books: list[str]
    sha256: str


class TrainingRecord(TypedDict):
    """What every record says of its training."""

    options: dict[str, Any]
    seed: int
    history_turns: Count | None
    train: PartRecord
    validation: PartRecord | None


def read_record(folder: Path, name: str, kind: Any, of: str, command: str) -> dict[str, Any]:  # noqa: ANN401
    """Returns what the record of a folder says."""
    path = folder / name
    if not path.is_file():
        raise InputError(f"{printable(folder)}: found no {name}, expected a folder of `{command}`")
    record = parse_json(read_text(path), printable(path), f"the record of {of}")
    typed(record, kind, f"{printable(path)}: found another record, expected that of {of}")
    return record


def typed(value: object, kind: type[Typed], refusal: str) -> Typed:
    """Returns a value of JSON as an object of a type."""
    try:
        return convert(value, kind)
    except ValidationError as error:
        raise InputError(f"{refusal} ({one_line(str(error))})") from error


def write_curve(folder: Path, steps: Iterable[DataclassInstance]) -> None:
    """Writes the curve of a training, a row for each step."""
    (folder / CURVE).write_bytes(json_lines(asdict(step) for step in steps))


def read_curve(folder: Path, kind: type[Step]) -> list[Step]:
    """Returns the curve of a training; no steps if the folder has none."""
    path = folder / CURVE
    if not path.is_file():
        return []
    rows = json_rows(path, read_text(path))
    return [typed(row, kind, f"{where}: found another row, expected a step") for where, row in rows]


def state_folder(out: Path) -> Path:
    """Returns the folder beside `out` in which a training keeps what it needs to be resumed."""
    return out.with_name(f"{out.name}.partial")


def begin_state(out: Path, name: str, record: Mapping[str, Any], resume: bool, force: bool) -> Path:
    """Makes the folder of the state, or takes that of an interrupted training."""
    state = state_folder(out)
    path = state / name
    remove_unfinished(path)
    for item in state.iterdir() if state.is_dir() else ():
        if item.name not in (name, _STATE, _MADE):
            raise InputError(
                f"{printable(item)}: found a file of something else, expected to keep the state of "
                "the training there"
            )
    if path.is_file() and not force:
        if not resume:
            raise InputError(
                f"{printable(state)}: exists already, expected `resume=True` to go on with "
                "the interrupted training, or `force=True` to begin anew"
            )
        was = parse_json(read_text(path), printable(path), "the record of a training")
        refuse_another(state, was, record)
        return state
    if state.exists():
        shutil.rmtree(state)
    make_folders(state)
    with whole_file(path) as file:
        file.write(json_line(record))
    return state


def make_anew(state: Path) -> Path:
    """Makes an empty folder in a state for what is trained, so that nothing is in `out` before."""
    made = state / _MADE
    if made.exists():
        shutil.rmtree(made)
    made.mkdir()
    return made


def finish_state(state: Path, made: Path, out: Path, name: str, force: bool) -> None:
    """Moves the files that a training made to their folder, and removes its state."""
    with whole_folder(out, force, (name,)) as folder:
        for item in made.iterdir():
            item.replace(folder / item.name)
    shutil.rmtree(state)
