"""A beginning and encoded examples -> a trained model: `transformers.Trainer` with our curve.

Every so often the model is judged by its loss on validation, and the training is kept so far that
it can be resumed. The weights of the least loss are taken, and the training ends when it has not
become smaller for some validations, as GD trains (section 5.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import Trainer, TrainingArguments

from miner.errors import InputError
from miner.lab.learning.library_trainer import QUIET, Curve, damaged
from miner.lab.lessons.embeddings import quiet
from miner.lab.lessons.generation.model_folder import Step
from miner.lab.lessons.generation.models import SmoothedLoss, mean_loss, sum_losses
from miner.lab.lessons.generation.tokens import Collator, EncodedPair, LengthSampler

if TYPE_CHECKING:
    from miner.lab.lessons.generation.kinds import Beginning


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
    options, model, n = learning.options, beginning.model, len(learning.pairs)
    seed = learning.seed % 2**31
    has_gpu = torch.cuda.is_available()
    loss = SmoothedLoss(options.smoothing)
    path = learning.state / "best.pt"
    n_all = sum(len(pair.context) + len(pair.response) for pair in learning.pairs)

    def judge(n_pairs: int, seconds: float) -> Step:
        validation = None
        if learning.validation:
            losses = sum_losses(model, beginning.tokens, learning.validation, options.batch)
            validation = mean_loss(losses)
        step = Step(n_pairs, round(n_all * n_pairs / n), loss.take_mean(), validation, seconds)
        for found in (step.loss, validation):
            if found is not None and not isfinite(found):
                raise InputError(
                    f"`rate={options.rate}`: found a loss of {found} after {n_pairs:,} pairs, "
                    "expected a smaller rate"
                )
        return step

    def keep() -> None:
        partial = path.with_suffix(".partial")
        torch.save(model.state_dict(), partial)
        partial.replace(path)

    n_steps = options.epochs * options.validations
    curve = Curve(
        learning.state,
        n * options.epochs,
        lambda n_batches: {round(n_batches * (i + 1) / n_steps) for i in range(n_steps)},
        judge,
        Step,
        lambda step: None if step.validation is None else -step.validation,
        keep,
        learning.report,
        learning.progress,
        options.patience,
    )
    arguments = TrainingArguments(
        output_dir=str(curve.checkpoints),
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
        seed=seed,
        data_seed=seed,
        **QUIET,
    )
    arguments._n_gpu = min(arguments.n_gpu, 1)  # a batch is one, whatever GPUs there are
    trainer = _Trainer(
        model=model,
        args=arguments,
        train_dataset=learning.pairs,  # pyright: ignore[reportArgumentType]
        data_collator=Collator(beginning.tokens, model.config.is_encoder_decoder),
        compute_loss_func=loss,
        callbacks=[curve],
    )
    trainer.sampler = LengthSampler(learning.pairs, options.batch, seed)
    with quiet():
        steps = curve.train(trainer)
    try:
        model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # PyTorch raises errors of many kinds at a damaged file
        raise damaged(learning.state, error) from error
    model.eval()
    return steps


class _Trainer(Trainer):
    """The library's trainer with batches of examples of about the same length."""

    sampler: LengthSampler

    def _get_train_sampler(self, train_dataset: Any = None) -> LengthSampler:  # noqa: ANN401
        return self.sampler
