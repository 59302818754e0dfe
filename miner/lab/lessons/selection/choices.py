"""Contexts, and what each method takes for their responses: to read, where scores say too little.

The candidates are the responses of one batch, as in the task 1-of-100 (CD, section 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.lab.lessons.example import Example, keep_turns
from miner.lab.lessons.selection.method_folder import TrainedMethod
from miner.lab.lessons.selection.tasks import (
    BATCH,
    Barred,
    count_above,
    dense,
    draw_batches,
    encode,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a method takes for the response of a context.

    Attributes:
        method: its name.
        response: the response that it ranks first.
        is_true: whether that is the true response, or one with the same words.
        place: of the true response among the candidates, from 1; the middle one of those that share
            its score.
    """

    method: str
    response: str
    is_true: bool
    place: float


@dataclass(frozen=True, slots=True)
class ShownContext:
    """A context, its true response, and what each method chose among the candidates.

    Attributes:
        example: without the turns that none of the methods reads.
        n_candidates: the responses among which the true one is found.
        choices: one of each method.
    """

    example: Example
    n_candidates: int
    choices: tuple[Choice, ...]

    def to_json(self) -> dict[str, Any]:
        """The context and the choices as plain values."""
        return {
            "book": self.example.book,
            "chapter": self.example.chapter,
            "context": list(self.example.context),
            "response": self.example.response,
            "candidates": self.n_candidates,
            "choices": [
                {
                    "method": one.method,
                    "response": one.response,
                    "is_true": one.is_true,
                    "place": one.place,
                }
                for one in self.choices
            ],
        }


@dataclass(frozen=True, slots=True)
class DrawnBatch:
    """A batch of examples, of which the first are shown.

    Attributes:
        examples: the batch; their responses are the candidates.
        n_shown: how many contexts are shown.
    """

    examples: tuple[Example, ...]
    n_shown: int

    @classmethod
    def draw(cls, examples: Sequence[Example], n_shown: int, seed: int) -> DrawnBatch:
        """Returns a batch that is drawn by chance."""
        if n_shown > BATCH:
            raise InputError(f"found {n_shown} contexts to show, expected at most {BATCH}")
        batch = draw_batches(len(examples), BATCH, np.random.default_rng(seed))[0]
        return cls(tuple(examples[number] for number in batch), n_shown)

    def choose(self, trained: TrainedMethod, name: str) -> list[Choice]:
        """Returns what a method chooses for each context that is shown."""
        examples = keep_turns(self.examples, trained.history_turns)
        contexts, responses = encode(trained.method, examples)
        scores = dense(contexts[: self.n_shown] @ responses.T)
        false, true = self._candidates()
        better, tied = count_above(scores, np.diagonal(scores), false)
        first = _first(scores, false, true)
        return [
            Choice(
                name,
                examples[first[row]].response,
                not false[row, first[row]],
                float(1 + better[row] + tied[row] / 2),
            )
            for row in range(self.n_shown)
        ]

    def show(
        self, choices: Sequence[Sequence[Choice]], history_turns: int | None
    ) -> list[ShownContext]:
        """Returns the contexts that are shown, each with what the methods chose."""
        examples = keep_turns(self.examples[: self.n_shown], history_turns)
        false, true = self._candidates()
        n_candidates = (false | true).sum(axis=1).tolist()
        return [
            ShownContext(example, n_candidates[row], tuple(of[row] for of in choices))
            for row, example in enumerate(examples)
        ]

    def _candidates(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which responses are false ones and which are true, two times [contexts, responses].

        The others are turns of the context.
        """
        barred = Barred.of(self.examples)
        shown, all_of_them = np.arange(self.n_shown), np.arange(len(self.examples))
        true = barred.equal[shown][:, None] == barred.equal[None, :]
        return barred.false(shown, all_of_them), true


def _first(
    scores: NDArray[np.floating], false: NDArray[np.bool_], true: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The candidate with the highest score of each row.

    It is a false one, where the true one shares its score. So a method that scores all the same is
    not seen to be right.
    """
    scores = np.where(false | true, scores, -np.inf)
    highest = scores == scores.max(axis=1, keepdims=True)
    return np.argmax(highest.astype(np.int64) * 2 + (highest & false), axis=1)
