"""Annotated utterances and found speakers -> how many speakers are right, by kind of quotation.

The kinds are those of `judged_speakers`. People tell them in the Project Dialogism Novel Corpus.
Here the miner's rules do, in the annotated spans.

An annotator's name ("Mrs Bennet", "waiter") is no id. All names of a chapter are matched with its
people one to one (`characters.matching`), by the names and by whom the page says to speak. Whom the
attributor takes for the speaker has no part in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from miner.annotation.annotations import UNKNOWN, AnnotatedBook, Annotation
from miner.annotation.matching import ends_of
from miner.lab.gold.coverage import Coverage
from miner.lab.gold.editions import BookReader, Edition, read_editions_at_hand
from miner.lab.measure.judged_speakers import (
    KINDS,
    JudgedSpeaker,
    ShownError,
    Speak,
    context_of,
    kind_of,
    people_at_hand,
)
from miner.lab.measure.scores import resample_chapters, score_from_draws
from miner.people.cast import Character, Kind, find_unnamed
from miner.people.clues import find_clues
from miner.people.matching import match_speakers
from miner.people.mentions import Person, read_people
from miner.people.spoken_book import SpokenBook
from miner.score import Score
from miner.speech.spans import BookSpans, Span
from miner.version import __version__

ALL = "all"
CHANGE = "same or other"  # whether the speaker is the last one of the conversation
MEASURES = (ALL, *KINDS, CHANGE)


@dataclass(frozen=True, slots=True)
class SpeakerMeasures:
    """The accuracy of the speakers, with 95% intervals, and how many utterances were judged.

    Attributes:
        scores: of each of `MEASURES`.
        counts: the number of utterances of each.
    """

    scores: tuple[Score, ...]
    counts: tuple[int, ...]

    def __getitem__(self, name: str) -> Score:
        """The score of one of `MEASURES`."""
        return self.scores[MEASURES.index(name)]

    def to_json(self) -> dict[str, Any]:
        """The scores and counts by name, as plain values."""
        return {
            score.name: score.to_json() | {"utterances": count}
            for score, count in zip(self.scores, self.counts, strict=True)
        }


@dataclass(frozen=True, slots=True)
class SpeakerRow:
    """The scores of one way to find speakers.

    Attributes:
        name: of the way.
        from_book: the scores on the spans that the miner finds, of all annotated utterances.
        on_gold: the scores on the annotated spans.
    """

    name: str
    from_book: SpeakerMeasures
    on_gold: SpeakerMeasures


@dataclass(frozen=True, slots=True)
class AnnotatedSpeakerScores:
    """The scores of all ways, and what they are of.

    Attributes:
        rows: the scores.
        n_utterances: the annotated utterances whose speaker is known.
        n_unknown: those whose speaker the annotator did not know; they are left out.
        n_missed: the utterances among `n_utterances` that the miner did not find.
        n_lost: the annotated utterances that the edition at hand does not have; they are left out.
        errors: the wrong utterances of the first row from the book.
        coverage: how many annotated chapters were at hand.
        signature: what was scored.
    """

    rows: tuple[SpeakerRow, ...]
    n_utterances: int
    n_unknown: int
    n_missed: int
    n_lost: int
    errors: tuple[ShownError, ...]
    coverage: Coverage
    signature: str

    def to_json(self) -> dict[str, Any]:
        """The scores as plain values, without the errors."""
        return {
            "rows": {
                row.name: {
                    "from_book": row.from_book.to_json(),
                    "on_gold_spans": row.on_gold.to_json(),
                }
                for row in self.rows
            },
            "utterances": self.n_utterances,
            "unknown": self.n_unknown,
            "missed": self.n_missed,
            "lost": self.n_lost,
            "coverage": self.coverage.to_json(),
            "signature": self.signature,
        }


def score_annotated_speakers(
    books: Sequence[AnnotatedBook],
    read: BookReader,
    ways: Sequence[tuple[str, Speak]],
    *,
    split: str = "all",
    resamples: int = 1000,
    seed: int = 0,
    on_book: Callable[[str], object] | None = None,
) -> AnnotatedSpeakerScores:
    """Scores the speakers of annotated books.

    A book that is not at hand is left out and counted. People are those of the whole book;
    utterances are judged in the annotated chapters.
    """
    opened, coverage = read_editions_at_hand(books, read)
    judged: list[tuple[list[JudgedSpeaker], list[JudgedSpeaker]]] = [([], []) for _ in ways]
    errors: list[ShownError] = []
    n_unknown = n_lost = 0
    for edition in opened:
        if on_book:
            on_book(edition.annotated.card.book)
        gold = _Gold(edition)
        n_unknown += gold.n_unknown
        n_lost += sum(fact.is_utterance for fact in edition.located.lost)
        found_spans = gold.found_spans()
        for number, (_, speak) in enumerate(ways):
            for spans, kept in zip((found_spans, gold.spans), judged[number], strict=True):
                of_book = gold.judge(speak(spans, None))
                kept += of_book
                if number == 0 and spans is found_spans:
                    errors += gold.show_errors(of_book)
    first = judged[0][0]
    n_chapters = len({(item.book, item.chapter) for item in first})
    return AnnotatedSpeakerScores(
        tuple(
            SpeakerRow(name, *(measure_speakers(kept, resamples, seed) for kept in both))
            for (name, _), both in zip(ways, judged, strict=True)
        ),
        len(first),
        n_unknown,
        sum(not item.is_found for item in first),
        n_lost,
        tuple(errors),
        coverage,
        f"unit:utterance|split:{split}|chapters:{n_chapters}|bs:{resamples}|seed:{seed}"
        f"|version:{__version__}",
    )


class _Gold:
    """The annotated utterances of one edition."""

    def __init__(self, edition: Edition) -> None:
        self._edition = edition
        self.spans = edition.located.book_spans
        self._facts = edition.located.facts
        self._kinds: dict[int, str] = {}
        for chapter in read_people(self.spans).chapters():
            self._kinds |= {clue.span: kind_of(clue) for clue in find_clues(chapter).clues}
        self._utterances = [n for n, fact in enumerate(self._facts) if fact and fact.is_utterance]
        self.n_unknown = sum(self._fact(n).speaker == UNKNOWN for n in self._utterances)

    def found_spans(self) -> BookSpans:
        """The spans that the miner finds in the annotated chapters."""
        chapters = {span.chapter for span in self.spans.spans}
        spans = self._edition.book_spans.spans
        return replace(self.spans, spans=tuple(span for span in spans if span.chapter in chapters))

    def judge(self, spoken: SpokenBook) -> list[JudgedSpeaker]:
        """Judges the speakers that were found, on whichever spans."""
        named = {character.id: character.name for character in spoken.characters}
        meant = self._match(spoken.characters)
        found = {ends_of(item.span): item for item in spoken.spans if item.span.is_utterance}
        judged: list[JudgedSpeaker] = []
        last: tuple[Span, Annotation, str | None] | None = None
        for n in self._utterances:
            fact, span = self._fact(n), self.spans.spans[n]
            if fact.speaker == UNKNOWN:
                last = None
                continue
            item = found.get(ends_of(span))
            answer = item.speaker if item else None
            character = meant.get((span.chapter, fact.speaker))
            keeps_turn = None
            if last and (last[0].chapter, last[1].conversation) == (
                span.chapter,
                fact.conversation,
            ):
                goes_on = last[1].speaker == fact.speaker
                keeps_turn = None not in (answer, last[2]) and (answer == last[2]) == goes_on
            last = span, fact, answer
            judged.append(
                JudgedSpeaker(
                    book=self._edition.annotated.card.book,
                    chapter=span.chapter,
                    kind=self._kinds[n],
                    is_right=answer is not None and answer == character,
                    keeps_turn=keeps_turn,
                    gold=fact.speaker,
                    meant=named.get(character or "", ""),
                    answer=named.get(answer or "", ""),
                    is_found=item is not None,
                    place=n,
                )
            )
        return judged

    def show_errors(self, judged: Iterable[JudgedSpeaker]) -> list[ShownError]:
        """The wrong ones with their context and the people at hand."""
        near = people_at_hand(self.spans)
        shown: list[ShownError] = []
        for item in judged:
            if not item.is_right:
                span = self.spans.spans[item.place]
                before, after = context_of(self.spans.spans, item.place)
                shown.append(ShownError(item, span.text, before, after, near[item.place]))
        return shown

    def _fact(self, n: int) -> Annotation:
        fact = self._facts[n]
        assert fact is not None
        return fact

    def _match(self, characters: Sequence[Character]) -> dict[tuple[int, str], str]:
        """Returns the id of the character whom each name of each chapter means."""
        book = read_people(self.spans, characters)
        unnamed = find_unnamed(characters)
        narrator = next((one.id for one in characters if one.kind is Kind.NARRATOR), None)

        def id_of(person: Person, chapter: int) -> str | None:
            if person.character is not None:
                return characters[person.character].id
            if person.kind is Kind.NARRATOR:
                return narrator
            known = unnamed.get((person.noun, chapter))
            return known and known.id

        found: dict[tuple[int, str], str] = {}
        annotated = set(self._utterances)
        for chapter in book.chapters():
            read = find_clues(chapter)
            clues = [clue for clue in read.clues if clue.span in annotated]
            matched = match_speakers(
                [self._fact(clue.span).speaker for clue in clues],
                clues,
                read.chapter.people,
                book.cast,
                first_person=book.first_person,
                unknown=UNKNOWN,
            )
            for name, number in matched.items():
                character = id_of(read.chapter.people[number], chapter.number)
                if character is not None:
                    found[chapter.number, name] = character
        return found


def measure_speakers(
    judged: Iterable[JudgedSpeaker], resamples: int = 0, seed: int = 0
) -> SpeakerMeasures:
    """Returns the accuracy of the speakers, with intervals from resampled chapters."""
    counts: defaultdict[tuple[str, int], NDArray[np.int64]] = defaultdict(
        lambda: np.zeros((2, len(MEASURES)), dtype=np.int64)
    )
    for item in judged:
        row = counts[item.book, item.chapter]
        for name, is_right in _measured(item):
            column = MEASURES.index(name)
            row[0, column] += is_right
            row[1, column] += 1
    table = np.array([row.ravel() for row in counts.values()]).reshape(-1, 2 * len(MEASURES))
    total = table.sum(axis=0)
    values = _shares(total[None])[0]
    drawn = _shares(resample_chapters(table, resamples, seed))
    scores = (score_from_draws(name, values[n], drawn[:, n]) for n, name in enumerate(MEASURES))
    return SpeakerMeasures(tuple(scores), tuple(total[len(MEASURES) :].tolist()))


def _measured(item: JudgedSpeaker) -> Iterator[tuple[str, bool]]:
    """Yields the measures that an utterance counts for, and whether it is right in each."""
    yield ALL, item.is_right
    if item.kind:
        yield item.kind, item.is_right
    if item.keeps_turn is not None:
        yield CHANGE, item.keeps_turn


def _shares(totals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns the share of right ones in each row of sums: (rows, measures); NaN without any."""
    right, counts = np.split(totals.astype(np.float64), 2, axis=1)
    with np.errstate(invalid="ignore"):
        return right / counts
