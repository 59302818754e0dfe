"""A name -> a model of Hugging Face and its tokenizer, and the room that a model has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, inf
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from miner.errors import InputError
from miner.files import printable, reason_of
from miner.hub import find_folder, load_config, load_from_hub, load_with
from miner.lab.lessons.embeddings import quiet
from miner.lab.lessons.generation.tokens import (
    NO_LOSS,
    Collator,
    EncodedPair,
    TurnTokens,
    sort_by_length,
)
from miner.lab.training.tagger.throughput import find_peak

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from miner.lab.lessons.generation.tokens import TurnTokens

_NO_LIMIT = 2**31


def load_pretrained(name: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Returns a model and its tokenizer: a decoder, or an encoder with a decoder."""
    try:
        with quiet():
            if folder := find_folder(name):
                return _load(str(folder), True)
            return load_from_hub(name, _load)
    except Exception as error:  # the library raises errors of many kinds
        raise InputError(
            f"{printable(name)}: found no model ({reason_of(error)}), expected a folder of a "
            "decoder and its tokenizer, or a name on the Hugging Face Hub"
        ) from error


def context_room(config: Any, longest_response: int) -> int:  # noqa: ANN401 - of any model
    """Returns the most tokens of a context that a model has room for beside a response.

    A decoder reads both as one sequence; an encoder reads contexts alone.
    """
    positions = _positions(config)
    if config.is_encoder_decoder:
        return positions if longest_response <= positions else 0
    return positions - longest_response - 1  # the marker of the one who answers


def answer_room(config: Any, n_read: int) -> int:  # noqa: ANN401 - of any model
    """Returns the most tokens of an answer that a model has room for."""
    positions = _positions(config)
    return positions if config.is_encoder_decoder else positions - n_read


def _positions(config: Any) -> int:  # noqa: ANN401 - of any model
    """The tokens of the longest sequence; more than any has, where the config names none."""
    return getattr(config, "max_position_embeddings", None) or _NO_LIMIT


def choose_markers(model: PreTrainedModel, tokens: TurnTokens) -> None:
    """Makes a model begin and end its answers with the markers of turns, and nothing else of it.

    What the model came with for other tasks (beams, forced first tokens, lengths) would be taken
    wherever this project leaves an option to the library.
    """
    from transformers import GenerationConfig

    config = model.config
    config.pad_token_id, config.eos_token_id = tokens.padding, tokens.end
    chosen: dict[str, Any] = {"pad_token_id": tokens.padding, "eos_token_id": tokens.end}
    if config.is_encoder_decoder:
        config.decoder_start_token_id = chosen["decoder_start_token_id"] = tokens.answering
    model.generation_config = GenerationConfig(**chosen)


def _load(name: str, here: bool) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Loads by the library's own classes."""
    from transformers import (
        AutoModelForCausalLM,
        AutoModelForSeq2SeqLM,
        AutoTokenizer,
    )

    config = load_config(name, here)
    if not config.is_encoder_decoder and hasattr(config, "is_decoder"):
        config.is_decoder = True  # else a masked model such as BERT would see what it has to find
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    tokenizer = load_with(AutoTokenizer, name, here)
    model = load_with(kind, name, here, config=config)
    return model.float(), tokenizer


_LARGEST = 700.0  # nats, of which the power can be computed


