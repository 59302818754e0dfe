"""Packages that are installed on request: `pip install '.[train]'` in the folder of the source."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from miner.errors import InputError


class MissingExtraError(ImportError, InputError):
    """A package that an extra brings is not installed."""


def import_extra(module: str, extra: str) -> ModuleType:
    """Imports a package that an extra brings."""
    require_extra(extra, module.partition(".")[0])
    return import_module(module)


def require_extra(extra: str, *packages: str) -> None:
    """Refuses to begin what needs a package that an extra brings and that is not installed."""
    for package in packages:
        with suppress(ModuleNotFoundError):
            if sys.modules.get(package) or find_spec(package):
                continue
        raise MissingExtraError(
            f"found no {package}, which this needs: "
            f"install the extra {extra} (pip install '.[{extra}]' in the folder of the source)"
        )
