"""What several tests of the models need: all allowed sequences, and annotations of the sample."""

import json
import shutil
from functools import cache
from itertools import product

import numpy as np
from helpers import ROOT, SAMPLE

from miner.dialogue.tags import TAGS, repair_tags


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


def sample_annotations(folder):
    """Makes a folder of annotations that holds the sample alone."""
    for part in ("gold", "first", "second"):
        (folder / part).mkdir(parents=True)
        path = ROOT / "annotations" / part / "sample.jsonl"
        if path.is_file():
            shutil.copy(path, folder / part)
    lines = (ROOT / "annotations" / "books.jsonl").read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in lines if json.loads(line)["book"] == "sample"]
    (folder / "books.jsonl").write_text(line + "\n", encoding="utf-8")
    return folder


def read_sample(book):
    """Gives the bytes of the sample, whichever book is asked for."""
    return SAMPLE.read_bytes()
