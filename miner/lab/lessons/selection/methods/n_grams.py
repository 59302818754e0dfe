"""N-grams: a dual encoder of unigrams and bigrams, trained from scratch (CD 4.3).

Unigrams and bigrams have embeddings of their own; unknown ones share some by a hash. Each sequence
goes through self-attention and is summed; both sums go through dense layers, and the last one has
length 1. The score is the dot product times a learned number. The true response of a context is
learned against the others of its batch, with label smoothing.

CD's sizes are in its code only, for millions of pairs. These are smaller, for some ten thousand,
and contexts and responses share the embeddings, which a small corpus needs; their attention and
dense layers are their own, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from miner.lab.learning.fields import Option
from miner.lab.lessons.examples import Context, join_turns
from miner.lab.lessons.selection.methods import Training
from miner.lab.lessons.selection.networks import (
    Size,
    Vocabulary,
    bigrams,
    count_features,
    learn,
    load_network,
    pad,
    read_features,
    read_sizes,
    read_sorted,
    smoothed_loss,
    words_of,
    write_network,
)
from miner.lab.lessons.selection.tasks import equal_responses

Vectors = NDArray[np.float32]

_KINDS = ("unigrams", "bigrams")
_FIRST_SCALE = 10.0  # of the dot products, which are at most 1


@dataclass(frozen=True, slots=True)
class Options:
    """The sizes of the network, and how it learns."""

    embedding: Annotated[int, Option("Numbers of the vector of an n-gram.", minimum=1)] = 128
    hidden: Annotated[int, Option("Units of a dense layer and of a result.", minimum=1)] = 256
    layers: Annotated[int, Option("Dense layers.", minimum=1)] = 2
    dropout: Annotated[float, Option("Share of the units left out.", minimum=0, maximum=1)] = 0.3
    unigrams: Annotated[int, Option("Most unigrams that are known.", minimum=1)] = 20_000
    bigrams: Annotated[int, Option("Most bigrams that are known.", minimum=1)] = 50_000
    hashed: Annotated[int, Option("Embeddings that unknown n-grams share.", minimum=1)] = 1000
    longest: Annotated[
        int, Option("Most words of a context, the last ones, and of a response.", minimum=1)
    ] = 60
    epochs: Annotated[int, Option("Most passes over the pairs.", minimum=1)] = 20
    patience: Annotated[
        int, Option("Epochs without a better accuracy after which training ends.", minimum=1)
    ] = 3
    batch: Annotated[int, Option("Pairs in a batch.", minimum=2)] = 128
    rate: Annotated[float, Option("Learning rate of Adam.")] = 1e-3
    clip: Annotated[float, Option("Largest norm of a gradient.")] = 1.0


@dataclass(frozen=True, slots=True)
class _Sizes:
    """What of the options a trained network needs."""

    embedding: Size
    hidden: Size
    layers: Size
    hashed: Size
    longest: Size


class _Attention(nn.Module):
    """Self-attention over a sequence, and the sum of it over the root of its length."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.asked = nn.Linear(size, size, bias=False)
        self.keys = nn.Linear(size, size, bias=False)

    def forward(self, vectors: Tensor, is_there: Tensor) -> Tensor:
        """Returns [n, size] of [n, longest, size] and which places have an n-gram."""
        found = nn.functional.scaled_dot_product_attention(
            self.asked(vectors), self.keys(vectors), vectors, attn_mask=is_there[:, None, :]
        )
        found = (found + vectors) * is_there[:, :, None]
        return found.sum(dim=1) / is_there.sum(dim=1, keepdim=True).sqrt()


