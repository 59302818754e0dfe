"""Vectors of words, from a file or of a sentence encoder, for the metrics that compare meanings.

GD takes those of fastText from a file. A sentence encoder gives a vector for every word, each
encoded alone, of length 1. The values of one source cannot be compared with those of another.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.extras import import_extra
from miner.files import file_signature, printable
from miner.lab.lessons.generation.words import EXTRA
from miner.lab.lessons.word_vectors import read_word_vectors

_ENDINGS = (".vec", ".txt")  # of files of vectors


@dataclass(frozen=True, slots=True)
class WordVectors:
    """The vectors of words.

    Attributes:
        source: what they are from, with a digest ("wiki.vec@1ec0df8c").
        of_word: the vector of each word that has one, none of them 0, [d].
        n_words: how many different words were looked for.
    """

    source: str
    of_word: Mapping[str, NDArray[np.float32]]
    n_words: int

    def describe(self) -> str:
        """Returns what they are, and of how many words there is none, in one line."""
        size = len(next(iter(self.of_word.values()), ()))
        n_without = self.n_words - len(self.of_word)
        return (
            f"{self.source} ({size} numbers, none for {n_without:,} of {self.n_words:,} "
            "different words)"
        )


def find_word_vectors(
    name: str | Path,
    words: Collection[str],
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> WordVectors:
    """Returns the vectors of words, from a file or of an encoder."""
    wanted = sorted(set(words))
    path = Path(name).expanduser()
    if path.is_file() or path.suffix in _ENDINGS:  # one that is gone is not sought on the Hub
        return _read_file(path, wanted)
    return _encode(str(name), wanted, progress)


def _read_file(path: Path, words: list[str]) -> WordVectors:
    found = read_word_vectors(path, words)
    for word, vector in found.items():
        if not np.isfinite(vector).all():
            raise InputError(
                f"{printable(path)}: found a vector of {word!r} that is not of numbers, expected "
                "numbers only"
            )
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    # A vector of zeros says nothing of its word, as in dialog-eval.
    kept = {word: vector for word, vector in found.items() if vector.any()}
    if not kept:
        raise InputError(f"{printable(path)}: found vectors of zeros only, expected others")
    return WordVectors(file_signature(path, digest), kept, len(words))


def _encode(name: str, words: list[str], progress: Callable[[int, int], object]) -> WordVectors:
    import_extra("sentence_transformers", EXTRA)  # so that its absence names this extra
    from miner.lab.lessons.selection.embeddings import digest_weights, embed, load_encoder

    model = load_encoder(name)
    vectors = embed(model, words, progress=progress)
    source = f"{printable(name)}@{digest_weights(model)[:8]}"
    return WordVectors(source, dict(zip(words, vectors, strict=True)), len(words))
