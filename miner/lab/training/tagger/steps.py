"""A stage of training: chapters -> steps -> losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn

from miner.lab.learning.loop import Epoch, Learner, Part, Row, last_epoch
from miner.lab.training.tagger.encoded_chapters import (
    ChapterEncoder,
    EncodedChapter,
    join_chapters,
)
from miner.lab.training.tagger.model_selection import best_epoch
from miner.lab.training.tagger.teachers import Progress
from miner.lab.training.tagger.training import (
    autocast,
    chapters_loss,
    epoch_order,
    new_optimizer,
    new_schedule,
    unfreeze,
)
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.lab.training.tagger.training_data import TrainingData, VersionedChapters
from miner.tagger.config import Expert


class Stage(NamedTuple):
    """Epochs that train one expert on the same chapters."""

    name: str
    expert: Expert
    examples: VersionedChapters
    n_epochs: int
    teacher_share: float = 0.0  # of the soft labels in the loss; the tags have the rest


def stages_of(config: TrainingConfig, data: TrainingData) -> list[Stage]:
    """Returns the stages of a run: the structure expert first, and weak labels before gold.

    Teachers teach the text expert. They alone label weak chapters.
    """
    of_weak, of_gold = (1.0, config.teacher_share) if config.teacher else (0.0, 0.0)
    n_structure = config.structure_epochs * config.features
    n_weak = config.weak_epochs * bool(len(data.weak))
    stages = [
        Stage("structure", Expert.STRUCTURE, data.gold, n_structure),
        Stage("weak", Expert.TEXT, data.taught(data.weak), n_weak, of_weak),
        Stage("gold", Expert.TEXT, data.taught(data.gold), config.epochs, of_gold),
    ]
    return [stage for stage in stages if stage.n_epochs]


def learner_of(
    stage: Stage,
    encoder: ChapterEncoder,
    config: TrainingConfig,
    accelerator: Accelerator,
    progress: Progress,
    validate: Callable[[Epoch], Row],
    keep: Callable[[], object],
) -> Learner[tuple[list[EncodedChapter], float]]:
    """Returns the model and its steps: the chapters of this process, and the size of the step.

    A step has `config.batch` chapters for each process.
    """
    model, device, n_processes = encoder.model, accelerator.device, accelerator.num_processes
    unfreeze(model, stage.expert, config)
    optimizer = new_optimizer(model, config)
    per_step = config.batch * n_processes
    n_steps = stage.n_epochs * math.ceil(len(stage.examples) / per_step)
    chapters: list[EncodedChapter] = []

    def batches(epoch: int) -> Iterator[tuple[list[EncodedChapter], float]]:
        nonlocal chapters
        set_seed(config.seed * 1000 + epoch)
        order = epoch_order(len(stage.examples), n_processes)
        if stage.examples.is_varied or not chapters:
            of_epoch = progress(stage.examples.version(epoch), "encoding")
            chapters = encoder.encode(of_epoch, stage.expert is Expert.TEXT)
        model.train()
        model.encoder.eval()  # dropout in the encoder doubles the time of a step on a CPU
        steps = range(0, len(order), per_step)
        for first in progress(steps, f"{stage.name} {epoch + 1} of {stage.n_epochs}"):
            of_step = [chapters[n] for n in order[first : first + per_step]]
            # Gradients are averaged over processes, and each utterance has the same weight.
            size = sum(len(item.tags) for item in of_step) / n_processes
            yield of_step[accelerator.process_index :: n_processes], size

    def losses(wrapped: nn.Module, step: tuple[list[EncodedChapter], float]) -> Iterator[Part]:
        of_process, size = step
        given = wrapped, of_process, size, stage.expert, config, device, encoder.dtype
        return step_losses(*given, teacher_share=stage.teacher_share)

    is_gold = stage.name == "gold"
    return Learner(
        network=model,
        optimizer=optimizer,
        schedule=new_schedule(optimizer, n_steps),
        batches=batches,
        losses=losses,
        validate=validate,
        best=best_epoch if is_gold else last_epoch,
        keep=keep if is_gold else lambda: None,
    )


def step_losses(
    model: nn.Module,
    chapters: Sequence[EncodedChapter],
    size: float,
    expert: Expert,
    config: TrainingConfig,
    device: torch.device,
    dtype: torch.dtype,
    at_once: int | None = None,
    teacher_share: float = 0.0,
) -> Iterator[Part]:
    """Yields the losses of a step divided by its size, its utterances."""
    if at_once is None:
        at_once = max(1, len(chapters)) if device.type == "cuda" else 1
    for first in range(0, len(chapters), at_once):
        together = chapters[first : first + at_once]
        joined = join_chapters(together)
        with autocast(device.type, dtype):
            given = joined.encoding, joined.features, joined.sequences, joined.vectors
            parts = iter(model(*given, [expert]))
        loss = chapters_loss(
            [list(islice(parts, len(item.sequences))) for item in together],
            [item.tags for item in together],
            [item.speakers for item in together],
            config.start_weight,
            config.speaker_weight,
            [item.soft_labels for item in together if item.soft_labels is not None],
            teacher_share,
        )
        n_tokens = sum(len(window.ids) for window in joined.encoding.windows)
        yield Part(loss / size, loss, len(joined.tags), n_tokens)
