"""Examples -> how often a method finds the true response among others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from miner.selection.examples import Example, normal_form

if TYPE_CHECKING:
    import numpy as np

    from miner.selection.methods import Method

BATCH = 100  # responses among which the true one is found; CD, section 4


def one_of_many_accuracy(
    method: Method, examples: Sequence[Example], size: int = BATCH, seed: int = 0
) -> float:
    """Returns the share of contexts whose own response scores highest in its batch (CD, section 4).

    Full batches of a shuffle are taken; the rest is left out. Equal responses are no false
    candidates.

    Raises:
        ValueError: if there are fewer examples than a batch has.
    """
    raise NotImplementedError  # the tasks are under construction


__all__ = ["BATCH", "one_of_many_accuracy", "np", "normal_form"]
