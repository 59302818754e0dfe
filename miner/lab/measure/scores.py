"""Gold tags against predicted ones -> counts per chapter -> precision, recall, F1, intervals.

Items are counted per chapter first, so that a bootstrap over chapters only sums resampled rows.
Every measure compares sets of items made of utterance spans: a span with its tag, a turn, a pair, a
dialogue. A predicted item is right when gold has the same item, made of the same spans. The tags of
narration are not counted, because narration is separated from speech before tagging.

There are two ways of counting. `end_to_end` measures what a user gets: an utterance that was not
found is a miss of its tag, a spurious utterance is a false positive, and an item that contains a
spurious span is wrong. `on_gold_spans` measures the tagger alone, on the utterances that both sides
have.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.lab.gold.coverage import note_of_few
from miner.lab.measure.counts import (
    PK,
    REPAIRED,
    UNITS,
    WINDOWDIFF,
    WINDOWS,
    CountTable,
    count_chapters,
    window_size,
)
from miner.score import Score
from miner.speech.tags import TAGS, TaggedBook
from miner.version import __version__

_TAG_COLUMNS = slice(1, 1 + len(TAGS))

_Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many items of one unit are right (`tp`), spurious (`fp`) and missed (`fn`)."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: Counts) -> Counts:
        """The sum of both counts."""
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)


@dataclass(frozen=True, slots=True)
class Measures:
    """All scores of one way of counting, and the counts of each unit that they come from."""

    scores: tuple[Score, ...]
    counts: tuple[tuple[str, Counts], ...]

    def __getitem__(self, name: str) -> Score:
        """The score of that name, such as "turn-pair.f1" or "pk"."""
        return {score.name: score for score in self.scores}[name]

    def to_json(self) -> dict[str, Any]:
        """The scores and counts by name, as plain values; undefined scores are None."""
        return {
            "scores": {score.name: score.to_json() for score in self.scores},
            "counts": {unit: {"tp": c.tp, "fp": c.fp, "fn": c.fn} for unit, c in self.counts},
        }


@dataclass(frozen=True, slots=True)
class Part:
    """The measures of one book, or of all books together, in both ways of counting.

    The numbers count utterance spans in the judged chapters. `n_repaired` counts the predicted tags
    that may not follow the tag before them.
    """

    book: str
    n_chapters: int
    n_gold: int
    n_predicted: int
    n_matched: int
    n_repaired: int
    end_to_end: Measures
    on_gold_spans: Measures

    def to_json(self) -> dict[str, Any]:
        """The part without its name, as plain values."""
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
    """The result of `score`: over all books, per book, and a signature of what was scored.

    `missing` lists gold books without a prediction; all their items count as missed. `ignored`
    lists predicted books without gold; they are not scored.
    """

    signature: str
    total: Part
    books: tuple[Part, ...]
    missing: tuple[str, ...]
    ignored: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """A line below a table of the scores if they are of few chapters."""
        return note_of_few({"": self.total.n_chapters})

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values, without NaN."""
        return {
            "notes": list(self.notes),
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
    n_left_out: int = 0,
) -> Scores:
    """Scores predicted books against gold books, per book and over all books.

    Only the chapters in which gold has spans are judged. The measures are:

    - each tag, and the micro and macro average over the four tags;
    - turns: the strict entities of IOB2, where narration inside a turn does not end it;
    - pairs of turns, and pairs of spans as in "Mining Conversations from Novels";
    - whole dialogues;
    - Pk (Beeferman et al. 1999) and WindowDiff (Pevzner and Hearst 2002) over the matched
      utterances; these two are error rates, so 0 is best.

    Intervals are the 2.5 and 97.5 percentiles of `resamples` draws of chapters with replacement.

    Args:
        gold: legal sequences, each book once.
        predicted: each book once, in any order. End to end, an illegal tag counts as it is. On gold
            spans, and for turns, pairs and dialogues, it is repaired (`tags.repair_tags`).
        split: the name of the chosen split, for the signature only.
        resamples: draws of the bootstrap; 0 for no intervals.
        seed: of the bootstrap.
        n_left_out: chapters of the split that are not scored, for the signature only.

    Raises:
        InputError: if there is no gold book, a book is given twice, or gold tags are illegal (names
            book, paragraph and span).
    """
    golds, predictions = _by_book(gold, "gold"), _by_book(predicted, "predicted")
    if not golds:
        raise InputError("found no gold book, expected at least one")
    k = window_size(gold)
    tables: dict[str, tuple[CountTable, CountTable]] = {}
    for name, book in golds.items():
        tables[name] = count_chapters(book, predictions.get(name, TaggedBook(name, ())), k)
    both = tuple(np.concatenate(parts) for parts in zip(*tables.values(), strict=True))
    scored = [predictions[name] for name in golds if name in predictions]
    n_chapters = f"{len(both[0])} of {len(both[0]) + n_left_out}" if n_left_out else len(both[0])
    signature = (
        f"unit:span|gold:{_source(gold)}|predicted:{_source(scored)}|split:{split}"
        f"|chapters:{n_chapters}|k:{k}|bs:{resamples}|seed:{seed}|version:{__version__}"
    )
    return Scores(
        signature,
        _part("all", both[0], both[1], resamples, seed),
        tuple(_part(name, *pair, resamples, seed) for name, pair in tables.items()),
        tuple(name for name in golds if name not in predictions),
        tuple(name for name in predictions if name not in golds),
    )


