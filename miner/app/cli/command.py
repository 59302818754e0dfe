"""Commands whose outputs are none of their inputs, in groups that show an error in one line."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import click

from miner.app.cli.options import BookWord, OutputPath
from miner.errors import InputError
from miner.files import PUBLISHED, one_line, printable

_DEBUG = f"{__name__}.debug"
_ARGUMENT = re.compile(r"`(\w+)=([^`]*)`")
_BOOKS = "books"  # of the folder in which a book is looked up


class Command(click.Command):
    """A command that refuses to write to what it reads, whatever `--force` says."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click has it
        """Runs the command, if no output is an input."""
        refuse_inputs(self, ctx.params)
        return super().invoke(ctx)


def refuse_inputs(command: click.Command, values: dict[str, Any]) -> None:
    """Raises an error if a command would write to a file or a folder that it reads."""
    kinds = {param.name or "": param.type for param in command.params}
    outputs = [
        path
        for name, kind in kinds.items()
        if isinstance(kind, OutputPath) and (path := values.get(name)) and os.path.exists(path)
    ]
    if not outputs:
        return
    books = values.get(_BOOKS)
    for name, kind in kinds.items():
        if isinstance(kind, OutputPath):
            continue
        words = list(_texts(values.get(name)))
        inputs = [Path(part) for word in words for part in (word, word.rpartition(":")[0]) if part]
        if isinstance(kind, BookWord) or name == _BOOKS:
            inputs = [path for path in inputs if path.is_file()] + _books(words, books)
        for path in outputs:
            if any(_is_read(path, one) for one in inputs):
                raise InputError(f"{printable(path)}: found an input, expected another output")


def _texts(value: object) -> Iterator[str]:
    """The texts and paths in the value of a parameter, which may have several."""
    if isinstance(value, str | Path):
        yield str(value)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _texts(part)


def _books(words: list[str], books: Path | None) -> list[Path]:
    """The files of the books that words name."""
    from miner.books.catalog_search import number_from_title
    from miner.books.sources import find_sources

    sources, _ = find_sources(words, books, number_from_title=number_from_title)
    return [source.path for source in sources if source.path]


def _is_read(output: Path, given: Path) -> bool:
    """Whether an output that exists is an input, or a file in a folder that is one."""
    if not os.path.exists(given):
        return False
    if os.path.samefile(output, given):
        return True
    if not (output.is_file() and given.is_dir()):
        return False
    # What was measured of a checkpoint is written beside it.
    return output.name != PUBLISHED and output.resolve().is_relative_to(given.resolve())


class Failure(click.ClickException):
    """Shows one line on stderr and exits with code 1."""

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        context = click.get_current_context(silent=True)
        self._program = (context and context.find_root().command.name) or "miner"
        self._trace = trace

    def show(self, file: IO[Any] | None = None) -> None:
        """Prints the line to stderr."""
        click.echo(f"{self._trace}{self._program}: {one_line(self.message)}", err=True)


class Interrupted(Failure):
    """Shows one line after Ctrl-C and exits with the code that shells expect."""

    exit_code = 128 + signal.SIGINT


def _show_tracebacks(ctx: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_DEBUG] = True


_DEBUG_OPTION = click.Option(
    ["--debug"],
    is_flag=True,
    expose_value=False,
    callback=_show_tracebacks,
    help="Show the traceback of an error.",
)


class LazyCommands(Mapping[str, click.Command]):
    """The commands of a group by name. A command is loaded when it is asked for."""

    def __init__(
        self, names: Callable[[], Iterable[str]], load: Callable[[str], click.Command]
    ) -> None:
        self._names, self._load = names, load

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._names():
            raise KeyError(name)
        return self._load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(list(self._names()))


class CommandGroup(click.Group):
    """A group of commands that shows errors of the input in one line each.

    Any other error is a fault of the program or of a plug-in, and ends it with a traceback. The
    help lists the commands in the order in which they were added. The group and each of its
    commands have an option `--debug`.
    """

    command_class = Command

    def __init__(self, *args: Any, **attributes: Any) -> None:  # noqa: ANN401 - those of click
        super().__init__(*args, **attributes)
        self.params.append(_DEBUG_OPTION)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        command = super().get_command(ctx, cmd_name)
        if command and _DEBUG_OPTION not in command.params:
            command.params.append(_DEBUG_OPTION)
        return command

    def main(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as click has it
        """Runs a command line, also where standard streams are closed (`2>&-`)."""
        open_closed_streams()
        return super().main(*args, **options)

    def invoke(self, ctx: click.Context) -> object:
        """Runs a command; turns `InputError`, `OSError` and Ctrl-C into a `Failure`."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted(line_of(error)) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # the reader of the output stopped reading: click ends quietly
            raise Failure(line_of(error), _trace_of(error, ctx)) from error
        except InputError as error:
            raise Failure(line_of(error), _trace_of(error, ctx)) from error
        except Exception as error:  # its traceback has the notes on it
            notes = getattr(error, "__notes__", [])
            notes[:] = map(name_options, notes)
            raise

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands in the order in which they were added."""
        return list(self.commands)


def open_closed_streams() -> None:
    """Gives standard streams that are closed the null device.

    Else a file that is opened next would get the number of the stream, and what a library writes to
    the stream would go into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode)
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def _trace_of(error: Exception, ctx: click.Context) -> str:
    return "".join(traceback.format_exception(error)) if ctx.meta.get(_DEBUG) else ""


def line_of(error: BaseException) -> str:
    """One line about an error, with the notes on it, which say what is left of the work."""
    line = str(error)
    if isinstance(error, KeyboardInterrupt):
        line = "interrupted"
    elif isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        line = f"{place}{error.strerror or error}"
    return name_options(one_line("; ".join([line, *getattr(error, "__notes__", ())])))


def name_options(message: str) -> str:
    """The message of the library with options of the command line for its arguments.

    "`resume=True`" becomes "--resume", "`features=False`" "--no-features", "`out=`" "--out", and
    "`top_p=2`" "--top-p 2".
    """

    def option(argument: re.Match[str]) -> str:
        name, value = argument[1].replace("_", "-"), argument[2]
        flag = f"--no-{name}" if value == "False" else f"--{name}"
        return flag if value in ("", "True", "False") else f"{flag} {value}"

    return _ARGUMENT.sub(option, message)
