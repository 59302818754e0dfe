"""Annotations and books -> all that a tagger is trained on and scored against."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from miner.books.download import read_book_bytes
from miner.books.sources import find_sources
from miner.models.load import load_tagger, tagger_signature
from miner.models.prepared_files import Record
from miner.models.tagger.augmentation import augment
from miner.models.tagger.examples import AnnotatedExamples, Example, digest_examples, read_examples
from miner.models.tagger.training_config import TrainingConfig
from miner.models.tagger.weak_labels import find_held_out_books, tag_weakly

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

    Args:
        config: the choices of the run.
        report: called with a line for each chapter and each book that is left out.
        progress: shows how far it is.

    Raises:
        ValueError: if the gold or a book cannot be read, or nothing is left to train on.
        OSError: if a file cannot be read.
    """

    def leave_out(line: str) -> None:
        left_out.append(line)
        report(f"left out, {line}")

    read_book = partial(read_book_bytes, books=config.books)
    left_out: list[str] = []
    training = read_examples(
        config.gold, config.train_split, read_book, config.without, leave_out, config.language
    )
    splits = {
        split: read_examples(config.gold, split, read_book, language=config.language)
        for split in (config.dev_split, config.test_split)
        if split
    }
    examples = list(training.examples)
    if config.chapters:
        random.Random(config.seed).shuffle(examples)
        examples = examples[: config.chapters]
    weak: list[Example] = []
    if config.weak:
        sources, missing = find_sources(config.weak, config.books)
        if missing:
            raise ValueError(str(missing[0]))
        tagger = load_tagger(config.weak_tagger)
        held_out = find_held_out_books(config.gold, config.without)
        weak = tag_weakly(progress(sources, "weak labels"), tagger, held_out, report)
    return TrainingData(
        AugmentedChapters(tuple(examples), config.augment_share, config.seed),
        AugmentedChapters(tuple(weak), config.augment_share, config.seed),
        splits,
        build_data_record(config, examples, splits[config.dev_split], weak, left_out),
    )


def build_data_record(
    config: TrainingConfig,
    examples: Sequence[Example],
    dev: AnnotatedExamples,
    weak: Sequence[Example],
    left_out: Sequence[str],
) -> Record:
    """Returns what the data of a run are, as the checkpoint's config keeps it.

    Args:
        config: the choices of the run.
        examples: the annotated chapters that it trains on.
        dev: the examples of the dev split.
        weak: the chapters with weak labels.
        left_out: lines about annotated chapters that the editions at hand do not show.
    """
    return {
        "data": f"{config.gold} {config.train_split}",
        "dev": config.dev_split,
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
