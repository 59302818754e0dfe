"""What a training begins from. Each module is one kind of model.

The name of a kind is the name of its module, and the first line of the module's docstring describes
it. The module has

- `Options`: a frozen dataclass, a `LearningOptions` with more fields; all have defaults, or are
  refused by `begin`, and `Annotated` help (`Option`);
- `HISTORY_TURNS`: the turns before the last one of a context, unless others are asked for;
- `begin(examples, options)`: returns the `Beginning` of a training on these examples.

A new module here is a new kind of `miner generation train`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Annotated, Literal

from miner.errors import InputError
from miner.lab.learning.fields import Kind, Option, Options
from miner.lab.lessons.examples import Example
from miner.plugins import describe_modules, import_named

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from miner.lab.lessons.generation.tokens import TurnTokens

Dtype = Literal["float32", "bfloat16"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningOptions:
    """How long and how fast a model learns."""

    longest_response: Annotated[
        int, Option("Most tokens of a response; the rest is cut.", minimum=2)
    ] = 64
    epochs: Annotated[int, Option("Most passes over the pairs.", minimum=1)] = 20
    patience: Annotated[
        int, Option("Validations without a smaller loss before training ends.", minimum=1)
    ] = 3
    validations: Annotated[
        int, Option("Validations in an epoch; the training is kept at each.", minimum=1)
    ] = 1
    batch: Annotated[int, Option("Pairs in a batch.", minimum=1)] = 64
    accumulate: Annotated[int, Option("Batches before the weights change.", minimum=1)] = 1
    rate: Annotated[float, Option("Highest learning rate of AdamW.")] = 1e-3
    warmup: Annotated[
        float, Option("Share of the steps while the rate rises; then it falls in a line.")
    ] = 0.1
    smoothing: Annotated[
        float, Option("Label smoothing: the share of the target spread over all tokens.")
    ] = 0.1
    clip: Annotated[float, Option("Largest norm of a gradient.")] = 1.0
    dtype: Annotated[
        Dtype, Option("What the model computes in; bfloat16 where the device knows it.")
    ] = "float32"

    def __post_init__(self) -> None:
        """Refuses numbers with which nothing is learned.

        Raises:
            InputError: if one is out of its range; names it.
        """
        above = {"rate": self.rate, "clip": self.clip}
        for name, value in above.items():
            if not 0 < value < inf:
                raise InputError(f"found --{name} {value}, expected more than 0")
        for name, value in self.shares().items():
            if not 0 <= value < 1:
                raise InputError(f"found --{name} {value}, expected 0 or more and less than 1")

    def shares(self) -> dict[str, float]:
        """The options that are shares, by their names."""
        return {"warmup": self.warmup, "smoothing": self.smoothing}


@dataclass(frozen=True, slots=True)
class Beginning:
    """A model before its training.

    Attributes:
        model: with its first weights.
        tokens: turns as its tokens.
        trained_on: the ids of the books that it was trained on before.
        judged_on: those that it was validated on before.
    """

    model: PreTrainedModel
    tokens: TurnTokens
    trained_on: tuple[str, ...] = ()
    judged_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelKind(Kind):
    """A kind of model: a module of this package."""

    @property
    def history_turns(self) -> int:
        """The turns before the last one of a context, unless others are asked for."""
        return self.module.HISTORY_TURNS

    def begin(self, examples: Sequence[Example], options: Options) -> Beginning:
        """Returns a model before its training.

        Args:
            examples: those that it will be trained on.
            options: an object of the class `options`.

        Raises:
            InputError: if it cannot be made or loaded; says why in one line.
        """
        return self.module.begin(examples, options)


def describe_kinds() -> dict[str, str]:
    """Returns the names of all kinds, each with its description."""
    return describe_modules(sys.modules[__name__])


def find_kind(name: str) -> ModelKind:
    """Returns a kind of model by its name.

    Raises:
        InputError: if there is no kind with that name.
        MissingExtraError: if a package that it needs is not installed.
    """
    module = import_named(sys.modules[__name__], name, "kind", "generation")
    return ModelKind(name, module.Options, module)
