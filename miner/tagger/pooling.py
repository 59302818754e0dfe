"""Encoded windows of tokens -> a vector per utterance.

Windows are added one by one and are not kept. A chapter of any length needs the memory of three
vectors per utterance, and these are the same bit by bit, no matter which windows were encoded in
one batch.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from miner.tagger.encoding import Encoding, Window

Vectors = NDArray[np.float32]


class WindowParts(NamedTuple):
    """What the tokens of a window add to the vectors of a chapter.

    The parts of a chapter of n utterances are numbered: utterance k is part k, the narration
    before it is part n + k, and the tokens of neither are part 2n.

    Attributes:
        taken: the tokens of the window that are taken, as a slice.
        parts: the numbers of the parts in it: (parts,).
        shares: the share of each token in the mean of each part: (parts, taken tokens).
        begun: the utterances that begin in it, as a slice.
        first: the taken tokens with which they begin: (utterances,).
    """

    taken: slice
    parts: NDArray[np.intp]
    shares: Vectors
    begun: slice
    first: NDArray[np.intp]


class Parts:
    """The parts of a chapter, and which of them are in a window."""

    def __init__(self, encoding: Encoding) -> None:
        """Prepares the parts of a chapter in tokens."""
        n = len(encoding.utterances)
        ranges = (*encoding.utterances, *encoding.narration)
        part_of = np.full(encoding.n_tokens, 2 * n)
        for part, (low, high) in enumerate(ranges):
            part_of[low:high] = part
        sizes = [max(high - low, 1) for low, high in ranges]
        last = max(encoding.n_tokens - 1, 0)
        self.n_utterances = n
        self._part_of = part_of
        self._sizes = np.array([*sizes, 1], dtype=np.float32)
        self._starts = [min(low, last) for low, _ in encoding.utterances]

    def of_window(self, window: Window) -> WindowParts:
        """Returns what a window adds."""
        low, high = window.taken
        end = window.start + high - low
        # A small matrix product is several times as fast as adding row by row.
        parts, row_of = np.unique(self._part_of[window.start : end], return_inverse=True)
        is_of = row_of == np.arange(len(parts))[:, None]
        begun = slice(bisect_left(self._starts, window.start), bisect_left(self._starts, end))
        return WindowParts(
            slice(1 + low, 1 + high),  # skips the first special token
            parts,
            is_of.astype(np.float32) / self._sizes[parts, None],
            begun,
            np.array(self._starts[begun], dtype=np.intp) - window.start,
        )


@dataclass(slots=True)
class Pooling:
    """Adds up the windows of a chapter to the vectors of its utterances."""

    parts: Parts
    means: Vectors
    first: Vectors

    @classmethod
    def of(cls, encoding: Encoding, size: int) -> Pooling:
        """Returns empty sums of a chapter."""
        parts = Parts(encoding)
        n = parts.n_utterances
        means, first = np.zeros((2 * n + 1, size), np.float32), np.zeros((n, size), np.float32)
        return cls(parts, means, first)

    def add(self, window: Window, vectors: Vectors) -> None:
        """Adds the vectors of a window.

        Args:
            window: a window of the chapter; each is added once, in any order.
            vectors: the vectors of all its tokens, special tokens included: (tokens, size).
        """
        of_window = self.parts.of_window(window)
        taken = vectors[of_window.taken]
        self.means[of_window.parts] += of_window.shares @ taken  # a part is in it once
        self.first[of_window.begun] = taken[of_window.first]

    def vectors(self) -> Vectors:
        """Returns the vectors of the utterances: (utterances, 3 x size).

        A vector joins three: the mean over the utterance's tokens, its first token, and the mean
        over the narration since the previous utterance (zeros if there is none).
        """
        spoken, narrated = np.split(self.means[:-1], 2)
        return np.concatenate([spoken, self.first, narrated], axis=1)
