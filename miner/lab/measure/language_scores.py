"""Taggers and annotated books in several languages -> their scores by language, from the book.

Everything is measured end to end: the utterances are those that are found, not those of the gold.
An utterance is right if both of its ends are, to the letter; marks and white space do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from miner.annotation.annotations import AnnotatedBook
from miner.annotation.matching import judge_pairs
from miner.lab.gold.editions import BookReader, Coverage, note_of_few, open_gold
from miner.lab.measure.confidence import measure_pairs
from miner.lab.measure.scores import (
    PARTS,
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

_Rates = dict[str, NDArray[np.float64]]
_KEYS = {"n_books": "books", "n_chapters": "chapters", "n_utterances": "utterances"}


class LanguageScores(Struct, frozen=True, rename=_KEYS | {"kept": "turn_pairs"}):
    """What one tagger makes of the annotated chapters of one language, from the book."""

    tagger: str  # its name
    language: str  # the code of the language, or `MEAN`
    n_books: int
    n_chapters: int  # annotated ones
    n_utterances: int  # that the gold has there
    scores: dict[str, Score]  # by name ("turn-pair.f1"): `UNITS`, each with each of `PARTS`
    kept: tuple[KeptPairs, ...] = ()  # see `measure_pairs`; none of the mean


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
    opened = open_gold(books, read)
    assert opened.coverage is not None
    codes = sorted({book.language for book in opened.books})
    rows: list[LanguageScores] = []
    for name, tagger in taggers:
        measured: list[tuple[_Rates, _Rates]] = []
        of_tagger: list[LanguageScores] = []
        for number, code in enumerate(codes):
            of_language = tuple(book for book in opened.books if book.language == code)
            gold = replace(opened, books=of_language)
            found = gold.tag(tagger, name, found=True)
            counts, judged = _count(gold.tagged, found), judge_pairs(gold.tagged, found)
            drawn = resample_chapters(counts, resamples, seed + number)
            measured.append((_rates(counts.sum(axis=0)[None]), _rates(drawn)))
            of_tagger.append(
                LanguageScores(
                    name,
                    code,
                    len(of_language),
                    len(counts),
                    sum(item.tag is not Tag.O for book in gold.tagged for item in book.spans),
                    _scores(*measured[-1]),
                    measure_pairs(judged, resamples, seed) if judged.mined else (),
                )
            )
        rows += of_tagger
        if len(of_tagger) > 1:
            rows.append(_mean_row(of_tagger, measured))
    return LanguageComparison(tuple(rows), opened.coverage)


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


def _count(gold: Sequence[TaggedBook], found: Sequence[TaggedBook]) -> NDArray[np.int64]:
    """Counts the items of `count_chapters`, then the letters, with a row for each chapter."""
    k = window_size(gold)
    return np.concatenate(
        [
            np.hstack([count_chapters(truth, guess, k)[0], count_letters(truth, guess)])
            for truth, guess in zip(gold, found, strict=True)
        ]
    )


def _rates(sums: NDArray[np.int64]) -> _Rates:
    """Returns the measures by name, for each row of sums."""
    rates = rates_from_totals(sums[:, :-3])
    wanted = [f"{unit}.{part}" for unit in UNITS if unit != LETTERS for part in PARTS]
    return {name: rates[name] for name in wanted} | rates_from_counts(LETTERS, sums[:, -3:])


def _scores(rates: _Rates, drawn: _Rates) -> dict[str, Score]:
    return {name: score_from_draws(rates[name][0], drawn[name]) for name in rates}


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
