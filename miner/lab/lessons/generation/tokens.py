"""Turns -> the tokens that a model reads and writes.

Each turn begins with a marker of who speaks, as in the code that GD trains (Wolf et al. 2019,
"TransferTransfo"), and ends with a marker of its end. There only the answer ends with one, and each
token has a type, too. The one who answers is always the second speaker; before the answer the two
alternate, so that the last turn of a context is the first speaker's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from miner.errors import InputError
from miner.lab.lessons.example import Context, Example

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

PADDING, END, ASKING, ANSWERING = "<pad>", "<end>", "<speaker1>", "<speaker2>"
MARKERS = (PADDING, END, ASKING, ANSWERING)
NO_LOSS = -100  # the number of a token without a loss, as PyTorch has it


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """The tokens of an example.

    Attributes:
        context: of the turns before the response, with their markers.
        response: of the response, with the marker of its end, if it was not cut.
    """

    context: list[int]
    response: list[int]


@dataclass(frozen=True, slots=True)
class Cuts:
    """How many texts were too long.

    Attributes:
        contexts: those that lost their oldest tokens.
        responses: those that lost their last tokens.
    """

    contexts: int
    responses: int


class TurnTokens:
    """Turns as tokens of a tokenizer.

    Args:
        tokenizer: it knows the `MARKERS` (`add_markers`).
        longest_context: the most tokens of a context, with its markers.
        longest_response: the most tokens of a response, with the marker of its end.
    """

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
