"""The training that all networks share: epochs, validation, the best weights, resumption."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from numpy.typing import NDArray
from torch import Tensor, nn

from miner.errors import InputError
from miner.files import printable, reason_of
from miner.lab.lessons.selection.methods import Step, Training
from miner.lab.lessons.selection.tasks import one_of_many_accuracy

if TYPE_CHECKING:
    from miner.lab.lessons.selection.methods import Method

_STATE = "state.pt"


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast a network learns.

    Args:
        epochs: passes over the pairs at most.
        patience: epochs without a better accuracy on validation after which the training ends.
        batch: pairs in a batch.
        rate: the learning rate of Adam.
        clip: the largest norm of a gradient.
    """

    epochs: int
    patience: int
    batch: int
    rate: float
    clip: float


@dataclass
class _State:
    """What a training that was interrupted is resumed from; the steps are those of the curve."""

    epoch: int = 0
    best_epoch: int = -1
    highest: float = -1.0
    seconds: float = 0.0
    best: dict[str, Tensor] = field(default_factory=dict)
    model: dict[str, Tensor] = field(default_factory=dict)
    optimizer: dict[str, Any] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)


def learn(
    network: nn.Module,
    lengths: Sequence[int],
    inputs_of: Callable[[NDArray[np.int64], np.random.Generator], Sequence[Tensor]],
    method: Method,
    schedule: Schedule,
    training: Training,
) -> None:
    """Trains a network, and leaves it with the weights of its best epoch.

    The best epoch is the one with the highest 1-of-100 accuracy on validation; the last one, where
    there is no validation. Each epoch has random numbers of its own, so that a resumed training
    comes to the same weights.
    """
    accelerator = Accelerator()
    n = len(lengths)
    if n < 2:
        raise InputError("found a single pair to learn from, expected two or more")
    network.to(accelerator.device)
    wrapped, optimizer = accelerator.prepare(
        network, torch.optim.Adam(network.parameters(), lr=schedule.rate)
    )
    path = training.state / _STATE
    state = _read_state(path) if path.is_file() else _State()
    if state.epoch:
        network.load_state_dict(state.model)
        optimizer.load_state_dict(state.optimizer)
    for step in state.steps:
        training.report(Step(**step))
    for epoch in range(state.epoch, schedule.epochs):
        if epoch - state.best_epoch > schedule.patience and state.best:
            break
        began = time.perf_counter()
        seed = training.seed * 1000 + epoch
        set_seed(seed % 2**32)
        random = np.random.default_rng(abs(seed))
        network.train()
        losses: list[float] = []
        done = epoch * n
        for numbers in draw_batches(lengths, schedule.batch, random):
            inputs = [tensor.to(accelerator.device) for tensor in inputs_of(numbers, random)]
            loss = wrapped(*inputs)
            optimizer.zero_grad()
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(network.parameters(), schedule.clip)
            optimizer.step()
            losses.append(loss.item() * len(numbers))
            done += len(numbers)
            training.progress(done, schedule.epochs * n)
        mean = sum(losses) / n
        if not np.isfinite(mean):
            raise InputError(
                f"found a loss of {mean} in epoch {epoch + 1}, expected a smaller rate"
            )
        state.seconds += time.perf_counter() - began
        network.eval()
        accuracy = (
            one_of_many_accuracy(method, training.validation) if training.validation else None
        )
        step = Step((epoch + 1) * n, mean, accuracy, state.seconds)
        training.report(step)
        state.steps.append(asdict(step))
        if accuracy is None or accuracy > state.highest:
            state.highest, state.best_epoch = accuracy or 0.0, epoch
            state.best = _copy(network)
        state.epoch, state.model = epoch + 1, network.state_dict()
        state.optimizer = optimizer.state_dict()
        partial = path.with_suffix(".partial")
        torch.save(asdict(state), partial)
        partial.replace(path)
    network.load_state_dict(state.best)
    network.eval()


def draw_batches(
    lengths: Sequence[int], size: int, random: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Returns the numbers of the examples of each batch, in a random order.

    A batch has examples of about the same length, so that little is computed for padding: those of
    fifty batches, drawn at random, are sorted and cut. A batch of one example joins the one before.
    """
    order = random.permutation(len(lengths))
    sizes = np.asarray(lengths)
    batches: list[NDArray[np.int64]] = []
    for start in range(0, len(order), 50 * size):
        some = order[start : start + 50 * size]
        some = some[np.argsort(sizes[some], kind="stable")]
        batches += [some[first : first + size] for first in range(0, len(some), size)]
    if len(batches) > 1 and len(batches[-1]) == 1:
        batches[-2:] = [np.concatenate(batches[-2:])]
    random.shuffle(batches)  # pyright: ignore[reportArgumentType] - a list is shuffled in place
    return batches


def _copy(network: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().cpu().clone() for name, value in network.state_dict().items()}


def _read_state(path: Path) -> _State:
    try:
        return _State(**torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # PyTorch raises errors of many kinds at a damaged file
        raise InputError(
            f"{printable(path)}: cannot be read ({reason_of(error)}), expected the state of a "
            "training; `force=True` begins anew"
        ) from error
