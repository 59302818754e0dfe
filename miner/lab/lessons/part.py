"""Examples and where they come from, as a training takes them and its record names them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from miner.errors import InputError
from miner.lab.lessons.example import (
    Example,
    books_of,
    describe_examples,
    refuse_shared_books,
)


@dataclass(frozen=True, slots=True)
class Part:
    """Examples and where they come from.

    Args:
        examples: with all their turns.
        source: what a record says of their source ("mined/pairs.jsonl").
        chosen: which of the source they are, in words; empty for all.
        path: of the source, which tells it from another one of the same name; "" if it has none.
    """

    examples: Sequence[Example]
    source: str
    chosen: Sequence[str] = ()
    path: str = ""

    def describe(self) -> dict[str, Any]:
        """What a record says of them."""
        of_examples = describe_examples(self.examples)
        place = {"source": self.source, "path": self.path}
        return {**place, "chosen": list(self.chosen), **of_examples}


def check_parts(train: Part, validation: Part | None, what: str) -> None:
    """Refuses parts from which nothing can be trained, and several processes."""
    if (n_processes := int(os.environ.get("WORLD_SIZE", "1"))) > 1:
        raise InputError(f"found {n_processes} processes, expected one: it trains {what}")
    if not train.examples:
        raise InputError(f"{train.source}: found no pairs, expected some to learn from")
    if validation:
        refuse_shared_books(
            books_of(train.examples), books_of(validation.examples), validation.source
        )


def describe_part(part: Mapping[str, Any]) -> str:
    """Returns where examples come from, and which of them were taken."""
    return ", ".join([part["source"], *part["chosen"]])


def describe_size(part: Mapping[str, Any]) -> str:
    """Returns how many examples there are, and of how many books ("1,658 pairs of 15 books")."""
    n = len(part["books"])
    of = f"{n:,} book{'s' * (n != 1)}" if n else "books without an id"
    return f"{part['examples']:,} pairs of {of}"
