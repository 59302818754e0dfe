"""Taggers and annotated books in several languages -> their scores by language, from the book.

Everything is measured end to end: the utterances are those that are found, not those of the gold.
An utterance is right if both of its ends are, to the letter; marks and white space do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from miner.annotation.annotations import AnnotatedBook
from miner.annotation.matching import judge_pairs
from miner.lab.gold.editions import (
    BookReader,
    Coverage,
    Edition,
    note_of_few,
    read_editions_at_hand,
    tag_found_spans,
)
from miner.lab.measure.confidence import LEVELS, measure_tradeoff
from miner.lab.measure.scores import (
    CountTable,
    count_chapters,
    rates_from_counts,
    rates_from_totals,
    resample_chapters,
    score_from_draws,
    window_size,
)
from miner.score import Score
from miner.speech.tags import Tag, TaggedBook, Tagger
from miner.tagger.published_scores import KeptPairs

MEAN = "mean"  # stands for all languages, each with the same weight
LETTERS = "letters"  # the unit of the letters inside speech
UNITS = ("utterance", LETTERS, "B-START", "turn-pair")
PARTS = ("precision", "recall", "f1")

_Rates = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class LanguageScores:
    """What one tagger makes of the annotated chapters of one language, from the book.

    Attributes:
        tagger: its name.
        language: the code of the language, or `MEAN`.
        n_books: how many books were judged.
        n_chapters: how many annotated chapters of them.
        n_utterances: how many utterances the gold has there.
        scores: by name, such as "turn-pair.f1", each of `UNITS` with each of `PARTS`.
        kept: the turn pairs at each least confidence of `trust.LEVELS`; those at 0 alone if the
            tagger gives no confidence, and none of the mean.
    """

    tagger: str
    language: str
    n_books: int
    n_chapters: int
    n_utterances: int
    scores: Mapping[str, Score]
    kept: tuple[KeptPairs, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The row as plain values."""
        return {
            "tagger": self.tagger,
            "language": self.language,
            "books": self.n_books,
            "chapters": self.n_chapters,
            "utterances": self.n_utterances,
            "scores": {name: score.to_json() for name, score in self.scores.items()},
            "turn_pairs": [kept.to_json() for kept in self.kept],
        }


