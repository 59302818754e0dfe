"""What decides the output of mining, beside the books themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from miner.corpus.export import find_format
from miner.errors import InputError
from miner.people.character_files import CharacterFile
from miner.speech.dialogues import Dialogue
from miner.speech.filters import (
    MIN_TURNS,
    DialogueLimits,
    FilteredDialogues,
    filter_dialogues,
)
from miner.tagger.load import AUTO, FLOAT32


@dataclass(frozen=True, slots=True)
class MiningOptions:
    """What decides the output of mining, beside the books themselves.

    Args:
        tagger: a name or a path that `models.load.load_tagger` takes; for a tagger object, the text
            that `describe` gives.
        quotes: names of the marks that open speech; empty to infer them for each book.
        pairs_by_span: pair spans, as MCN does, instead of turns.
        max_utterance_words: words of the longest turn that is kept; None for no limit.
        min_turns: turns of the shortest dialogue that is kept.
        min_confidence: least confidence, 0 to 1, of a pair that is kept.
        format: the format of the files, one of `export.describe_formats`.
        dtype: in which a checkpoint computes, "float32" or "bfloat16".
        characters: the characters of books whose lists are given; None if they are found.
        history_turns: how many turns before its context a pair has; None for all of them.
        with_features: whether a result has the features of its book, and no rows of dialogues and
            pairs, which a build makes later.

    Raises:
        InputError: if a value is out of its range.
        TypeError: if a limit is not a number.
    """

    tagger: str = AUTO
    quotes: tuple[str, ...] = ()
    pairs_by_span: bool = False
    max_utterance_words: int | None = None
    min_turns: int = MIN_TURNS
    min_confidence: float = 0.0
    format: str = "jsonl"
    dtype: str = FLOAT32
    characters: CharacterFile | None = None
    history_turns: int | None = 0
    with_features: bool = False

    def __post_init__(self) -> None:
        """Refuses what would fail at every single book."""
        for name in ("max_utterance_words", "min_turns", "min_confidence"):
            value = getattr(self, name)
            if not isinstance(value, Real) and (value is not None or name != "max_utterance_words"):
                raise TypeError(f"found {name} {value!r}, expected a number")
        if self.history_turns is not None:
            if not isinstance(self.history_turns, Integral):
                raise TypeError(
                    f"found history_turns {self.history_turns!r}, expected a whole number or None"
                )
            if self.history_turns < 0:
                raise InputError(f"found history_turns {self.history_turns}, expected at least 0")
        if self.max_utterance_words is not None and self.max_utterance_words < 1:
            found = self.max_utterance_words
            raise InputError(f"found max_utterance_words {found}, expected at least 1")
        self.filter(())
        find_format(self.format)

    def filter(self, found: Iterable[Dialogue]) -> FilteredDialogues:
        """The dialogues that are kept, and how many turns, pairs and dialogues are not."""
        limits = DialogueLimits(self.max_utterance_words, self.min_confidence, self.min_turns)
        return filter_dialogues(found, limits)


def describe(given: Any) -> str:  # noqa: ANN401 - a user's tagger or filter may be anything
    """How the run record names an object that a user gave.

    It holds no address, which would differ from run to run, so that a run can be resumed.
    """
    if isinstance(name := getattr(given, "__qualname__", None), str):
        return name
    if type(given).__repr__ is object.__repr__:
        return type(given).__qualname__
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(given))
