"""Networks that are trained from scratch: their words, their files and their common training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import numpy as np
import torch
from accelerate.utils import set_seed
from msgspec import Meta
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from miner.errors import InputError
from miner.files import json_line, parse_json, printable, read_text, telling
from miner.lab.learning.loop import Epoch, Learner, Part, Row, State, fit
from miner.lab.learning.run_folder import typed
from miner.lab.lessons.examples import split_words
from miner.lab.lessons.selection.methods import Step, Training
from miner.lab.lessons.selection.tasks import one_of_many_accuracy

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from miner.lab.lessons.selection.methods import Method

PADDING = 0
Network = TypeVar("Network", bound=nn.Module)
Text = TypeVar("Text")  # the numbers of a text, as a network has them
Size = Annotated[int, Meta(ge=1, le=2**31)]
Sizes = TypeVar("Sizes")  # what of the options a trained network needs
_WORDS, _WEIGHTS, _SIZES = "words.txt", "network.safetensors", "shape.json"
_CHUNK = 256  # texts that are encoded at a time


class Vocabulary:
    """Numbers of features: 0 is padding, then hashed ones, then the known ones.

    A feature that is not known gets one of `n_hashed` numbers by a hash, so that two unknown ones
    are seldom the same (CD 4.3).
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


def read_sorted(
    rows: Sequence[Text], length: Callable[[Text], int], read: Callable[[list[Text]], Tensor]
) -> NDArray[np.float32]:
    """Returns the vectors of texts, those of about the same length read together, [n, d]."""
    order = sorted(range(len(rows)), key=lambda number: length(rows[number]))
    with torch.inference_mode():
        parts = [
            read([rows[number] for number in order[start : start + _CHUNK]]).cpu().numpy()
            for start in range(0, len(order), _CHUNK)
        ]
    found = np.empty((len(rows), parts[0].shape[1]), np.float32)
    found[order] = np.concatenate(parts)
    return found


def write_network(
    folder: Path, network: nn.Module, vocabularies: dict[str, Vocabulary], sizes: DataclassInstance
) -> None:
    """Writes the weights of a network, the words that it knows, and its sizes."""
    weights = {
        name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()
    }
    save_file(weights, folder / _WEIGHTS)
    for name, vocabulary in vocabularies.items():
        text = "".join(f"{feature}\n" for feature in vocabulary.features)
        (folder / f"{name}-{_WORDS}").write_text(text, encoding="utf-8")
    (folder / _SIZES).write_bytes(json_line(asdict(sizes)))


def read_sizes(folder: Path, kind: type[Sizes]) -> Sizes:
    """Returns the sizes of the network of a folder."""
    path = folder / _SIZES
    if not path.is_file():
        raise InputError(f"{printable(path)}: found no file, expected the sizes of a network")
    sizes = parse_json(read_text(path), printable(path), "the sizes of a network")
    refusal = f"{printable(path)}: found another record, expected the sizes of a network"
    return typed(sizes, kind, refusal)


def read_features(folder: Path, name: str) -> list[str]:
    """Returns the features of a vocabulary of a folder."""
    path = folder / f"{name}-{_WORDS}"
    if not path.is_file():
        raise InputError(f"{printable(path)}: found no file, expected the words of a network")
    return read_text(path).split("\n")[:-1]


def load_network(make: Callable[[], Network], folder: Path, n_layers: int = 1) -> Network:
    """Returns a network with the weights of a folder."""
    path = folder / _WEIGHTS
    with telling(f"{printable(path)}: found no weights", "those of a network"):
        weights = load_file(path)
    found = f"{printable(path)}: found weights of another network"
    with telling(found, "those of the words beside them"):
        if n_layers > len(weights):
            raise ValueError(f"{n_layers} layers of {len(weights)} weights")
        with torch.device("meta"):
            network = make()
        network.load_state_dict(weights, assign=True)
        if not all(weight.isfinite().all() for weight in network.float().parameters()):
            raise ValueError("weights that are not finite")
    return network.eval()


LABEL_SMOOTHING = 0.2  # CD's code, baselines/vector_based.py and its encoder


