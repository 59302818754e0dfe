"""Dialogues -> the dialogues that pass the filters, and what the filters took out.

A filter is a function here, a line in `filter_dialogues` and a reason in its counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from miner.dialogue.dialogues import Dialogue, Turn, turn_pairs

# One turn is no dialogue: nobody answers.
MIN_TURNS = 2

# Splits a dialogue: returns the parts that are left, in order, and how many turns or pairs were
# removed between them.
_Split = Callable[[Dialogue], tuple[list[Dialogue], int]]


@dataclass(frozen=True, slots=True)
class FilteredDialogues:
    """The dialogues that passed, and how many turns, pairs and dialogues did not, by reason."""

    kept: tuple[Dialogue, ...]
    drops: tuple[tuple[str, int], ...]


def filter_dialogues(
    dialogues: Iterable[Dialogue],
    max_utterance_words: int | None = None,
    min_turns: int = MIN_TURNS,
    min_confidence: float = 0.0,
) -> FilteredDialogues:
    """Returns the dialogues without empty and long turns, unsure pairs, and then short dialogues.

    A dialogue ends before a turn that is removed, and a new part of it begins after that turn. So
    the filters make no pair that the book does not have. An unsure pair splits its dialogue, too,
    but both of its turns stay. A turn of which nothing is left without its quotation marks is
    empty, and always removed.

    After "The Gutenberg Dialogue Dataset" (section 3, Long utterances), which removes utterances of
    more than 100 words; an utterance there is a turn here.

    Args:
        dialogues: the dialogues of a book.
        max_utterance_words: the most words, split at white space, that a turn may have; None for
            no limit.
        min_turns: the fewest turns that a dialogue, or a part of one, may have; 1 keeps all.
        min_confidence: the least `Pair.confidence`, 0..1, at which two turns stay a pair.

    Returns:
        The dialogues that are kept, in order, and the counts "empty turns", "long turns", "unsure
        pairs", "short dialogues" (parts included) and "turns in short dialogues".

    Raises:
        ValueError: if a limit is out of range, or if `min_confidence` is above 0 and the tags have
            no confidence.
    """
    if min_turns < 1 or (max_utterance_words is not None and max_utterance_words < 1):
        raise ValueError(
            f"found max_utterance_words {max_utterance_words} and min_turns {min_turns}, "
            "expected at least 1"
        )
    if not 0 <= min_confidence <= 1:
        raise ValueError(f"found min_confidence {min_confidence}, expected 0 to 1")
    splits: dict[str, _Split] = {
        "empty turns": _split_at_empty_turns,
        "long turns": partial(_split_at_long_turns, max_words=max_utterance_words),
        "unsure pairs": partial(_split_at_unsure_pairs, min_confidence=min_confidence),
    }
    drops = dict.fromkeys((*splits, "short dialogues", "turns in short dialogues"), 0)
    kept: list[Dialogue] = []
    for dialogue in dialogues:
        parts = [dialogue]
        for reason, split in splits.items():
            found = [split(part) for part in parts]
            parts = [part for left, _ in found for part in left]
            drops[reason] += sum(n for _, n in found)
        for number, part in enumerate(parts):
            if len(part.turns) >= min_turns:
                kept.append(replace(part, part=number))
            else:
                drops["short dialogues"] += 1
                drops["turns in short dialogues"] += len(part.turns)
    return FilteredDialogues(tuple(kept), tuple(drops.items()))


def _split_at_empty_turns(dialogue: Dialogue) -> tuple[list[Dialogue], int]:
    """Removes each turn without text."""
    return _split_at(dialogue, lambda turn: not turn.text)


def _split_at_long_turns(dialogue: Dialogue, max_words: int | None) -> tuple[list[Dialogue], int]:
    """Removes each turn of more than `max_words` words."""
    if max_words is None:
        return [dialogue], 0
    return _split_at(dialogue, lambda turn: len(turn.quoted_text.split()) > max_words)


def _split_at(dialogue: Dialogue, is_removed: Callable[[Turn], bool]) -> tuple[list[Dialogue], int]:
    """Removes some turns."""
    runs: list[list[Turn]] = [[]]
    for turn in dialogue.turns:
        if is_removed(turn):
            runs.append([])
        else:
            runs[-1].append(turn)
    return [replace(dialogue, turns=tuple(run)) for run in runs if run], len(runs) - 1


def _split_at_unsure_pairs(dialogue: Dialogue, min_confidence: float) -> tuple[list[Dialogue], int]:
    """Splits between the two turns of each pair that is less sure than `min_confidence`."""
    if not min_confidence:
        return [dialogue], 0
    runs = [[dialogue.turns[0]]]
    for pair in turn_pairs(dialogue):
        if pair.confidence is None:
            raise ValueError("found tags without confidence, expected those of a checkpoint")
        if pair.confidence < min_confidence:
            runs.append([])
        runs[-1].append(pair.response)
    return [replace(dialogue, turns=tuple(run)) for run in runs], len(runs) - 1
