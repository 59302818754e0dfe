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

The embeddings are computed once. They and the runs that ended are kept for a resumed training.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from miner.errors import InputError
from miner.files import json_line, json_rows, printable, read_text, telling
from miner.lab.learning.fields import Option
from miner.lab.lessons.embeddings import (
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
from miner.lab.lessons.examples import Context, Example
from miner.lab.lessons.selection.methods import Step, Training
from miner.lab.lessons.selection.tasks import (
    BATCH,
    Barred,
    draw_batches,
    rank_in_batches,
    recall_of,
)

if TYPE_CHECKING:
    import torch

_RATES = (10.0, 3.0, 1.0, 0.3, 0.01)
_PENALTIES = (0.0, 0.1, 0.01, 0.001)
_MIDDLE = (1.0, 0.01)  # of the rates and of the penalties that are not 0
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


def train(training: Training, folder: Path) -> None:
    """Learns the map, and writes it and which encoder it is for."""
    from safetensors.torch import load_file, save_file

    began = time.perf_counter()
    options: Options = training.options
    embedder = Embedder(options.encoder, load_encoder(options.encoder), options.dtype)
    train, judged = _embed_all(training, embedder)
    sweep = list(product(_RATES, _PENALTIES)) if training.validation else [_MIDDLE]
    path = training.state / _RUNS
    rows = [row for _, row in json_rows(path, read_text(path))] if path.is_file() else []
    for number, (rate, penalty) in enumerate(sweep):
        if number < len(rows):
            continue
        best, curve = _fit(train, judged, options, rate, penalty, training.seed)
        save_file(best, training.state / f"{number}.safetensors")
        rows.append({"rate": rate, "penalty": penalty, "curve": curve})
        with path.open("ab") as file:
            file.write(json_line(rows[-1]))
    highest = [max((row[1] or 0.0 for row in run["curve"]), default=0.0) for run in rows]
    chosen = int(np.argmax(highest))
    # The time of the whole sweep, since whoever trains a map waits for all of it.
    seconds, n = time.perf_counter() - began, len(training.examples)
    curve = rows[chosen]["curve"]
    for epoch, (loss, accuracy) in enumerate(curve, 1):
        training.report(Step(epoch * n, loss, accuracy, seconds * epoch / len(curve)))
    save_file(load_file(training.state / f"{chosen}.safetensors"), folder / _MAP)
    write_encoder(folder, embedder)


def load(folder: Path) -> Map:
    """Returns the method of a folder."""
    from safetensors.numpy import load_file

    path = folder / _MAP
    with telling(f"{printable(path)}: found no map", "that of a training"):
        matrix = load_file(path)["map"]
    embedder = read_encoder(folder)
    if matrix.shape != (embedder.dimension, embedder.dimension):
        raise InputError(
            f"{printable(path)}: found a map of {matrix.shape}, expected one of "
            f"{embedder.dimension} numbers, as the encoder has"
        )
    return Map(embedder, matrix)


class Map:
    """The method."""

    def __init__(self, embedder: Embedder, matrix: Vectors) -> None:
        self._embedder = embedder
        self._matrix = matrix

    def encode_contexts(self, contexts: Sequence[Context]) -> Vectors:
        """The embeddings of contexts, of length 1, [n, d]."""
        return self._embedder.encode_contexts(contexts)

    def encode_responses(self, responses: Sequence[str]) -> Vectors:
        """The mapped embeddings of responses, [n, d]."""
        return self._embedder.encode_texts(responses) @ self._matrix.T


@dataclass(frozen=True, slots=True)
class _Embedded:
    """Examples as embeddings, [n, d] each, and which responses are no false candidates."""

    contexts: Vectors
    responses: Vectors
    barred: Barred


def _embed_all(training: Training, embedder: Embedder) -> tuple[_Embedded, _Embedded]:
    """The examples to learn from and those of validation, each text embedded once.

    Texts are embedded in shards, which are kept in the state of the training.
    """
    parts = [list(training.examples), list(training.validation)]
    contexts = [context_texts(embedder.model, [one.context for one in part]) for part in parts]
    responses = [[one.response for one in part] for part in parts]
    texts = list(dict.fromkeys(text for part in (*contexts, *responses) for text in part))
    shards: list[Vectors] = []
    for start in range(0, len(texts), _SHARD):
        path = training.state / f"embeddings-{start}.npy"
        if not path.is_file():
            found = embedder.encode_texts(
                texts[start : start + _SHARD],
                lambda done, _, start=start: training.progress(start + done, len(texts)),
            )
            partial = path.with_suffix(".partial.npy")
            np.save(partial, found)
            partial.replace(path)
            embedder.forget()
        shards.append(np.load(path))
        training.progress(min(start + _SHARD, len(texts)), len(texts))
    vectors = np.concatenate(shards)
    row_of = {text: row for row, text in enumerate(texts)}

    def embedded(number: int, examples: Sequence[Example]) -> _Embedded:
        return _Embedded(
            vectors[[row_of[text] for text in contexts[number]]],
            vectors[[row_of[text] for text in responses[number]]],
            Barred.of(examples),
        )

    return embedded(0, parts[0]), embedded(1, parts[1])


def _fit(
    train: _Embedded, judged: _Embedded, options: Options, rate: float, penalty: float, seed: int
) -> tuple[dict[str, torch.Tensor], list[tuple[float, float | None]]]:
    """Returns the best map of a run of the sweep, and the loss and the accuracy of each epoch."""
    import torch
    from torch import nn

    from miner.lab.learning.loop import Epoch, Learner, Part, Row, State, fit
    from miner.lab.lessons.selection.networks import most_accurate, smoothed_loss

    random = torch.Generator().manual_seed(seed)
    equal = torch.from_numpy(train.barred.equal)
    contexts, responses = torch.from_numpy(train.contexts), torch.from_numpy(train.responses)
    if len(equal) < 2:
        raise InputError("found a single pair to learn from, expected two or more")

    class Network(nn.Module):
        """The map."""

        def __init__(self) -> None:
            super().__init__()
            d = train.contexts.shape[1]
            self.matrix = nn.Parameter(nn.init.orthogonal_(torch.empty(d, d), generator=random))
            self.residual = nn.Parameter(torch.ones(()))

        def mapping(self) -> torch.Tensor:
            matrix = self.matrix
            return matrix + self.residual * torch.eye(len(matrix), device=matrix.device)

        def forward(
            self, contexts: torch.Tensor, responses: torch.Tensor, same: torch.Tensor
        ) -> torch.Tensor:
            loss = smoothed_loss(contexts @ (responses @ self.mapping().T).T, same)
            return loss + penalty * 0.5 * self.matrix.square().sum()

    def batches(_: int) -> list[torch.Tensor]:
        order = torch.randperm(len(equal), generator=random)
        return [batch for batch in order.split(options.batch) if len(batch) > 1]

    def losses(wrapped: nn.Module, batch: torch.Tensor) -> list[Part]:
        same = equal[batch][:, None] == equal[batch][None, :]
        given = contexts[batch], responses[batch], same
        return [Part.of_mean(wrapped(*(one.to(network.matrix.device) for one in given)), 1)]

    def validate(epoch: Epoch) -> Row:
        accuracy = None
        if len(judged.barred.equal):
            mapped = judged.responses @ network.mapping().detach().cpu().numpy().T
            drawn = draw_batches(len(judged.barred.equal), BATCH, np.random.default_rng(0))
            better, tied = rank_in_batches(judged.contexts, mapped, judged.barred, drawn)
            accuracy = float(recall_of(better, tied, 1).mean())
        return {"loss": epoch.loss, "accuracy": accuracy}

    network = Network()
    state = State(best={name: value.clone() for name, value in network.state_dict().items()})
    optimizer = torch.optim.Adagrad(
        network.parameters(), lr=rate, initial_accumulator_value=_FIRST_SQUARES
    )
    learner = Learner(
        network=network,
        optimizer=optimizer,
        batches=batches,
        losses=losses,
        validate=validate,
        best=most_accurate,
    )
    n_epochs = options.epochs if len(judged.barred.equal) else options.epochs_alone
    with suppress(InputError):  # a rate that is too high ends a run
        fit(learner, n_epochs, state, patience=options.patience)
    network.load_state_dict(state.best)
    curve = [(row["loss"], row["accuracy"]) for row in state.rows]
    return {"map": network.mapping().detach().cpu()}, curve
