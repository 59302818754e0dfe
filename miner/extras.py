"""Packages that are installed on request: `pip install 'conversation-miner[train]'`."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def import_extra(module: str, extra: str) -> ModuleType:
    """Imports a package that an extra brings.

    Args:
        module: the name of the package as it is imported.
        extra: the name of the extra in `pyproject.toml`.

    Raises:
        ValueError: if the package is not installed; says how to install it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        raise ValueError(
            f"found no {module}, which this needs: "
            f"install it with pip install 'conversation-miner[{extra}]'"
        ) from error
