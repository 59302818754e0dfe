"""What the trainers of `transformers` and `sentence-transformers` call: the curve of a training.

Every so often the model is judged, and the training is kept so far that it can be resumed; the
weights of the best step are kept beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from transformers import Trainer, TrainerCallback, TrainerState
from transformers.trainer import TRAINER_STATE_NAME
from transformers.trainer_callback import PrinterCallback

from miner.errors import InputError
from miner.files import json_line, json_lines, json_rows, printable, read_text, reason_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Step = TypeVar("Step", bound="DataclassInstance")
_STEPS, _CHECKPOINTS = "steps.jsonl", "checkpoints"

# What the curve says, and what this machine prints, is not the library's business.
QUIET = {
    "save_strategy": "no",
    "save_total_limit": 1,
    "logging_strategy": "no",
    "report_to": "none",
    "disable_tqdm": True,
}


class Curve(TrainerCallback, Generic[Step]):
    """The steps of a training.

    Args:
        state: the folder of what an interrupted training goes on from.
        n_pairs: the pairs of all epochs.
        judged_at: returns the batches after which the model is judged, of so many.
        judge: returns the step after so many pairs and seconds of training.
        kind: the class of the steps.
        worth: the number that a better step has higher; None where there is no validation.
        keep: keeps the weights of the best step so far.
        patience: the steps without a better one after which the training ends.
        report: called with each step.
        progress: called with the number of pairs that are done and of all.
    """

    def __init__(
        self,
        state: Path,
        n_pairs: int,
        judged_at: Callable[[int], Collection[int]],
        judge: Callable[[int, float], Step],
        kind: type[Step],
        worth: Callable[[Step], float | None],
        keep: Callable[[], object],
        report: Callable[[Step], object],
        progress: Callable[[int, int], object],
        patience: int | None = None,
    ) -> None:
        self.steps: list[Step] = []
        self.checkpoints = state / _CHECKPOINTS
        self._state, self._path = state, state / _STEPS
        self._n_pairs, self._judged_at, self._patience = n_pairs, judged_at, patience
        self._judge, self._kind, self._worth, self._keep = judge, kind, worth, keep
        self._report, self._progress = report, progress
        self._has_begun = False

    def train(self, trainer: Trainer) -> list[Step]:
        """Trains, or goes on with an interrupted training, and returns the steps."""
        trainer.remove_callback(PrinterCallback)
        kept = _last_checkpoint(self.checkpoints)
        try:
            if kept is None or not self._has_ended(kept):
                trainer.train(resume_from_checkpoint=kept)
        except Exception as error:  # the libraries raise errors of many kinds at a damaged file
            if kept is None or self._has_begun:
                raise
            raise damaged(self._state, error) from error
        return self.steps

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401
        """Takes the steps of an interrupted training up to where it goes on."""
        self._has_begun = True
        self._read_steps(state)
        if self._path.is_file():  # an empty file would be something that is kept
            self._path.write_bytes(json_lines(asdict(step) for step in self.steps))
        for step in self.steps:
            self._report(step)
        before = asdict(self.steps[-1])["seconds"] if self.steps else 0.0
        self._began = time.perf_counter() - before

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401
        """Shows the progress, and judges every so often."""
        n = self._pairs(state)
        self._progress(n, self._n_pairs)
        if state.global_step not in self._judged_at(state.max_steps):
            return
        self._paused = time.perf_counter()
        step = self._judge(n, self._paused - self._began)
        self.steps.append(step)
        self._report(step)
        with self._path.open("ab") as file:
            file.write(json_line(asdict(step)))
        if not self._since_best():
            self._keep()
        control.should_save = True
        control.should_training_stop |= self._has_patience_ended()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401
        """Leaves the validation, and what it takes to keep the training, out of its seconds."""
        self._began += time.perf_counter() - self._paused

    def _has_ended(self, checkpoint: str) -> bool:
        """Whether a training was interrupted after its end, before its folder was written."""
        state = TrainerState.load_from_json(str(Path(checkpoint) / TRAINER_STATE_NAME))
        self._read_steps(state)
        if not self._has_patience_ended() and state.global_step < state.max_steps:
            return False
        for step in self.steps:
            self._report(step)
        return True

    def _read_steps(self, state: Any) -> None:  # noqa: ANN401
        """Takes the steps of the file up to a state of the training."""
        path = self._path
        rows = [row for _, row in json_rows(path, read_text(path))] if path.is_file() else []
        self.steps = [self._kind(**row) for row in rows if row["n_pairs"] <= self._pairs(state)]

    def _has_patience_ended(self) -> bool:
        return self._patience is not None and self._since_best() >= self._patience

    def _since_best(self) -> int:
        """How many steps were made since the best one; without validation the last is the best."""
        known = [worth for step in self.steps if (worth := self._worth(step)) is not None]
        return len(known) - 1 - known.index(max(known)) if known else 0

    def _pairs(self, state: Any) -> int:  # noqa: ANN401
        """How many pairs were learned from."""
        return round(self._n_pairs * state.global_step / max(1, state.max_steps))


def damaged(state: Path, error: Exception) -> InputError:
    """Returns the error of a state that cannot be read."""
    return InputError(
        f"{printable(state)}: cannot be read ({reason_of(error)}), expected the state of a "
        "training; `force=True` begins anew"
    )


def _last_checkpoint(folder: Path) -> str | None:
    """The last checkpoint that was written to its end; None if there is none.

    A process that is killed while it writes one leaves a part of it. Its state is written last, and
    the checkpoint before is removed after that.
    """
    whole = [path.parent for path in folder.glob(f"*/{TRAINER_STATE_NAME}")]
    return str(max(whole, key=lambda path: int(path.name.rpartition("-")[2]))) if whole else None
