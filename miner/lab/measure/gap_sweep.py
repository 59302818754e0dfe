"""The gap heuristic with many gaps -> its scores for each, to choose the gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from miner.annotation.annotations import AnnotatedBook
from miner.errors import InputError
from miner.lab.gold.coverage import Coverage
from miner.lab.gold.editions import BookReader, read_editions_at_hand
from miner.lab.measure.scores import Scores, score
from miner.lab.measure.tagging import tag_gold_spans
from miner.speech.tags import Tagger

# The gaps of narration, in characters, among which the gap of the tuned heuristic was chosen.
GAPS = (*range(50, 500, 50), *range(500, 1000, 100), *range(1000, 2001, 250))


@dataclass(frozen=True, slots=True)
class SweptGap:
    """A gap of narration, in characters, and the scores of the gap heuristic with it."""

    gap: int
    scores: Scores


@dataclass(frozen=True, slots=True)
class Sweep:
    """The scores with each gap, and what they are of."""

    gaps: tuple[SweptGap, ...]
    coverage: Coverage

    def to_json(self) -> dict[str, Any]:
        """The sweep as plain values, by gap."""
        return {
            "gaps": {item.gap: item.scores.to_json() for item in self.gaps},
            "coverage": self.coverage.to_json(),
        }


def sweep_gaps(
    books: Sequence[AnnotatedBook],
    read: BookReader,
    taggers: Sequence[tuple[int, Tagger]],
    *,
    split: str,
    resamples: int = 1000,
    seed: int = 0,
    on_test: bool = False,
) -> Sweep:
    """Scores the gap heuristic with each gap, on the spans of the gold.

    Books of the split "test" are refused: a gap that is chosen on them makes their scores
    worthless as a test. A book that is not at hand is left out and counted.
    """
    test = [book.card.book for book in books if book.card.split == "test"]
    if test and not on_test:
        raise InputError(
            f"found {len(test)} books of test, expected books to choose on: a gap that is chosen "
            "on test makes its scores there worthless (`on_test=True` allows it)"
        )
    opened, coverage = read_editions_at_hand(books, read)
    gold = [edition.located.tagged() for edition in opened]
    swept = tuple(
        SweptGap(
            gap,
            score(
                gold,
                [tag_gold_spans(edition, tagger, f"gap {gap}") for edition in opened],
                split=split,
                resamples=resamples,
                seed=seed,
                n_left_out=coverage.n_left_out,
            ),
        )
        for gap, tagger in taggers
    )
    return Sweep(swept, coverage)