def smoothed_loss(scores: Tensor, same: Tensor, smoothing: float = LABEL_SMOOTHING) -> Tensor:
    """Returns the mean cross-entropy of the true responses of a batch, with label smoothing.

    It is the dot-product loss of CD 4.3, but that a response which equals the true one is no false
    one: it has no part in the sum.
    """
    barred = same & ~torch.eye(len(same), dtype=torch.bool, device=same.device)
    chances = scores.masked_fill(barred, -torch.inf).log_softmax(dim=1)
    spread = chances.masked_fill(barred, 0).sum(dim=1) / (~barred).sum(dim=1)
    return -((1 - smoothing) * chances.diagonal() + smoothing * spread).mean()


def learn(
    network: nn.Module,
    lengths: Sequence[int],
    inputs_of: Callable[[NDArray[np.int64], np.random.Generator], Sequence[Tensor]],
    method: Method,
    training: Training,
) -> None:
    """Trains a network, and leaves it with the weights of its best epoch.

    The best epoch is the one with the highest 1-of-100 accuracy on validation; the last one, where
    there is no validation. Each epoch has random numbers of its own, so that a resumed training
    comes to the same weights.
    """
    n, options = len(lengths), training.options  # the epochs, patience, batch, rate and clip
    if n < 2:
        raise InputError("found a single pair to learn from, expected two or more")
    state = State.read(training.state / "state.pt")

    def batches(epoch: int) -> Iterator[tuple[Sequence[Tensor], int]]:
        seed = training.seed * 1000 + epoch
        set_seed(seed % 2**32)
        random = np.random.default_rng(abs(seed))
        done = epoch * n
        for numbers in draw_batches(lengths, options.batch, random):
            yield inputs_of(numbers, random), len(numbers)
            done += len(numbers)
            training.progress(done, options.epochs * n)

    def losses(wrapped: nn.Module, batch: tuple[Sequence[Tensor], int]) -> Iterator[Part]:
        inputs, size = batch
        device = next(network.parameters()).device
        yield Part.of_mean(wrapped(*(tensor.to(device) for tensor in inputs)), size)

    def validate(epoch: Epoch) -> Row:
        accuracy = None
        if training.validation:
            accuracy = one_of_many_accuracy(method, training.validation)
        seconds = epoch.seconds + (state.rows[-1]["seconds"] if state.rows else 0.0)
        return asdict(Step((epoch.number + 1) * n, epoch.loss, accuracy, seconds))

    for row in state.rows:
        training.report(Step(**row))
    learner = Learner(
        network=network,
        optimizer=torch.optim.Adam(network.parameters(), lr=options.rate),
        batches=batches,
        losses=losses,
        validate=validate,
        best=most_accurate,
    )
    fit(
        learner,
        options.epochs,
        state,
        patience=options.patience,
        clip=options.clip,
        report=lambda row: training.report(Step(**row)),
    )


def most_accurate(rows: Sequence[Row]) -> int:
    """Returns the number of the first row of the highest accuracy; the last one without any."""
    accuracies = [row["accuracy"] for row in rows]
    if accuracies[-1] is None:
        return len(rows) - 1
    return accuracies.index(max(accuracies))


def draw_batches(
    lengths: Sequence[int], size: int, random: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Returns the numbers of the examples of each batch, in a random order.

    A batch has examples of about the same length, so that little is computed for padding: those of
    fifty batches, drawn at random, are sorted and cut. A batch of one example joins the one before.
    """
    order = random.permutation(len(lengths))
    sizes = np.asarray(lengths)
    batches: list[NDArray[np.int64]] = []
    for start in range(0, len(order), 50 * size):
        some = order[start : start + 50 * size]
        some = some[np.argsort(sizes[some], kind="stable")]
        batches += [some[first : first + size] for first in range(0, len(some), size)]
    if len(batches) > 1 and len(batches[-1]) == 1:
        batches[-2:] = [np.concatenate(batches[-2:])]
    random.shuffle(batches)  # pyright: ignore[reportArgumentType] - a list is shuffled in place
    return batches
