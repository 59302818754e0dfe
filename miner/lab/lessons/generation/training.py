"""Examples -> a trained model in a folder; an interrupted training is resumed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import Trainer, TrainingArguments

from miner.errors import InputError
from miner.files import json_line, refuse_existing
from miner.lab.learning.library_trainer import QUIET, Curve, damaged
from miner.lab.learning.run_folder import run_folder, write_curve
from miner.lab.lessons.embeddings import quiet
from miner.lab.lessons.examples import Part, books_of, check_parts, keep_turns, refuse_shared_books
from miner.lab.lessons.generation.kinds import ModelKind
from miner.lab.lessons.generation.models import (
    RECORD,
    SmoothedLoss,
    Step,
    TrainedModel,
    count_operations,
    load_model,
    mean_loss,
    share_of_peak,
    sum_losses,
    write_model_card,
    write_weights,
)
from miner.lab.lessons.generation.tokens import Collator, EncodedPair, LengthSampler
from miner.lab.training.tagger.throughput import name_device
from miner.version import __version__

if TYPE_CHECKING:
    from miner.lab.lessons.generation.kinds import Beginning


@dataclass(frozen=True, slots=True)
class Learning:
    """What a model learns from, and how."""

    pairs: Sequence[EncodedPair]
    validation: Sequence[EncodedPair]  # to judge on; may be empty
    options: Any  # of the class `Options` of the kind
    seed: int  # of order and dropout
    state: Path  # a folder for what a resumed training needs
    report: Callable[[Step], object]  # called with each step of the curve
    progress: Callable[[int, int], object]  # with the number of pairs that are done and of all


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


def train_model(
    kind: ModelKind,
    options: Any,  # noqa: ANN401 - of the class `kind.options`
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
) -> TrainedModel:
    """Trains a model and writes its folder."""
    check_parts(train, validation, "a model")
    if validation and not validation.examples:
        raise InputError(f"{validation.source}: found no pairs, expected some to judge on")
    refuse_existing(out, force, (RECORD,))
    from transformers import set_seed

    set_seed(seed % 2**31)
    examples = keep_turns(train.examples, history_turns)
    beginning = kind.begin(examples, options)
    if validation:
        judged = books_of(validation.examples)
        refuse_shared_books(beginning.trained_on, judged, validation.source)
    record: dict[str, Any] = {
        "kind": kind.name,
        "options": asdict(options),
        "seed": seed,
        "history_turns": history_turns,
        "longest_context": beginning.tokens.longest_context,
        "longest_response": beginning.tokens.longest_response,
        "train": train.describe(),
        "validation": validation.describe() if validation else None,
        "trained_on_before": list(beginning.trained_on),
        "judged_on_before": list(beginning.judged_on),
        "version": __version__,
    }
    pairs, cuts = beginning.tokens.encode(examples)
    judged_on = keep_turns(validation.examples, history_turns) if validation else []
    judged_pairs, judged_cuts = beginning.tokens.encode(judged_on)
    operations = count_operations(beginning.model, pairs)
    with run_folder(out, RECORD, record, resume=resume, force=force) as folder:
        learning = Learning(pairs, judged_pairs, options, seed, folder.state, report, progress)
        steps = learn(beginning, learning)
        speed = steps[-1].n_tokens / steps[-1].seconds
        record |= {
            "cuts": asdict(cuts),
            "validation_cuts": asdict(judged_cuts),
            "device": name_device(),
            "n_weights": beginning.model.num_parameters(),
            "tokens_per_second": speed,
            "share_of_peak": share_of_peak(operations, speed),
        }
        write_weights(folder.made, beginning)
        (folder.made / RECORD).write_bytes(json_line(record))
        write_curve(folder.made, steps)
        write_model_card(folder.made, out.name, record, steps)
    return load_model(out)
