"""What networks learn to make small."""

from __future__ import annotations

import torch
from torch import Tensor

LABEL_SMOOTHING = 0.2  # CD's code, baselines/vector_based.py and its encoder


def smoothed_loss(scores: Tensor, same: Tensor, smoothing: float = LABEL_SMOOTHING) -> Tensor:
    """Returns the mean cross-entropy of the true responses of a batch, with label smoothing.

    It is the dot-product loss of CD 4.3, but that a response which equals the true one is no false
    one: it has no part in the sum.
    """
    barred = same & ~torch.eye(len(same), dtype=torch.bool, device=same.device)
    chances = scores.masked_fill(barred, -torch.inf).log_softmax(dim=1)
    spread = chances.masked_fill(barred, 0).sum(dim=1) / (~barred).sum(dim=1)
    return -((1 - smoothing) * chances.diagonal() + smoothing * spread).mean()