def _by_book(books: Sequence[TaggedBook], side: str) -> dict[str, TaggedBook]:
    """The books by id; raises InputError if an id occurs twice."""
    twice = [book for book, n in Counter(tagged.book for tagged in books).items() if n > 1]
    if twice:
        raise InputError(f"{side}: found book {twice[0]} more than once, expected each book once")
    return {tagged.book: tagged for tagged in books}


def _source(books: Sequence[TaggedBook]) -> str:
    """The source of the books in one word: its name, or a digest of several names."""
    sources = list(dict.fromkeys(book.source or "memory" for book in books))
    if len(sources) > 1:
        digest = hashlib.sha256("\n".join(sources).encode()).hexdigest()
        return f"{len(sources)}-files@{digest[:8]}"
    return sources[0] if sources else "none"


def _part(
    name: str, end_to_end: CountTable, on_gold: CountTable, resamples: int, seed: int
) -> Part:
    """The scores of the chapters in these tables."""
    matched, spurious, missed = (int(n) for n in end_to_end.sum(axis=0)[:3])
    return Part(
        name,
        len(end_to_end),
        matched + missed,
        matched + spurious,
        matched,
        int(end_to_end[:, REPAIRED].sum()),
        measure(end_to_end, resamples, seed),
        measure(on_gold, resamples, seed),
    )


def measure(table: CountTable, resamples: int = 0, seed: int = 0) -> Measures:
    """Computes all scores from the sum of a table, with intervals from resampled sums."""
    total = table.sum(axis=0)
    drawn = rates_from_totals(resample_chapters(table, resamples, seed))
    rates = rates_from_totals(total[None, :])
    scores = [score_from_draws(name, values[0], drawn[name]) for name, values in rates.items()]
    counts = [Counts(*row) for row in total[:REPAIRED].reshape(-1, 3).tolist()]
    return Measures(tuple(scores), tuple(zip(UNITS, counts, strict=True)))


def resample_chapters(table: NDArray[Any], resamples: int, seed: int) -> NDArray[Any]:
    """Sums draws of chapters with replacement.

    Args:
        table: (chapters, columns).
        resamples: the number of draws.
        seed: of the draws.

    Returns:
        (resamples, columns); no rows if there are fewer than two chapters.
    """
    n_chapters = len(table)
    if n_chapters < 2:
        return table[:0]
    draws = np.random.default_rng(seed).multinomial(
        n_chapters, [1 / n_chapters] * n_chapters, size=resamples
    )
    return draws @ table


def score_from_draws(name: str, value: float, drawn: _Values) -> Score:
    """Returns a score with its 95% interval, from its values in the draws.

    NaN stands for an undefined value. Draws in which the score is undefined are left out.
    """
    if np.isnan(value):
        return Score(name, None, None, None)
    defined = drawn[~np.isnan(drawn)]
    if not defined.size:
        return Score(name, float(value), None, None)
    low, high = np.percentile(defined, [2.5, 97.5])
    return Score(name, float(value), float(low), float(high))


def rates_from_totals(totals: CountTable) -> dict[str, _Values]:
    """Returns every measure by name, for each row of summed counts; NaN where it is not defined.

    `accuracy` is the share of right tags among the utterances that either side has. The macro
    average is over the tags that occur on either side. There an undefined precision or recall
    counts as 0, so that a tagger gains nothing by never predicting a tag.
    """
    counts = totals[:, :REPAIRED].reshape(len(totals), len(UNITS), 3).astype(np.float64)
    tags = counts[:, _TAG_COLUMNS]
    rates: dict[str, _Values] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, sums in [
            *((unit, counts[:, n]) for n, unit in enumerate(UNITS)),
            ("micro", tags.sum(axis=1)),
        ]:
            for part, values in zip(
                ("precision", "recall", "f1"), rates_from_counts(sums), strict=True
            ):
                rates[f"{name}.{part}"] = values
        n_tags = (tags.sum(axis=2) > 0).sum(axis=1)
        for part, values in zip(
            ("precision", "recall", "f1"), rates_from_counts(tags), strict=True
        ):
            rates[f"macro.{part}"] = np.nan_to_num(values).sum(axis=1) / n_tags
        rates["accuracy"] = tags[:, :, 0].sum(axis=1) / counts[:, 0].sum(axis=1)
        rates["pk"] = totals[:, PK] / totals[:, WINDOWS]
        rates["windowdiff"] = totals[:, WINDOWDIFF] / totals[:, WINDOWS]
    return rates


def rates_from_counts(counts: _Values) -> tuple[_Values, _Values, _Values]:
    """Returns precision, recall and F1 of (..., 3) counts; NaN for 0 / 0."""
    tp, fp, fn = np.moveaxis(counts, -1, 0)
    return tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn)
