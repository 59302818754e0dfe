"""Two independent readings of the same chapters -> how far they agree, fact by fact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import cohen_kappa_score

from miner.annotation.annotations import AnnotatedBook, Annotation, Annotations
from miner.annotation.derivation import derive_tags, tag_annotations
from miner.dialogue.tags import Tag, TaggedBook
from miner.evaluation.scores import Scores, score


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two readings agree; shares are 0..1, over the spans that both have.

    `same_spans` is the share of the quoted spans of either that both cut alike, `speech` agrees on
    what is an utterance. Over the utterances of both: `speaker` agrees on who speaks, names of the
    one reading matched with names of the other, one to one in each chapter, as well as can be;
    `boundary` agrees on whether an utterance is of the conversation of the utterance before.
    `kappa` is Cohen's, on the five tags. `scores` are those of the second reading against the
    first.
    """

    n_chapters: int
    n_spans: int
    n_both: int
    n_same_tag: int
    same_spans: float
    speech: float
    speaker: float
    boundary: float
    kappa: float
    scores: Scores

    def to_json(self) -> dict[str, Any]:
        """The agreement as plain values; of the scores, B-START and turn pairs end to end."""
        figure = self.scores.total.end_to_end
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
            "B-START F1": figure["B-START.f1"].value,
            "turn-pair F1": figure["turn-pair.f1"].value,
        }


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A span to which two readings give different tags; None where a reading lacks the span."""

    book: str
    first: Annotation | None
    second: Annotation | None
    first_tag: Tag | None
    second_tag: Tag | None


def agreement(
    first: Sequence[AnnotatedBook], second: Sequence[AnnotatedBook], *, resamples: int = 1000
) -> Agreement:
    """How far the second reading agrees with the first, on the chapters that both read.

    Raises:
        ValueError: if there is no such chapter.
    """
    golds: list[TaggedBook] = []
    guesses: list[TaggedBook] = []
    tags: list[tuple[Tag, Tag]] = []
    n_spans = n_speech = n_spoken = n_boundaries = n_same_boundaries = n_speakers = n_chapters = 0
    for one, two in _common(first, second):
        golds.append(tag_annotations(one))
        guesses.append(tag_annotations(two))
        for chapter in one.chapters:
            n_chapters += 1
            pairs, alone = _paired(one, two, chapter)
            n_spans += len(pairs) + alone
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
                goes_on = (a[0].conversation == c[0].conversation) == (
                    b[0].conversation == d[0].conversation
                )
                n_same_boundaries += goes_on
    if not golds:
        raise ValueError("found no chapter in two readings, expected at least one")
    if not tags:
        raise ValueError("found no span that two readings cut alike, expected the same edition")
    ours, theirs = ([str(pair[side]) for pair in tags] for side in (0, 1))
    return Agreement(
        n_chapters,
        n_spans,
        len(tags),
        sum(a == b for a, b in tags),
        len(tags) / n_spans,
        n_speech / len(tags),
        # Where there is nothing to disagree about, nobody disagrees.
        n_speakers / n_spoken if n_spoken else 1.0,
        n_same_boundaries / n_boundaries if n_boundaries else 1.0,
        1.0 if ours == theirs else float(cohen_kappa_score(ours, theirs)),
        score(golds, guesses, split="twice read", resamples=resamples),
    )


def reading_agreements(annotations: Annotations) -> dict[str, Agreement]:
    """The agreement of the two readings, and of each with the gold that was made of them.

    Raises:
        ValueError: if no chapter was read twice.
    """
    return {
        "first, second": agreement(annotations.first, annotations.second),
        "gold, first": agreement(annotations.gold, annotations.first),
        "gold, second": agreement(annotations.gold, annotations.second),
    }


def disagreements(
    first: Sequence[AnnotatedBook], second: Sequence[AnnotatedBook]
) -> list[Disagreement]:
    """The spans on whose tags two readings differ, in reading order."""
    found: list[Disagreement] = []
    for one, two in _common(first, second):
        for chapter in one.chapters:
            ours, theirs = (_with_tags(book, chapter) for book in (one, two))
            for key in sorted({**ours, **theirs}, key=lambda key: key[0]):  # stable
                a, a_tag = ours.get(key, (None, None))
                b, b_tag = theirs.get(key, (None, None))
                if a_tag is not b_tag:
                    found.append(Disagreement(one.card.book, a, b, a_tag, b_tag))
    return found


_Key = tuple[int, str, int]  # paragraph, fingerprint, and which of several alike in the paragraph
_Fact = tuple[Annotation, Tag]


def _with_tags(annotated: AnnotatedBook, chapter: int) -> dict[_Key, _Fact]:
    """The annotations of a chapter with their tags, by what makes two readings' spans one."""
    facts = [fact for fact in annotated.annotations if fact.chapter == chapter]
    seen = Counter[tuple[int, str]]()
    found: dict[_Key, _Fact] = {}
    for fact, tag in zip(facts, derive_tags(facts), strict=True):
        place = fact.paragraph, str(fact.fingerprint)
        found[*place, seen[place]] = fact, tag
        seen[place] += 1
    return found


def _paired(
    one: AnnotatedBook, two: AnnotatedBook, chapter: int
) -> tuple[list[tuple[_Fact, _Fact]], int]:
    """The spans of a chapter that both readings cut alike, and the number of the others."""
    ours, theirs = (_with_tags(book, chapter) for book in (one, two))
    pairs = [(fact, theirs[key]) for key, fact in ours.items() if key in theirs]
    return pairs, len(ours) + len(theirs) - 2 * len(pairs)


def _common(
    first: Iterable[AnnotatedBook], second: Iterable[AnnotatedBook]
) -> list[tuple[AnnotatedBook, AnnotatedBook]]:
    """The books of both, cut to the chapters of both."""
    theirs = {book.card.book: book for book in second}
    pairs = []
    for one in first:
        two = theirs.get(one.card.book)
        chapters = set(one.chapters) & set(two.chapters) if two else set[int]()
        if two and chapters:
            pairs.append((_of_chapters(one, chapters), _of_chapters(two, chapters)))
    return pairs


def _of_chapters(book: AnnotatedBook, chapters: set[int]) -> AnnotatedBook:
    kept = tuple(fact for fact in book.annotations if fact.chapter in chapters)
    return AnnotatedBook(book.card, kept)
