"""Two independent readings of the same chapters -> how far the two annotators agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from miner.annotation.annotations import (
    AnnotatedBook,
    Annotation,
    Annotations,
    derive_tags,
    tag_annotations,
)
from miner.errors import InputError
from miner.extras import import_extra
from miner.lab.measure.scores import Scores, score
from miner.speech.tags import Tag, TaggedBook


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two readings agree; shares are 0 to 1."""

    n_chapters: int  # chapters that both read
    n_spans: int  # quoted spans of either reading
    n_both: int  # spans that both readings have, cut alike
    n_same_tag: int  # spans of both with the same tag
    same_spans: float  # `n_both` as a share of `n_spans`
    speech: float  # share of the spans of both on which they agree whether it is an utterance
    # share of the utterances of both with the same speaker. In each chapter the names of one
    # reading are matched one to one with the names of the other, as well as possible.
    speaker: float
    # share of the pairs of successive utterances on which they agree whether both utterances belong
    # to one conversation
    boundary: float
    kappa: float  # Cohen's kappa on the five tags
    scores: Scores  # of the second reading against the first

    def to_json(self) -> dict[str, Any]:
        """The agreement as plain values, with B-START F1 and turn-pair F1 end to end."""
        measures = self.scores.total.end_to_end
        return {
            "chapters": self.n_chapters,
            "spans": self.n_spans,
            "spans of both": self.n_both,
            "same span": self.same_spans,
            "speech or not": self.speech,
            "speaker": self.speaker,
            "conversation goes on": self.boundary,
            "same tag": self.n_same_tag / self.n_both,
            "kappa of tags": self.kappa,
            "B-START F1": measures["B-START.f1"].value,
            "turn-pair F1": measures["turn-pair.f1"].value,
        }


def measure_agreement(
    first: Sequence[AnnotatedBook], second: Sequence[AnnotatedBook], *, resamples: int = 1000
) -> Agreement:
    """Measures how far two readings agree, on the chapters that both read."""
    import_extra("sklearn", "lab")
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import cohen_kappa_score

    golds: list[TaggedBook] = []
    guesses: list[TaggedBook] = []
    tags: list[tuple[Tag, Tag]] = []
    n_spans = n_speech = n_spoken = n_boundaries = n_same_boundaries = n_speakers = n_chapters = 0
    for one, two in _common_books(first, second):
        golds.append(tag_annotations(one))
        guesses.append(tag_annotations(two))
        for chapter in one.chapters:
            n_chapters += 1
            pairs, n_alone = _match_chapter(one, two, chapter)
            n_spans += len(pairs) + n_alone
            both = [(a, b) for a, b in pairs if a[0].is_utterance and b[0].is_utterance]
            n_speech += sum(a[0].is_utterance == b[0].is_utterance for a, b in pairs)
            n_spoken += len(both)
            tags += [(a[1], b[1]) for a, b in pairs]
            names = Counter((a[0].speaker, b[0].speaker) for a, b in both)
            rows, columns = (sorted({pair[side] for pair in names}) for side in (0, 1))
            table = np.array([[names[row, column] for column in columns] for row in rows])
            if both:
                n_speakers += int(table[linear_sum_assignment(table, maximize=True)].sum())
            for (a, b), (c, d) in pairwise(both):
                n_boundaries += 1
                n_same_boundaries += (a[0].conversation == c[0].conversation) == (
                    b[0].conversation == d[0].conversation
                )
    if not golds:
        raise InputError("found no chapter in two readings, expected at least one")
    if not tags:
        raise InputError("found no span that two readings cut alike, expected the same edition")
    ours, theirs = ([str(pair[side]) for pair in tags] for side in (0, 1))
    return Agreement(
        n_chapters=n_chapters,
        n_spans=n_spans,
        n_both=len(tags),
        n_same_tag=sum(a == b for a, b in tags),
        same_spans=len(tags) / n_spans,
        speech=n_speech / len(tags),
        # Without anything to disagree about, agreement is full.
        speaker=n_speakers / n_spoken if n_spoken else 1.0,
        boundary=n_same_boundaries / n_boundaries if n_boundaries else 1.0,
        kappa=1.0 if ours == theirs else float(cohen_kappa_score(ours, theirs)),
        scores=score(golds, guesses, split="twice read", resamples=resamples),
    )


def compare_readings(annotations: Annotations) -> dict[str, Agreement]:
    """Measures the agreement of the two readings, and of each reading with the gold.

    The gold was made from the two readings.
    """
    return {
        "first, second": measure_agreement(annotations.first, annotations.second),
        "gold, first": measure_agreement(annotations.gold, annotations.first),
        "gold, second": measure_agreement(annotations.gold, annotations.second),
    }


def compare_readings_by_language(annotations: Annotations) -> dict[str, Agreement]:
    """Measures the agreement of the two readings in each language, by its code."""
    parts = {code: annotations.of_language(code) for code in annotations.languages}
    return {code: measure_agreement(part.first, part.second) for code, part in parts.items()}


# What identifies a span in both readings: its paragraph, its fingerprint, and its number among the
# spans with that fingerprint in the paragraph.
_Key = tuple[int, str, int]
_Fact = tuple[Annotation, Tag]


def _tag_chapter(annotated: AnnotatedBook, chapter: int) -> dict[_Key, _Fact]:
    """The annotations of a chapter with their tags, by what identifies the span."""
    facts = [fact for fact in annotated.annotations if fact.chapter == chapter]
    seen = Counter[tuple[int, str]]()
    found: dict[_Key, _Fact] = {}
    for fact, tag in zip(facts, derive_tags(facts), strict=True):
        place = fact.paragraph, str(fact.fingerprint)
        found[*place, seen[place]] = fact, tag
        seen[place] += 1
    return found


def _match_chapter(
    one: AnnotatedBook, two: AnnotatedBook, chapter: int
) -> tuple[list[tuple[_Fact, _Fact]], int]:
    """The spans of a chapter that both readings cut alike, and the number of other spans."""
    ours, theirs = (_tag_chapter(book, chapter) for book in (one, two))
    pairs = [(fact, theirs[key]) for key, fact in ours.items() if key in theirs]
    return pairs, len(ours) + len(theirs) - 2 * len(pairs)


def _common_books(
    first: Iterable[AnnotatedBook], second: Iterable[AnnotatedBook]
) -> list[tuple[AnnotatedBook, AnnotatedBook]]:
    """The books that both readings have, each with the chapters that both have."""
    theirs = {book.card.book: book for book in second}
    pairs = []
    for one in first:
        two = theirs.get(one.card.book)
        chapters = set(one.chapters) & set(two.chapters) if two else set[int]()
        if two and chapters:
            pairs.append((_select_chapters(one, chapters), _select_chapters(two, chapters)))
    return pairs


def _select_chapters(book: AnnotatedBook, chapters: set[int]) -> AnnotatedBook:
    kept = tuple(fact for fact in book.annotations if fact.chapter in chapters)
    return AnnotatedBook(book.card, kept)
