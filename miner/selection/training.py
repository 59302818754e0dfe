"""Examples -> a trained method in a folder; an interrupted training is resumed."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from miner.files import (
    json_line,
    parse_json,
    printable,
    read_text,
    refuse_another,
    refuse_existing,
    remove_unfinished,
    whole_file,
    whole_folder,
)
from miner.selection.examples import (
    Example,
    books_of,
    describe_examples,
    keep_turns,
    refuse_shared_books,
    refuse_too_few,
)
from miner.selection.method_folder import (
    RECORD,
    TrainedMethod,
    load_method,
    write_card,
    write_curve,
)
from miner.selection.methods import MethodKind, Options, Step, Training
from miner.selection.tasks import BATCH, one_of_many_accuracy
from miner.version import __version__

_MADE = "made"  # the folder of a method that is not whole yet


@dataclass(frozen=True, slots=True)
class Part:
    """Examples and where they come from.

    Args:
        examples: with all their turns.
        source: what a record says of their source ("mined/pairs.jsonl").
        chosen: which of the source they are, in words; empty for all.
    """

    examples: Sequence[Example]
    source: str
    chosen: Sequence[str] = ()

    def describe(self) -> dict[str, Any]:
        """What a record says of them."""
        of_examples = describe_examples(self.examples)
        return {"source": self.source, "chosen": list(self.chosen), **of_examples}


def state_folder(out: Path) -> Path:
    """Returns the folder beside `out` in which a training keeps what it needs to be resumed."""
    return out.with_name(f"{out.name}.partial")


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
    """Trains a method and writes its folder.

    Args:
        kind: the kind of the method.
        options: an object of `kind.options`.
        train: what it learns from.
        validation: what it is chosen on, of other books; None for no validation.
        out: the folder.
        seed: of all that is drawn by chance.
        history_turns: the turns before the last one of a context that stay; 0 for the immediate
            context alone, None for all.
        resume: goes on with an interrupted training of the same choices; a new one begins if there
            is none.
        force: replaces `out`, and what an interrupted training left.
        report: called with each step of the curve.
        progress: called with the number of pairs that are done and of all.

    The curve of a method that is trained in one step is one point, which is made here.

    Raises:
        ValueError: if several processes were launched; if there is nothing to learn from; if a book
            is in both parts; if there are too few examples for validation; if `out` exists; if an
            interrupted training is there and `resume` is False, or had other choices.
        OSError: if a file cannot be written.
    """
    if (n_processes := int(os.environ.get("WORLD_SIZE", "1"))) > 1:
        raise ValueError(f"found {n_processes} processes, expected one: it trains a method")
    if not train.examples:
        raise ValueError(f"{train.source}: found no pairs, expected some to learn from")
    if validation:
        refuse_shared_books(
            books_of(train.examples), books_of(validation.examples), validation.source
        )
        refuse_too_few(validation.examples, BATCH, validation.source)
    refuse_existing(out, force)
    record: dict[str, Any] = {
        "method": kind.name,
        "options": asdict(options),
        "seed": seed,
        "history_turns": history_turns,
        "train": train.describe(),
        "validation": validation.describe() if validation else None,
        "version": __version__,
    }
    state = _begin(out, record, resume, force)
    steps: list[Step] = []

    def take(step: Step) -> None:
        steps.append(step)
        report(step)

    training = Training(
        keep_turns(train.examples, history_turns),
        keep_turns(validation.examples, history_turns) if validation else [],
        options,
        seed,
        state / "state",
        take,
        progress,
    )
    training.state.mkdir(exist_ok=True)
    made = state / _MADE  # so that nothing is in `out` before all is made
    if made.exists():
        shutil.rmtree(made)
    made.mkdir()
    began = time.perf_counter()
    try:
        kind.train(training, made)
    except BaseException as error:
        if any(training.state.iterdir()):
            error.add_note(f"what is done is kept in {printable(state)}, --resume continues")
        else:  # nothing is lost by a new beginning
            shutil.rmtree(state)
        raise
    if not steps:
        steps.append(_only_step(kind, training, made, time.perf_counter() - began))
    (made / RECORD).write_bytes(json_line(record))
    write_curve(made, steps)
    write_card(made, out.name, record, steps)
    with whole_folder(out, force=force) as folder:
        for item in made.iterdir():
            item.replace(folder / item.name)
    shutil.rmtree(state)
    return load_method(out)


def _only_step(kind: MethodKind, training: Training, folder: Path, seconds: float) -> Step:
    """Returns the point of a curve that has one."""
    accuracy = None
    if training.validation:
        accuracy = one_of_many_accuracy(kind.load(folder), training.validation)
    return Step(len(training.examples), None, accuracy, seconds)


def _begin(out: Path, record: dict[str, Any], resume: bool, force: bool) -> Path:
    """Makes the folder of the state, or takes that of an interrupted training.

    Raises:
        ValueError: as `train_method` does.
    """
    state = state_folder(out)
    path = state / RECORD
    if path.is_file() and not force:
        if not resume:
            raise ValueError(
                f"{printable(state)}: exists already, expected --resume to go on with the "
                "interrupted training, or --force to begin anew"
            )
        was = parse_json(read_text(path), printable(path), "the record of a training")
        refuse_another(state, was, record)
        return state
    if state.exists():
        shutil.rmtree(state)
    state.mkdir(parents=True)
    remove_unfinished(path)
    with whole_file(path) as file:
        file.write(json_line(record))
    return state
