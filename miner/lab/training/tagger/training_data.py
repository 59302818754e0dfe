"""Annotations and books -> the chapters that a tagger is trained on and scored against."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, count, groupby, islice, pairwise
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from miner.annotation.annotations import (
    BOOKS,
    ENGLISH,
    UNKNOWN,
    AnnotatedBook,
    is_annotations,
    read_cards,
    read_split,
)
from miner.books.book_file import read_book_file
from miner.books.download import download, read_book_bytes
from miner.books.sources import Source, find_sources, id_of
from miner.errors import InputError
from miner.lab.gold.editions import BookReader, Edition, read_editions
from miner.lab.gold.mcn import McnData, read_mcn
from miner.lab.learning.prepared import Record
from miner.lab.training.tagger.augmentation import split_paragraphs
from miner.lab.training.tagger.teachers import Progress, SoftLabels, Teachers, teacher_signatures
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.speech.read import parse_spans
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import TAGS, Tag, TaggedBook, Tagger
from miner.tagger.encoding import Encoding
from miner.tagger.features import Chapter, chapter_of, split_chapters
from miner.tagger.load import load_tagger, tagger_signature


@dataclass(frozen=True, slots=True)
class Example:
    """A chapter with its tags."""

    chapter: Chapter  # the chapter as the tagger reads it
    spans: tuple[Span, ...]  # all spans of the chapter
    # the indices of the tags in `decoding.TAGS`, all -1 if only teachers label it: (utterances,).
    tags: NDArray[np.int64]
    # a number for each speaker of the chapter, -1 where the speaker is unknown: (utterances,).
    speakers: NDArray[np.int64]
    # the chapter in tokens, if it is from a file of prepared examples. Then its paragraphs have no
    # text, and there are no spans.
    encoding: Encoding | None = None
    soft_labels: SoftLabels | None = None  # those of its teachers, if they have read it


@dataclass(frozen=True, slots=True)
class AnnotatedExamples:
    """The examples of annotated books, and the gold that predictions are scored against."""

    examples: tuple[Example, ...]
    book_spans: tuple[BookSpans, ...]
    gold: tuple[TaggedBook, ...]


def digest_examples(examples: Iterable[Example]) -> str:
    """Returns 8 hexadecimal digits that change with any text, tag or speaker of the examples."""
    found = hashlib.sha256()
    for example in examples:
        for paragraph in example.chapter.paragraphs:
            found.update(paragraph.text.encode())
        found.update(example.tags.tobytes())
        found.update(example.speakers.tobytes())
    return found.hexdigest()[:8]


def read_examples(
    gold: Path,
    split: str,
    read: BookReader,
    without: Collection[str] = (),
    leave_out: Callable[[str], object] | None = None,
    language: str = ENGLISH,
    only: Collection[str] = (),
) -> AnnotatedExamples:
    """Returns the examples of a split of the annotations, or of the MCN labels (gold-v2)."""
    if not is_annotations(gold):
        if without:
            raise InputError(f"{gold}: found one book, expected none to leave out")
        return examples_from_mcn(read_mcn(gold), split)
    books = read_split(gold, split, without, language)
    if only:
        books = tuple(book for book in books if book.card.book in only)
    found = examples_from_annotations(books, read, leave_out)
    if not found.gold:
        raise InputError(f"{gold}: found no chapter of split {split} in the editions at hand")
    return found


def examples_from_annotations(
    books: Iterable[AnnotatedBook],
    read: BookReader,
    leave_out: Callable[[str], object] | None = None,
) -> AnnotatedExamples:
    """Returns the annotated chapters of books, on the spans of their gold."""
    return join_examples(map(examples_from_edition, read_editions(books, read, leave_out)))


def examples_from_edition(edition: Edition) -> AnnotatedExamples:
    """Returns the annotated chapters of a book, on the spans of their gold."""
    located = edition.located
    gold = located.tagged()
    speakers = [fact.speaker if fact else UNKNOWN for fact in located.facts]
    found = _examples(located.book_spans, [item.tag for item in gold.spans], speakers)
    return AnnotatedExamples(tuple(found), (located.book_spans,), (gold,))


def join_examples(parts: Iterable[AnnotatedExamples]) -> AnnotatedExamples:
    """Returns the examples of several books as one."""
    examples: list[Example] = []
    spans: list[BookSpans] = []
    gold: list[TaggedBook] = []
    for part in parts:
        examples += part.examples
        spans += part.book_spans
        gold += part.gold
    return AnnotatedExamples(tuple(examples), tuple(spans), tuple(gold))


def examples_from_mcn(mcn: McnData, split: str) -> AnnotatedExamples:
    """Returns the chapters of a split of the MCN labels (gold-v2), on the spans of its rows.

    MCN conversations may continue in the next chapter. In the examples a new one opens there, as
    in the annotations; in `gold` it continues.
    """
    gold = mcn.of_split(mcn.gold_v2, split)
    if not gold.spans:
        known = sorted({name for _, name in mcn.splits})
        raise InputError(f"{gold.source}: found no split {split!r}, expected one of {known}")
    spans = BookSpans(mcn.book_spans.book, tuple(item.span for item in gold.spans))
    examples = _examples(spans, [item.tag for item in gold.spans])
    return AnnotatedExamples(tuple(examples), (spans,), (gold,))


def examples_from_tagger(book_spans: BookSpans, tagger: Tagger | None) -> list[Example]:
    """Returns the chapters of a book with the tags of a tagger; without one they have no tags."""
    tags = [item.tag for item in tagger.tag(book_spans)] if tagger else None
    return list(_examples(book_spans, tags))


def _examples(
    book_spans: BookSpans, tags: Sequence[Tag] | None, speakers: Sequence[str] | None = None
) -> Iterator[Example]:
    by_chapter = {
        number: tuple(spans)
        for number, spans in groupby(book_spans.spans, key=lambda span: span.chapter)
    }
    for chapter in split_chapters(book_spans):
        of_chapter = np.full(len(chapter.places), -1, dtype=np.int64)
        if tags is not None:
            opened = _open_conversation([tags[place] for place in chapter.places])
            of_chapter[:] = [TAGS.index(tag) for tag in opened]
        names = [speakers[place] if speakers else UNKNOWN for place in chapter.places]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        numbers[UNKNOWN] = -1
        yield Example(
            chapter,
            by_chapter[chapter.number],
            of_chapter,
            np.array([numbers[name] for name in names], dtype=np.int64),
        )


def _open_conversation(tags: list[Tag]) -> list[Tag]:
    """Returns the tags of a chapter with its first turn as the start of a conversation."""
    end = next((n for n, tag in enumerate(tags) if n and tag is not Tag.I_OTHER), len(tags))
    if tags[0] is Tag.B_OTHER:
        return [Tag.B_START, *[Tag.I_START] * (end - 1), *tags[end:]]
    return tags


def augment(example: Example, share: float, rng: random.Random) -> Example:
    """Returns the chapter with some paragraphs split in two or three; its tags stay."""
    spans = tuple(split_paragraphs(example.spans, share, rng))
    if spans == example.spans:
        return example
    read = example.chapter
    chapter = chapter_of(read.book, spans, read.places, read.language)
    return replace(example, chapter=chapter, spans=spans)


def find_held_out_books(gold: Path, without: Collection[str] = ()) -> dict[str, str]:
    """Returns the books that must not be trained on, by id, each with the reason."""
    cards = read_cards(gold / BOOKS).values() if is_annotations(gold) else ()
    reasons = dict.fromkeys(without, "as was asked")
    return reasons | {
        card.book: f"since it is of split {card.split}"
        for card in cards
        if card.split in ("dev", "test")
    }


def tag_weakly(
    sources: Iterable[Source],
    tagger: Tagger | None,
    held_out: Mapping[str, str],
    leave_out: Callable[[str], object],
) -> list[Example]:
    """Returns the chapters of books with the tags of a tagger; without one they have no tags."""
    found: list[Example] = []
    for source in sources:
        reason = held_out.get(id_of(source.path) if source.path else source.id)
        try:
            if not reason:
                data = read_book_file(source.path or download(source.id))
                found += examples_from_tagger(parse_spans(data, source.id), tagger)
        except (InputError, OSError) as error:
            reason = str(error)
        if reason:
            leave_out(f"{source.id}: left out, {reason}")
    if not found:
        raise InputError("found no book for weak labels but those left out")
    return found


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
    """Chapters of books, some of whose paragraphs each epoch splits at random."""

    examples: tuple[Example, ...]  # the chapters as the books have them
    share: float  # the share of the possible places at which paragraphs are split, 0..1
    seed: int  # chooses the places

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
    """

    chapters: AugmentedChapters  # all chapters
    languages: tuple[str, ...]  # the language of each
    power: float  # the power, 0..1
    size: int  # the chapters of an epoch
    seed: int  # chooses the order

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
class TaughtChapters:
    """Chapters with the soft labels of teachers, who read each version."""

    chapters: VersionedChapters
    teachers: Teachers

    @property
    def is_varied(self) -> bool:
        """Whether epochs read different versions."""
        return self.chapters.is_varied

    def __len__(self) -> int:
        """The number of chapters."""
        return len(self.chapters)

    def version(self, epoch: int) -> Sequence[Example]:
        """Returns the chapters as an epoch reads them, counted from 0."""
        examples = self.chapters.version(epoch)
        labels = self.teachers.label([example.chapter for example in examples])
        pairs = zip(examples, labels, strict=True)
        return [replace(example, soft_labels=soft_labels) for example, soft_labels in pairs]


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What a run trains on and is scored against."""

    gold: VersionedChapters  # the annotated chapters to train on
    weak: VersionedChapters  # the chapters with weak labels
    # the gold that it is scored against by split; the first one chooses the epoch.
    splits: Mapping[str, AnnotatedExamples]
    record: Record  # what all of it was made from
    teachers: Teachers | None = None  # who label the chapters that are read; prepared ones have it

    def taught(self, chapters: VersionedChapters) -> VersionedChapters:
        """Returns chapters of these data with the soft labels of the teachers, if there are any."""
        return TaughtChapters(chapters, self.teachers) if self.teachers else chapters


def read_training_data(
    config: TrainingConfig, report: Callable[[str], object], progress: Progress
) -> TrainingData:
    """Returns the data of a run from annotations and books.

    The teachers are loaded, and dev and test read now, so that an error shows before hours of
    training.
    """

    def leave_out(line: str) -> None:
        left_out.append(line)
        report(f"left out, {line}")

    read_book = partial(read_book_bytes, books=config.books)
    left_out: list[str] = []
    teachers = Teachers.load(config, progress) if config.teacher else None
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
        splits[config.dev_split] = join_examples([splits[config.dev_split], moved])
    examples = list(training.examples)
    if config.chapters:
        random.Random(config.seed).shuffle(examples)
        examples = examples[: config.chapters]
    weak: list[Example] = []
    if config.weak:
        sources, missing = find_sources(config.weak, config.books)
        if missing:
            raise InputError(str(missing[0]))
        tagger = None if teachers else load_tagger(config.weak_tagger)
        held_out = find_held_out_books(config.gold, config.without)
        weak = tag_weakly(progress(sources, "weak labels"), tagger, held_out, report)
    return TrainingData(
        _training_chapters(examples, config),
        AugmentedChapters(tuple(weak), config.augment_share, config.seed),
        splits,
        build_data_record(config, examples, splits[config.dev_split], weak, left_out),
        teachers,
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
    teachers = teacher_signatures(config)
    weak_tagger = "the teachers" if teachers else tagger_signature(config.weak_tagger)
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
        "weak tagger": weak_tagger if weak else "",
        "teachers": " ".join(teachers),
        "test": config.test_split or "none",
    }
