"""What a new file, or a package of somebody else, adds: modules of a folder, and entry points.

A module of a folder, such as an output format, is found by its name. Entry points of the groups
`miner.taggers`, `miner.checkpoints` and `miner.commands` are what installed packages register. Any
room may import this module.
"""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from miner.errors import InputError
from miner.extras import import_extra


def find_entries(group: str) -> dict[str, EntryPoint]:
    """Returns what packages register in a group of entry points, in the order of their names."""
    return {item.name: item for item in sorted(entry_points(group=group), key=lambda e: e.name)}


def find_modules(package: ModuleType, hyphen: str = "") -> dict[str, str]:
    """Returns the modules of a package by their names, with `hyphen` for "_", in order."""
    names = sorted(module.name for module in iter_modules(package.__path__))
    return {name.replace("_", hyphen): f"{package.__name__}.{name}" for name in names}


def describe_modules(package: ModuleType, hyphen: str = "") -> dict[str, str]:
    """Returns the names of the modules of a package, each with the first line of its docstring.

    The modules are read and not imported, so that the help of a command appears quickly.
    """
    modules = find_modules(package, hyphen)
    return {
        name: _docstring(module).partition("\n")[0].rstrip(".") for name, module in modules.items()
    }


def import_named(
    package: ModuleType, name: str, kind: str = "format", extra: str = "", hyphen: str = ""
) -> ModuleType:
    """Returns the module of a name; `kind` says in an error what it is, `extra` what it needs."""
    modules = find_modules(package, hyphen)
    if name not in modules:
        raise InputError(f"found {kind} {name!r}, expected {', '.join(modules)}")
    try:
        return import_module(modules[name])
    except ModuleNotFoundError as error:
        if extra:
            import_extra(error.name or "", extra)
        raise


def _docstring(module: str) -> str:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return ""
    return ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
