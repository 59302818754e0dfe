"""A trained method as a folder: its record, its card, the curve of its training, its own files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from miner.files import CARD
from miner.lab.learning import run_folder
from miner.lab.learning.run_folder import CURVE, TrainingRecord
from miner.lab.lessons.selection.methods import Method, Step, find_method
from miner.version import __version__

RECORD = "method.json"


class _Record(TrainingRecord):
    method: str


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
    """Returns the method of a folder."""
    record = read_record(folder)
    return TrainedMethod(
        folder, record["method"], record, find_method(record["method"]).load(folder)
    )


def read_record(folder: Path) -> dict[str, Any]:
    """Returns what `method.json` of a folder says."""
    command = "miner selection train"
    return run_folder.read_record(folder, RECORD, _Record, "a method", command)


def read_curve(folder: Path) -> list[Step]:
    """Returns the curve of a training; one point if the method was trained in one step."""
    return run_folder.read_curve(folder, Step)


def write_card(folder: Path, name: str, record: dict[str, Any], steps: list[Step]) -> None:
    """Writes the card: what was trained, on what, and what it scored while it was trained."""
    options = "".join(f"- `{name}`: {value}\n" for name, value in record["options"].items())
    trained, judged = record["train"], record["validation"]
    turns = record["history_turns"]
    context = (
        "all turns before the response"
        if turns is None
        else f"{turns + 1} turn{'s' * (turns > 0)} before the response"
    )
    learns = find_method(record["method"]).learns
    verb = "was trained on" if learns else "learns nothing; it was given"
    text = [
        f"# {record['method']}: a method of response selection",
        "",
        f"It {verb} {trained['examples']:,} pairs of {len(trained['books']):,} books "
        f"(`{', '.join([trained['source'], *trained['chosen']])}`, SHA-256 "
        f"`{trained['sha256'][:16]}…`), with seed "
        f"{record['seed']}. A context is {context}.",
        "",
        f"Options:\n\n{options}" if options else "It has no options.\n",
    ]
    accuracies = [step.accuracy for step in steps if step.accuracy is not None]
    # A method that is trained in one step has nothing to choose from.
    chosen = ", on which it was chosen" if len(accuracies) > 1 else ""
    if judged is not None and accuracies:
        text += [
            f"1-of-100 accuracy on {judged['examples']:,} other pairs (`{judged['source']}`)"
            f"{chosen}: {max(accuracies):.3f}. `{CURVE}` has the way there.",
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
