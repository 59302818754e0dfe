"""Made-up books and editions of them."""

import random

import numpy as np

from miner.corpus.works import BookRecord, sketch_texts

SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa ze chi dra fle".split()
WORDS = [
    one + other + third for one in SYLLABLES for other in SYLLABLES for third in ("", "n", "s")
]


def prose(seed, n_words=6000):
    """The words of a book; no two seeds have a run of six in common."""
    draw = np.random.default_rng(seed)
    return [WORDS[place] for place in draw.integers(len(WORDS), size=n_words).tolist()]


def respelt(words, share, seed=0):
    """The words with a share of them spelt otherwise."""
    draw = random.Random(seed)
    return [word + "x" if draw.random() < share else word for word in words]


def record(id, words, title="A Mill", author="Ann Reed", language="en"):
    sketch = sketch_texts([" ".join(words)])
    return BookRecord(id, title, author, language, len(words), sketch)
