"""Siamese recurrent networks whose score is a bilinear form (UD 4.2, 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from miner.errors import InputError
from miner.files import json_line, parse_json, printable, read_text
from miner.lab.learning.fields import Option
from miner.lab.learning.trained_folder import typed
from miner.lab.lessons.example import Context, normal_form
from miner.lab.lessons.selection.methods import Training
from miner.lab.lessons.selection.networks.loop import Schedule, learn
from miner.lab.lessons.selection.networks.vocabulary import (
    Size,
    Vocabulary,
    count_features,
    load_network,
    pad,
    read_features,
    words_of,
    write_network,
)
from miner.lab.lessons.selection.words import join_turns
from miner.lab.lessons.word_vectors import read_word_vectors

Cell = Literal["rnn", "lstm"]
Vectors = NDArray[np.float32]

_UNKNOWN = 1  # hashed numbers: UD gives all unknown words one vector
_RANGE = 0.01  # of the first weights of the input; UD 4.2
_CHUNK = 256  # texts that are encoded at a time
_SHAPE, _NAME = "shape.json", "words"


@dataclass(frozen=True, slots=True)
class RecurrentOptions:
    """The sizes of UD 4.2, where it names them, and how the network learns."""

    hidden: Annotated[int, Option("Units of the hidden layer.", minimum=1)] = 50
    embedding: Annotated[
        int, Option("Numbers of a word's vector; as in --word-vectors, if given.", minimum=1)
    ] = 100
    word_vectors: Annotated[
        str, Option("File of word vectors to begin with, as text (GloVe, word2vec, fastText).")
    ] = ""
    words: Annotated[int, Option("Most words that are known.", minimum=1)] = 20_000
    longest: Annotated[
        int, Option("Most words of a context, the last ones, and of a response.", minimum=1)
    ] = 160
    epochs: Annotated[int, Option("Most passes over the pairs.", minimum=1)] = 12
    patience: Annotated[
        int, Option("Epochs without a better accuracy after which training ends.", minimum=1)
    ] = 3
    batch: Annotated[int, Option("Pairs in a batch.", minimum=1)] = 64
    rate: Annotated[float, Option("Learning rate of Adam.")] = 1e-3
    clip: Annotated[float, Option("Largest norm of a gradient.")] = 10.0


@dataclass(frozen=True, slots=True)
class _Sizes:
    cell: Cell
    embedding: Size
    hidden: Size
    longest: Size


class RecurrentNetwork(nn.Module):
    """A recurrent layer that reads contexts and responses, and the matrix between them.

    Args:
        cell: the kind of its units.
        n_words: the numbers of the vocabulary.
        embedding: the numbers of a word's vector.
        hidden: the units.
    """

    def __init__(self, cell: Cell, n_words: int, embedding: int, hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n_words, embedding, padding_idx=0)
        kind = nn.LSTM if cell == "lstm" else nn.RNN
        self.layer = kind(embedding, hidden, batch_first=True)
        self.matrix = nn.Parameter(torch.empty(hidden, hidden))
        self.bias = nn.Parameter(torch.zeros(()))
        nn.init.uniform_(self.embedding.weight, -0.25, 0.25)
        weights = dict(self.layer.named_parameters())
        nn.init.orthogonal_(weights["weight_hh_l0"])
        nn.init.uniform_(weights["weight_ih_l0"], -_RANGE, _RANGE)
        nn.init.xavier_uniform_(self.matrix)

    def read(self, words: Tensor) -> Tensor:
        """Returns the state after the last word of each text, [n, hidden]."""
        states, _ = self.layer(self.embedding(words))
        last = (words != 0).sum(dim=1).clamp(min=1) - 1
        return states[torch.arange(len(words), device=words.device), last]

    def forward(self, contexts: Tensor, responses: Tensor, false: Tensor) -> Tensor:
        """Returns the cross-entropy of one true and one false response for each context."""
        asked = self.read(contexts) @ self.matrix
        right = (asked * self.read(responses)).sum(dim=1) + self.bias
        wrong = (asked * self.read(false)).sum(dim=1) + self.bias
        scores = torch.cat([right, wrong])
        flags = torch.cat([torch.ones_like(right), torch.zeros_like(wrong)])
        return nn.functional.binary_cross_entropy_with_logits(scores, flags)


class Recurrent:
    """The method. The bias of the network is the same for all responses, and left out.

    Args:
        network: what reads.
        vocabulary: the words that it knows.
        longest: the most words of a text.
    """

    def __init__(self, network: RecurrentNetwork, vocabulary: Vocabulary, longest: int) -> None:
        self.network, self.vocabulary, self._longest = network, vocabulary, longest

    def numbers_of_context(self, context: Context) -> list[int]:
        """The numbers of the last words of a context, all turns together."""
        return self.vocabulary.encode(words_of(join_turns(context), self._longest, keep_end=True))

    def numbers_of_response(self, response: str) -> list[int]:
        """The numbers of the first words of a response."""
        return self.vocabulary.encode(words_of(response, self._longest, keep_end=False))

    def encode_contexts(self, contexts: Sequence[Context]) -> Vectors:
        """c^T M of each context, [n, hidden]."""
        states = self._read([self.numbers_of_context(context) for context in contexts])
        return states @ self.network.matrix.detach().cpu().numpy()

    def encode_responses(self, responses: Sequence[str]) -> Vectors:
        """The states after responses, [n, hidden]."""
        return self._read([self.numbers_of_response(response) for response in responses])

    def _read(self, rows: list[list[int]]) -> Vectors:
        """The states, of texts of about the same length at a time."""
        found = np.zeros((len(rows), len(self.network.matrix)), np.float32)
        order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
        device = self.network.bias.device
        with torch.inference_mode():
            for start in range(0, len(order), _CHUNK):
                some = order[start : start + _CHUNK]
                words = torch.from_numpy(pad([rows[number] for number in some])).to(device)
                found[some] = self.network.read(words).cpu().numpy()
        return found


def train_recurrent(cell: Cell, training: Training, folder: Path) -> None:
    """Trains a network, and writes it into a folder."""
    options: Any = training.options
    examples = training.examples
    texts = [join_turns(one.context) for one in examples] + [one.response for one in examples]
    split = (words_of(text, options.longest, keep_end=True) for text in texts)
    vocabulary = count_features(split, 2, options.words, _UNKNOWN)
    torch.manual_seed(training.seed)
    vectors = _first_vectors(options.word_vectors, vocabulary)
    size = len(next(iter(vectors.values()))) if vectors else options.embedding
    network = RecurrentNetwork(cell, len(vocabulary), size, options.hidden)
    with torch.no_grad():
        for number, vector in vectors.items():
            network.embedding.weight[number] = torch.from_numpy(vector)
    method = Recurrent(network, vocabulary, options.longest)
    contexts = [method.numbers_of_context(one.context) for one in examples]
    responses = [method.numbers_of_response(one.response) for one in examples]
    forms = [normal_form(one.response) for one in examples]

    def inputs_of(numbers: NDArray[np.int64], random: np.random.Generator) -> list[Tensor]:
        false = draw_false(numbers, forms, random)
        parts = ([contexts[n] for n in numbers], [responses[n] for n in numbers])
        return [torch.from_numpy(pad(rows)) for rows in (*parts, [responses[n] for n in false])]

    schedule = Schedule(options.epochs, options.patience, options.batch, options.rate, options.clip)
    learn(network, [len(row) for row in contexts], inputs_of, method, schedule, training)
    write_network(folder, network, {_NAME: vocabulary})
    sizes = _Sizes(cell, size, options.hidden, options.longest)
    (folder / _SHAPE).write_bytes(json_line(asdict(sizes)))


def load_recurrent(folder: Path) -> Recurrent:
    """Returns the method of a folder."""
    path = folder / _SHAPE
    if not path.is_file():
        raise InputError(f"{printable(path)}: found no file, expected the sizes of a network")
    shape = parse_json(read_text(path), printable(path), "the sizes of a network")
    refusal = f"{printable(path)}: found another record, expected the sizes of a network"
    sizes = typed(shape, _Sizes, refusal)
    vocabulary = Vocabulary(read_features(folder, _NAME), _UNKNOWN)
    network = load_network(
        lambda: RecurrentNetwork(sizes.cell, len(vocabulary), sizes.embedding, sizes.hidden), folder
    )
    return Recurrent(network, vocabulary, sizes.longest)


def _first_vectors(path: str, vocabulary: Vocabulary) -> dict[int, Vectors]:
    """The vectors of a file by the number of their word; none without a file."""
    if not path:
        return {}
    found = read_word_vectors(Path(path), vocabulary.features)
    return {vocabulary.encode([word])[0]: vector for word, vector in found.items()}


def draw_false(
    numbers: NDArray[np.int64], forms: Sequence[str], random: np.random.Generator
) -> NDArray[np.int64]:
    """Returns an example for each, drawn at random, whose response is its false one (UD 4.2).

    A response that equals the true one is drawn again, at most ten times.
    """
    false = random.integers(len(forms), size=len(numbers))
    for _ in range(10):
        equal = [forms[a] == forms[b] for a, b in zip(numbers, false, strict=True)]
        if not any(equal):
            break
        false[equal] = random.integers(len(forms), size=sum(equal))
    return false
