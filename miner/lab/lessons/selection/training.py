"""Examples -> a trained method in a folder; an interrupted training is resumed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from miner.files import json_line, refuse_existing
from miner.lab.learning.run_folder import run_folder, write_curve
from miner.lab.lessons.examples import Part, check_parts, keep_turns, refuse_too_few
from miner.lab.lessons.selection.method_folder import (
    RECORD,
    TrainedMethod,
    load_method,
    write_card,
)
from miner.lab.lessons.selection.methods import MethodKind, Options, Step, Training
from miner.lab.lessons.selection.tasks import BATCH, one_of_many_accuracy
from miner.version import __version__


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

    with run_folder(out, RECORD, record, resume=resume, force=force) as folder:
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
        write_card(folder.made, out.name, record, steps)
    return load_method(out)


def _only_step(kind: MethodKind, training: Training, folder: Path, seconds: float) -> Step:
    """Returns the point of a curve that has one."""
    accuracy = None
    if training.validation:
        accuracy = one_of_many_accuracy(kind.load(folder), training.validation)
    return Step(len(training.examples), None, accuracy, seconds)
