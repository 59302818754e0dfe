"""A step of training: chapters -> losses, each with what it was computed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor, nn

from miner.lab.training.tagger.encoded_chapters import EncodedChapter, join_chapters
from miner.lab.training.tagger.losses import chapters_loss
from miner.lab.training.tagger.training import autocast
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.tagger.config import Expert


class StepLoss(NamedTuple):
    """The loss of chapters that were computed at once.

    Attributes:
        loss: summed over their utterances.
        n_tags: their utterances.
        n_tokens: the tokens that the encoder read.
    """

    loss: Tensor
    n_tags: int
    n_tokens: int


def step_losses(
    model: nn.Module,
    chapters: Sequence[EncodedChapter],
    expert: Expert,
    config: TrainingConfig,
    device: torch.device,
    dtype: torch.dtype,
    at_once: int | None = None,
) -> Iterator[StepLoss]:
    """Yields the losses of a step; their gradients add up."""
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
        )
        n_tokens = sum(len(window.ids) for window in joined.encoding.windows)
        yield StepLoss(loss, len(joined.tags), n_tokens)
