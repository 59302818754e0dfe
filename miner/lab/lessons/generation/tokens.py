"""Turns -> the tokens that a model reads and writes.

Each turn begins with a marker of who speaks, as in the code that GD trains (Wolf et al. 2019,
"TransferTransfo"), and ends with a marker of its end. There only the answer ends with one, and each
token has a type, too. The one who answers is always the second speaker; before the answer the two
alternate, so that the last turn of a context is the first speaker's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Sampler

from miner.errors import InputError
from miner.lab.lessons.examples import Context, Example

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

PADDING, END, ASKING, ANSWERING = "<pad>", "<end>", "<speaker1>", "<speaker2>"
MARKERS = (PADDING, END, ASKING, ANSWERING)
NO_LOSS = -100  # the number of a token without a loss, as PyTorch has it


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """The tokens of an example."""

    context: list[int]  # of the turns before the response, with their markers
    response: list[int]  # of the response, with the marker of its end, if it was not cut


@dataclass(frozen=True, slots=True)
class Cuts:
    """How many texts were too long."""

    contexts: int  # those that lost their oldest tokens
    responses: int  # those that lost their last tokens


class TurnTokens:
    """Turns as tokens of a tokenizer."""

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, longest_context: int, longest_response: int
    ) -> None:
        self.tokenizer = tokenizer
        self.longest_context, self.longest_response = longest_context, longest_response
        self.padding, self.end, self.asking, self.answering = (
            int(tokenizer.convert_tokens_to_ids(marker))  # pyright: ignore[reportArgumentType]
            for marker in MARKERS
        )
        own = set(tokenizer.all_special_ids) | {self.asking, self.answering, self.padding}
        self.never_written = sorted(own - {self.end})  # among them the model's own end of a text

    def encode(self, examples: Sequence[Example]) -> tuple[list[EncodedPair], Cuts]:
        """Returns the tokens of examples, and how many were too long.

        A context that is too long is cut from the left, since the newest turn is what the response
        answers.
        """
        contexts, n_contexts = self.encode_contexts([one.context for one in examples])
        n_responses = 0
        pairs: list[EncodedPair] = []
        texts = [one.response for one in examples]
        for context, tokens in zip(contexts, self._tokens_of(texts), strict=True):
            response = [*tokens, self.end]
            n_responses += len(response) > self.longest_response
            pairs.append(EncodedPair(context, response[: self.longest_response]))
        return pairs, Cuts(n_contexts, n_responses)

    def encode_contexts(self, contexts: Sequence[Context]) -> tuple[list[list[int]], int]:
        """Returns the tokens of contexts, and how many were cut from the left."""
        tokens = iter(self._tokens_of([turn for context in contexts for turn in context]))
        n_cut = 0
        rows: list[list[int]] = []
        for context in contexts:
            row: list[int] = []
            for left in range(len(context), 0, -1):
                speaker = self.asking if left % 2 else self.answering
                row += [speaker, *next(tokens), self.end]
            n_cut += len(row) > self.longest_context
            rows.append(row[-self.longest_context :])
        return rows, n_cut

    def decode(self, tokens: Sequence[int]) -> str:
        """Returns the text of an answer, up to the marker of its end and without markers."""
        tokens = list(tokens)
        if self.end in tokens:
            tokens = tokens[: tokens.index(self.end)]
        text: Any = self.tokenizer.decode(tokens, skip_special_tokens=True)
        return " ".join(text.split())

    def _tokens_of(self, texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        # A text that holds the letters of a marker has no marker.
        encoded: Any = self.tokenizer(
            texts, add_special_tokens=False, split_special_tokens=True, verbose=False
        )
        return encoded["input_ids"]


def add_markers(tokenizer: PreTrainedTokenizerBase) -> int:
    """Adds the markers that a tokenizer does not know; returns how many.

    Its own marker of padding and of the end stay in its vocabulary and are not used.
    """
    known = tokenizer.get_vocab()
    new = [marker for marker in MARKERS if marker not in known]
    tokenizer.add_tokens(new, special_tokens=True)  # pyright: ignore[reportArgumentType]
    tokenizer.pad_token, tokenizer.eos_token = PADDING, END
    return len(new)


def train_tokenizer(texts: Sequence[str], n_tokens: int, lowercase: bool) -> Any:  # noqa: ANN401
    """Returns a tokenizer by byte-pair encoding that is trained on texts; it knows the markers.

    A space belongs to the word behind it, and each text begins as if with a space. The bytes are
    all known, so that no text has an unknown token.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    least = 256 + len(MARKERS)
    if n_tokens < least:
        raise InputError(f"found `vocabulary={n_tokens}`, expected at least {least}")
    plain = Tokenizer(models.BPE())
    if lowercase:
        plain.normalizer = normalizers.Lowercase()  # pyright: ignore
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)  # pyright: ignore
    plain.decoder = decoders.ByteLevel()  # pyright: ignore
    trainer = trainers.BpeTrainer(
        vocab_size=n_tokens,
        special_tokens=list(MARKERS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    plain.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token=PADDING,
        eos_token=END,
        additional_special_tokens=[ASKING, ANSWERING],
    )


def read_lowercase(tokenizer: PreTrainedTokenizerBase) -> None:
    """Makes a tokenizer read all letters as small ones."""
    from tokenizers import normalizers

    backend: Any = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise InputError(
            "`lowercase=True`: found a tokenizer that cannot be changed, expected a training "
            "without it"
        )
    own = [backend.normalizer] if backend.normalizer else []
    backend.normalizer = normalizers.Sequence([normalizers.Lowercase(), *own])


_MIXED = 50  # batches whose examples are sorted together


class Collator:
    """Makes the tensors that a model takes from examples: with a loss on the response alone.

    An encoder reads the context and a decoder the response. Without an encoder, the decoder reads
    both, and nothing is asked of it before the marker of the one who answers.
    """

    def __init__(self, tokens: TurnTokens, has_encoder: bool) -> None:
        self._padding, self._answering = tokens.padding, tokens.answering
        self._has_encoder = has_encoder

    def __call__(self, pairs: Sequence[EncodedPair]) -> dict[str, Tensor]:
        """Returns "input_ids", "attention_mask", "labels" and perhaps "decoder_input_ids".

        All are [n, longest]. Labels stand where the model has to find them: of a decoder without an
        encoder they are shifted by one place to the left.
        """
        if self._has_encoder:
            contexts = [pair.context for pair in pairs]
            asked = [[self._answering, *pair.response[:-1]] for pair in pairs]
            return {
                "input_ids": pad_right(contexts, self._padding),
                "attention_mask": mask_of(contexts),
                "decoder_input_ids": pad_right(asked, self._padding),
                "labels": pad_right([pair.response for pair in pairs], NO_LOSS),
            }
        whole = [[*pair.context, self._answering, *pair.response[:-1]] for pair in pairs]
        labels = [[NO_LOSS] * len(pair.context) + pair.response for pair in pairs]
        return {
            "input_ids": pad_right(whole, self._padding),
            "attention_mask": mask_of(whole),
            "labels": pad_right(labels, NO_LOSS),
        }


class LengthSampler(Sampler[int]):
    """The numbers of all examples, so that those of one batch are of about the same length.

    Those of fifty batches, drawn at random, are sorted and cut into batches, whose order is random.
    Each epoch has an order of its own, which depends on the seed alone, so that a training that is
    resumed reads what it would have read.
    """

    def __init__(self, pairs: Sequence[EncodedPair], batch: int, seed: int) -> None:
        self._lengths = np.array([(len(one.response), len(one.context)) for one in pairs])
        self._batch, self._seed, self._epoch = batch, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Says which epoch comes next; the trainer calls it."""
        self._epoch = epoch

    def __len__(self) -> int:
        """How many examples there are."""
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        """The numbers of the examples of an epoch."""
        random = np.random.default_rng([self._seed, self._epoch])
        order = random.permutation(len(self._lengths))
        batches: list[Any] = []
        for start in range(0, len(order), _MIXED * self._batch):
            some = sort_by_length(order[start : start + _MIXED * self._batch], self._lengths)
            batches += [some[i : i + self._batch] for i in range(0, len(some), self._batch)]
        last = batches.pop()  # it may be smaller, and batches are cut where the order has them
        random.shuffle(batches)
        return iter(np.concatenate([*batches, last]).tolist())


def sort_by_length(numbers: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Returns the numbers of examples by the length of the response, and of the context.

    Responses of about the same length are sorted by their contexts, so that little of both is
    padding.
    """
    responses, contexts = lengths[numbers, 0] // 8, lengths[numbers, 1]
    return numbers[np.lexsort((contexts, responses))]


def pad_right(rows: Sequence[Sequence[int]], padding: int) -> Tensor:
    """Returns rows of tokens filled up at the right, [n, longest]."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows])


def pad_left(rows: Sequence[Sequence[int]], padding: int) -> Tensor:
    """Returns rows of tokens filled up at the left, [n, longest]: a decoder goes on behind them."""
    longest = max(map(len, rows))
    return torch.tensor([[*[padding] * (longest - len(row)), *row] for row in rows])


def mask_of(rows: Sequence[Sequence[int]]) -> Tensor:
    """Returns 1 where a row that is filled up at the right has a token, [n, longest]."""
    return pad_right([[1] * len(row) for row in rows], 0)
