"""A trained method as a folder: its record, its card, the curve of its training, its own files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from miner.files import CARD, json_lines, json_rows, parse_json, printable, read_text
from miner.selection.methods import Method, Step, find_method
from miner.version import __version__

RECORD, CURVE = "method.json", "curve.jsonl"
_OF_PART = {"source", "chosen", "examples", "books", "sha256"}  # of `part.Part`


@dataclass(frozen=True, slots=True)
class TrainedMethod:
    """A method and the record of its training.

    Attributes:
        folder: where it is.
        name: of its kind ("tf-idf").
        record: what `method.json` says: "method", "options", "seed", "history_turns" (the turns
            before the last one of a context that it reads; None for all), "train" and "validation"
            (`part.Part.describe`; validation may be None), "version".
        method: what encodes contexts and responses.
    """

    folder: Path
    name: str
    record: dict[str, Any]
    method: Method

    @property
    def history_turns(self) -> int | None:
        """How many turns before the last turn of a context the method reads; None for all."""
        return self.record["history_turns"]

    @property
    def books(self) -> tuple[str, ...]:
        """The ids of the books that it was trained or validated on."""
        used = [self.record["train"], self.record["validation"] or {"books": []}]
        return tuple(sorted({book for part in used for book in part["books"]}))


def load_method(folder: Path) -> TrainedMethod:
    """Returns the method of a folder.

    Raises:
        ValueError: if the folder holds no trained method, or a damaged one; names it.
        OSError: if a file cannot be read.
    """
    record = read_record(folder)
    return TrainedMethod(
        folder, record["method"], record, find_method(record["method"]).load(folder)
    )


def read_record(folder: Path) -> dict[str, Any]:
    """Returns what `method.json` of a folder says.

    Raises:
        ValueError: if the folder has none, or a damaged one; names it.
    """
    path = folder / RECORD
    if not path.is_file():
        raise ValueError(
            f"{printable(folder)}: found no {RECORD}, expected a folder of `miner selection train`"
        )
    record = parse_json(read_text(path), printable(path), "the record of a method")
    keys = {"method", "options", "seed", "history_turns", "train", "validation"}
    if not _has(record, keys) or not _has(record["train"], _OF_PART):
        raise ValueError(f"{printable(path)}: found another record, expected that of a method")
    return record


def _has(value: object, keys: set[str]) -> bool:
    return isinstance(value, dict) and keys <= set(value)


def write_curve(folder: Path, steps: Iterable[Step]) -> None:
    """Writes the curve of a training, a row for each step."""
    (folder / CURVE).write_bytes(json_lines(asdict(step) for step in steps))


def read_curve(folder: Path) -> list[Step]:
    """Returns the curve of a training; one point if the method was trained in one step.

    Raises:
        ValueError: if a row is no step; names the file and the line.
    """
    path = folder / CURVE
    if not path.is_file():
        return []
    steps: list[Step] = []
    for where, row in json_rows(path, read_text(path)):
        try:
            steps.append(Step(**row))
        except TypeError as error:
            raise ValueError(f"{where}: found another row, expected a step") from error
    return steps


def write_card(folder: Path, name: str, record: dict[str, Any], steps: list[Step]) -> None:
    """Writes the card: what was trained, on what, and what it scored while it was trained.

    Args:
        folder: where.
        name: of the folder that it will be in.
        record: of the method.
        steps: the curve.
    """
    options = "".join(f"- `{name}`: {value}\n" for name, value in record["options"].items())
    trained, judged = record["train"], record["validation"]
    turns = record["history_turns"]
    context = (
        "all turns before the response"
        if turns is None
        else f"{turns + 1} turn{'s' * (turns > 0)} before the response"
    )
    text = [
        f"# {record['method']}: a method of response selection",
        "",
        f"It was trained on {trained['examples']:,} pairs of {len(trained['books']):,} books "
        f"(`{', '.join([trained['source'], *trained['chosen']])}`, SHA-256 "
        f"`{trained['sha256'][:16]}…`), with seed "
        f"{record['seed']}. A context is {context}.",
        "",
        f"Options:\n\n{options}" if options else "It has no options.\n",
    ]
    accuracies = [step.accuracy for step in steps if step.accuracy is not None]
    if judged is not None and accuracies:
        text += [
            f"1-of-100 accuracy on {judged['examples']:,} other pairs (`{judged['source']}`), on "
            f"which it was chosen: {max(accuracies):.3f}. `{CURVE}` has the way there.",
            "",
        ]
    text += [
        "To score it on books that it has not seen:",
        "",
        f"```sh\nminer selection score {name} PAIRS\n```",
        "",
        f"`{RECORD}` names its books; `miner selection score` refuses to judge it on one of them. "
        f"Made by conversation-miner {__version__}.",
        "",
    ]
    (folder / CARD).write_text("\n".join(text), encoding="utf-8")
