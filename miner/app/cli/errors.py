"""The errors of the library, a line each."""

from __future__ import annotations

import errno
import signal
from typing import IO, Any

import click


class Failure(click.ClickException):
    """One line on stderr, and exit code 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"miner: {self.message}", err=True)


class Interrupted(Failure):
    """The exit code that a shell expects after Ctrl-C."""

    exit_code = 128 + signal.SIGINT


class Group(click.Group):
    """Turns the errors of the library into one line each; lists commands as they are defined."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted(noted("interrupted", error, "nothing was written")) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # whoever read the output has seen enough
            place = f"{error.filename}: " if error.filename else ""
            raise Failure(noted(f"{place}{error.strerror or error}", error)) from error
        except ValueError as error:
            raise Failure(noted(str(error), error)) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


def noted(line: str, error: BaseException, otherwise: str = "") -> str:
    """The line with what the library noted on the error."""
    notes = getattr(error, "__notes__", []) or [otherwise]
    return "; ".join(filter(None, [line, *notes]))
