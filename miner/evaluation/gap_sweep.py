"""The gap heuristic with many gaps -> its scores for each, to choose the gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from miner.annotation.annotations import AnnotatedBook
from miner.annotation.editions import BookReader, read_editions
from miner.dialogue.tags import Tagger
from miner.evaluation.scores import Scores, score
from miner.evaluation.tagging import tag_gold_spans

# The gaps of narration, in characters, among which the gap of the tuned heuristic was chosen.
GAPS = (*range(50, 500, 50), *range(500, 1000, 100), *range(1000, 2001, 250))


@dataclass(frozen=True, slots=True)
class SweptGap:
    """A gap of narration, in characters, and the scores of the gap heuristic with it."""

    gap: int
    scores: Scores


def sweep_gaps(
    books: Sequence[AnnotatedBook],
    read: BookReader,
    taggers: Sequence[tuple[int, Tagger]],
    *,
    split: str,
    resamples: int = 1000,
    seed: int = 0,
) -> list[SweptGap]:
    """Scores the gap heuristic with each gap, on the spans of the gold.

    Args:
        books: the annotated books.
        read: returns the bytes of a book by its id.
        taggers: each gap, and the heuristic with that gap.
        split: the name of the chosen split, for the signature.
        resamples: draws of the bootstrap over chapters.
        seed: of the bootstrap.

    Raises:
        ValueError: as `editions.read_editions` does.
    """
    opened = list(read_editions(books, read))
    gold = [edition.located.tagged() for edition in opened]
    return [
        SweptGap(
            gap,
            score(
                gold,
                [tag_gold_spans(edition, tagger, f"gap {gap}") for edition in opened],
                split=split,
                resamples=resamples,
                seed=seed,
            ),
        )
        for gap, tagger in taggers
    ]