@dataclass(frozen=True, slots=True)
class LanguageComparison:
    """A row for each tagger and language, tagger by tagger, and what the scores are of."""

    rows: tuple[LanguageScores, ...]
    coverage: Coverage

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines below a table: what is missing, and the languages with few chapters."""
        counts = {row.language: row.n_chapters for row in self.rows}
        return self.coverage.notes + (note_of_few(counts) if len(counts) > 1 else ())


class _Tables(NamedTuple):
    """The counts of one tagger in one language, with a row for each chapter."""

    items: CountTable
    letters: NDArray[np.int64]

    def rates(self, resamples: int, seed: int) -> tuple[_Rates, _Rates]:
        """The measures by name: of all chapters (one row), and of draws of them."""
        both = np.hstack(self)
        width = self.items.shape[1]

        def rates_of(sums: NDArray[np.int64]) -> _Rates:
            letters = _rates_of_letters(sums[:, width:].astype(np.float64))
            return _select_rates(rates_from_totals(sums[:, :width])) | letters

        drawn = resample_chapters(both, resamples, seed)
        return rates_of(both.sum(axis=0)[None, :]), rates_of(drawn)


def compare_by_language(
    books: Sequence[AnnotatedBook],
    read: BookReader,
    taggers: Sequence[tuple[str, Tagger]],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> LanguageComparison:
    """Scores taggers on annotated books from the book to the tags, language by language.

    If there are several languages, each tagger has a row for their mean, too. Intervals are from
    draws of chapters, in each language by itself.
    """
    opened, coverage = read_editions_at_hand(books, read)
    opened.sort(key=_language_of)  # stable: the order of the books within a language
    by_language = {code: list(group) for code, group in groupby(opened, _language_of)}
    rows: list[LanguageScores] = []
    for name, tagger in taggers:
        measured: list[tuple[_Rates, _Rates]] = []
        of_tagger: list[LanguageScores] = []
        for number, (language, editions) in enumerate(by_language.items()):
            gold = [edition.located.tagged() for edition in editions]
            found = [tag_found_spans(edition, tagger, name) for edition in editions]
            tables = _count(gold, found)
            measured.append(tables.rates(resamples, seed + number))
            of_tagger.append(
                LanguageScores(
                    name,
                    language,
                    len(editions),
                    len(tables.items),
                    sum(item.tag is not Tag.O for book in gold for item in book.spans),
                    _scores(*measured[-1]),
                    _keep_pairs(gold, found, resamples, seed),
                )
            )
        rows += of_tagger
        if len(of_tagger) > 1:
            rows.append(_mean_row(of_tagger, measured))
    return LanguageComparison(tuple(rows), coverage)


def count_letters(gold: TaggedBook, predicted: TaggedBook) -> NDArray[np.int64]:
    """Counts the letters of utterances: of both books, of `predicted` alone, and of `gold` alone.

    Returns:
        (chapters, 3), the chapters in the order of the gold.
    """
    order = dict.fromkeys(item.span.chapter for item in gold.spans)
    ours, theirs = (_letters_of_utterances(book) for book in (gold, predicted))
    empty = set[tuple[int, int]]()
    sides = [(ours.get(chapter, empty), theirs.get(chapter, empty)) for chapter in order]
    counts = [(len(a & b), len(b - a), len(a - b)) for a, b in sides]
    return np.array(counts, dtype=np.int64).reshape(-1, 3)


def _letters_of_utterances(book: TaggedBook) -> dict[int, set[tuple[int, int]]]:
    """Returns the paragraph and the offset of each letter of the utterances, by chapter."""
    found: dict[int, set[tuple[int, int]]] = {}
    for item in book.spans:
        if item.tag is not Tag.O:
            span = item.span
            found.setdefault(span.chapter, set()).update(
                (span.paragraph, at)
                for at, character in enumerate(span.text, span.start)
                if character.isalnum()
            )
    return found


def _language_of(edition: Edition) -> str:
    return edition.annotated.card.language


def _count(gold: Sequence[TaggedBook], found: Sequence[TaggedBook]) -> _Tables:
    k = window_size(gold)
    pairs = list(zip(gold, found, strict=True))
    return _Tables(
        np.concatenate([count_chapters(truth, guess, k)[0] for truth, guess in pairs]),
        np.concatenate([count_letters(truth, guess) for truth, guess in pairs]),
    )


def _select_rates(rates: _Rates) -> _Rates:
    wanted = [f"{unit}.{part}" for unit in UNITS if unit != LETTERS for part in PARTS]
    return {name: rates[name] for name in wanted}


def _rates_of_letters(counts: NDArray[np.float64]) -> _Rates:
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = rates_from_counts(counts)
    return {f"{LETTERS}.{part}": values for part, values in zip(PARTS, rates, strict=True)}


def _scores(rates: _Rates, drawn: _Rates) -> dict[str, Score]:
    return {name: score_from_draws(name, rates[name][0], drawn[name]) for name in rates}


def _mean_row(
    rows: Sequence[LanguageScores], measured: Sequence[tuple[_Rates, _Rates]]
) -> LanguageScores:
    """Returns the mean over the languages; it has draws if every language has them."""
    n_draws = min(len(next(iter(drawn.values()))) for _, drawn in measured)
    whole, drawn = (
        {
            name: np.mean([rates[side][name][:n] for rates in measured], axis=0)
            for name in measured[0][0]
        }
        for side, n in ((0, 1), (1, n_draws))
    )
    return LanguageScores(
        rows[0].tagger,
        MEAN,
        sum(row.n_books for row in rows),
        sum(row.n_chapters for row in rows),
        sum(row.n_utterances for row in rows),
        _scores(whole, drawn),
    )


def _keep_pairs(
    gold: Sequence[TaggedBook], found: Sequence[TaggedBook], resamples: int, seed: int
) -> tuple[KeptPairs, ...]:
    judged = judge_pairs(gold, found)
    if not judged.mined:
        return ()
    is_sure = all(pair.confidence is not None for pair in judged.mined)
    levels = LEVELS if is_sure else LEVELS[:1]
    return tuple(measure_tradeoff(judged, levels, resamples=resamples, seed=seed))
