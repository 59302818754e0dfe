"""Errors of the input, apart from faults of the program."""

from __future__ import annotations


class InputError(ValueError):
    """What was given cannot be used: a file, an option, a row or an argument.

    Its text is one line that says what was found, what was expected and where. This error alone
    sets a book aside and is shown without a traceback. Any other `ValueError` is a fault of the
    program or of a plug-in, and ends the run.
    """


class SetAsideWarning(UserWarning):
    """Some sources of a run gave nothing. The commands show each in a line of its own instead."""
