"""Kinds of what is trained: the modules of a package, each with the options of its kind.

Any room may import this module.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any

from miner.errors import InputError
from miner.extras import import_extra
from miner.formats import find_module

Options = Any  # an object of the class `Options` of a kind's module


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind: a module with a class `Options`.

    Attributes:
        name: of the kind ("tf-idf").
        options: the class of its options.
        module: what trains it.
    """

    name: str
    options: type[Options]
    module: ModuleType

    def read_options(self, values: dict[str, Any]) -> Options:
        """Returns the options of this kind with the given values, else with their defaults.

        Raises:
            InputError: if the kind has no option of a name, or refuses a value.
        """
        known = [field.name for field in fields(self.options)]
        for name in values:
            if name not in known:
                expected = f"one of {', '.join(known)}" if known else "none"
                raise InputError(f"{self.name}: found option {name!r}, expected {expected}")
        return self.options(**values)


def import_kind(package: ModuleType, name: str, extra: str) -> ModuleType:
    """Returns the module of a kind.

    Args:
        package: of all kinds.
        name: of one of them; a minus may stand for an underscore.
        extra: what brings the packages that it needs.

    Raises:
        InputError: if there is no such module.
        MissingExtraError: if a package that it needs is not installed.
    """
    try:
        return find_module(package, name.replace("-", ""))
    except ModuleNotFoundError as error:
        import_extra(error.name or "", extra)
        raise
