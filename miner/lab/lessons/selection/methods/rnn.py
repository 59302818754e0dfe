"""RNN: a siamese recurrent network with tied weights, scored by c^T M r (UD 4.2).

One hidden layer of 50 units, Adam, gradients clipped at 10, one false response for each true one,
texts of at most 160 words. UD begins with GloVe vectors of 300 numbers (`--word-vectors`); without
such a file words begin with 100 random numbers. The batch, the learning rate and the number of
epochs are not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from miner.lab.lessons.selection.methods import Training
from miner.lab.lessons.selection.networks.recurrent import (
    Recurrent,
    RecurrentOptions,
    load_recurrent,
    train_recurrent,
)


@dataclass(frozen=True, slots=True)
class Options(RecurrentOptions):
    """The sizes of UD 4.2."""


def train(training: Training, folder: Path) -> None:
    """Trains the network; see `train_recurrent`."""
    train_recurrent("rnn", training, folder)


def load(folder: Path) -> Recurrent:
    """Returns the method of a folder; see `load_recurrent`."""
    return load_recurrent(folder)
