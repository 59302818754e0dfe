"""Annotated utterances and found speakers -> how many speakers are right, by kind of quotation.

The kinds are those of the Project Dialogism Novel Corpus (PDNC): a verb of saying beside the
quotation has a name (explicit: "said Mara"), a pronoun or a noun (anaphoric: "said she", "said the
waiter"), or there is none (implicit). People tell them in the PDNC (`pdnc_speakers`). Here the
miner's rules do, in the annotated spans.

An annotator's name ("Mrs Bennet", "waiter") is no id. All names of a chapter are matched with its
people one to one (`people.matching`), by the names and by whom the page says to speak. Whom the
attributor takes for the speaker has no part in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from miner.annotation.annotations import UNKNOWN, AnnotatedBook, Annotation
from miner.annotation.matching import ends_of
from miner.lab.gold.editions import BookReader, Coverage, Edition, read_editions_at_hand
from miner.lab.measure.scores import score_table
from miner.lab.measure.speaker_matching import match_speakers
from miner.people.cast import Character, find_unnamed
from miner.people.character_files import SpokenBook
from miner.people.clues import Clues, find_clues
from miner.people.mentions import MentionKind, Person, read_people
from miner.score import Score
from miner.speech.spans import BookSpans, Span
from miner.version import __version__

# Finds the speakers of a book. The characters are found, too, if None are given.
Speak = Callable[[BookSpans, Sequence[Character] | None], SpokenBook]

KINDS = ("explicit", "anaphoric", "implicit")
CONTEXT = 400  # characters before and after an utterance that a reader sees


@dataclass(frozen=True, slots=True)
class JudgedSpeaker:
    """An annotated utterance and the speaker that was found."""

    book: str  # its id
    chapter: int
    kind: str  # one of `KINDS`, or "" if the annotators gave none
    is_right: bool
    # Whether it is right that the speaker is the last one or another one. None for the first
    # utterance of a conversation and next to a speaker whom nobody knows.
    keeps_turn: bool | None
    gold: str  # the speaker as annotated
    meant: str  # the name of the character who is taken for that speaker; "" if none is
    answer: str  # the name of the character who was found; "" for nobody
    is_found: bool  # whether the miner found the utterance
    place: int  # the position of its span, or of the quotation
    # the numbers of addressees that are right, that were found and that are annotated
    addressees: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class ShownError:
    """A wrong utterance with what a reader needs to name the cause."""

    judged: JudgedSpeaker
    text: str
    before: str  # the text before it
    after: str  # the text after it
    candidates: tuple[str, ...]  # the people who are near it on the page

    def to_json(self) -> dict[str, Any]:
        """The error as plain values."""
        judged = self.judged
        return {
            "book": judged.book,
            "chapter": judged.chapter,
            "kind": judged.kind,
            "before": self.before,
            "utterance": self.text,
            "after": self.after,
            "gold": judged.gold,
            "gold_character": judged.meant,
            "answer": judged.answer,
            "found": judged.is_found,
            "candidates": list(self.candidates),
        }


class SpeakerGold(Protocol):
    """The annotated utterances of a book, on which speakers are judged in one task or several."""

    def judge(self, speak: Speak, task: str) -> list[JudgedSpeaker]:
        """Judges the speakers that are found in a task."""
        ...

    def show_errors(self, judged: Iterable[JudgedSpeaker]) -> list[ShownError]:
        """Returns the wrong ones with their context and the people at hand."""
        ...


class JudgedBooks:
    """The judged utterances of each book by task and system, and errors of the first system."""

    def __init__(self, *tasks: str, shown: Sequence[str]) -> None:
        """The tasks, and those of them whose errors are shown."""
        self.of_task: dict[str, dict[str, list[list[JudgedSpeaker]]]] = {n: {} for n in tasks}
        self.errors: dict[str, list[ShownError]] = {task: [] for task in shown}

    def add(self, gold: SpeakerGold, systems: Sequence[tuple[str, Speak]]) -> None:
        """Judges the speakers that systems find in a book."""
        for number, (name, speak) in enumerate(systems):
            for task, of_system in self.of_task.items():
                judged = gold.judge(speak, task)
                of_system.setdefault(name, []).append(judged)
                if number == 0 and task in self.errors:
                    self.errors[task] += gold.show_errors(judged)


def kind_of(clue: Clues) -> str:
    """Returns the kind of a quotation, one of `KINDS`."""
    if clue.said is None:
        return "implicit"
    return "explicit" if clue.said.kind is MentionKind.NAME else "anaphoric"


def people_at_hand(
    book_spans: BookSpans, characters: Sequence[Character] | None = None
) -> dict[int, tuple[str, ...]]:
    """Returns the names of the people who are near each utterance on the page, in order.

    The keys are positions in the spans of the book.
    """
    book = read_people(book_spans, characters)
    found: dict[int, tuple[str, ...]] = {}
    for chapter in book.chapters():
        read = find_clues(chapter)
        people = [
            book.cast.characters[person.character].name
            if person.character is not None
            else person.noun or str(person.kind or "")
            for person in read.chapter.people
        ]
        for clue in read.clues:
            found[clue.span] = tuple(sorted({people[number] for number in clue.at_hand} - {""}))
    return found


def context_of(spans: Sequence[Span], position: int) -> tuple[str, str]:
    """Returns the text before and after a span in its chapter; a blank line parts paragraphs."""
    chapter = spans[position].chapter
    before, after = "", ""
    paragraph = spans[position].paragraph
    for span in reversed(spans[:position]):
        if span.chapter != chapter or len(before) > CONTEXT:
            break
        before = span.text + ("" if span.paragraph == paragraph else "\n\n") + before
        paragraph = span.paragraph
    paragraph = spans[position].paragraph
    for span in spans[position + 1 :]:
        if span.chapter != chapter or len(after) > CONTEXT:
            break
        after += ("" if span.paragraph == paragraph else "\n\n") + span.text
        paragraph = span.paragraph
    return before[-CONTEXT:], after[:CONTEXT]


def draw_errors(errors: Sequence[ShownError], n: int, seed: int = 0) -> list[ShownError]:
    """Returns some of the errors, drawn at random, in their order; all if there are no more."""
    n_drawn = min(n, len(errors))
    drawn = np.random.default_rng(seed).choice(len(errors), n_drawn, replace=False)
    return [errors[number] for number in sorted(drawn.tolist())]


ALL = "all"
CHANGE = "same or other"  # whether the speaker is the last one of the conversation
MEASURES = (ALL, *KINDS, CHANGE)
_FROM_BOOK, _ON_GOLD = "from_book", "on_gold_spans"


@dataclass(frozen=True, slots=True)
class SpeakerMeasures:
    """The accuracy of the speakers, with 95% intervals, and how many utterances were judged."""

    scores: Mapping[str, Score]  # of each of `MEASURES`
    counts: Mapping[str, int]

    def __getitem__(self, name: str) -> Score:
        """The score of one of `MEASURES`."""
        return self.scores[name]

    def to_json(self) -> dict[str, Any]:
        """The scores and counts by name, as plain values."""
        return {
            name: asdict(score) | {"utterances": self.counts[name]}
            for name, score in self.scores.items()
        }


@dataclass(frozen=True, slots=True)
class SpeakerRow:
    """The scores of one system that finds speakers."""

    name: str
    from_book: SpeakerMeasures  # on the spans that the miner finds, of all annotated utterances
    on_gold: SpeakerMeasures  # on the annotated spans


@dataclass(frozen=True, slots=True)
class AnnotatedSpeakerScores:
    """The scores of all systems, and what they are of."""

    rows: tuple[SpeakerRow, ...]
    n_utterances: int  # annotated ones whose speaker is known
    n_unknown: int  # those whose speaker the annotator did not know; they are left out
    n_missed: int  # those among `n_utterances` that the miner did not find
    n_lost: int  # annotated ones that the edition at hand does not have; they are left out
    errors: tuple[ShownError, ...]  # of the first row from the book
    coverage: Coverage
    signature: str  # what was scored

    def to_json(self) -> dict[str, Any]:
        """The scores as plain values, without the errors."""
        return {
            "rows": {
                row.name: {
                    _FROM_BOOK: row.from_book.to_json(),
                    _ON_GOLD: row.on_gold.to_json(),
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
    systems: Sequence[tuple[str, Speak]],
    *,
    split: str = "all",
    resamples: int = 1000,
    seed: int = 0,
) -> AnnotatedSpeakerScores:
    """Scores the speakers of annotated books.

    A book that is not at hand is left out and counted. People are those of the whole book;
    utterances are judged in the annotated chapters.
    """
    opened, coverage = read_editions_at_hand(books, read)
    judged = JudgedBooks(_FROM_BOOK, _ON_GOLD, shown=[_FROM_BOOK])
    n_unknown = n_lost = 0
    for edition in opened:
        gold = _Gold(edition)
        judged.add(gold, systems)
        n_unknown += gold.n_unknown
        n_lost += sum(fact.is_utterance for fact in edition.located.lost)
    both = [
        {name: [item for book in of_books for item in book] for name, of_books in task.items()}
        for task in judged.of_task.values()
    ]
    first = both[0].get(systems[0][0], [])
    n_chapters = len({(item.book, item.chapter) for item in first})
    return AnnotatedSpeakerScores(
        tuple(
            SpeakerRow(
                name, *(measure_speakers(task.get(name, []), resamples, seed) for task in both)
            )
            for name, _ in systems
        ),
        len(first),
        n_unknown,
        sum(not item.is_found for item in first),
        n_lost,
        tuple(judged.errors[_FROM_BOOK]),
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

    def judge(self, speak: Speak, task: str) -> list[JudgedSpeaker]:
        """Judges the speakers on the annotated spans, or on those that the miner finds."""
        spans = self.spans if task == _ON_GOLD else self._edition.found_spans()
        spoken = speak(spans, None)
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

        def id_of(person: Person, chapter: int) -> str | None:
            if person.character is not None:
                return characters[person.character].id
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
                first_person=read.chapter.first_person,
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
            row[:, MEASURES.index(name)] += is_right, 1
    table = np.array([row.ravel() for row in counts.values()]).reshape(-1, 2 * len(MEASURES))
    n_judged = table.sum(axis=0)[len(MEASURES) :].tolist()
    return SpeakerMeasures(
        score_table(table, _shares, resamples, seed), dict(zip(MEASURES, n_judged, strict=True))
    )


def _measured(item: JudgedSpeaker) -> Iterator[tuple[str, bool]]:
    """Yields the measures that an utterance counts for, and whether it is right in each."""
    yield ALL, item.is_right
    if item.kind:
        yield item.kind, item.is_right
    if item.keeps_turn is not None:
        yield CHANGE, item.keeps_turn


def _shares(totals: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """Returns the share of right ones by measure, for each row of sums; NaN without any."""
    right, counts = np.split(totals.astype(np.float64), 2, axis=1)
    with np.errstate(invalid="ignore"):
        return dict(zip(MEASURES, (right / counts).T, strict=True))
