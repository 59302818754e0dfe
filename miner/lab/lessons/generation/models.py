"""Models of Hugging Face that answer: their loading, their room, their losses, their folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import torch
from msgspec import Meta
from numpy.typing import NDArray
from torch import Tensor, nn

from miner.errors import InputError
from miner.files import printable, telling
from miner.hub import find_folder, load_config, load_from_hub, load_with
from miner.lab.learning import run_folder as runs
from miner.lab.learning.run_folder import CURVE, TrainingRecord, write_card
from miner.lab.lessons.embeddings import quiet
from miner.lab.lessons.examples import Example, books_of_record, describe_part, describe_size
from miner.lab.lessons.generation.tokens import (
    MARKERS,
    NO_LOSS,
    Collator,
    EncodedPair,
    TurnTokens,
    sort_by_length,
)
from miner.lab.training.tagger.throughput import find_peak
from miner.version import __version__

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from miner.lab.lessons.generation.kinds import Beginning

RECORD = "training.json"
_TRIED = Example("", ("Good day.",), "Where is the key, sir?")  # that every model must read
_NO_LIMIT = 2**31
_LARGEST = 700.0  # nats, of which the power can be computed


def load_pretrained(name: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Returns a model and its tokenizer: a decoder, or an encoder with a decoder."""
    expected = "a folder of a decoder and its tokenizer, or a name on the Hugging Face Hub"
    with telling(f"{printable(name)}: found no model", expected), quiet():
        if folder := find_folder(name):
            return _load(str(folder), True)
        return load_from_hub(name, _load)


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
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

    config = load_config(name, here)
    if not config.is_encoder_decoder and hasattr(config, "is_decoder"):
        config.is_decoder = True  # else a masked model such as BERT would see what it has to find
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    tokenizer = load_with(AutoTokenizer, name, here)
    model = load_with(kind, name, here, config=config)
    return model.float(), tokenizer


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


class _Record(TrainingRecord):
    kind: str
    longest_context: Annotated[int, Meta(ge=1)]
    longest_response: Annotated[int, Meta(ge=1)]
    trained_on_before: list[str]
    judged_on_before: list[str]


