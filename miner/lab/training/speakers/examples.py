"""Annotated books -> the chapters that the network of the speakers learns from, and their file.

The names of the annotators are matched to people of the chapter. An example has numbers alone: the
candidates of each utterance with their features, where it stands, and which candidate speaks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from miner.annotation.annotations import UNKNOWN, Annotation, read_split
from miner.lab.gold.editions import BookReader, Edition, read_editions
from miner.lab.learning.prepared import read_prepared
from miner.lab.measure.speaker_matching import match_speakers
from miner.people.clues import find_clues
from miner.people.features import FEATURES, CandidateChapter, read_candidates
from miner.people.mentions import read_people
from miner.speech.spans import BookSpans, Span

KIND = "speakers"
UNKNOWN_TARGET = -1  # of an utterance whose speaker the annotator did not know


@dataclass(frozen=True, slots=True)
class SpeakerExample:
    """A chapter with its gold.

    Attributes:
        chapter: the annotated utterances of the chapter. One from a file has no people.
        targets: the position of the speaker among the candidates of each utterance. It is that of
            the unknown person where no candidate is the speaker, and -1 where nobody knows.
        book: the id of the book.
        author: the author of the book.
    """

    chapter: CandidateChapter
    targets: tuple[int, ...]
    book: str
    author: str


def read_speaker_examples(
    gold: Path,
    split: str,
    read: BookReader,
    without: Collection[str] = (),
    leave_out: Callable[[str], object] | None = None,
) -> Iterator[SpeakerExample]:
    """Yields the annotated chapters of a split."""
    for edition in read_editions(read_split(gold, split, without), read, leave_out):
        yield from examples_of(edition)


def examples_of(edition: Edition) -> Iterator[SpeakerExample]:
    """Yields the annotated chapters of a book that hold an utterance."""
    book_spans, facts = merge_gold(edition)
    card = edition.annotated.card
    annotated = {span.chapter for span in edition.located.book_spans.spans}
    continuing = {n for n, span in enumerate(book_spans.spans) if span.continues}
    book = read_people(book_spans)
    for chapter in book.chapters():
        if chapter.number not in annotated:
            continue
        found = find_clues(chapter)
        whole = read_candidates(found, book, continuing)
        of_gold = [
            (row, fact.speaker)
            for row, place in enumerate(whole.spans)
            if (fact := facts[place]) is not None and fact.is_utterance
        ]
        if not of_gold:
            continue
        rows, names = zip(*of_gold, strict=True)
        person_of = match_speakers(
            names,
            [found.clues[row] for row in rows],
            whole.people,
            book.cast,
            first_person=book.first_person,
            unknown=UNKNOWN,
        )
        targets = tuple(
            _target(whole.candidates[row], name, person_of.get(name)) for row, name in of_gold
        )
        yield SpeakerExample(_select(whole, rows), targets, card.book, card.author)


def merge_gold(edition: Edition) -> tuple[BookSpans, tuple[Annotation | None, ...]]:
    """Returns the spans of a whole book, and the annotation of each.

    Annotated paragraphs have the spans of their gold, and others those that the miner finds. The
    others tell who the people of the book are.
    """
    located = edition.located
    of_paragraph: defaultdict[int, list[tuple[Span, Annotation | None]]] = defaultdict(list)
    for span, fact in zip(located.book_spans.spans, located.facts, strict=True):
        of_paragraph[span.paragraph].append((span, fact))
    merged: list[tuple[Span, Annotation | None]] = []
    last = -1
    for span in edition.book_spans.spans:
        if span.paragraph not in of_paragraph:
            merged.append((span, None))
        elif span.paragraph != last:
            merged += of_paragraph[span.paragraph]
        last = span.paragraph
    spans = tuple(span for span, _ in merged)
    return replace(edition.book_spans, spans=spans), tuple(fact for _, fact in merged)


def _target(candidates: Sequence[int], name: str, person: int | None) -> int:
    if name == UNKNOWN:
        return UNKNOWN_TARGET
    if person is None or person not in candidates:
        return len(candidates) - 1
    return candidates.index(person)


def _select(chapter: CandidateChapter, rows: Sequence[int]) -> CandidateChapter:
    """Returns the chapter with some of its utterances; features are as exact as in a file."""
    return CandidateChapter(
        chapter.people,
        tuple(chapter.spans[row] for row in rows),
        tuple(chapter.places[row] for row in rows),
        tuple(chapter.candidates[row] for row in rows),
        tuple(chapter.features[row].astype(np.float16) for row in rows),
    )


def load_examples(path: Path) -> list[SpeakerExample]:
    """Returns the examples of a file."""
    return read_prepared(path, KIND, list[SpeakerExample], FEATURES)[0]


def without_people(example: SpeakerExample) -> SpeakerExample:
    """Returns an example without the names of the chapter, as a file has it."""
    return replace(example, chapter=replace(example.chapter, people=()))
