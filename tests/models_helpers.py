"""What several tests of the models need: all allowed sequences, changed configs, the sample."""

import json
from functools import cache
from itertools import product

import numpy as np
from helpers import SAMPLE

from miner.speech.tags import TAGS, repair_tags


@cache
def sequences(n):
    """Every allowed sequence of n utterances, as indices of TAGS: (sequences, n)."""
    return np.array(
        [
            tags
            for tags in product(range(len(TAGS)), repeat=n)
            if repair_tags([TAGS[tag] for tag in tags]) == [TAGS[tag] for tag in tags]
        ]
    )


def sums(scores):
    """The sum of scores of every allowed sequence."""
    return scores[np.arange(len(scores)), sequences(len(scores))].sum(axis=1)


def change_config(folder, **values):
    """Changes values in the config of a checkpoint."""
    path = folder / "config.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(record | values), encoding="utf-8")


def read_sample(book):
    """Returns the bytes of the sample, for any book."""
    return SAMPLE.read_bytes()
