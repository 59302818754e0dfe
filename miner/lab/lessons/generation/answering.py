"""A trained model and contexts -> its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from miner.errors import InputError
from miner.files import printable
from miner.lab.lessons.comparison import refuse_trained_on
from miner.lab.lessons.examples import (
    Context,
    Example,
    keep_turns,
)
from miner.lab.lessons.generation.answers import Answer
from miner.lab.lessons.generation.decoding import Decoding
from miner.lab.lessons.generation.model_folder import TrainedModel
from miner.lab.lessons.generation.models import answer_room, mean_loss, quiet, sum_losses
from miner.lab.lessons.generation.tokens import mask_of, pad_left, pad_right

BATCH = 32  # contexts that are answered at a time


@dataclass(frozen=True, slots=True)
class Texts:
    """What a model answers to contexts."""

    texts: list[str]  # one for each context, in their order
    n_cut: int  # contexts that were too long for the model and lost their oldest tokens
    n_ended: int  # answers that ended because the model had no room for more


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers of a model to contexts whose true responses are known."""

    answers: list[Answer]  # one for each example, in their order, with all turns of the context
    n_cut: int  # contexts that were too long for the model and lost their oldest tokens
    n_ended: int  # answers that ended because the model had no room for more
    loss: float  # of the true responses, in nats for a token of the model
    n_responses_cut: int


def answer_examples(
    trained: TrainedModel,
    examples: Sequence[Example],
    decoding: Decoding,
    seed: int = 0,
    batch: int = BATCH,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Answered:
    """Returns the answers of a model to the contexts of examples.

    Equal choices give equal answers on one kind of device.
    """
    where = printable(trained.folder.name)
    if not examples:
        raise InputError(f"{where}: found no pairs, expected some to answer")
    refuse_trained_on(trained.record, trained.books, examples, where)
    kept = keep_turns(examples, trained.history_turns)
    n = len(kept)

    def show_losses(done: int, total: int) -> None:
        progress(n + done, n + total)

    found = answer_contexts(
        trained,
        [one.context for one in kept],
        decoding,
        seed,
        batch,
        lambda done, total: progress(done, n + total),
    )
    answers = [
        Answer(one.book, one.context, one.response, text, one.chapter)
        for one, text in zip(examples, found.texts, strict=True)
    ]
    pairs, cuts = trained.tokens.encode(kept)
    losses = sum_losses(trained.model, trained.tokens, pairs, batch, show_losses)
    return Answered(answers, found.n_cut, found.n_ended, mean_loss(losses), cuts.responses)


def answer_contexts(
    trained: TrainedModel,
    contexts: Sequence[Context],
    decoding: Decoding,
    seed: int = 0,
    batch: int = BATCH,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Texts:
    """Returns the answers to contexts."""
    model, tokens = trained.model, trained.tokens
    has_encoder = model.config.is_encoder_decoder
    rows, n_cut = tokens.encode_contexts(contexts)
    if not has_encoder:
        rows = [[*row, tokens.answering] for row in rows]
    options = decoding.options_of(tokens)
    longest = min(decoding.longest, answer_room(model.config, tokens.longest_context + 1))
    order = np.argsort([len(row) for row in rows], kind="stable")
    found = [""] * len(rows)
    n_ended = 0
    torch.manual_seed(seed)
    with quiet(), torch.inference_mode():
        for start in range(0, len(order), batch):
            numbers = order[start : start + batch].tolist()
            some = [rows[number] for number in numbers]
            mask = mask_of(some)
            if has_encoder:
                asked = pad_right(some, tokens.padding)
            else:
                asked, mask = pad_left(some, tokens.padding), mask.flip(1)
            given: Any = {"input_ids": asked.to(model.device), "max_new_tokens": longest}
            given["attention_mask"] = mask.to(model.device)
            written: Any = model.generate(**given, **options)  # pyright: ignore
            begins = 1 if has_encoder else asked.shape[1]
            for number, row in zip(numbers, written[:, begins:].tolist(), strict=True):
                found[number] = tokens.decode(row)
                n_ended += longest < decoding.longest and tokens.end not in row
            progress(start + len(numbers), len(order))
    return Texts(found, n_cut, n_ended)


class Conversation:
    """A talk with a model, turn by turn."""

    def __init__(self, trained: TrainedModel, decoding: Decoding, seed: int = 0) -> None:
        self._trained, self._decoding, self._seed = trained, decoding, seed
        self.turns: list[str] = []
        self.was_cut = False  # whether the last context was too long, and lost its oldest tokens

    def answer(self, turn: str) -> str:
        """Returns what the model answers to a turn, with those before it in mind."""
        self.turns.append(turn)
        most = self._trained.history_turns
        context = tuple(self.turns if most is None else self.turns[-1 - most :])
        seed = self._seed + len(self.turns)  # a turn that is said again has another answer
        found = answer_contexts(self._trained, [context], self._decoding, seed)
        self.was_cut = found.n_cut > 0
        (text,) = found.texts
        self.turns.append(text)
        return text

    def forget(self) -> None:
        """Begins anew."""
        self.turns.clear()
