"""Gold tags against predicted ones -> counts per chapter -> precision, recall, F1, intervals.

Everything is counted per chapter first and scored last, so a bootstrap over chapters is a sum of
resampled rows. Every measure compares sets of things made of utterance spans (a span with its tag,
a turn, a pair, a dialogue): a predicted thing is right when gold has the same thing, made of the
same spans. Tags of narration are not counted: what is narration is decided before tagging.

Two figures are given. `end_to_end` is what a user gets: an utterance that was not found is a miss
of its tag, a spurious one a false positive, and a thing with a spurious span in it is wrong.
`on_gold_spans` looks only at the utterances that both sides have: the tagger alone.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from miner import __version__
from miner.dialogue.tags import TaggedBook
from miner.evaluation.counts import (
    PK,
    REPAIRED,
    TAGS,
    UNITS,
    WINDOWDIFF,
    WINDOWS,
    CountTable,
    counted,
    window,
)

_TAG_COLUMNS = slice(1, 1 + len(TAGS))

_Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Counts:
    """Right (`tp`), spurious (`fp`) and missed (`fn`) things of one sort; they add up."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: Counts) -> Counts:
        """The counts of both together."""
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)


@dataclass(frozen=True, slots=True)
class Score:
    """A measure, 0 to 1, with its 95% interval; None where it is not defined.

    Precision is not defined where nothing was predicted, recall where gold has nothing, F1 where
    both hold, an interval with fewer than two chapters.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval; the value, or 0, where it has none."""
        value = self.value or 0.0
        return (
            value if self.low is None else self.low,
            value if self.high is None else self.high,
        )

    def to_json(self) -> dict[str, float | None]:
        """Value and interval, fit for `json.dumps`."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Figure:
    """All scores of one way of counting, and the counts they come from, per unit."""

    scores: tuple[Score, ...]
    counts: tuple[tuple[str, Counts], ...]

    def __getitem__(self, name: str) -> Score:
        """The score of that name, "turn-pair.f1" or "pk"; KeyError where there is none."""
        return {score.name: score for score in self.scores}[name]

    def to_json(self) -> dict[str, Any]:
        """Scores and counts by name, fit for `json.dumps`; what is not defined is None."""
        return {
            "scores": {score.name: score.to_json() for score in self.scores},
            "counts": {unit: {"tp": c.tp, "fp": c.fp, "fn": c.fn} for unit, c in self.counts},
        }


@dataclass(frozen=True, slots=True)
class Part:
    """Both figures of one book, or of all; numbers are of utterance spans in judged chapters.

    `n_repaired` counts the predicted tags that may not follow the tag before.
    """

    book: str
    n_chapters: int
    n_gold: int
    n_predicted: int
    n_matched: int
    n_repaired: int
    end_to_end: Figure
    on_gold_spans: Figure

    def to_json(self) -> dict[str, Any]:
        """The part without its name, fit for `json.dumps`."""
        return {
            "n_chapters": self.n_chapters,
            "n_gold": self.n_gold,
            "n_predicted": self.n_predicted,
            "n_matched": self.n_matched,
            "n_repaired": self.n_repaired,
            "end_to_end": self.end_to_end.to_json(),
            "on_gold_spans": self.on_gold_spans.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Scores:
    """What `score` found: over all books, per book, and what exactly was scored.

    `missing` are gold books without a prediction, scored as missed; `ignored` are predicted books
    without gold, not scored.
    """

    signature: str
    total: Part
    books: tuple[Part, ...]
    missing: tuple[str, ...]
    ignored: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Everything, fit for `json.dumps`; no NaN."""
        return {
            "signature": self.signature,
            "total": self.total.to_json(),
            "books": {part.book: part.to_json() for part in self.books},
            "missing": list(self.missing),
            "ignored": list(self.ignored),
        }


def score(
    gold: Sequence[TaggedBook],
    predicted: Sequence[TaggedBook],
    *,
    split: str = "all",
    resamples: int = 1000,
    seed: int = 0,
) -> Scores:
    """The scores of predicted books against gold ones, in both figures, per book and over all.

    Judged are the chapters that gold has spans in. Each tag, and the micro and macro average over
    the four; turns (the strict IOB2 entities of seqeval, narration inside a turn bridged);
    pairs of turns, and pairs of spans after "Mining Conversations from Novels"; whole dialogues;
    Pk (Beeferman et al. 1999) and WindowDiff (Pevzner and Hearst 2002), which are errors, not
    merits, over the matched utterances in both figures. Intervals are the 2.5 and 97.5 percentiles
    of `resamples` draws of chapters with replacement.

    Args:
        gold: legal sequences, each book once.
        predicted: each book once, in any order. An illegal tag counts as the tag it is end to end;
            for all that is built of tags, and on gold spans, it is repaired (`tags.repair_tags`).
        split: what the caller chose of the data, for the signature only.
        resamples: draws of the bootstrap; 0 for no intervals.
        seed: of the bootstrap.

    Raises:
        ValueError: on no gold, a book given twice, or an illegal sequence of gold tags (names book,
            paragraph and span).
    """
    golds, predictions = _by_book(gold, "gold"), _by_book(predicted, "predicted")
    if not golds:
        raise ValueError("found no gold book, expected at least one")
    k = window(gold)
    statistics: dict[str, tuple[CountTable, CountTable]] = {}
    for name, book in golds.items():
        statistics[name] = counted(book, predictions.get(name, TaggedBook(name, ())), k)
    both = tuple(np.concatenate(parts) for parts in zip(*statistics.values(), strict=True))
    scored = [predictions[name] for name in golds if name in predictions]
    signature = (
        f"unit:span|gold:{_source(gold)}|predicted:{_source(scored)}|split:{split}"
        f"|chapters:{len(both[0])}|k:{k}|bs:{resamples}|seed:{seed}|version:{__version__}"
    )
    return Scores(
        signature,
        _part("all", both[0], both[1], resamples, seed),
        tuple(_part(name, *pair, resamples, seed) for name, pair in statistics.items()),
        tuple(name for name in golds if name not in predictions),
        tuple(name for name in predictions if name not in golds),
    )


