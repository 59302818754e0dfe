"""Formats: the modules of a package, which are found by themselves.

The name of a format is the name of its module without underscores, and the first line of the
module's docstring describes it. Any room may import this module.
"""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from miner.errors import InputError


def describe_modules(package: ModuleType) -> dict[str, str]:
    """Returns the names of all formats, in alphabetical order, each with its description.

    The modules are read and not imported, so that the help of a command appears quickly.
    """
    return {
        name: _docstring(module).partition("\n")[0].rstrip(".")
        for name, module in sorted(_modules(package).items())
    }


def find_module(package: ModuleType, name: str) -> ModuleType:
    """Returns the module of a format.

    Raises:
        InputError: if there is no format with that name.
    """
    modules = _modules(package)
    if name not in modules:
        raise InputError(f"found format {name!r}, expected {', '.join(sorted(modules))}")
    return import_module(modules[name])


def _modules(package: ModuleType) -> dict[str, str]:
    """Returns the modules of the formats by the formats' names."""
    return {
        module.name.replace("_", ""): f"{package.__name__}.{module.name}"
        for module in iter_modules(package.__path__)
    }


def _docstring(module: str) -> str:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return ""
    return ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
