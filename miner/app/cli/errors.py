"""The library's errors, shown in one line each."""

from __future__ import annotations

import errno
import signal
from typing import IO, Any

import click

from miner.errors import InputError
from miner.files import one_line


class Failure(click.ClickException):
    """Shows one line on stderr and exits with code 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Prints the line to stderr."""
        click.echo(f"miner: {one_line(self.message)}", err=True)


class Interrupted(Failure):
    """Shows one line after Ctrl-C and exits with the code that shells expect."""

    exit_code = 128 + signal.SIGINT


class CommandGroup(click.Group):
    """A group of commands that shows the library's errors in one line each.

    The help lists the commands in the order in which they were added.
    """

    def invoke(self, ctx: click.Context) -> object:
        """Runs a command; turns `ValueError`, `OSError` and Ctrl-C into a `Failure`."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted(line_of(error)) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # the reader of the output stopped reading: click ends quietly
            raise Failure(line_of(error)) from error
        except InputError as error:
            raise Failure(line_of(error)) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands in the order in which they were added."""
        return list(self.commands)


def line_of(error: BaseException) -> str:
    """One line about an error, with the notes on it, which say what is left of the work."""
    line = str(error)
    if isinstance(error, KeyboardInterrupt):
        line = "interrupted"
    elif isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        line = f"{place}{error.strerror or error}"
    return one_line("; ".join([line, *getattr(error, "__notes__", ())]))
