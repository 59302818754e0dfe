"""Options of what is trained: the help of a field, and kinds, modules of a package with options.

A field is annotated with its help: `epochs: Annotated[int, Option("Epochs.", minimum=1)] = 4`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any

from miner.errors import InputError


@dataclass(frozen=True, slots=True)
class Option:
    """The help text of a field, its short name, and the values that the command line accepts.

    `is_output` marks a path that is written.
    """

    help: str
    minimum: int | None = None
    maximum: int | None = None
    envvar: str | None = None
    short: str | None = None
    is_output: bool = False


Options = Any  # an object of the class `Options` of a kind's module


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind: its name ("tf-idf"), the class of its options, and the module that trains it."""

    name: str
    options: type[Options]
    module: ModuleType

    def read_options(self, values: dict[str, Any]) -> Options:
        """Returns the options of this kind with the given values, else with their defaults."""
        known = [field.name for field in fields(self.options)]
        for name in values:
            if name not in known:
                expected = f"one of {', '.join(known)}" if known else "none"
                raise InputError(f"{self.name}: found option {name!r}, expected {expected}")
        return self.options(**values)
