"""LSTM: a siamese network of LSTM units with tied weights, scored by c^T M r (UD 4.3).

It is the method `rnn` with one hidden layer of 200 LSTM units.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from miner.lab.learning.fields import Option
from miner.lab.lessons.selection.methods import Training, rnn
from miner.lab.lessons.selection.methods.rnn import load

__all__ = ["Options", "load", "train"]


@dataclass(frozen=True, slots=True)
class Options(rnn.Options):
    """The sizes of UD 4.3."""

    hidden: Annotated[int, Option("Units of the hidden layer.", minimum=1)] = 200


def train(training: Training, folder: Path) -> None:
    """Trains the network, and writes it into a folder."""
    rnn.train(training, folder, "lstm")
