"""What was trained: a folder with its record, its curve and its files, or a file of weights.

A training works in a folder beside its own, from which it is resumed after an interruption.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar

import numpy as np
from msgspec import Meta, ValidationError, convert
from numpy.typing import NDArray
from safetensors.numpy import save

from miner.errors import InputError
from miner.files import (
    CARD,
    json_line,
    json_lines,
    json_rows,
    make_folders,
    one_line,
    parse_json,
    printable,
    read_text,
    refuse_another,
    refuse_existing,
    remove_unfinished,
    sha256_of,
    whole_file,
    whole_folder,
)
from miner.lab.learning.prepared import Record
from miner.version import __version__

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Step = TypeVar("Step")  # a point of a curve
Typed = TypeVar("Typed")
Arrays = dict[str, NDArray[Any]]
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


def write_card(
    folder: Path, title: str, paragraphs: Iterable[str], metadata: Sequence[str] = ()
) -> None:
    """Writes the card of what was trained, in the form of the Hugging Face Hub."""
    head = ["---", *metadata, "---", ""] if metadata else []
    text = "\n".join([*head, f"# {title}", "", "\n\n".join(paragraphs), ""])
    (folder / CARD).write_text(text, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder beside `out` in which a training works until it is finished."""

    path: Path  # the folder
    record: dict[str, Any]  # what decides the result of the training

    @property
    def state(self) -> Path:
        """The folder of what an interrupted training goes on from."""
        return self.path / _STATE

    @property
    def made(self) -> Path:
        """The folder of the files that are moved to `out` at the end."""
        return self.path / _MADE


@contextmanager
def run_folder(
    out: Path,
    name: str,
    record: dict[str, Any],
    *,
    resume: bool,
    force: bool,
    markers: Sequence[str] = (),
    ignored: Collection[str] = (),
) -> Iterator[RunFolder]:
    """Yields the folder of a training, and moves what it made to `out` when the block ends well.

    An interrupted training stays in `OUT.partial`, if it has kept anything.
    """
    folder = _begin(partial_folder(out), name, record, resume, force, ignored)
    try:
        yield folder
        with whole_folder(out, force, markers or (name,)) as whole:
            for item in folder.made.iterdir():
                item.replace(whole / item.name)
    except BaseException as error:
        if not any(path.is_file() for path in folder.state.rglob("*")):
            shutil.rmtree(folder.path)  # nothing is lost by a new beginning
        elif not isinstance(error, InputError):  # which a resumed training would find again
            kept = printable(folder.path)
            error.add_note(f"what is done is kept in {kept}, `resume=True` continues")
        raise
    shutil.rmtree(folder.path)


def partial_folder(out: Path) -> Path:
    """Returns the folder in which a training works until it is finished."""
    return out.with_name(f"{out.name}.partial")


def _begin(
    folder: Path,
    name: str,
    record: dict[str, Any],
    resume: bool,
    force: bool,
    ignored: Collection[str],
) -> RunFolder:
    """Makes the folder of a training, or takes that of an interrupted one."""
    path = folder / name
    remove_unfinished(path)
    for item in folder.iterdir() if folder.is_dir() else ():
        if item.name not in (name, _STATE, _MADE):
            raise InputError(
                f"{printable(item)}: found a file of something else, expected to keep the state of "
                "the training there"
            )
    if path.is_file() and not force:
        if not resume:
            raise InputError(
                f"{printable(folder)}: exists already, expected `resume=True` to go on with "
                "the interrupted training, or `force=True` to begin anew"
            )
        was = parse_json(read_text(path), printable(path), "the record of a training")
        record = record | {part: was.get(part) for part in ignored}
        refuse_another(folder, was, record)
    else:
        if folder.exists():
            shutil.rmtree(folder)
        make_folders(folder)
        with whole_file(path) as file:
            file.write(json_line(record))
    begun = RunFolder(folder, record)
    begun.state.mkdir(exist_ok=True)
    shutil.rmtree(begun.made, ignore_errors=True)
    begun.made.mkdir()
    return begun


def record_path(path: Path) -> Path:
    """Returns the file of the record of weights: `en.json` beside `en.safetensors`."""
    return path.with_suffix(".json")


def refuse_existing_weights(path: Path, force: bool) -> None:
    """Raises an error if the weights or their record exist. Called before any training."""
    if record_path(path) == path:
        raise InputError(f"{path}: found a name of a record, expected one like en.safetensors")
    for file in (path, record_path(path)):
        refuse_existing(file, force)


def write_weights(path: Path, weights: Arrays, record: Mapping[str, object], force: bool) -> None:
    """Writes weights and their record, to which their digest and the version are added."""
    refuse_existing_weights(path, force)
    content = save({name: np.ascontiguousarray(weight) for name, weight in weights.items()})
    whole: Record = {**record, "miner": __version__, "digest of the weights": sha256_of(content)}
    with whole_file(path, force) as file:
        file.write(content)
    with whole_file(record_path(path), force) as file:
        file.write((json.dumps(whole, indent=1) + "\n").encode())
