"""Kinds of what is trained: the modules of a package, each with the options of its kind."""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any

from miner.errors import InputError

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
