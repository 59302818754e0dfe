"""RNN: a siamese recurrent network with tied weights, scored by c^T M r (UD 4.2).

One hidden layer of 50 units, Adam, gradients clipped at 10, one false response for each true one,
texts of at most 160 words. UD begins with GloVe vectors of 300 numbers (`--word-vectors`); without
such a file words begin with 100 random numbers. The batch, the learning rate and the number of
epochs are not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from miner.lab.learning.fields import Option
from miner.lab.lessons.embeddings import read_word_vectors
from miner.lab.lessons.examples import Context, join_turns, normal_form
from miner.lab.lessons.selection.methods import Training
from miner.lab.lessons.selection.networks import (
    Size,
    Vocabulary,
    count_features,
    learn,
    load_network,
    pad,
    read_features,
    read_sizes,
    read_sorted,
    words_of,
    write_network,
)

Cell = Literal["rnn", "lstm"]
Vectors = NDArray[np.float32]

_UNKNOWN = 1  # hashed numbers: UD gives all unknown words one vector
_RANGE = 0.01  # of the first weights of the input; UD 4.2
_NAME = "words"


@dataclass(frozen=True, slots=True)
class Options:
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
    """A recurrent layer that reads contexts and responses, and the matrix between them."""

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
    """The method. The bias of the network is the same for all responses, and left out."""

    def __init__(self, network: RecurrentNetwork, vocabulary: Vocabulary, longest: int) -> None:
        self.network, self.vocabulary, self._longest = network, vocabulary, longest

    def numbers_of(self, text: str, keep_end: bool) -> list[int]:
        """The numbers of the last or the first words of a text."""
        return self.vocabulary.encode(words_of(text, self._longest, keep_end))

    def encode_contexts(self, contexts: Sequence[Context]) -> Vectors:
        """c^T M of each context, [n, hidden]."""
        states = self._read([self.numbers_of(join_turns(one), keep_end=True) for one in contexts])
        return states @ self.network.matrix.detach().cpu().numpy()

    def encode_responses(self, responses: Sequence[str]) -> Vectors:
        """The states after responses, [n, hidden]."""
        return self._read([self.numbers_of(one, keep_end=False) for one in responses])

    def _read(self, rows: Sequence[list[int]]) -> Vectors:
        device = self.network.bias.device
        return read_sorted(
            rows, len, lambda some: self.network.read(torch.from_numpy(pad(some)).to(device))
        )


def train(training: Training, folder: Path, cell: Cell = "rnn") -> None:
    """Trains a network, and writes it into a folder."""
    options: Options = training.options
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
    contexts = [method.numbers_of(join_turns(one.context), keep_end=True) for one in examples]
    responses = [method.numbers_of(one.response, keep_end=False) for one in examples]
    forms = [normal_form(one.response) for one in examples]

    def inputs_of(numbers: NDArray[np.int64], random: np.random.Generator) -> list[Tensor]:
        false = draw_false(numbers, forms, random)
        parts = ([contexts[n] for n in numbers], [responses[n] for n in numbers])
        return [torch.from_numpy(pad(rows)) for rows in (*parts, [responses[n] for n in false])]

    learn(network, [len(row) for row in contexts], inputs_of, method, training)
    sizes = _Sizes(cell, size, options.hidden, options.longest)
    write_network(folder, network, {_NAME: vocabulary}, sizes)


def load(folder: Path) -> Recurrent:
    """Returns the method of a folder."""
    sizes = read_sizes(folder, _Sizes)
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
