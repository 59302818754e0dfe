"""Annotated books -> chapters as numbers -> the weights of the network that scores candidates.

The names of the annotators are matched to people of the chapter. An example has numbers alone: the
candidates of each utterance with their features, and which candidate speaks.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from miner.annotation.annotations import UNKNOWN, Annotation, read_split
from miner.errors import InputError
from miner.lab.gold.editions import BookReader, Edition, read_editions
from miner.lab.gold.pdnc import PdncNovel
from miner.lab.learning.prepared import Record, read_prepared
from miner.lab.learning.run_folder import Arrays
from miner.lab.measure.speaker_matching import match_speakers
from miner.lab.training.speakers.network import SpeakerTraining, fit_network
from miner.people.attributor import NetworkDecider, SpeakerAttributor
from miner.people.clues import ChapterClues, find_clues
from miner.people.features import FEATURES, CandidateChapter, read_candidates
from miner.people.mentions import read_people
from miner.speech.spans import BookSpans, Span

KIND = "speakers"


@dataclass(frozen=True, slots=True)
class SpeakerExample:
    """A chapter with its gold."""

    # the annotated utterances of the chapter. One from a file has no people.
    chapter: CandidateChapter
    # the position of the speaker among the candidates of each utterance. It is that of the unknown
    # person where no candidate is the speaker, or nobody knows.
    targets: tuple[int, ...]
    book: str  # the id of the book
    author: str  # the author of the book


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
        chapter = select_utterances(whole, rows)
        targets = find_targets(chapter, match_people(found, rows, names))
        yield SpeakerExample(chapter, targets, card.book, card.author)


def match_people(
    found: ChapterClues, rows: Sequence[int], names: Sequence[str]
) -> list[int | None]:
    """Returns the person of the chapter who speaks each of some utterances; None for nobody known.

    Args:
        found: a chapter.
        rows: the utterances, as positions among those of the chapter.
        names: their speakers, as an annotator names them.
    """
    person_of = match_speakers(
        names,
        [found.clues[row] for row in rows],
        found.chapter.people,
        found.chapter.cast,
        first_person=found.chapter.first_person,
        unknown=UNKNOWN,
    )
    return [person_of.get(name) for name in names]


def find_targets(chapter: CandidateChapter, people: Sequence[int | None]) -> tuple[int, ...]:
    """Returns the position of each speaker among the candidates; see `SpeakerExample.targets`."""
    return tuple(map(_target, chapter.candidates, people))


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


def _target(candidates: Sequence[int], person: int | None) -> int:
    if person is None or person not in candidates:
        return len(candidates) - 1
    return candidates.index(person)


def select_utterances(chapter: CandidateChapter, rows: Sequence[int]) -> CandidateChapter:
    """Returns the chapter with some of its utterances; features are as exact as in a file."""
    return CandidateChapter(
        chapter.people,
        tuple(chapter.spans[row] for row in rows),
        tuple(chapter.candidates[row] for row in rows),
        tuple(chapter.facts[row] for row in rows),
        tuple(chapter.features[row].astype(np.float16) for row in rows),
    )


def load_examples(path: Path) -> list[SpeakerExample]:
    """Returns the examples of a file."""
    return read_prepared(path, KIND, list[SpeakerExample], FEATURES)[0]


def without_people(example: SpeakerExample) -> SpeakerExample:
    """Returns an example without the names of the chapter, as a file has it."""
    return replace(example, chapter=replace(example.chapter, people=()))


@dataclass(frozen=True, slots=True)
class SpeakerTrainer:
    """Trains the network of the speakers; see `network_training.NetworkTrainer`."""

    options: SpeakerTraining
    kind: ClassVar = KIND
    form: ClassVar = list[SpeakerExample]
    features: ClassVar[Sequence[str]] = FEATURES

    @property
    def choices(self) -> Record:
        """The choices of the training by name."""
        return asdict(self.options)

    def read(
        self,
        gold: Path,
        split: str,
        read: BookReader,
        without: Collection[str],
        leave_out: Callable[[str], object],
    ) -> list[SpeakerExample]:
        """Returns the examples of a split of the annotations."""
        found = read_speaker_examples(gold, split, read, without, leave_out)
        return list(map(without_people, found))

    def describe(self, examples: list[SpeakerExample]) -> Record:
        """Returns the books of the examples, and how many they are."""
        return {
            "books": list(dict.fromkeys(example.book for example in examples)),
            "chapters": len(examples),
            "utterances": sum(len(example.targets) for example in examples),
        }

    def fit(self, examples: list[SpeakerExample], report: Callable[[str], object]) -> Arrays:
        """Returns the weights that are learned from examples."""
        return fit_network(
            [(example.chapter, example.targets) for example in examples],
            self.options,
            lambda row: report(f"epoch {row['epoch']} loss {row['loss']:.4g}"),
        )


_WORD = re.compile(r"[^\W\d_]+")


@dataclass(slots=True)
class LeaveOneAuthorOut:
    """Trains one network for each author, without that author's books.

    Authors of whom the examples have no book share one network.
    """

    examples: Sequence[SpeakerExample]  # annotated chapters
    novels: Sequence[PdncNovel]  # all novels that are judged
    options: SpeakerTraining = field(default_factory=SpeakerTraining)  # of the training
    # called before each training with the number of chapters to learn from.
    on_training: Callable[[int], object] | None = None
    _known: dict[frozenset[str], SpeakerAttributor] = field(default_factory=dict)

    def attributor_of(self, novel: PdncNovel) -> SpeakerAttributor:
        """Returns the attributor that has read no book by the author of a novel."""
        without = self.left_out(novel)
        if without not in self._known:
            kept = [
                (example.chapter, example.targets)
                for example in self.examples
                if example.book not in without
            ]
            if self.on_training:
                self.on_training(len(kept))
            weights = fit_network(kept, self.options)
            self._known[without] = SpeakerAttributor(NetworkDecider(weights))
        return self._known[without]

    def left_out(self, novel: PdncNovel) -> frozenset[str]:
        """Returns the ids of the books of the examples that are by the author of a novel.

        These are the author's novels in the corpus, by their numbers, and all books by an author
        whose name fits the code of the corpus.
        """
        if not novel.author:
            raise InputError(f"{novel.title}: found no Author Code, expected one in the index")
        ids = {other.gutenberg_id for other in self.novels if other.author == novel.author}
        return frozenset(
            example.book
            for example in self.examples
            if example.book in ids or has_code(example.author, novel.author)
        )

    def count_left_out(self, novels: Iterable[PdncNovel]) -> dict[str, int]:
        """Returns how many chapters the network of each author is trained without, by its code."""
        chapters = Counter(example.book for example in self.examples)
        return {
            novel.author: sum(chapters[book] for book in self.left_out(novel)) for novel in novels
        }


def has_code(author: str, code: str) -> bool:
    """Whether a word of an author's name after the first begins with a code of the corpus.

    >>> has_code("Fyodor Dostoevsky", "DOST"), has_code("James Joyce", "JAME")
    (True, False)
    """
    words = _WORD.findall(author.upper())
    return any(word.startswith(code.upper()) for word in words[1:] or words)
