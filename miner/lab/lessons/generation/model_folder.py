"""A trained model as a folder: Hugging Face's files, its record, its card, its curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from miner.errors import InputError
from miner.files import CARD, printable, reason_of
from miner.lab.learning import run_folder
from miner.lab.learning.run_folder import CURVE, TrainingRecord
from miner.lab.lessons.embeddings import quiet
from miner.lab.lessons.examples import Example, describe_part, describe_size
from miner.lab.lessons.generation.models import (
    choose_markers,
    context_room,
    load_pretrained,
    mean_loss,
    perplexity,
    sum_losses,
)
from miner.lab.lessons.generation.tokens import MARKERS, TurnTokens
from miner.version import __version__

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from miner.lab.lessons.generation.kinds import Beginning

RECORD = "training.json"
_TRIED = Example("", ("Good day.",), "Where is the key, sir?")  # that every model must read


class _Record(TrainingRecord):
    kind: str
    longest_context: Annotated[int, Meta(ge=1)]
    longest_response: Annotated[int, Meta(ge=1)]
    trained_on_before: list[str]
    judged_on_before: list[str]


@dataclass(frozen=True, slots=True)
class Step:
    """A point of the curve of a training.

    Args:
        n_pairs: the pairs that were learned from so far, repeated ones counted again.
        n_tokens: their tokens, of contexts and of responses.
        loss: the mean loss since the step before, with label smoothing, in nats for a token of a
            response.
        validation: the loss on the validation examples without smoothing; None without them.
        seconds: since the beginning of the training, without validation and what it takes to keep
            the training.
    """

    n_pairs: int
    n_tokens: int
    loss: float
    validation: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model and the record of its training.

    Attributes:
        folder: where it is.
        record: what `training.json` says: "kind", "options", "seed", "history_turns" (the turns
            before the last one of a context; None for all), "longest_context" and
            "longest_response" in tokens, "train" and "validation" (`Part.describe`; validation may
            be None), "trained_on_before" and "judged_on_before" (books of the model that it began
            from), "cuts" and "validation_cuts" (`Cuts`), "device", "n_weights",
            "tokens_per_second", "share_of_peak" (None where the peak of the device is not known),
            "version".
        model: with its weights, ready to answer.
        tokens: turns as its tokens.
    """

    folder: Path
    record: dict[str, Any]
    model: PreTrainedModel
    tokens: TurnTokens

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
        return _union(self.trained_on, self.judged_on)


def load_model(folder: Path) -> TrainedModel:
    """Returns the model of a folder, on the GPU if there is one."""
    import torch

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
    try:
        table: Any = model.get_input_embeddings()
        if (last := max(tokens.tokenizer.get_vocab().values())) >= table.num_embeddings:
            raise InputError(f"its tokenizer has a token of number {last}")
        pairs, _ = tokens.encode([_TRIED])
        loss = mean_loss(sum_losses(model.eval(), tokens, pairs, 1))
        if not isfinite(loss):
            raise InputError(f"it has a loss of {loss}")
    except Exception as error:  # the libraries raise errors of many kinds
        raise InputError(
            f"{printable(folder)}: found a model that cannot answer ({reason_of(error)}), expected "
            "that of a training"
        ) from error


def read_record(folder: Path) -> dict[str, Any]:
    """Returns what `training.json` of a folder says."""
    command = "miner generation train"
    return run_folder.read_record(folder, RECORD, _Record, "a training", command)


def _union(*parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({book for part in parts for book in part}))


def write_weights(folder: Path, beginning: Beginning) -> None:
    """Writes the weights (safetensors), the config and the tokenizer of a model."""
    with quiet():
        beginning.model.save_pretrained(folder)
        beginning.tokens.tokenizer.save_pretrained(folder)


def read_curve(folder: Path) -> list[Step]:
    """Returns the curve of a training."""
    return run_folder.read_curve(folder, Step)


def best_step(steps: Sequence[Step]) -> Step:
    """Returns the step whose weights were kept: of the least validation loss, or the last."""
    judged = [step for step in steps if step.validation is not None]
    return min(judged, key=lambda step: step.validation or 0.0) if judged else steps[-1]


def write_card(folder: Path, name: str, record: dict[str, Any], steps: Sequence[Step]) -> None:
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
    options = "".join(f"- `{name}`: {value}\n" for name, value in record["options"].items())
    text = [
        "---\nlibrary_name: transformers\n---",
        "",
        f"# {name}: a model that answers",
        "",
        f"It was trained ({record['kind']}, {record['n_weights']:,} weights) on "
        f"{describe_size(trained)} (`{describe_part(trained)}`, SHA-256 "
        f"`{trained['sha256'][:16]}…`), with seed {record['seed']}. {context}; "
        f"{cuts['contexts']:,} contexts of more than {record['longest_context']} tokens lost their "
        f"oldest ones, and {cuts['responses']:,} responses of more than "
        f"{record['longest_response']} their last ones.",
        "",
        reached,
        "",
        f"It learned from {record['tokens_per_second']:,.0f} tokens a second on {record['device']}"
        f"{share}. `{CURVE}` has the way there.",
        "",
        "To let it answer, and to talk with it:",
        "",
        f"```sh\nminer generation answer {name} PAIRS -o answers.jsonl\n"
        f"miner generation chat {name}\n```",
        "",
        "It says what people in novels say, and knows nothing. It may be rude, as they are, and of "
        "their time.",
        "",
        f"Options:\n\n{options}",
        f"`{RECORD}` names its books; `miner generation answer` refuses to let it answer one of "
        f"them. Made by conversation-miner {__version__}.",
        "",
    ]
    (folder / CARD).write_text("\n".join(text), encoding="utf-8")
