"""Encoded examples -> the tensors of a batch, and the order in which batches are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Sampler

from miner.lab.lessons.generation.tokens import NO_LOSS, EncodedPair, TurnTokens

_MIXED = 50  # batches whose examples are sorted together


class Collator:
    """Makes the tensors that a model takes from examples: with a loss on the response alone.

    An encoder reads the context and a decoder the response. Without an encoder, the decoder reads
    both, and nothing is asked of it before the marker of the one who answers.

    Args:
        tokens: those of the model.
        has_encoder: whether the model has an encoder.
    """

    def __init__(self, tokens: TurnTokens, has_encoder: bool) -> None:
        self._padding, self._answering = tokens.padding, tokens.answering
        self._has_encoder = has_encoder

    def __call__(self, pairs: Sequence[EncodedPair]) -> dict[str, Tensor]:
        """Returns "input_ids", "attention_mask", "labels" and perhaps "decoder_input_ids".

        All are [n, longest]. Labels stand where the model has to find them: of a decoder without an
        encoder they are shifted by one place to the left.
        """
        if self._has_encoder:
            contexts = [pair.context for pair in pairs]
            asked = [[self._answering, *pair.response[:-1]] for pair in pairs]
            return {
                "input_ids": pad_right(contexts, self._padding),
                "attention_mask": mask_of(contexts),
                "decoder_input_ids": pad_right(asked, self._padding),
                "labels": pad_right([pair.response for pair in pairs], NO_LOSS),
            }
        whole = [[*pair.context, self._answering, *pair.response[:-1]] for pair in pairs]
        labels = [[NO_LOSS] * len(pair.context) + pair.response for pair in pairs]
        return {
            "input_ids": pad_right(whole, self._padding),
            "attention_mask": mask_of(whole),
            "labels": pad_right(labels, NO_LOSS),
        }


class LengthSampler(Sampler[int]):
    """The numbers of all examples, so that those of one batch are of about the same length.

    Those of fifty batches, drawn at random, are sorted and cut into batches, whose order is random.
    Each epoch has an order of its own, which depends on the seed alone, so that a training that is
    resumed reads what it would have read.

    Args:
        pairs: the examples.
        batch: how many a batch has.
        seed: of the order.
    """

    def __init__(self, pairs: Sequence[EncodedPair], batch: int, seed: int) -> None:
        self._lengths = np.array([(len(one.response), len(one.context)) for one in pairs])
        self._batch, self._seed, self._epoch = batch, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Says which epoch comes next; the trainer calls it."""
        self._epoch = epoch

    def __len__(self) -> int:
        """How many examples there are."""
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        """The numbers of the examples of an epoch."""
        random = np.random.default_rng([self._seed, self._epoch])
        order = random.permutation(len(self._lengths))
        batches: list[Any] = []
        for start in range(0, len(order), _MIXED * self._batch):
            some = sort_by_length(order[start : start + _MIXED * self._batch], self._lengths)
            batches += [some[i : i + self._batch] for i in range(0, len(some), self._batch)]
        last = batches.pop()  # it may be smaller, and batches are cut where the order has them
        random.shuffle(batches)
        return iter(np.concatenate([*batches, last]).tolist())


def sort_by_length(numbers: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Returns the numbers of examples by the length of the response, and of the context.

    Responses of about the same length are sorted by their contexts, so that little of both is
    padding.
    """
    responses, contexts = lengths[numbers, 0] // 8, lengths[numbers, 1]
    return numbers[np.lexsort((contexts, responses))]


def pad_right(rows: Sequence[Sequence[int]], padding: int) -> Tensor:
    """Returns rows of tokens filled up at the right, [n, longest]."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows])


def pad_left(rows: Sequence[Sequence[int]], padding: int) -> Tensor:
    """Returns rows of tokens filled up at the left, [n, longest]: a decoder goes on behind them."""
    longest = max(map(len, rows))
    return torch.tensor([[*[padding] * (longest - len(row)), *row] for row in rows])


def mask_of(rows: Sequence[Sequence[int]]) -> Tensor:
    """Returns 1 where a row that is filled up at the right has a token, [n, longest]."""
    return pad_right([[1] * len(row) for row in rows], 0)
