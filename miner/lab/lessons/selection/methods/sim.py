"""Encoder, sim: cosine of the embeddings of a pre-trained sentence encoder (CD 4.2).

Nothing is learned. How an encoder is found, and how it reads a context of several turns,
`miner.lab.lessons.embeddings` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from miner.lab.learning.fields import Option
from miner.lab.lessons.embeddings import (
    DEFAULT_ENCODER,
    DTYPE_HELP,
    ENCODER_HELP,
    Dtype,
    Embedder,
    load_encoder,
    read_encoder,
    write_encoder,
)
from miner.lab.lessons.selection.methods import Training

LEARNS = False


@dataclass(frozen=True, slots=True)
class Options:
    """Which encoder."""

    encoder: Annotated[str, Option(ENCODER_HELP)] = DEFAULT_ENCODER
    dtype: Annotated[Dtype, Option(DTYPE_HELP)] = "float32"


def train(training: Training, folder: Path) -> None:
    """Writes down which encoder it is."""
    options: Options = training.options
    model = load_encoder(options.encoder)
    write_encoder(folder, Embedder(options.encoder, model, options.dtype))


def load(folder: Path) -> Embedder:
    """Returns the method of a folder."""
    return read_encoder(folder)
