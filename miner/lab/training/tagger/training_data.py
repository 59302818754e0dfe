"""Annotations and books -> all that a tagger is trained on and scored against."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, count, islice, pairwise
from typing import Any, Protocol

from miner.annotation.annotations import BOOKS, read_cards
from miner.books.download import read_book_bytes
from miner.books.sources import find_sources
from miner.errors import InputError
from miner.lab.learning.prepared import Record
from miner.lab.training.tagger.augmentation import augment
from miner.lab.training.tagger.examples import (
    AnnotatedExamples,
    Example,
    digest_examples,
    read_examples,
)
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.lab.training.tagger.weak_labels import find_held_out_books, tag_weakly
from miner.tagger.load import load_tagger, tagger_signature

# Returns the items; iterating over them may show how far it is, under a name.
Progress = Callable[[Sequence[Any], str], Iterable[Any]]


class VersionedChapters(Protocol):
    """Chapters of which each epoch may read another version."""

    @property
    def is_varied(self) -> bool:
        """Whether epochs read different versions."""
        ...

    def __len__(self) -> int:
        """The number of chapters."""
        ...

    def version(self, epoch: int) -> Sequence[Example]:
        """Returns the chapters as an epoch reads them, counted from 0."""
        ...


@dataclass(frozen=True, slots=True)
class AugmentedChapters:
    """Chapters of books, some of whose paragraphs each epoch splits at random.

    Attributes:
        examples: the chapters as the books have them.
        share: the share of the possible places at which paragraphs are split, 0..1.
        seed: chooses the places.
    """

    examples: tuple[Example, ...]
    share: float
    seed: int

    @property
    def is_varied(self) -> bool:
        """Whether epochs read different versions."""
        return bool(self.share)

    def __len__(self) -> int:
        """The number of chapters."""
        return len(self.examples)

    def version(self, epoch: int) -> Sequence[Example]:
        """Returns the chapters as an epoch reads them, counted from 0."""
        return [self.chapter(n, epoch) for n in range(len(self.examples))]

    def chapter(self, n: int, epoch: int) -> Example:
        """Returns one chapter as an epoch reads it."""
        if not self.share:
            return self.examples[n]
        return augment(self.examples[n], self.share, random.Random(f"{self.seed} {epoch} {n}"))


@dataclass(frozen=True, slots=True)
class BalancedChapters:
    """Chapters of several languages, of which each epoch reads some.

    The share of a language is that of its number of chapters to a power below 1, so that languages
    with few chapters count for more ("Unsupervised Cross-lingual Representation Learning at Scale",
    Conneau et al. 2020, section 3.1). Where an epoch ends among the chapters of a language, the
    next one goes on. Once all were read they come again in another order and another version.

    Attributes:
        chapters: all chapters.
        languages: the language of each.
        power: the power, 0..1.
        size: the chapters of an epoch.
        seed: chooses the order.
    """

    chapters: AugmentedChapters
    languages: tuple[str, ...]
    power: float
    size: int
    seed: int

    @property
    def is_varied(self) -> bool:
        """Whether epochs read different versions."""
        return True

    def __len__(self) -> int:
        """The number of chapters of an epoch."""
        return self.size

    def version(self, epoch: int) -> Sequence[Example]:
        """Returns the chapters as an epoch reads them, counted from 0."""
        return [
            self.chapters.chapter(*place)
            for language, n in self.counts.items()
            for place in islice(self._places(language), epoch * n, (epoch + 1) * n)
        ]

    @property
    def counts(self) -> dict[str, int]:
        """The chapters of an epoch in each language."""
        weights = {name: n**self.power for name, n in sorted(Counter(self.languages).items())}
        total = sum(weights.values())
        # Each boundary between languages is rounded, so that the shares add up.
        ends = accumulate(weights.values(), initial=0.0)
        bounds = [round(self.size * end / total) for end in ends]
        return {name: b - a for name, (a, b) in zip(weights, pairwise(bounds), strict=True)}

    def _places(self, language: str) -> Iterator[tuple[int, int]]:
        """Yields chapters of a language and versions of them, by number and without end."""
        numbers = [n for n, name in enumerate(self.languages) if name == language]
        for version in count():
            random.Random(f"{self.seed} {language} {version}").shuffle(numbers)
            yield from ((n, version) for n in numbers)


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What a run trains on and is scored against.

    Attributes:
        gold: the annotated chapters to train on.
        weak: the chapters with weak labels.
        splits: the gold that it is scored against by split; the first one chooses the epoch.
        record: what all of it was made from.
    """

    gold: VersionedChapters
    weak: VersionedChapters
    splits: Mapping[str, AnnotatedExamples]
    record: Record


