"""Examples -> vectors of contexts and responses. Each module is one method.

The name of a method is the name of its module with "-" for "_", and the first line of the module's
docstring describes it. The module has

- `Options`: a frozen dataclass whose fields have defaults and `Annotated` help (`Option`);
- `train(training, folder)`: learns from `training` (see `Training`) and writes the files of the
  method into a folder that exists; it may keep what it needs to continue in `training.state`;
- `load(folder)`: returns the `Method` of such a folder.

A new module here is a new method of `miner selection`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from miner.examples.example import Context, Example
from miner.extras import import_extra
from miner.formats import describe_modules, find_module

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_array

    Vectors = np.ndarray[Any, Any] | csr_array

Options = Any  # an object of the class `Options` of a method


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
class MethodKind:
    """A kind of method: a module of this package.

    Attributes:
        name: of the method ("tf-idf").
        options: the class of its options.
        module: what trains and loads it.
    """

    name: str
    options: type[Options]
    module: ModuleType

    def read_options(self, values: dict[str, Any]) -> Options:
        """Returns the options of this method with the given values, else with their defaults.

        Raises:
            ValueError: if the method has no option of a name, or refuses a value.
        """
        known = [field.name for field in fields(self.options)]
        for name in values:
            if name not in known:
                expected = f"one of {', '.join(known)}" if known else "none"
                raise ValueError(f"{self.name}: found option {name!r}, expected {expected}")
        return self.options(**values)

    def train(self, training: Training, folder: Path) -> None:
        """Trains the method and writes its files into a folder."""
        self.module.train(training, folder)

    def load(self, folder: Path) -> Method:
        """Returns the method of a folder.

        Raises:
            ValueError: if its files are missing or damaged; names the file.
        """
        return self.module.load(folder)


def describe_methods() -> dict[str, str]:
    """Returns the names of all methods, each with its description."""
    return dict(_named())


def find_method(name: str) -> MethodKind:
    """Returns a kind of method.

    Raises:
        ValueError: if there is no method with that name.
        MissingExtraError: if a package that it needs is not installed.
    """
    if name not in describe_methods():
        raise ValueError(f"found method {name!r}, expected {', '.join(describe_methods())}")
    try:
        module = find_module(sys.modules[__name__], name.replace("-", ""))
    except ModuleNotFoundError as error:
        import_extra(error.name or "", "selection")
        raise
    return MethodKind(name, module.Options, module)


def _named() -> Iterator[tuple[str, str]]:
    package = sys.modules[__name__]
    names = {path.stem for path in Path(next(iter(package.__path__))).glob("*.py")}
    of_module = {name.replace("_", ""): name.replace("_", "-") for name in names}
    for name, about in describe_modules(package).items():
        yield of_module[name], about
