"""Annotated books and a tagger -> how many of its pairs are right, at each confidence, and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from miner.annotation.annotations import AnnotatedBook
from miner.annotation.matching import CAUSES, JudgedPairs, judge_pairs
from miner.errors import InputError
from miner.lab.gold.editions import BookReader, Coverage, open_gold
from miner.lab.measure.scores import score, score_table
from miner.lab.measure.speakers import ALL, Speak, score_annotated_speakers
from miner.speech.tags import TaggedSpan, Tagger
from miner.tagger.published_scores import KeptPairs, PrecisionRecall, PublishedScores


class PairErrors(Struct, frozen=True, rename=lambda name: name.removeprefix("n_")):
    """How many turn pairs were mined, how many are right, and how many are wrong by cause."""

    n_pairs: int
    n_right: int
    causes: dict[str, int]
    n_missed: int  # gold pairs that were not mined

    @property
    def n_wrong(self) -> int:
        """The number of mined pairs that gold lacks."""
        return self.n_pairs - self.n_right


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
    gold = open_gold(books, read)
    assert gold.coverage is not None
    return JudgedBooks(judge_pairs(gold.tagged, gold.tag(tagger, found=True)), gold.coverage)


def count_pair_errors(judged: JudgedPairs) -> PairErrors:
    """Counts the judged pairs by cause."""
    causes = Counter(pair.cause for pair in judged.mined)
    n_missed = sum(judged.n_gold.values()) - causes[""]
    by_cause = {name: causes[name] for name in CAUSES}
    return PairErrors(len(judged.mined), causes[""], by_cause, n_missed)


LEVELS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)  # least confidences at which pairs are measured
# The values of `miner mine --min-confidence` that the trade-off shows.
MIN_CONFIDENCES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)


def measure_tradeoff(
    judged: JudgedPairs,
    min_confidences: Sequence[float] = MIN_CONFIDENCES,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> list[KeptPairs]:
    """Measures what is kept at each minimum confidence, with 95% intervals over chapters."""
    if not judged.mined:
        raise InputError("found no mined pair in the annotated chapters, expected some")
    if any(min_confidences) and any(pair.confidence is None for pair in judged.mined):
        raise InputError("found tags without confidence, expected those of a checkpoint")
    number = {chapter: n for n, chapter in enumerate(judged.n_gold)}
    rows: list[KeptPairs] = []
    for level in min_confidences:
        counts = np.zeros((len(number), 3))  # kept, right, gold
        counts[:, 2] = list(judged.n_gold.values())
        for pair in judged.mined:
            if (pair.confidence or 0.0) >= level:
                counts[number[pair.book, pair.chapter], :2] += 1, pair.is_right
        n_kept = int(counts[:, 0].sum())
        scores = score_table(counts, _precision_and_recall, resamples, seed)
        rows.append(KeptPairs(level, n_kept, n_kept / len(judged.mined), **scores))
    return rows


def measure_pairs(judged: JudgedPairs, resamples: int, seed: int) -> tuple[KeptPairs, ...]:
    """Measures the mined pairs at each of `LEVELS`; at 0 alone if some have no confidence."""
    is_sure = all(pair.confidence is not None for pair in judged.mined)
    levels = LEVELS if is_sure else LEVELS[:1]
    return tuple(measure_tradeoff(judged, levels, resamples=resamples, seed=seed))


def _precision_and_recall(counts: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    kept, right, gold = counts.T
    with np.errstate(invalid="ignore"):
        return {"precision": right / kept, "recall": right / gold}


_N_BINS = 10
_LEAST = 10  # tags of a bin that is drawn; of fewer, the interval is most of 0..1
_Z = 1.96  # of a 95% interval


@dataclass(frozen=True, slots=True)
class Bin:
    """The `n` tags whose confidence lies from `low` to `high`.

    `confidence` is their mean confidence, `accuracy` the share of them that is right.
    """

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of `accuracy` (Wilson 1927), as if each tag were drawn by itself."""
        share = _Z**2 / self.n
        middle = self.accuracy + share / 2
        half = _Z * math.sqrt(self.accuracy * (1 - self.accuracy) / self.n + share / 4 / self.n)
        return max(0.0, (middle - half) / (1 + share)), min(1.0, (middle + half) / (1 + share))

    def join(self, other: Bin) -> Bin:
        """Returns one bin of these tags and those of a bin above."""
        n = self.n + other.n
        confidence = (self.n * self.confidence + other.n * other.confidence) / n
        accuracy = (self.n * self.accuracy + other.n * other.accuracy) / n
        return Bin(self.low, other.high, n, confidence, accuracy)


