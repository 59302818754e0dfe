"""Windows of tokens, as an encoder has read them -> a vector per utterance.

Windows come one by one and are let go: however long a chapter is, what is kept of it is a sum per
utterance. Windows are summed up one by one, so that a sum is the same, bit by bit, whatever else
was read beside them.
"""

from __future__ import annotations

from bisect import bisect_left

import torch
from torch import Tensor

from miner.models.tagger.encoding import Encoding, Window


class Pooling:
    """The vectors of a chapter's utterances, made of its windows as they come."""

    def __init__(self, encoding: Encoding, size: int, device: torch.device | str = "cpu") -> None:
        """Begins a chapter.

        Args:
            encoding: the chapter.
            size: of the encoder's vectors.
            device: where those are.
        """
        n = len(encoding.utterances)
        ranges = (*encoding.utterances, *encoding.narration)
        part_of = torch.full((encoding.n_tokens,), 2 * n)  # the last row is of no utterance
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
        """Takes in what the encoder made of a window.

        Args:
            window: one of the chapter's; all of them are taken in once.
            vectors: (tokens, size) of all its tokens, special ones included.
        """
        low, high = window.taken
        taken = vectors[1 + low : 1 + high].float()  # after the first special token
        end = window.start + high - low
        # A small matrix product, since adding row by row takes several times as long.
        parts, row_of = torch.unique(self._part_of[window.start : end], return_inverse=True)
        is_of = (row_of == torch.arange(len(parts))[:, None]).to(taken)
        with torch.autocast(taken.device.type, enabled=False):  # sums want all digits
            self._sums.index_add_(0, parts.to(taken.device), is_of @ taken)
        first, after = bisect_left(self._starts, window.start), bisect_left(self._starts, end)
        if first < after:
            rows = [start - window.start for start in self._starts[first:after]]
            self._first[first:after] = taken[rows]

    def vectors(self) -> Tensor:
        """Of the utterances: (utterances, 3 x size), float32.

        Side by side: the mean over the utterance's tokens, its first token, and the mean over the
        narration since the utterance before (zeros where none is).
        """
        spoken, narrated = (self._sums[:-1] / self._sizes).chunk(2)
        return torch.cat([spoken, self._first, narrated], dim=1)
