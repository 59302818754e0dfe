"""Encoder, sim: cosine of the embeddings of a pre-trained sentence encoder (CD 4.2).

Nothing is learned. How an encoder is found, and how it reads a context of several turns,
`miner.lab.lessons.selection.embeddings` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from miner.lab.learning.fields import Option
from miner.lab.lessons.example import Context
from miner.lab.lessons.selection.embeddings import (
    DEFAULT_ENCODER,
    DTYPE_HELP,
    ENCODER_HELP,
    Dtype,
    Embedder,
    Vectors,
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


def load(folder: Path) -> Sim:
    """Returns the method of a folder."""
    return Sim(read_encoder(folder))


class Sim:
    """The method.

    Args:
        embedder: the encoder.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def encode_contexts(self, contexts: Sequence[Context]) -> Vectors:
        """The embeddings of contexts, of length 1, [n, d]."""
        return self._embedder.encode_contexts(contexts)

    def encode_responses(self, responses: Sequence[str]) -> Vectors:
        """The embeddings of responses, of length 1, [n, d]."""
        return self._embedder.encode_texts(responses)
