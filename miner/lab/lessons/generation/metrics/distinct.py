"""Distinct n-grams: how little answers repeat one another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import nan

import numpy as np
from numpy.typing import NDArray

from miner.lab.lessons.generation.metrics import AnswerWords, Values
from miner.lab.lessons.generation.n_grams import NGram, count_n_grams
from miner.lab.lessons.generation.reference import Reference


def distinct(
    rows: Sequence[AnswerWords], reference: Reference, n: int, groups: NDArray[np.int64]
) -> tuple[float, Values]:
    """Returns dn of all answers, and dn without those of each group.

    dn = different n-grams / all n-grams of all answers, 0..1 (Li et al. 2016; GD, 5.1). As in
    dialog-eval, all words outside the vocabulary are one word. It is NaN if there is no n-gram.
    """
    of_group: list[Counter[NGram]] = [Counter() for _ in range(groups.max(initial=-1) + 1)]
    for row, group in zip(rows, groups.tolist(), strict=True):
        of_group[group].update(count_n_grams([reference.known(row.predicted)], n))
    counts = Counter[NGram]()
    for one in of_group:
        counts.update(one)
    n_all = counts.total()
    left_out = np.full(len(of_group), nan)
    for number, one in enumerate(of_group):
        n_only_here = sum(counts[n_gram] == times for n_gram, times in one.items())
        if n_left := n_all - one.total():
            left_out[number] = (len(counts) - n_only_here) / n_left
    return (len(counts) / n_all if n_all else nan), left_out
