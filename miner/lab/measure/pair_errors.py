"""Annotated books and a tagger -> its wrong pairs, counted by cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from miner.annotation.annotations import AnnotatedBook
from miner.annotation.pair_errors import CAUSES, JudgedPairs, judge_pairs
from miner.lab.gold.coverage import Coverage
from miner.lab.gold.editions import BookReader, read_editions_at_hand
from miner.lab.measure.tagging import tag_found_spans
from miner.speech.tags import Tagger


@dataclass(frozen=True, slots=True)
class PairErrors:
    """How many turn pairs were mined, how many are right, and how many are wrong by cause.

    `n_missed` counts the gold pairs that were not mined.
    """

    n_pairs: int
    n_right: int
    causes: tuple[tuple[str, int], ...]
    n_missed: int

    @property
    def n_wrong(self) -> int:
        """The number of mined pairs that gold lacks."""
        return self.n_pairs - self.n_right

    def to_json(self) -> dict[str, Any]:
        """The counts as plain values."""
        return {
            "pairs": self.n_pairs,
            "right": self.n_right,
            "causes": dict(self.causes),
            "missed": self.n_missed,
        }


@dataclass(frozen=True, slots=True)
class JudgedBooks:
    """The judged pairs of the annotated books that are at hand, and what they are of."""

    pairs: JudgedPairs
    coverage: Coverage


def judge_mined_pairs(
    books: Sequence[AnnotatedBook], read: BookReader, tagger: Tagger
) -> JudgedBooks:
    """Mines pairs from the annotated chapters of the books with a tagger, and judges them.

    A book that is not at hand is left out and counted.
    """
    opened, coverage = read_editions_at_hand(books, read)
    judged = judge_pairs(
        [edition.located.tagged() for edition in opened],
        [tag_found_spans(edition, tagger) for edition in opened],
    )
    return JudgedBooks(judged, coverage)


def count_pair_errors(judged: JudgedPairs) -> PairErrors:
    """Counts the judged pairs by cause."""
    causes = Counter(pair.cause for pair in judged.mined)
    n_right = causes.pop("", 0)
    by_cause = tuple((name, causes[name]) for name in CAUSES)
    return PairErrors(len(judged.mined), n_right, by_cause, sum(judged.n_gold.values()) - n_right)