class SmoothedLoss:
    """The loss that a training makes small, as `transformers.Trainer` takes it.

    It is the cross-entropy of the tokens of responses, in nats for a token, with a share of the
    target spread over the whole vocabulary.
    """

    def __init__(self, smoothing: float) -> None:
        self._smoothing = smoothing
        self._sum, self._n = 0.0, 0

    def __call__(
        self,
        outputs: Any,  # noqa: ANN401 - of any model of the library
        labels: Tensor,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Tensor:
        """Returns the loss of a batch."""
        has_loss = labels != NO_LOSS  # the scores of all words at all other tokens are much memory
        total = nn.functional.cross_entropy(
            outputs.logits[has_loss].float(),
            labels[has_loss],
            label_smoothing=self._smoothing,
            reduction="sum",
        )
        n = has_loss.sum()
        self._sum, self._n = self._sum + total.detach(), self._n + n
        return total / (n if num_items_in_batch is None else num_items_in_batch)

    def take_mean(self) -> float:
        """Returns the loss for a token since the last call."""
        mean = float(self._sum / self._n) if self._n else 0.0
        self._sum, self._n = 0.0, 0
        return mean


def sum_losses(
    model: PreTrainedModel,
    tokens: TurnTokens,
    pairs: Sequence[EncodedPair],
    batch: int = 64,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> NDArray[np.float64]:
    """Returns how surprised a model is by each response: nats, and how many tokens, [n, 2].

    The loss of all is the sum of the one over the sum of the other; `exp` of it is the perplexity.
    """
    found = np.zeros((len(pairs), 2))
    lengths = np.array([(len(pair.response), len(pair.context)) for pair in pairs])
    order = sort_by_length(np.arange(len(pairs)), lengths)
    collate = Collator(tokens, model.config.is_encoder_decoder)
    was_training = model.training
    model.eval()
    with torch.inference_mode():
        for start in range(0, len(order), batch):
            numbers = order[start : start + batch]
            given = collate([pairs[number] for number in numbers])
            labels = given.pop("labels").to(model.device)
            logits = model(**{name: value.to(model.device) for name, value in given.items()}).logits
            has_loss = labels != NO_LOSS
            nats = torch.zeros(labels.shape, dtype=torch.float64)
            nats[has_loss.cpu()] = (
                nn.functional.cross_entropy(
                    logits[has_loss].float(), labels[has_loss], reduction="none"
                )
                .double()
                .cpu()
            )
            found[numbers, 0] = nats.sum(dim=1).numpy()
            found[numbers, 1] = has_loss.sum(dim=1).cpu().numpy()
            progress(start + len(numbers), len(order))
    model.train(was_training)
    return found


def perplexity(loss: float) -> float:
    """Returns e to the power of a loss in nats; infinity where that is no number any more."""
    return exp(loss) if loss < _LARGEST else inf


def mean_loss(losses: NDArray[np.float64]) -> float:
    """Returns the nats for a token of the rows of `sum_losses`."""
    nats, n = losses.sum(axis=0)
    return float(nats / n)


def count_operations(model: PreTrainedModel, pairs: Sequence[EncodedPair]) -> float:
    """Returns the operations of a training for a token of these pairs, forward and backward.

    The encoder of a model that has one reads contexts, and its decoder responses; a decoder without
    an encoder reads both. The matrix that gives the scores of all words is part of the decoder.
    """
    n_contexts = sum(len(pair.context) for pair in pairs)
    n_responses = sum(len(pair.response) for pair in pairs)
    head: Any = model.get_output_embeddings()
    n_head = head.weight.numel() if head is not None else 0
    inner: Any = model.base_model
    if not model.config.is_encoder_decoder:
        return 6.0 * (_count_layers(inner) + n_head)
    encoder, decoder = _count_layers(inner.encoder), _count_layers(inner.decoder)
    total = n_contexts * encoder + n_responses * (decoder + n_head)
    return 6.0 * total / (n_contexts + n_responses)


def share_of_peak(operations: float, tokens_per_second: float) -> float | None:
    """Returns the share of the GPU's peak in bfloat16, 0..1; None without a known GPU."""
    peak = find_peak(torch.device("cuda")) if torch.cuda.is_available() else None
    return tokens_per_second * operations / peak if peak else None


def _count_layers(module: torch.nn.Module) -> int:
    """The weights of a module without those that are looked up."""
    looked_up = {
        id(weight)
        for part in module.modules()
        if isinstance(part, torch.nn.Embedding)
        for weight in part.parameters()
    }
    return sum(weight.numel() for weight in module.parameters() if id(weight) not in looked_up)
