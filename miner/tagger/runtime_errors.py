"""The errors of the libraries that compute models -> those that a run of many books expects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from miner.errors import InputError
from miner.files import reason_of
from miner.tagger.decoding import TagScores

# What the libraries say, each in its own kind of error, where memory is wanting.
_NO_MEMORY = ("allocate memory", "bad allocation", "bad_alloc", "out of memory")


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Replaces an error that a library raises when it computes a model."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # each library raises errors of its own
        if any(words in str(error) for words in _NO_MEMORY):
            raise MemoryError(f"{folder}: {reason_of(error)}") from error
        raise InputError(f"{folder}: cannot be computed: {reason_of(error)}") from error


def finite(scores: TagScores, folder: Path) -> TagScores:
    """Returns scores that a model computed."""
    if not np.isfinite(scores).all():
        raise InputError(f"{folder}: found scores with NaN or infinity, expected finite numbers")
    return scores