def read_training_data(
    config: TrainingConfig, report: Callable[[str], object], progress: Progress
) -> TrainingData:
    """Returns the data of a run from annotations and books.

    Dev and test are read now, so that an error shows before hours of training.
    """

    def leave_out(line: str) -> None:
        left_out.append(line)
        report(f"left out, {line}")

    read_book = partial(read_book_bytes, books=config.books)
    left_out: list[str] = []
    training = read_examples(
        config.gold,
        config.train_split,
        read_book,
        (*config.without, *config.dev_book),
        leave_out,
        config.language,
    )
    language = config.dev_language or config.language
    splits = {
        split: read_examples(config.gold, split, read_book, language=language)
        for split in (config.dev_split, config.test_split)
        if split
    }
    if config.dev_book:
        moved = read_examples(
            config.gold, config.train_split, read_book, language="all", only=config.dev_book
        )
        splits[config.dev_split] = splits[config.dev_split].join(moved)
    examples = list(training.examples)
    if config.chapters:
        random.Random(config.seed).shuffle(examples)
        examples = examples[: config.chapters]
    weak: list[Example] = []
    if config.weak:
        sources, missing = find_sources(config.weak, config.books)
        if missing:
            raise InputError(str(missing[0]))
        tagger = load_tagger(config.weak_tagger)
        held_out = find_held_out_books(config.gold, config.without)
        weak = tag_weakly(progress(sources, "weak labels"), tagger, held_out, report)
    return TrainingData(
        _training_chapters(examples, config),
        AugmentedChapters(tuple(weak), config.augment_share, config.seed),
        splits,
        build_data_record(config, examples, splits[config.dev_split], weak, left_out),
    )


def _training_chapters(examples: Sequence[Example], config: TrainingConfig) -> VersionedChapters:
    chapters = AugmentedChapters(tuple(examples), config.augment_share, config.seed)
    if config.balance is None:
        return chapters
    cards = read_cards(config.gold / BOOKS)
    return BalancedChapters(
        chapters,
        tuple(cards[example.chapter.book].language for example in examples),
        config.balance,
        config.epoch_chapters or len(examples),
        config.seed,
    )


def build_data_record(
    config: TrainingConfig,
    examples: Sequence[Example],
    dev: AnnotatedExamples,
    weak: Sequence[Example],
    left_out: Sequence[str],
) -> Record:
    """Returns what the data of a run are, as the checkpoint's config keeps it."""
    return {
        "data": f"{config.gold} {config.train_split}",
        "dev": config.dev_split,
        "language of dev": config.dev_language or "",
        "books of dev": " ".join(config.dev_book),
        "left out": " ".join(config.without),
        "chapters left out": " | ".join(left_out),
        "chapters": len(examples),
        "utterances": sum(len(example.tags) for example in examples),
        "digest of the data": digest_examples(examples),
        "digest of dev": digest_examples(dev.examples),
        "seed of the examples": config.seed,
        "weak books": " ".join(dict.fromkeys(item.chapter.book for item in weak)),
        "digest of weak labels": digest_examples(weak) if weak else "",
        "weak tagger": tagger_signature(config.weak_tagger) if weak else "",
        "test": config.test_split or "none",
    }