class _Side(nn.Module):
    """What reads contexts, or responses."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.attention = nn.ModuleList([_Attention(options.embedding) for _ in _KINDS])
        sizes = [2 * options.embedding, *[options.hidden] * options.layers]
        layers: list[nn.Module] = []
        for before, after in zip(sizes, sizes[1:], strict=False):
            layers += [nn.Dropout(options.dropout), nn.Linear(before, after), nn.GELU()]
        self.dense = nn.Sequential(*layers[:-1])

    def forward(self, embedded: Sequence[Tensor], is_there: Sequence[Tensor]) -> Tensor:
        read = [
            attention(vectors, there)
            for attention, vectors, there in zip(self.attention, embedded, is_there, strict=True)
        ]
        return nn.functional.normalize(self.dense(torch.cat(read, dim=1)), dim=1)


class NGramNetwork(nn.Module):
    """The two encoders."""

    def __init__(self, options: Options, n_unigrams: int, n_bigrams: int) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList(
            [nn.Embedding(n, options.embedding, padding_idx=0) for n in (n_unigrams, n_bigrams)]
        )
        for table in self.embeddings:
            nn.init.normal_(table.weight, std=options.embedding**-0.5)  # pyright: ignore
        self.contexts, self.responses = _Side(options), _Side(options)
        self.log_scale = nn.Parameter(torch.tensor(_FIRST_SCALE).log())

    def read(self, side: _Side, numbers: Sequence[Tensor]) -> Tensor:
        """Returns vectors of length 1, [n, hidden]."""
        embedded = [table(ids) for table, ids in zip(self.embeddings, numbers, strict=True)]
        return side(embedded, [ids != 0 for ids in numbers])

    def forward(
        self,
        uni: Tensor,
        bi: Tensor,
        uni_of_response: Tensor,
        bi_of_response: Tensor,
        equal: Tensor,
    ) -> Tensor:
        """Returns the loss of a batch: the numbers of its n-grams, and of its equal responses."""
        asked = self.read(self.contexts, (uni, bi))
        answered = self.read(self.responses, (uni_of_response, bi_of_response))
        scores = asked @ answered.T * self.log_scale.exp()
        return smoothed_loss(scores, equal[:, None] == equal[None, :])


class NGrams:
    """The method."""

    def __init__(
        self, network: NGramNetwork, vocabularies: Sequence[Vocabulary], longest: int
    ) -> None:
        self.network, self.vocabularies, self._longest = network, vocabularies, longest

    def numbers_of(self, text: str, keep_end: bool) -> tuple[list[int], list[int]]:
        """The numbers of the unigrams and of the bigrams of a text."""
        words = words_of(text, self._longest, keep_end)
        unigrams, pairs = self.vocabularies
        return unigrams.encode(words), pairs.encode(bigrams(words))

    def encode_contexts(self, contexts: Sequence[Context]) -> Vectors:
        """The vectors of contexts, of length 1, [n, hidden]."""
        rows = [self.numbers_of(join_turns(context), keep_end=True) for context in contexts]
        return self._read(self.network.contexts, rows)

    def encode_responses(self, responses: Sequence[str]) -> Vectors:
        """The vectors of responses, of length 1, [n, hidden]."""
        rows = [self.numbers_of(response, keep_end=False) for response in responses]
        return self._read(self.network.responses, rows)

    def _read(self, side: _Side, rows: Sequence[tuple[list[int], list[int]]]) -> Vectors:
        device = self.network.log_scale.device
        return read_sorted(
            rows,
            lambda row: len(row[0]),
            lambda some: self.network.read(side, [one.to(device) for one in _tensors(some)]),
        )


def _tensors(rows: Sequence[tuple[list[int], list[int]]]) -> list[Tensor]:
    """Unigrams and bigrams of some texts, [n, longest] each."""
    return [torch.from_numpy(pad([row[kind] for row in rows])) for kind in range(len(_KINDS))]


def train(training: Training, folder: Path) -> None:
    """Trains the network, and writes it with its n-grams."""
    options: Options = training.options
    examples = training.examples
    texts = [join_turns(one.context) for one in examples] + [one.response for one in examples]
    split = [words_of(text, options.longest, keep_end=True) for text in texts]
    vocabularies = [
        count_features(split, 2, options.unigrams, options.hashed),
        count_features(map(bigrams, split), 3, options.bigrams, options.hashed),
    ]
    torch.manual_seed(training.seed)
    network = NGramNetwork(options, *map(len, vocabularies))
    method = NGrams(network, vocabularies, options.longest)
    contexts = [method.numbers_of(join_turns(one.context), keep_end=True) for one in examples]
    responses = [method.numbers_of(one.response, keep_end=False) for one in examples]
    equal = torch.from_numpy(equal_responses(examples))

    def inputs_of(numbers: NDArray[np.int64], _: np.random.Generator) -> list[Tensor]:
        parts = ([contexts[n] for n in numbers], [responses[n] for n in numbers])
        return [*_tensors(parts[0]), *_tensors(parts[1]), equal[numbers]]

    lengths = [len(one[0]) for one in contexts]
    learn(network, lengths, inputs_of, method, training)
    sizes = _Sizes(*(getattr(options, field.name) for field in fields(_Sizes)))
    write_network(folder, network, dict(zip(_KINDS, vocabularies, strict=True)), sizes)


def load(folder: Path) -> NGrams:
    """Returns the method of a folder."""
    options = Options(**asdict(read_sizes(folder, _Sizes)))
    vocabularies = [Vocabulary(read_features(folder, kind), options.hashed) for kind in _KINDS]
    network = load_network(
        lambda: NGramNetwork(options, *map(len, vocabularies)), folder, options.layers
    )
    return NGrams(network, vocabularies, options.longest)
