"""Chapters in tokens -> tensors: what the encoder reads, and which vectors make an utterance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from miner.tagger.encoding import Encoding, Range, Window, batch_windows

_PAD_TO = 8  # tokens; windows are padded to a multiple of it


class WindowBatch(NamedTuple):
    """Windows that the encoder reads at once.

    Attributes:
        ids: their tokens: (windows, length).
        mask: 1 for tokens and 0 for padding, of the same shape; None if nothing is padded, since
            encoders are faster without a mask.
    """

    ids: Tensor
    mask: Tensor | None


class TokenTensors(NamedTuple):
    """The tokens of a chapter, and the parts that are pooled.

    The parts of a chapter of n utterances are the n utterances and then, for each of them, the
    narration before it.

    Attributes:
        batches: the windows.
        order: where the vector of each token of the chapter lies among those of all windows, one
            batch after the other: (tokens,).
        members: the tokens of the parts, part after part.
        bounds: where each part begins in `members`: (2 x utterances,).
        first: the first token of each utterance: (utterances,).
    """

    batches: tuple[WindowBatch, ...]
    order: Tensor
    members: Tensor
    bounds: Tensor
    first: Tensor


def token_tensors(
    encoding: Encoding, pad: int, tokens_at_once: int, device: torch.device
) -> TokenTensors:
    """Returns a chapter in tensors on a device."""
    order = np.zeros(encoding.n_tokens, dtype=np.int64)
    batches: list[WindowBatch] = []
    n_rows = 0
    for length, numbers in batch_windows(encoding.windows, _PAD_TO, tokens_at_once):
        windows = [encoding.windows[n] for n in numbers]
        for window in windows:
            low, high = window.taken
            row = n_rows + 1 + low  # skips the first special token
            order[window.start : window.start + high - low] = np.arange(row, row + high - low)
            n_rows += length
        batches.append(window_batch(windows, length, pad, device))
    parts = np.array([*encoding.utterances, *encoding.narration], dtype=np.int64).reshape(-1, 2)
    sizes = parts[:, 1] - parts[:, 0]
    bounds = np.cumsum(sizes) - sizes
    members = np.repeat(parts[:, 0] - bounds, sizes) + np.arange(sizes.sum())
    last = max(encoding.n_tokens - 1, 0)
    first = np.minimum(parts[: len(encoding.utterances), 0], last)
    arrays = (order, members, bounds, first)
    return TokenTensors(tuple(batches), *(_move(torch.from_numpy(a), device) for a in arrays))


def window_batch(
    windows: Sequence[Window], length: int, pad: int, device: torch.device
) -> WindowBatch:
    """Returns windows as the encoder reads them."""
    if all(len(window.ids) == length for window in windows):
        ids = torch.tensor([window.ids for window in windows])
        return WindowBatch(_move(ids, device), None)
    ids = torch.full((len(windows), length), pad)
    mask = torch.zeros_like(ids)
    for row, window in enumerate(windows):
        ids[row, : len(window.ids)] = torch.tensor(window.ids)
        mask[row, : len(window.ids)] = 1
    return WindowBatch(_move(ids, device), _move(mask, device))


def _move(tensor: Tensor, device: torch.device) -> Tensor:
    """Returns a tensor on a device, without waiting for what a GPU computes before."""
    return tensor.to(device, non_blocking=True)


def join_encodings(encodings: Sequence[Encoding]) -> Encoding:
    """Returns several chapters as one, so that the encoder reads their windows together."""
    if len(encodings) == 1:
        return encodings[0]
    windows: list[Window] = []
    utterances: list[Range] = []
    narration: list[Range] = []
    n = 0
    for one in encodings:
        windows += [Window(item.ids, item.taken, item.start + n) for item in one.windows]
        utterances += [(low + n, high + n) for low, high in one.utterances]
        narration += [(low + n, high + n) for low, high in one.narration]
        n += one.n_tokens
    return Encoding(tuple(windows), n, tuple(utterances), tuple(narration))
