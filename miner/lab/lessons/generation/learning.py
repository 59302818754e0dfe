"""A beginning and encoded examples -> a trained model: `transformers.Trainer` with our curve.

Every so often the model is judged by its loss on validation, and the training is kept so far that
it can be resumed. The weights of the least loss are taken, and the training ends when it has not
become smaller for some validations, as GD trains (section 5.2).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import Trainer, TrainerCallback, TrainerState, TrainingArguments
from transformers.trainer import TRAINER_STATE_NAME
from transformers.trainer_callback import PrinterCallback

from miner.errors import InputError
from miner.files import json_line, json_lines, json_rows, printable, read_text, reason_of
from miner.lab.lessons.generation.model_folder import Step
from miner.lab.lessons.generation.models import SmoothedLoss, mean_loss, quiet, sum_losses
from miner.lab.lessons.generation.tokens import Collator, EncodedPair, LengthSampler

if TYPE_CHECKING:
    from miner.lab.lessons.generation.kinds import Beginning

_WEIGHTS, _STEPS, _CHECKPOINTS = "best.pt", "steps.jsonl", "checkpoints"


@dataclass(frozen=True, slots=True)
class Learning:
    """What a model learns from, and how.

    Args:
        pairs: the examples.
        validation: to judge on; may be empty.
        options: an object of the class `Options` of the kind.
        seed: of order and dropout.
        state: a folder for what a resumed training needs.
        report: called with each step of the curve.
        progress: called with the number of pairs that are done and of all.
    """

    pairs: Sequence[EncodedPair]
    validation: Sequence[EncodedPair]
    options: Any
    seed: int
    state: Path
    report: Callable[[Step], object]
    progress: Callable[[int, int], object]


def learn(beginning: Beginning, learning: Learning) -> list[Step]:
    """Trains a model, leaves it with its best weights, and returns the curve."""
    options, model = learning.options, beginning.model
    seed = learning.seed % 2**31
    has_gpu = torch.cuda.is_available()
    arguments = TrainingArguments(
        output_dir=str(learning.state / _CHECKPOINTS),
        num_train_epochs=options.epochs,
        per_device_train_batch_size=options.batch,
        gradient_accumulation_steps=options.accumulate,
        learning_rate=options.rate,
        warmup_steps=options.warmup,
        max_grad_norm=options.clip,
        bf16=options.dtype == "bfloat16",
        use_cpu=not has_gpu,
        dataloader_pin_memory=has_gpu,
        remove_unused_columns=False,
        save_strategy="no",  # the curve says when
        save_total_limit=1,
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=seed,
        data_seed=seed,
    )
    arguments._n_gpu = min(arguments.n_gpu, 1)  # a batch is one, whatever GPUs there are
    loss = SmoothedLoss(options.smoothing)
    curve = _Curve(beginning, learning, loss)
    trainer = _Trainer(
        model=model,
        args=arguments,
        train_dataset=learning.pairs,  # pyright: ignore[reportArgumentType]
        data_collator=Collator(beginning.tokens, model.config.is_encoder_decoder),
        compute_loss_func=loss,
        callbacks=[curve],
    )
    trainer.sampler = LengthSampler(learning.pairs, options.batch, seed)
    trainer.remove_callback(PrinterCallback)
    kept = _last_checkpoint(learning.state / _CHECKPOINTS)
    with quiet():
        try:
            if kept is None or not curve.has_ended(kept):
                trainer.train(resume_from_checkpoint=kept)
        except Exception as error:  # the libraries raise errors of many kinds at a damaged file
            if kept is None or curve.has_begun:
                raise
            raise _damaged(learning.state, error) from error
    try:
        best: Any = torch.load(learning.state / _WEIGHTS, map_location="cpu", weights_only=True)
        model.load_state_dict(best)
    except Exception as error:
        raise _damaged(learning.state, error) from error
    model.eval()
    return curve.steps


def _damaged(state: Path, error: Exception) -> InputError:
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


class _Trainer(Trainer):
    """The library's trainer with batches of examples of about the same length."""

    sampler: LengthSampler

    def _get_train_sampler(self, train_dataset: Any = None) -> LengthSampler:  # noqa: ANN401
        return self.sampler


