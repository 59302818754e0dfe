"""A config dataclass -> options of the command line, one per field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, fields
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import click

from miner.app.cli.options import OUTPUT, PATH
from miner.lab.learning.fields import Option

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def config_options(config: type[DataclassInstance]) -> Callable[[Any], Any]:
    """Returns a decorator that gives a command an option for each field of a config class.

    The name, type and default of a field become those of the option, and its `Option` the help.
    The command gets the values under the names of the fields.
    """
    hints = get_type_hints(config, include_extras=True)

    def add_options(command: Callable[..., Any]) -> Callable[..., Any]:
        for item in reversed(fields(config)):
            command = _option(item, hints[item.name])(command)
        return command

    return add_options


def _option(item: Field[Any], hint: Any) -> Callable[[Any], Any]:  # noqa: ANN401 - a type hint
    kind, option = get_args(hint)
    flag = f"--{item.name.replace('_', '-')}"
    shown = {"help": option.help, "envvar": option.envvar, "show_envvar": bool(option.envvar)}
    if kind is bool:
        flags = f"{flag}/--no-{flag[2:]}" if item.default else flag
        return click.option(flags, item.name, is_flag=True, default=item.default, **shown)
    multiple = get_origin(kind) is tuple
    default = None if multiple else item.default
    flags = (option.short, flag) if option.short else (flag,)
    shown |= {"type": _type(kind, option), "default": default, "multiple": multiple}
    return click.option(*flags, item.name, **shown)


def _type(kind: Any, option: Option) -> click.ParamType | type:  # noqa: ANN401 - a type hint
    """Returns what the command line accepts for a field of a type."""
    if isinstance(kind, UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    if get_origin(kind) is tuple:
        kind = get_args(kind)[0]
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind is Path:
        return OUTPUT if option.is_output else PATH
    if option.minimum is not None or option.maximum is not None:
        range_type = click.IntRange if kind is int else click.FloatRange
        return range_type(min=option.minimum, max=option.maximum)
    return kind