@dataclass(frozen=True, slots=True)
class Step:
    """A point of the curve of a training."""

    n_pairs: int  # the pairs that were learned from so far, repeated ones counted again
    n_tokens: int  # their tokens, of contexts and of responses
    loss: float  # since the step before, with label smoothing, in nats for a token of a response
    validation: float | None  # the loss on validation without smoothing; None without it
    seconds: float  # without validation and what it takes to keep the training


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model and the record of its training."""

    folder: Path
    record: dict[str, Any]  # what `training.json` says: a `_Record`, and how the training went
    model: PreTrainedModel  # with its weights, ready to answer
    tokens: TurnTokens  # turns as its tokens

    @property
    def history_turns(self) -> int | None:
        """How many turns before the last turn of a context the model reads; None for all."""
        return self.record["history_turns"]

    @property
    def trained_on(self) -> tuple[str, ...]:
        """The ids of the books that it was trained on, at any time."""
        return _union(self.record["train"]["books"], self.record["trained_on_before"])

    @property
    def judged_on(self) -> tuple[str, ...]:
        """The ids of the books that it was validated on, at any time."""
        judged = self.record["validation"]
        return _union(judged["books"] if judged else (), self.record["judged_on_before"])

    @property
    def books(self) -> tuple[str, ...]:
        """The ids of the books that it was trained or validated on, at any time."""
        return books_of_record(self.record)


def load_model(folder: Path) -> TrainedModel:
    """Returns the model of a folder, on the GPU if there is one."""
    record = read_record(folder)
    model, tokenizer = load_pretrained(str(folder))
    if lacking := [marker for marker in MARKERS if marker not in tokenizer.get_vocab()]:
        raise InputError(
            f"{printable(folder)}: found a tokenizer without {lacking[0]}, expected that of a "
            "training"
        )
    tokens = TurnTokens(tokenizer, record["longest_context"], record["longest_response"])
    choose_markers(model, tokens)
    if tokens.longest_context > (room := context_room(model.config, tokens.longest_response)):
        raise InputError(
            f"{printable(folder / RECORD)}: found longest_context {tokens.longest_context}, "
            f"expected at most {room}, for which the model has room"
        )
    _refuse_failing(folder, model, tokens)
    device: Any = "cuda" if torch.cuda.is_available() else "cpu"
    return TrainedModel(folder, record, model.to(device).eval(), tokens)


def _refuse_failing(folder: Path, model: PreTrainedModel, tokens: TurnTokens) -> None:
    """Refuses a model that cannot read a pair, as its config or its tokenizer do not fit it."""
    found = f"{printable(folder)}: found a model that cannot answer"
    with telling(found, "that of a training"):
        table: Any = model.get_input_embeddings()
        if (last := max(tokens.tokenizer.get_vocab().values())) >= table.num_embeddings:
            raise InputError(f"its tokenizer has a token of number {last}")
        pairs, _ = tokens.encode([_TRIED])
        loss = mean_loss(sum_losses(model.eval(), tokens, pairs, 1))
        if not isfinite(loss):
            raise InputError(f"it has a loss of {loss}")


def read_record(folder: Path) -> dict[str, Any]:
    """Returns what `training.json` of a folder says."""
    command = "miner generation train"
    return runs.read_record(folder, RECORD, _Record, "a training", command)


def _union(*parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({book for part in parts for book in part}))


def write_weights(folder: Path, beginning: Beginning) -> None:
    """Writes the weights (safetensors), the config and the tokenizer of a model."""
    with quiet():
        beginning.model.save_pretrained(folder)
        beginning.tokens.tokenizer.save_pretrained(folder)


def read_curve(folder: Path) -> list[Step]:
    """Returns the curve of a training."""
    return runs.read_curve(folder, Step)


def best_step(steps: Sequence[Step]) -> Step:
    """Returns the step whose weights were kept: of the least validation loss, or the last."""
    judged = [step for step in steps if step.validation is not None]
    return min(judged, key=lambda step: step.validation or 0.0) if judged else steps[-1]


def write_model_card(
    folder: Path, name: str, record: dict[str, Any], steps: Sequence[Step]
) -> None:
    """Writes the card: what was trained, on what, how fast, and what it reached."""
    trained, judged, cuts = record["train"], record["validation"], record["cuts"]
    turns = record["history_turns"]
    context = (
        "All turns before a response are its context"
        if turns is None
        else f"Up to {turns + 1} turn{'s' * (turns > 0)} before a response are its context"
    )
    peak = record["share_of_peak"]
    share = f", {peak:.1%} of the peak of the device in bfloat16" if peak is not None else ""
    best = best_step(steps)
    reached = (
        f"The least loss on {describe_size(judged)} (`{describe_part(judged)}`) was "
        f"{best.validation:.4f} nats for a token, a perplexity of "
        f"{perplexity(best.validation):.1f}, after {best.n_pairs:,} pairs. These weights were kept."
        if judged and best.validation is not None
        else "There was no validation; the last weights were kept."
    )
    options = "\n".join(f"- `{name}`: {value}" for name, value in record["options"].items())
    text = [
        f"It was trained ({record['kind']}, {record['n_weights']:,} weights) on "
        f"{describe_size(trained)} (`{describe_part(trained)}`, SHA-256 "
        f"`{trained['sha256'][:16]}…`), with seed {record['seed']}. {context}; "
        f"{cuts['contexts']:,} contexts of more than {record['longest_context']} tokens lost their "
        f"oldest ones, and {cuts['responses']:,} responses of more than "
        f"{record['longest_response']} their last ones.",
        reached,
        f"It learned from {record['tokens_per_second']:,.0f} tokens a second on {record['device']}"
        f"{share}. `{CURVE}` has the way there.",
        "To let it answer, and to talk with it:",
        f"```sh\nminer generation answer {name} PAIRS -o answers.jsonl\n"
        f"miner generation chat {name}\n```",
        "It says what people in novels say, and knows nothing. It may be rude, as they are, and of "
        "their time.",
        f"Options:\n\n{options}",
        f"`{RECORD}` names its books; `miner generation answer` refuses to let it answer one of "
        f"them. Made by conversation-miner {__version__}.",
    ]
    write_card(folder, f"{name}: a model that answers", text, ["library_name: transformers"])