def _by_book(books: Sequence[TaggedBook], side: str) -> dict[str, TaggedBook]:
    """The books by id; one id twice is refused."""
    twice = [book for book, n in Counter(tagged.book for tagged in books).items() if n > 1]
    if twice:
        raise ValueError(f"{side}: found book {twice[0]} more than once, expected each book once")
    return {tagged.book: tagged for tagged in books}


def _source(books: Sequence[TaggedBook]) -> str:
    """Where the books were read from, in one word: the source, or a digest of several."""
    sources = list(dict.fromkeys(book.source or "memory" for book in books))
    if len(sources) > 1:
        digest = hashlib.sha256("\n".join(sources).encode()).hexdigest()
        return f"{len(sources)}-files@{digest[:8]}"
    return sources[0] if sources else "none"


def _part(
    name: str, end_to_end: CountTable, on_gold: CountTable, resamples: int, seed: int
) -> Part:
    """The part of the result that has these chapters."""
    matched, spurious, missed = (int(n) for n in end_to_end.sum(axis=0)[:3])
    return Part(
        name,
        len(end_to_end),
        matched + missed,
        matched + spurious,
        matched,
        int(end_to_end[:, REPAIRED].sum()),
        figure(end_to_end, resamples, seed),
        figure(on_gold, resamples, seed),
    )


def figure(statistics: CountTable, resamples: int = 0, seed: int = 0) -> Figure:
    """The scores of the summed statistics, and their intervals from resampled sums.

    Args:
        statistics: as `counts.counted` gives them, of one way of counting.
        resamples: draws of the bootstrap; 0 for no intervals.
        seed: of the bootstrap.
    """
    total = statistics.sum(axis=0)
    drawn = _measures(resampled(statistics, resamples, seed))
    measures = _measures(total[None, :])
    scores = [scored(name, values[0], drawn[name]) for name, values in measures.items()]
    counts = total[:REPAIRED].reshape(-1, 3).tolist()
    return Figure(tuple(scores), tuple((u, Counts(*c)) for u, c in zip(UNITS, counts, strict=True)))


def resampled(statistics: NDArray[Any], resamples: int, seed: int) -> NDArray[Any]:
    """Sums over draws of chapters with replacement.

    Args:
        statistics: (chapters, columns), to be summed over chapters.
        resamples: draws.
        seed: of the draws.

    Returns:
        (resamples, columns); no rows with fewer than two chapters.
    """
    n_chapters = len(statistics)
    if n_chapters < 2:
        return statistics[:0]
    draws = np.random.default_rng(seed).multinomial(
        n_chapters, [1 / n_chapters] * n_chapters, size=resamples
    )
    return draws @ statistics


def scored(name: str, value: float, drawn: _Values) -> Score:
    """A measure with its 95% interval, from its values in the draws; NaN where it is not defined.

    A draw in which it is not defined says nothing about it.
    """
    if np.isnan(value):
        return Score(name, None, None, None)
    defined = drawn[~np.isnan(drawn)]
    if not defined.size:
        return Score(name, float(value), None, None)
    low, high = np.percentile(defined, [2.5, 97.5])
    return Score(name, float(value), float(low), float(high))


def _measures(totals: CountTable) -> dict[str, _Values]:
    """Every measure, by name, of each row of summed statistics; NaN where it is not defined.

    `accuracy` is right tags among the utterances that either side has. The macro average is over
    the tags that occur on either side; there, and only there, a precision or recall that is not
    defined counts as 0, so that it pays no tagger to leave a tag out.
    """
    counts = totals[:, :REPAIRED].reshape(len(totals), len(UNITS), 3).astype(np.float64)
    tags = counts[:, _TAG_COLUMNS]
    measures: dict[str, _Values] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, sums in [
            *((unit, counts[:, n]) for n, unit in enumerate(UNITS)),
            ("micro", tags.sum(axis=1)),
        ]:
            for rate, values in zip(("precision", "recall", "f1"), _rates(sums), strict=True):
                measures[f"{name}.{rate}"] = values
        n_tags = (tags.sum(axis=2) > 0).sum(axis=1)
        for rate, values in zip(("precision", "recall", "f1"), _rates(tags), strict=True):
            measures[f"macro.{rate}"] = np.nan_to_num(values).sum(axis=1) / n_tags
        measures["accuracy"] = tags[:, :, 0].sum(axis=1) / counts[:, 0].sum(axis=1)
        measures["pk"] = totals[:, PK] / totals[:, WINDOWS]
        measures["windowdiff"] = totals[:, WINDOWDIFF] / totals[:, WINDOWS]
    return measures


def _rates(counts: _Values) -> tuple[_Values, _Values, _Values]:
    """Precision, recall and F1 of (..., 3) counts; NaN for 0 / 0."""
    tp, fp, fn = np.moveaxis(counts, -1, 0)
    return tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn)


def rounded(value: float | None) -> str:
    """Three decimals, or a dash where a measure is not defined."""
    return "—" if value is None else f"{value:.3f}"


def with_interval(score: Score) -> str:
    """A score and its 95% interval."""
    if score.low is None or score.high is None:
        return rounded(score.value)
    return f"{rounded(score.value)} [{score.low:.2f}–{score.high:.2f}]"
