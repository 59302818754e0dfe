"""The loop that trains every network: a model and its batches -> its weights and its curve.

Two learners have no batches of their own: models of the Hub are trained by the trainer of their
library (`library_trainer`), and the segmentation is a structured perceptron.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from miner.errors import InputError
from miner.files import printable, reason_of

Batch = TypeVar("Batch")
Row = dict[str, Any]  # of a curve, as JSON holds it


class Part(NamedTuple):
    """The loss of a batch, or of a part of it that is computed at once."""

    loss: Tensor  # what is made small; the gradients of the parts of a batch add up
    total: Tensor  # the sum of the losses of its items, for the curve
    n: int  # its items
    n_tokens: int = 0  # the tokens that were read

    @classmethod
    def of_mean(cls, loss: Tensor, n: int) -> Part:
        """Returns the part whose loss is the mean of those of n items."""
        return cls(loss, loss.double() * n, n)


class Epoch(NamedTuple):
    """An epoch that was trained: its number, counted from 0, its mean loss, and how long it took.

    The seconds are those of the training alone, without validation.
    """

    number: int
    loss: float
    seconds: float
    n_tokens: int


def last_epoch(rows: Sequence[Row]) -> int:
    """Returns the number of the last epoch."""
    return len(rows) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner(Generic[Batch]):
    """A model and its batches."""

    network: nn.Module  # the model
    optimizer: Optimizer  # of its weights
    # yields the batches of an epoch, counted from 0. A training comes to the same weights when it
    # is resumed if all random numbers of an epoch depend on its number alone.
    batches: Callable[[int], Iterable[Batch]]
    losses: Callable[[nn.Module, Batch], Iterable[Part]]  # yields the parts of the loss of a batch
    validate: Callable[[Epoch], Row]  # returns the row of an epoch in the curve
    schedule: LRScheduler | None = None  # of the learning rates, a step for each batch
    # returns the number of the best epoch so far; by default the last one.
    best: Callable[[Sequence[Row]], int] = last_epoch
    # keeps the weights of the best epoch so far. Without it they are in the state, and the network
    # has them at the end.
    keep: Callable[[], object] | None = None


@dataclass(slots=True)
class State:
    """How far a training is; an interrupted one goes on from its file.

    Accelerate's `save_state` writes a folder of several files. This is one file, so that it is
    replaced as a whole; it needs no random states, as each epoch has random numbers of its own.
    """

    # the file, written after each epoch; None if the training cannot be resumed.
    path: Path | None = None
    # the rows of the epochs that are done, by the stage of the training.
    curves: dict[str, list[Row]] = field(default_factory=dict)
    # the weights of the best epoch, unless the learner keeps them.
    best: dict[str, Tensor] = field(default_factory=dict)
    # what the last epoch left, to be loaded when the training goes on.
    saved: dict[str, Any] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)  # what else the file holds

    @property
    def rows(self) -> list[Row]:
        """The rows of all stages."""
        return [row for rows in self.curves.values() for row in rows]

    @classmethod
    def read(cls, path: Path) -> State:
        """Returns the state of a file; a new one if there is no file."""
        if not path.is_file():
            return cls(path)
        try:
            return cls(path, **torch.load(path, map_location="cpu", weights_only=True))
        except OSError:
            raise
        except Exception as error:  # PyTorch raises errors of many kinds at a damaged file
            raise InputError(
                f"{printable(path)}: cannot be read ({reason_of(error)}), expected the state of "
                "a training; `force=True` begins anew"
            ) from error

    def load(self, learner: Learner[Any], stage: str) -> None:
        """Gives a learner what the last epoch left: of its own stage, or of the one before."""
        if not self.saved or stage in list(self.curves)[:-1]:
            return
        learner.network.load_state_dict(self.saved["network"])
        if stage in self.curves:
            learner.optimizer.load_state_dict(self.saved["optimizer"])
            if learner.schedule:
                learner.schedule.load_state_dict(self.saved["schedule"])
        self.saved = {}

    def write(self, learner: Learner[Any]) -> None:
        """Writes the file."""
        if not self.path:
            return
        parts = {"network": learner.network, "optimizer": learner.optimizer}
        saved = {name: part.state_dict() for name, part in parts.items()}
        saved["schedule"] = learner.schedule.state_dict() if learner.schedule else {}
        whole = {"curves": self.curves, "best": self.best, "saved": saved, "record": self.record}
        partial = self.path.with_name(f"{self.path.name}.partial")
        torch.save(whole, partial)
        partial.replace(self.path)


def fit(
    learner: Learner[Any],
    n_epochs: int,
    state: State | None = None,
    *,
    stage: str = "",
    patience: int | None = None,
    clip: float | None = None,
    accelerator: Accelerator | None = None,
    report: Callable[[Row], object] = lambda row: None,
) -> list[Row]:
    """Trains a network, and returns the curve: a row for each epoch.

    It ends after `n_epochs`, or when `patience` epochs have brought no better one. The norm of a
    gradient is at most `clip`. With several processes each has its own share of each batch.
    """
    state = State() if state is None else state
    accelerator = Accelerator() if accelerator is None else accelerator
    network, schedule, device = learner.network, learner.schedule, accelerator.device
    network.to(device)
    state.load(learner, stage)
    wrapped, optimizer = accelerator.prepare(network, learner.optimizer)
    rows = state.curves.setdefault(stage, [])
    while len(rows) < n_epochs:
        if patience is not None and rows and len(rows) - 1 - learner.best(rows) >= patience:
            break
        began, n, n_tokens = time.perf_counter(), 0, 0
        total = torch.zeros((), dtype=torch.float64, device=device)
        wrapped.train()
        for batch in learner.batches(len(rows)):
            for part in learner.losses(wrapped, batch):
                accelerator.backward(part.loss)
                total += part.total.detach()  # taking its value would wait for the GPU
                n += part.n
                n_tokens += part.n_tokens
            if clip is not None:
                accelerator.clip_grad_norm_(wrapped.parameters(), clip)
            optimizer.step()
            if schedule:
                schedule.step()
            optimizer.zero_grad()
        loss = total.item() / n  # waits until all is computed
        if not isfinite(loss):
            raise InputError(
                f"found a loss of {loss} in epoch {len(rows) + 1}, expected a smaller rate"
            )
        seconds = time.perf_counter() - began
        network.eval()
        rows.append(learner.validate(Epoch(len(rows), loss, seconds, n_tokens)))
        report(rows[-1])
        if learner.best(rows) == len(rows) - 1 and accelerator.is_main_process:
            if learner.keep:
                learner.keep()
            else:
                state.best = {k: v.detach().cpu().clone() for k, v in network.state_dict().items()}
        if accelerator.is_main_process:
            state.write(learner)
    if state.best:
        network.load_state_dict(state.best)
    network.eval()
    return rows
