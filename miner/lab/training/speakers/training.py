"""Annotated books -> chapters as numbers -> the weights of the network that scores candidates.

The names of the annotators are matched to people of the chapter. An example has numbers alone: the
candidates of each utterance with their features, where it stands, and which candidate speaks. The
network learns with the annotated history: each utterance knows who really spoke before it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from miner.annotation.annotations import UNKNOWN, Annotation, read_split
from miner.errors import InputError
from miner.lab.gold.editions import BookReader, Edition, read_editions
from miner.lab.gold.pdnc import PdncNovel
from miner.lab.learning.fields import Option
from miner.lab.learning.loop import Learner, Part, Row, fit
from miner.lab.learning.prepared import Record, read_prepared
from miner.lab.learning.run_folder import Arrays
from miner.lab.measure.speaker_matching import match_speakers
from miner.people.attributor import N_INPUTS, NetworkScorer, SpeakerAttributor
from miner.people.clues import find_clues
from miner.people.features import (
    FEATURES,
    Array,
    CandidateChapter,
    History,
    history_features,
    read_candidates,
)
from miner.people.mentions import read_people
from miner.speech.spans import BookSpans, Span

KIND = "speakers"
UNKNOWN_TARGET = -1  # of an utterance whose speaker the annotator did not know


@dataclass(frozen=True, slots=True)
class SpeakerExample:
    """A chapter with its gold."""

    # the annotated utterances of the chapter. One from a file has no people.
    chapter: CandidateChapter
    # the position of the speaker among the candidates of each utterance. It is that of the unknown
    # person where no candidate is the speaker, and -1 where nobody knows.
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
        person_of = match_speakers(
            names,
            [found.clues[row] for row in rows],
            whole.people,
            book.cast,
            first_person=found.chapter.first_person,
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


_WEIGHT_DECAY = 0.01
_WARM_UP = 100  # steps
_LAST_RATE = 0.02  # the share of the rate at which the training ends


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerTraining:
    """The choices of a training run of the network."""

    first: Annotated[int, Option("Size of the first hidden layer.", minimum=1)] = 96
    second: Annotated[int, Option("Size of the second hidden layer.", minimum=1)] = 48
    epochs: Annotated[int, Option("Epochs on the annotations.", minimum=1)] = 4
    batch: Annotated[int, Option("Utterances per step.", minimum=1)] = 512
    rate: Annotated[
        float, Option("Learning rate; it rises over 100 steps and then falls along a line.")
    ] = 2e-3
    dropout: Annotated[float, Option("Dropout of the hidden values.")] = 0.1
    seed: Annotated[int, Option("Seed of the weights, the order and the dropout.")] = 0


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
            examples,
            self.options,
            lambda row: report(f"epoch {row['epoch']} loss {row['loss']:.4g}"),
        )


class SpeakerNetwork(nn.Module):
    """The network of `scorer.NetworkScorer` in PyTorch, as it is trained."""

    def __init__(self, options: SpeakerTraining) -> None:
        super().__init__()
        self.first = nn.Linear(N_INPUTS, options.first)
        self.second = nn.Linear(options.first, options.second)
        self.score = nn.Linear(options.second, 1)
        self.dropout = nn.Dropout(options.dropout)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Returns the scores of candidates: (..., candidates) of (..., candidates, inputs)."""
        hidden = self.dropout(torch.relu(self.first(features)))
        hidden = self.dropout(torch.relu(self.second(hidden)))
        return self.score(hidden).squeeze(-1)


def fit_network(
    examples: Sequence[SpeakerExample],
    options: SpeakerTraining,
    report: Callable[[Row], object] = lambda row: None,
) -> dict[str, Array]:
    """Returns the weights, by the names that `scorer.NetworkScorer` takes.

    The network learns from all utterances whose speaker is known.
    """
    rows, targets = [], list[int]()
    for example in examples:
        for target, candidates in zip(example.targets, read_with_gold(example), strict=True):
            if target >= 0:
                rows.append(candidates.astype(np.float16))
                targets.append(target)
    if not rows:
        raise InputError("found no utterance with a known speaker, expected some to learn from")
    torch.manual_seed(options.seed)
    order = np.random.default_rng(options.seed)
    network = SpeakerNetwork(options)
    optimizer = torch.optim.AdamW(network.parameters(), lr=options.rate, weight_decay=_WEIGHT_DECAY)
    n_steps = options.epochs * ceil(len(rows) / options.batch)

    def batches(_: int) -> list[list[int]]:
        drawn = order.permutation(len(rows)).tolist()
        return [drawn[n : n + options.batch] for n in range(0, len(rows), options.batch)]

    def losses(wrapped: nn.Module, numbers: list[int]) -> Iterator[Part]:
        device = network.score.weight.device
        features = pad_sequence(
            [torch.from_numpy(rows[n]) for n in numbers], batch_first=True
        ).float()
        sizes = torch.tensor([len(rows[n]) for n in numbers])
        is_padding = torch.arange(features.shape[1])[None] >= sizes[:, None]
        scores = wrapped(features.to(device)).masked_fill(is_padding.to(device), float("-inf"))
        right = torch.tensor([targets[n] for n in numbers], device=device)
        yield Part.of_mean(nn.functional.cross_entropy(scores, right), len(numbers))

    learner = Learner(
        network=network,
        optimizer=optimizer,
        schedule=torch.optim.lr_scheduler.LambdaLR(
            optimizer,
            lambda step: min(1.0, (step + 1) / _WARM_UP) * max(_LAST_RATE, 1 - step / n_steps),
        ),
        batches=batches,
        losses=losses,
        validate=lambda epoch: {"epoch": epoch.number + 1, "loss": epoch.loss},
    )
    fit(learner, options.epochs, report=report)
    return {name: weight.cpu().numpy() for name, weight in network.state_dict().items()}


def read_with_gold(example: SpeakerExample) -> Iterable[Array]:
    """Yields the inputs of each utterance with the gold history: (candidates, inputs)."""
    chapter, history = example.chapter, History()
    utterances = zip(
        chapter.places, chapter.candidates, chapter.features, example.targets, strict=True
    )
    for place, candidates, features, target in utterances:
        yield np.hstack([features, history_features(history, place, candidates, features)])
        # The unknown person is the last candidate, which is also what -1 means.
        history = history.after(candidates[target], place.paragraph)


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
            kept = [example for example in self.examples if example.book not in without]
            if self.on_training:
                self.on_training(len(kept))
            weights = fit_network(kept, self.options)
            self._known[without] = SpeakerAttributor(NetworkScorer(weights))
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
