"""Examples -> a trained method in a folder; an interrupted training is resumed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from miner.files import json_line, refuse_existing
from miner.lab.learning import run_folder as runs
from miner.lab.learning.run_folder import CURVE, TrainingRecord, write_card, write_curve
from miner.lab.lessons.examples import (
    Part,
    books_of_record,
    check_parts,
    keep_turns,
    refuse_too_few,
)
from miner.lab.lessons.selection.methods import (
    Method,
    MethodKind,
    Options,
    Step,
    Training,
    find_method,
)
from miner.lab.lessons.selection.tasks import BATCH, one_of_many_accuracy
from miner.version import __version__

RECORD = "method.json"


class _Record(TrainingRecord):
    method: str


@dataclass(frozen=True, slots=True)
class TrainedMethod:
    """A method and the record of its training."""

    folder: Path
    name: str  # of the method ("tf-idf")
    record: dict[str, Any]  # what `method.json` says: a `TrainingRecord` and its version
    method: Method

    @property
    def history_turns(self) -> int | None:
        """How many turns before the last turn of a context the method reads; None for all."""
        return self.record["history_turns"]

    @property
    def books(self) -> tuple[str, ...]:
        """The ids of the books that it was trained or validated on."""
        return books_of_record(self.record)


def load_method(folder: Path) -> TrainedMethod:
    """Returns the method of a folder."""
    record = read_record(folder)
    return TrainedMethod(
        folder, record["method"], record, find_method(record["method"]).load(folder)
    )


def read_record(folder: Path) -> dict[str, Any]:
    """Returns what `method.json` of a folder says."""
    command = "miner selection train"
    return runs.read_record(folder, RECORD, _Record, "a method", command)


def read_curve(folder: Path) -> list[Step]:
    """Returns the curve of a training; one point if the method was trained in one step."""
    return runs.read_curve(folder, Step)


def write_method_card(folder: Path, name: str, record: dict[str, Any], steps: list[Step]) -> None:
    """Writes the card: what was trained, on what, and what it scored while it was trained."""
    options = "\n".join(f"- `{name}`: {value}" for name, value in record["options"].items())
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
        f"It {verb} {trained['examples']:,} pairs of {len(trained['books']):,} books "
        f"(`{', '.join([trained['source'], *trained['chosen']])}`, SHA-256 "
        f"`{trained['sha256'][:16]}…`), with seed "
        f"{record['seed']}. A context is {context}.",
        f"Options:\n\n{options}" if options else "It has no options.",
    ]
    accuracies = [step.accuracy for step in steps if step.accuracy is not None]
    # A method that is trained in one step has nothing to choose from.
    chosen = ", on which it was chosen" if len(accuracies) > 1 else ""
    if judged is not None and accuracies:
        text += [
            f"1-of-100 accuracy on {judged['examples']:,} other pairs (`{judged['source']}`)"
            f"{chosen}: {max(accuracies):.3f}. `{CURVE}` has the way there.",
        ]
    text += [
        "To score it on books that it has not seen:",
        f"```sh\nminer selection score {name} PAIRS\n```",
        f"`{RECORD}` names its books; `miner selection score` refuses to judge it on one of them. "
        f"Made by conversation-miner {__version__}.",
    ]
    write_card(folder, f"{record['method']}: a method of response selection", text)


def train_method(
    kind: MethodKind,
    options: Options,
    train: Part,
    validation: Part | None,
    out: Path,
    *,
    seed: int = 0,
    history_turns: int | None = 0,
    resume: bool = False,
    force: bool = False,
    report: Callable[[Step], object] = lambda step: None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> TrainedMethod:
    """Trains a method and writes its folder."""
    check_parts(train, validation, "a method")
    if validation:
        refuse_too_few(validation.examples, BATCH, validation.source)
    refuse_existing(out, force, (RECORD,))
    record: dict[str, Any] = {
        "method": kind.name,
        "options": asdict(options),
        "seed": seed,
        "history_turns": history_turns,
        "train": train.describe(),
        "validation": validation.describe() if validation else None,
        "version": __version__,
    }
    steps: list[Step] = []

    def take(step: Step) -> None:
        steps.append(step)
        report(step)

    with runs.run_folder(out, RECORD, record, resume=resume, force=force) as folder:
        training = Training(
            keep_turns(train.examples, history_turns),
            keep_turns(validation.examples, history_turns) if validation else [],
            options,
            seed,
            folder.state,
            take,
            progress,
        )
        began = time.perf_counter()
        kind.train(training, folder.made)
        if not steps:
            steps.append(_only_step(kind, training, folder.made, time.perf_counter() - began))
        (folder.made / RECORD).write_bytes(json_line(record))
        write_curve(folder.made, steps)
        write_method_card(folder.made, out.name, record, steps)
    return load_method(out)


def _only_step(kind: MethodKind, training: Training, folder: Path, seconds: float) -> Step:
    """Returns the point of a curve that has one."""
    accuracy = None
    if training.validation:
        accuracy = one_of_many_accuracy(kind.load(folder), training.validation)
    return Step(len(training.examples), None, accuracy, seconds)
