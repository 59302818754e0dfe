"""Examples -> vectors of contexts and responses. Each module is one method.

The name of a method is the name of its module with "-" for "_", and the first line of the module's
docstring describes it. The module has

- `Options`: a frozen dataclass whose fields have defaults and `Annotated` help (`Option`);
- `train(training, folder)`: learns from `training` (see `Training`) and writes the files of the
  method into a folder that exists; it may keep what it needs to continue in `training.state`;
- `load(folder)`: returns the `Method` of such a folder;
- `LEARNS`: False if it takes nothing from the examples; may be left out.

A new module here is a new method of `miner selection`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from miner.lab.learning.fields import Kind, Options
from miner.lab.lessons.examples import Context, Example
from miner.plugins import describe_modules, import_named

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_array

    Vectors = np.ndarray[Any, Any] | csr_array


class Method(Protocol):
    """A trained method. The score of a response for a context is the dot product of their vectors.

    All methods here have this form. That of BM25 is a count of words and their weights, that of the
    networks of UD the context times their matrix. So many responses are scored for many contexts
    by one product of matrices.
    """

    def encode_contexts(self, contexts: Sequence[Context]) -> Vectors:
        """Returns a row for each context, [n, d], dense or sparse."""
        ...

    def encode_responses(self, responses: Sequence[str]) -> Vectors:
        """Returns a row for each response, [n, d], of the kind of `encode_contexts`."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """A point of the curve of a training.

    Args:
        n_pairs: the pairs that were learned from so far, repeated ones counted again.
        loss: the mean loss since the step before; None where the method has none.
        accuracy: the 1-of-100 accuracy on the validation examples, 0..1; None without them.
        seconds: since the beginning of the training, validation left out.
    """

    n_pairs: int
    loss: float | None
    accuracy: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Training:
    """What a method is trained with.

    Args:
        examples: to learn from, in the order of the books.
        validation: to choose on, by `validation_accuracy`; may be empty.
        options: an object of the class `Options` of the method.
        seed: of weights, order and dropout.
        state: a folder for what a continued training needs; it is empty at the beginning.
        report: called with each step.
        progress: called with the number of pairs that are done and of all, to show.
    """

    examples: Sequence[Example]
    validation: Sequence[Example]
    options: Options
    seed: int
    state: Path
    report: Callable[[Step], object]
    progress: Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class MethodKind(Kind):
    """A kind of method: a module of this package."""

    @property
    def learns(self) -> bool:
        """Whether it takes anything from the examples."""
        return getattr(self.module, "LEARNS", True)

    def train(self, training: Training, folder: Path) -> None:
        """Trains the method and writes its files into a folder."""
        self.module.train(training, folder)

    def load(self, folder: Path) -> Method:
        """Returns the method of a folder.

        Raises:
            InputError: if its files are missing or damaged; names the file.
        """
        return self.module.load(folder)


def describe_methods() -> dict[str, str]:
    """Returns the names of all methods, each with its description."""
    return describe_modules(sys.modules[__name__], "-")


def find_method(name: str) -> MethodKind:
    """Returns a method by its name.

    Raises:
        InputError: if there is no method with that name.
        MissingExtraError: if a package that it needs is not installed.
    """
    module = import_named(sys.modules[__name__], name, "method", "selection", "-")
    return MethodKind(name, module.Options, module)