class _Curve(TrainerCallback):
    """What the trainer calls: it judges and keeps the training, and the best weights so far."""

    def __init__(self, beginning: Beginning, learning: Learning, loss: SmoothedLoss) -> None:
        self.steps: list[Step] = []
        self.has_begun = False
        self._beginning, self._learning, self._loss = beginning, learning, loss
        self._path = learning.state / _STEPS
        self._n_tokens = sum(len(pair.context) + len(pair.response) for pair in learning.pairs)

    def has_ended(self, checkpoint: str) -> bool:
        """Whether a training was interrupted after its end, before its folder was written."""
        state = TrainerState.load_from_json(str(Path(checkpoint) / TRAINER_STATE_NAME))
        self._read_steps(state)
        options = self._learning.options
        early = bool(self.steps) and self._since_best() >= options.patience
        if not early and state.global_step < state.max_steps:
            return False
        for step in self.steps:
            self._learning.report(step)
        return True

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401
        """Takes the points of an interrupted training up to where it goes on."""
        self.has_begun = True
        self._read_steps(state)
        self._path.write_bytes(json_lines(asdict(step) for step in self.steps))
        for step in self.steps:
            self._learning.report(step)
        options = self._learning.options
        n = options.epochs * options.validations
        self._validated_at = {round(state.max_steps * (i + 1) / n) for i in range(n)}
        before = self.steps[-1].seconds if self.steps else 0.0
        self._began = time.perf_counter() - before

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401
        """Shows the progress, and judges every so often."""
        options = self._learning.options
        self._learning.progress(self._pairs(state), len(self._learning.pairs) * options.epochs)
        if state.global_step in self._validated_at:
            self._judge(state)
            control.should_save = True
            if self._since_best() >= options.patience:
                control.should_training_stop = True

    def _read_steps(self, state: Any) -> None:  # noqa: ANN401
        """Takes the points of the file up to a state of the training."""
        path = self._path
        rows = [row for _, row in json_rows(path, read_text(path))] if path.is_file() else []
        self.steps = [Step(**row) for row in rows if row["n_pairs"] <= self._pairs(state)]

    def _judge(self, state: Any) -> None:  # noqa: ANN401
        learning, model = self._learning, self._beginning.model
        seconds = time.perf_counter() - self._began
        began = time.perf_counter()
        validation = None
        if learning.validation:
            tokens = self._beginning.tokens
            losses = sum_losses(model, tokens, learning.validation, learning.options.batch)
            validation = mean_loss(losses)
        n = self._pairs(state)
        n_tokens = round(self._n_tokens * n / len(learning.pairs))
        step = Step(n, n_tokens, self._loss.take_mean(), validation, seconds)
        for found in (step.loss, validation):
            if found is not None and not isfinite(found):
                raise InputError(
                    f"`rate={learning.options.rate}`: found a loss of {found} after {n:,} pairs, "
                    "expected a smaller rate"
                )
        self.steps.append(step)
        learning.report(step)
        with self._path.open("ab") as file:
            file.write(json_line(asdict(step)))
        if not self._since_best():
            partial = learning.state / f"{_WEIGHTS}.partial"
            torch.save(model.state_dict(), partial)
            partial.replace(learning.state / _WEIGHTS)
        self._paused = began

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401
        """Leaves the validation, and what it takes to keep the training, out of its seconds."""
        self._began += time.perf_counter() - self._paused

    def _since_best(self) -> int:
        """How many steps were made since the best one; without validation the last is the best."""
        losses = [step.validation for step in self.steps]
        if losses[-1] is None:
            return 0
        known = [loss for loss in losses if loss is not None]
        return len(known) - 1 - known.index(min(known))

    def _pairs(self, state: Any) -> int:  # noqa: ANN401
        """How many pairs were learned from."""
        n = len(self._learning.pairs) * self._learning.options.epochs
        return round(n * state.global_step / max(1, state.max_steps))
