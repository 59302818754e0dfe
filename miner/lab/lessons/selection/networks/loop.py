"""The training that all networks share: batches of like lengths, accuracy on validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from accelerate.utils import set_seed
from numpy.typing import NDArray
from torch import Tensor, nn

from miner.errors import InputError
from miner.lab.learning.loop import Epoch, Learner, Part, Row, State, fit
from miner.lab.lessons.selection.methods import Step, Training
from miner.lab.lessons.selection.tasks import one_of_many_accuracy

if TYPE_CHECKING:
    from miner.lab.lessons.selection.methods import Method


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
    n = len(lengths)
    if n < 2:
        raise InputError("found a single pair to learn from, expected two or more")
    state = State.read(training.state / "state.pt")

    def batches(epoch: int) -> Iterator[tuple[Sequence[Tensor], int]]:
        seed = training.seed * 1000 + epoch
        set_seed(seed % 2**32)
        random = np.random.default_rng(abs(seed))
        done = epoch * n
        for numbers in draw_batches(lengths, schedule.batch, random):
            yield inputs_of(numbers, random), len(numbers)
            done += len(numbers)
            training.progress(done, schedule.epochs * n)

    def losses(wrapped: nn.Module, batch: tuple[Sequence[Tensor], int]) -> Iterator[Part]:
        inputs, size = batch
        device = next(network.parameters()).device
        yield Part.of_mean(wrapped(*(tensor.to(device) for tensor in inputs)), size)

    def validate(epoch: Epoch) -> Row:
        accuracy = None
        if training.validation:
            accuracy = one_of_many_accuracy(method, training.validation)
        seconds = epoch.seconds + (state.rows[-1]["seconds"] if state.rows else 0.0)
        return asdict(Step((epoch.number + 1) * n, epoch.loss, accuracy, seconds))

    for row in state.rows:
        training.report(Step(**row))
    learner = Learner(
        network=network,
        optimizer=torch.optim.Adam(network.parameters(), lr=schedule.rate),
        batches=batches,
        losses=losses,
        validate=validate,
        best=most_accurate,
    )
    fit(
        learner,
        schedule.epochs,
        state,
        patience=schedule.patience,
        clip=schedule.clip,
        report=lambda row: training.report(Step(**row)),
    )


def most_accurate(rows: Sequence[Row]) -> int:
    """Returns the number of the first row of the highest accuracy; the last one without any."""
    accuracies = [row["accuracy"] for row in rows]
    if accuracies[-1] is None:
        return len(rows) - 1
    return accuracies.index(max(accuracies))


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
