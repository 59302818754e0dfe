"""The help of a field of a dataclass, from which the command line makes an option.

A field is annotated with it: `epochs: Annotated[int, Option("Epochs.", minimum=1)] = 4`. Any room
may import this module.
"""

from __future__ import annotations

from dataclasses import dataclass


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