def measure_reliability(matched: Iterable[tuple[TaggedSpan, TaggedSpan]]) -> tuple[Bin, ...]:
    """Measures how often predicted tags are right, by their confidence."""
    claimed = [
        (theirs.confidence, ours.tag is theirs.tag)
        for ours, theirs in matched
        if theirs.confidence is not None
    ]
    return bin_tags([confidence for confidence, _ in claimed], [right for _, right in claimed])


def join_small_bins(bins: Iterable[Bin]) -> tuple[Bin, ...]:
    """Joins neighbours, from the lowest up, until each has at least ten tags.

    Fewer tags than that are one bin.
    """
    joined: list[Bin] = []
    for item in bins:
        if joined and joined[-1].n < _LEAST:
            item = joined.pop().join(item)
        joined.append(item)
    if len(joined) > 1 and joined[-1].n < _LEAST:
        last = joined.pop()
        joined.append(joined.pop().join(last))
    return tuple(joined)


def bin_tags(confidences: Sequence[float], are_right: Sequence[bool]) -> tuple[Bin, ...]:
    """Sorts tags into ten bins of equal width by their confidence; empty bins are left out."""
    confidence, correct = np.array(confidences, dtype=float), np.array(are_right, dtype=float)
    numbers = np.minimum((confidence * _N_BINS).astype(int), _N_BINS - 1)
    return tuple(
        Bin(
            n / _N_BINS,
            (n + 1) / _N_BINS,
            int((numbers == n).sum()),
            float(confidence[numbers == n].mean()),
            float(correct[numbers == n].mean()),
        )
        for n in range(_N_BINS)
        if (numbers == n).any()
    )


def measure_tagger(
    books: Sequence[AnnotatedBook],
    read: BookReader,
    tagger: Tagger,
    speak: Speak | None = None,
    *,
    name: str,
    dtype: str,
    weights: dict[str, list[str]],
    split: str = "test",
    resamples: int = 1000,
    seed: int = 0,
) -> PublishedScores:
    """Measures what a tagger mines from annotated books, with 95% intervals over chapters.

    Everything is measured from the book: the miner finds the utterances, too. All of the books have
    to be at hand, since the figures go with the tagger.
    """
    opened = open_gold(books, read)
    assert opened.coverage is not None
    if opened.coverage.left_out:
        raise InputError(f"found {opened.coverage.summary}, expected all books")
    gold, mined = opened.tagged, opened.tag(tagger, name, found=True)
    scores = score(gold, mined, split=split, resamples=resamples, seed=seed)
    speakers = None
    if speak is not None:
        spoken = score_annotated_speakers(
            books, read, [(name, speak)], split=split, resamples=resamples, seed=seed
        )
        speakers = spoken.rows[0].from_book[ALL]
    measures = scores.total.end_to_end
    return PublishedScores(
        tagger=name,
        dtype=dtype,
        weights=weights,
        languages=tuple(sorted({book.spans.language for book in opened.books})),
        split=split,
        n_books=len(gold),
        n_chapters=scores.total.n_chapters,
        beginnings=PrecisionRecall(measures["B-START.precision"], measures["B-START.recall"]),
        pairs=measure_pairs(judge_pairs(gold, mined), resamples, seed),
        speakers=speakers,
        signature=scores.signature,
    )
