"""Annotated chapters -> files for other tools, text and labels together. Each module is one format.

The name of a format is the name of its module without underscores, and the first line of the
module's docstring describes it. The module has one function, `write_editions`; see
`WriteEditions`. A new module here is a new format of `miner gold export`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from miner.annotation.editions import Edition


class WriteEditions(Protocol):
    """The function of a format."""

    def __call__(self, found: Iterable[Edition], out: Path, force: bool) -> None:
        """Writes the annotated chapters of some books.

        Args:
            found: the editions, which may be read lazily.
            out: the file or folder to write.
            force: whether existing files are replaced.

        Raises:
            ValueError: if `out` exists and `force` is False. No edition is read before this check.
        """
        ...


def describe_formats() -> dict[str, str]:
    """Returns the names of all formats, in alphabetical order, each with its description.

    The modules are read and not imported, so that the help of a command appears quickly.
    """
    return {
        name: _docstring(module).partition("\n")[0].rstrip(".")
        for name, module in sorted(_modules().items())
    }


def find_writer(name: str) -> WriteEditions:
    """Returns the function that writes a format.

    Raises:
        ValueError: if there is no format with that name.
    """
    modules = _modules()
    if name not in modules:
        raise ValueError(f"found format {name!r}, expected {', '.join(sorted(modules))}")
    return import_module(modules[name]).write_editions


def _modules() -> dict[str, str]:
    """Returns the modules of the formats by the formats' names."""
    return {
        module.name.replace("_", ""): f"{__name__}.{module.name}"
        for module in iter_modules(__path__)
    }


def _docstring(module: str) -> str:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return ""
    return ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
