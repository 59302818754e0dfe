"""A book -> its sketch, from which two books tell how much of one is in the other.

The sketch is a FracMinHash (Irber et al. 2022, "Lightweight compositional analysis of metagenomes
with FracMinHash"): of the runs of words of a book, those whose hash is below a limit that is the
same for all books. A run is in the sketches of all books that have it or in none, so the share of a
small sketch that is in a large one estimates the share of the small book that is in the large one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from miner.corpus.folding import Hashes, hash_shingles, hash_words

RUN = (
    6  # words in a run: a changed word changes six runs, and few phrases of two authors are longer
)
RATE = 128  # one run in so many is in the sketch
LIMIT = np.uint64(2**64 // RATE - 1)
# A book of half a million words has so many, of 8 bytes each. A larger one keeps its smallest ones;
# `limit_of` tells up to where.
LARGEST = 4096


def sketch_texts(texts: Iterable[str]) -> Hashes:
    """The sketch of a book: hashes in ascending order, about one for 128 words, 4,096 at most."""
    words = hash_words([" ".join(texts)])[0]
    runs = hash_shingles(words, RUN)
    return np.unique(runs[runs <= LIMIT])[:LARGEST]


def limit_of(sketch: Hashes) -> np.uint64:
    """The number up to which a sketch has all hashes of its book."""
    return sketch[-1] if len(sketch) == LARGEST else LIMIT


def contain(inner: Hashes, outer: Hashes) -> tuple[int, int]:
    """How many hashes of a sketch are in another one, and how many could be.

    Their quotient estimates the share of the inner book that is in the outer one.
    """
    end = np.searchsorted(inner, limit_of(outer), side="right")
    comparable = inner[:end]
    return int(np.isin(comparable, outer, assume_unique=True).sum()), len(comparable)
