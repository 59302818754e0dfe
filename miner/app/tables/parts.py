"""What is said of the examples that something was trained or judged on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def describe_part(part: Mapping[str, Any]) -> str:
    """Returns where examples come from, and which of them were taken.

    Args:
        part: what a record says of them (`Part.describe`).
    """
    return ", ".join([part["source"], *part["chosen"]])


def describe_size(part: Mapping[str, Any]) -> str:
    """Returns how many examples there are, and of how many books ("1,658 pairs of 15 books").

    Args:
        part: what a record says of them (`Part.describe`).
    """
    n = len(part["books"])
    of = f"{n:,} book{'s' * (n != 1)}" if n else "books without an id"
    return f"{part['examples']:,} pairs of {of}"
