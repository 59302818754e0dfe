"""LSTM: a siamese network of LSTM units with tied weights, scored by c^T M r (UD 4.3).

It is the method `rnn` with one hidden layer of 200 LSTM units.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from miner.lab.learning.fields import Option
from miner.lab.lessons.selection.methods import Training
from miner.lab.lessons.selection.networks.recurrent import (
    Recurrent,
    RecurrentOptions,
    load_recurrent,
    train_recurrent,
)


@dataclass(frozen=True, slots=True)
class Options(RecurrentOptions):
    """The sizes of UD 4.3."""

    hidden: Annotated[int, Option("Units of the hidden layer.", minimum=1)] = 200


def train(training: Training, folder: Path) -> None:
    """Trains the network; see `train_recurrent`."""
    train_recurrent("lstm", training, folder)


def load(folder: Path) -> Recurrent:
    """Returns the method of a folder; see `load_recurrent`."""
    return load_recurrent(folder)
