"""What several tests of the models need: all allowed sequences, and annotations of the sample."""

from functools import cache
from itertools import product

import numpy as np

from miner.dialogue.tags import repair_tags
from miner.models.tagger.decoding import TAGS


@cache
def sequences(n):
    """Every legal sequence of n utterances, as indices of TAGS: (sequences, n)."""
    return np.array(
        [
            tags
            for tags in product(range(len(TAGS)), repeat=n)
            if repair_tags([TAGS[tag] for tag in tags]) == [TAGS[tag] for tag in tags]
        ]
    )


def sums(scores):
    """The sum of scores of every legal sequence."""
    return scores[np.arange(len(scores)), sequences(len(scores))].sum(axis=1)
