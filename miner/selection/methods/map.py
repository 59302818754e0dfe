"""Encoder, map: embeddings of which those of responses are mapped linearly (CD 4.2).

A response's embedding y becomes W y + a y, where the matrix W and the number a are learned and the
encoder stays as it is; the score of a context x is the dot product. (CD writes the cosine; the code
of its authors takes the product, without which the scores of a softmax were nearly even.) As in
that code (PolyAI-LDN/conversational-datasets, baselines/vector_based.py): W is orthogonal and a is
1 at the beginning; the loss is the cross-entropy of the true response among those of the batch
(Henderson et al. 2017) with label smoothing 0.2 and half the sum of the squares of W times the
penalty; Adagrad; 5 learning rates with 4 penalties each, a run of which ends when the accuracy on
validation has not risen for 10 epochs; the best epoch of all is taken.

Without validation there is nothing to choose on: the middle of the sweep is trained, for as many
epochs as `epochs_alone` says.

The embeddings are computed once, and those and the runs that ended are kept for a resumed training.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from miner.fields import Option
from miner.files import (
    json_lines,
    json_rows,
    printable,
    read_text,
    reason_of,
    whole_file,
)
from miner.selection.embeddings import (
    DEFAULT_ENCODER,
    DTYPE_HELP,
    ENCODER_HELP,
    Dtype,
    Embedder,
    Vectors,
    context_texts,
    load_encoder,
    read_encoder,
    write_encoder,
)
from miner.selection.examples import Context
from miner.selection.methods import Step, Training
from miner.selection.tasks import (
    BATCH,
    draw_batches,
    equal_responses,
    rank_in_batches,
    recall_of,
)

if TYPE_CHECKING:
    import torch

_RATES = (10.0, 3.0, 1.0, 0.3, 0.01)
_PENALTIES = (0.0, 0.1, 0.01, 0.001)
_MIDDLE = (1.0, 0.01)  # of the rates and of the penalties that are not 0
_SMOOTHING = 0.2
_FIRST_SQUARES = 0.1  # with which Adagrad begins, in TensorFlow
_MAP, _RUNS = "map.safetensors", "runs.jsonl"
_SHARD = 8192  # texts whose embeddings are one file of a training that can be resumed


@dataclass(frozen=True, slots=True)
class Options:
    """The encoder, and how long and in what batches the map is trained."""

    encoder: Annotated[str, Option(ENCODER_HELP)] = DEFAULT_ENCODER
    dtype: Annotated[Dtype, Option(DTYPE_HELP)] = "float32"
    batch: Annotated[int, Option("Pairs in a batch.", minimum=2)] = 256
    epochs: Annotated[int, Option("Most epochs of a run of the sweep.", minimum=1)] = 100
    patience: Annotated[
        int, Option("Epochs without a better accuracy after which a run ends.", minimum=1)
    ] = 10
    epochs_alone: Annotated[
        int, Option("Epochs of the only run, where there is no validation.", minimum=1)
    ] = 10
