"""Words and pairs of words of texts -> numbers, and files of vocabularies and weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
import torch
from msgspec import Meta
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from miner.errors import InputError
from miner.files import printable, read_text, reason_of
from miner.lab.lessons.selection.words import split_words

PADDING = 0
Network = TypeVar("Network", bound=nn.Module)
Size = Annotated[int, Meta(ge=1, le=2**31)]
_WORDS, _WEIGHTS = "words.txt", "network.safetensors"


class Vocabulary:
    """Numbers of features: 0 is padding, then hashed ones, then the known ones.

    A feature that is not known gets one of `n_hashed` numbers by a hash, so that two unknown ones
    are seldom the same (CD 4.3).

    Args:
        features: those that are known.
        n_hashed: how many numbers the unknown ones share; at least 1.
    """

    def __init__(self, features: Sequence[str], n_hashed: int) -> None:
        self.features = list(features)
        self.n_hashed = n_hashed
        self._numbers = {feature: n for n, feature in enumerate(self.features, 1 + n_hashed)}

    def __len__(self) -> int:
        """How many numbers there are."""
        return 1 + self.n_hashed + len(self.features)

    def encode(self, features: Iterable[str]) -> list[int]:
        """Returns the numbers of features."""
        known = self._numbers
        return [known[f] if f in known else self._hash(f) for f in features]

    def _hash(self, feature: str) -> int:
        if self.n_hashed == 1:
            return 1
        digest = blake2b(feature.encode(), digest_size=8).digest()
        return 1 + int.from_bytes(digest, "little") % self.n_hashed


def count_features(
    texts: Iterable[Iterable[str]], least: int, most: int, n_hashed: int
) -> Vocabulary:
    """Returns a vocabulary of the most frequent features of texts."""
    counts = Counter(feature for features in texts for feature in features)
    kept = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]
    return Vocabulary([feature for feature, n in kept if n >= least], n_hashed)


def bigrams(words: Sequence[str]) -> list[str]:
    """Returns the pairs of neighbouring words, with marks before the first and after the last.

    >>> bigrams(["come", "in"])
    ['^ come', 'come in', 'in $']
    """
    return [f"{first} {second}" for first, second in pairwise(("^", *words, "$"))]


def words_of(text: str, most: int, keep_end: bool) -> list[str]:
    """Returns the words of a text, at most so many: the last ones or the first ones.

    A text without a word has the word "" so that every text has one.
    """
    words = split_words(text)
    words = words[-most:] if keep_end else words[:most]
    return words or [""]


def pad(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Returns rows of numbers as one array, filled up with `PADDING`, [n, longest]."""
    padded = np.full((len(rows), max(map(len, rows))), PADDING, np.int64)
    for number, row in enumerate(rows):
        padded[number, : len(row)] = row
    return padded


def write_network(folder: Path, network: nn.Module, vocabularies: dict[str, Vocabulary]) -> None:
    """Writes the weights of a network and the words that it knows."""
    weights = {
        name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()
    }
    save_file(weights, folder / _WEIGHTS)
    for name, vocabulary in vocabularies.items():
        text = "".join(f"{feature}\n" for feature in vocabulary.features)
        (folder / f"{name}-{_WORDS}").write_text(text, encoding="utf-8")


def read_features(folder: Path, name: str) -> list[str]:
    """Returns the features of a vocabulary of a folder."""
    path = folder / f"{name}-{_WORDS}"
    if not path.is_file():
        raise InputError(f"{printable(path)}: found no file, expected the words of a network")
    return read_text(path).split("\n")[:-1]


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Returns the weights of a folder."""
    path = folder / _WEIGHTS
    try:
        return load_file(path)
    except Exception as error:  # the library raises errors of many kinds at a damaged file
        raise InputError(
            f"{printable(path)}: found no weights ({reason_of(error)}), expected those of a network"
        ) from error


def load_network(make: Callable[[], Network], folder: Path, n_layers: int = 1) -> Network:
    """Returns a network with the weights of a folder."""
    weights = read_weights(folder)
    try:
        if n_layers > len(weights):
            raise ValueError(f"{n_layers} layers of {len(weights)} weights")
        with torch.device("meta"):
            network = make()
        network.load_state_dict(weights, assign=True)
        if not all(weight.isfinite().all() for weight in network.float().parameters()):
            raise ValueError("weights that are not finite")
    except Exception as error:  # PyTorch raises errors of many kinds at sizes that cannot be
        raise InputError(
            f"{printable(folder / _WEIGHTS)}: found weights of another network, expected those of "
            f"the words beside them ({reason_of(error)})"
        ) from error
    return network.eval()
