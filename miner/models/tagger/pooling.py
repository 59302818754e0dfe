"""Encoded windows of tokens -> a vector per utterance.

Windows are added one by one and are not kept. A chapter of any length needs the memory of one sum
per utterance, and a sum is the same bit by bit, no matter which windows were encoded in its batch.
"""

from __future__ import annotations

from bisect import bisect_left

import torch
from torch import Tensor

from miner.models.tagger.encoding import Encoding, Window


class Pooling:
    """Adds up the windows of a chapter to the vectors of its utterances."""

    def __init__(self, encoding: Encoding, size: int, device: torch.device | str = "cpu") -> None:
        """Prepares the sums of a chapter.

        Args:
            encoding: the chapter in tokens.
            size: the size of the encoder's vectors.
            device: where the vectors are.
        """
        n = len(encoding.utterances)
        ranges = (*encoding.utterances, *encoding.narration)
        part_of = torch.full((encoding.n_tokens,), 2 * n)  # row 2n is for tokens of no utterance
        for part, (low, high) in enumerate(ranges):
            part_of[low:high] = part
        sizes = torch.tensor([max(high - low, 1) for low, high in ranges], device=device)
        last = max(encoding.n_tokens - 1, 0)
        self._part_of = part_of
        self._sizes = sizes[:, None]
        self._starts = [min(low, last) for low, _ in encoding.utterances]
        self._first = torch.zeros(n, size, device=device)
        self._sums = torch.zeros(2 * n + 1, size, device=device)

    def add(self, window: Window, vectors: Tensor) -> None:
        """Adds the vectors of a window.

        Args:
            window: a window of the chapter; each is added once, in any order.
            vectors: the vectors of all its tokens, special tokens included: (tokens, size).
        """
        low, high = window.taken
        taken = vectors[1 + low : 1 + high].float()  # skips the first special token
        end = window.start + high - low
        # A small matrix product is several times as fast as adding row by row.
        parts, row_of = torch.unique(self._part_of[window.start : end], return_inverse=True)
        is_of = (row_of == torch.arange(len(parts))[:, None]).to(taken)
        with torch.autocast(taken.device.type, enabled=False):  # sums need full precision
            self._sums.index_add_(0, parts.to(taken.device), is_of @ taken)
        first, after = bisect_left(self._starts, window.start), bisect_left(self._starts, end)
        if first < after:
            rows = [start - window.start for start in self._starts[first:after]]
            self._first[first:after] = taken[rows]

    def vectors(self) -> Tensor:
        """Returns the vectors of the utterances: (utterances, 3 x size), float32.

        A vector joins three: the mean over the utterance's tokens, its first token, and the mean
        over the narration since the previous utterance (zeros if there is none).
        """
        spoken, narrated = (self._sums[:-1] / self._sizes).chunk(2)
        return torch.cat([spoken, self._first, narrated], dim=1)
