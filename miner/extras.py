"""Packages that are installed on request: `pip install '.[train]'` in the folder of the source."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from miner.errors import InputError


class MissingExtraError(ImportError, InputError):
    """A package that an extra brings is not installed."""


def import_extra(module: str, extra: str) -> ModuleType:
    """Imports a package that an extra brings."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        raise MissingExtraError(
            f"found no {module}, which this needs: "
            f"install the extra {extra} (pip install '.[{extra}]' in the folder of the source)"
        ) from error
