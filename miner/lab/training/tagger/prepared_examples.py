"""The data of a training run <-> a file, from which the run needs neither books nor annotations.

The file has chapters in tokens with their features, tags and speakers, and the soft labels of
teachers. Splitting paragraphs needs the text, so a chapter is there in as many versions as there
are epochs. Of the splits that score, it has where the spans stand. It has no text, but the tokens
give most of it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from tokenizers import Tokenizer

from miner.books.book import Block, Book
from miner.errors import InputError
from miner.files import printable, sha256_of
from miner.lab.learning.prepared import Record, read_prepared, write_prepared
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.lab.training.tagger.training_data import (
    AnnotatedExamples,
    Example,
    TrainingData,
    VersionedChapters,
)
from miner.speech.spans import BookSpans
from miner.speech.tags import TaggedBook, TaggedSpan
from miner.tagger.config import TaggingConfig
from miner.tagger.encoding import UNREAD, Encoding, encode_chapter
from miner.tagger.features import FEATURES, Paragraph

KIND = "tagger"
# The choices that change what is in the file, as options name them.
_SHAPING = (
    "language dev_language dev_book train_split dev_split test_split without chapters balance "
    "epoch_chapters weak context window margin ends".split()
)


@dataclass(frozen=True, slots=True)
class PreparedChapters:
    """Chapters from a file, in versions."""

    n_versions: int  # the versions of each chapter; 1 if all epochs read the same
    examples: tuple[Example, ...]  # all versions of the first chapter, then those of the second ..

    @property
    def is_varied(self) -> bool:
        """Whether epochs read different versions."""
        return self.n_versions > 1

    def __len__(self) -> int:
        """The number of chapters."""
        return len(self.examples) // self.n_versions

    def version(self, epoch: int) -> Sequence[Example]:
        """Returns the chapters as an epoch reads them, counted from 0."""
        return self.examples[epoch % self.n_versions :: self.n_versions]


class _Versions(NamedTuple):
    """How many versions of a chapter a run reads, and how many of them in tokens."""

    n_all: int
    n_read: int


class PreparedSplit(NamedTuple):
    """The gold of a split: its chapters, its tagged books and their blocks, without text."""

    examples: tuple[Example, ...]
    gold: tuple[TaggedBook, ...]
    blocks: tuple[tuple[Block, ...], ...]

    @classmethod
    def of(
        cls, gold: AnnotatedExamples, examples: tuple[Example, ...] | None = None
    ) -> PreparedSplit:
        """Returns a split without text.

        `examples` are its chapters in tokens; without them their text is not there at all.
        """
        if examples is None:
            examples = tuple(_without_words(example, UNREAD) for example in gold.examples)
        blocks = (_bare_blocks(spans) for spans in gold.book_spans)
        return cls(examples, tuple(map(_without_text, gold.gold)), tuple(blocks))

    def restore(self) -> AnnotatedExamples:
        """Returns the split as it is scored against."""
        spans = tuple(map(_spans_of, self.gold, self.blocks))
        return AnnotatedExamples(self.examples, spans, self.gold)


@dataclass(frozen=True, slots=True)
class _PreparedData:
    """What a file holds."""

    gold: PreparedChapters
    weak: PreparedChapters
    splits: dict[str, PreparedSplit]


def write_training_data(
    path: Path,
    data: TrainingData,
    config: TrainingConfig,
    tokenizer: Tokenizer,
    tagging: TaggingConfig,
    force: bool = False,
) -> None:
    """Writes the data of a run to a file, from which `load_training_data` reads it."""
    wanted = _wanted_versions(config)

    def bare(example: Example, is_read: bool = True) -> Example:
        encoding = encode_chapter(example.chapter, tokenizer, tagging) if is_read else UNREAD
        return _without_words(example, encoding)

    def prepared(chapters: VersionedChapters, versions: _Versions) -> PreparedChapters:
        taught = data.taught(chapters)  # by teachers that read the versions that are read
        of_versions: list[list[Example]] = []
        for number in range(versions.n_all):
            is_read = number < versions.n_read
            of_version = (taught if is_read else chapters).version(number)
            of_versions.append([bare(example, is_read) for example in of_version])
        # Versions of a chapter stand side by side, so that what they share takes little room.
        rows = zip(*of_versions, strict=True)
        return PreparedChapters(versions.n_all, tuple(chain.from_iterable(rows)))

    splits = {
        split: PreparedSplit.of(gold, tuple(map(bare, gold.examples)))
        for split, gold in data.splits.items()
    }
    record: Record = {
        "data": data.record,
        "choices": _shaping_choices(config),
        "versions": {name: versions._asdict() for name, versions in wanted.items()},
        "tokenizer": digest_tokenizer(tokenizer),
    }
    examples = _PreparedData(
        prepared(data.gold, wanted["gold"]), prepared(data.weak, wanted["weak"]), splits
    )
    write_prepared(path, KIND, record, examples, FEATURES, force)


def load_training_data(path: Path, config: TrainingConfig, tokenizer: Tokenizer) -> TrainingData:
    """Returns the data of a run from a file."""
    found, record = read_prepared(path, KIND, _PreparedData, FEATURES)
    try:
        _refuse_other_choices(record, config, tokenizer)
    except InputError as error:
        raise InputError(f"{printable(path)}: {error}; prepare the examples again") from error
    splits = {split: prepared.restore() for split, prepared in found.splits.items()}
    return TrainingData(found.gold, found.weak, splits, record["data"])


def _without_words(example: Example, encoding: Encoding) -> Example:
    """Returns an example with tokens instead of text."""
    chapter = example.chapter
    paragraphs = tuple(
        Paragraph("", ((0, 0),) * len(item.utterances))
        for item in chapter.paragraphs
        if item.utterances
    )
    chapter = replace(chapter, language="", paragraphs=paragraphs)
    return replace(example, chapter=chapter, spans=(), encoding=encoding)


def _without_text(book: TaggedBook) -> TaggedBook:
    """Returns where the spans of a book stand, and their tags.

    Scoring compares texts; of one edition each place has a text of its own.
    """
    spans = tuple(
        TaggedSpan(replace(span, text=f"{span.paragraph}.{span.index}"), item.tag)
        for item in book.spans
        for span in [item.span]
    )
    return TaggedBook(book.book, spans, book.source)


def _bare_blocks(spans: BookSpans) -> tuple[Block, ...]:
    """Returns the blocks that hold spans: decoding asks where scenes begin."""
    held = {span.paragraph for span in spans.spans}
    blocks = (block for block in spans.book.blocks if block.index in held)
    return tuple(replace(block, text="", lead="") for block in blocks)


def _spans_of(book: TaggedBook, blocks: tuple[Block, ...]) -> BookSpans:
    spans = tuple(item.span for item in book.spans)
    return BookSpans(Book(book.book, "", "", "", blocks, (), ""), spans)


def _wanted_versions(config: TrainingConfig) -> dict[str, _Versions]:
    n_structure = config.structure_epochs * config.features
    of_epochs = {
        "gold": _Versions(max(config.epochs, n_structure), config.epochs),
        "weak": _Versions(config.weak_epochs, config.weak_epochs),
    }
    is_varied = {
        "gold": config.augment_share or config.balance is not None,
        "weak": config.augment_share,
    }
    return {
        name: versions if is_varied[name] else _Versions(1, 1)
        for name, versions in of_epochs.items()
    }


def _shaping_choices(config: TrainingConfig) -> Record:
    choices = {name: getattr(config, name) for name in _SHAPING}
    choices |= {"augment": config.augment_share}
    if config.weak:
        choices |= {"weak_tagger": config.weak_tagger}
    if config.teacher:
        choices |= {"teacher": config.teacher}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in choices.items()}


def _refuse_other_choices(record: Record, config: TrainingConfig, tokenizer: Tokenizer) -> None:
    found, expected = record["choices"], _shaping_choices(config)
    for name in dict.fromkeys([*expected, *found]):
        if found.get(name) != expected.get(name):
            raise InputError(
                f"found examples of `{name}={found.get(name)}`, expected {expected.get(name)}"
            )
    if record["tokenizer"] != digest_tokenizer(tokenizer):
        raise InputError(f"found tokens of another tokenizer, expected that of {config.encoder}")
    for name, wanted in _wanted_versions(config).items():
        versions = _Versions(**record["versions"][name])
        if versions.n_all < wanted.n_all or versions.n_read < wanted.n_read:
            raise InputError(
                f"found {versions.n_all} versions of {name} chapters, {versions.n_read} of them in "
                f"tokens, expected {wanted.n_all} and {wanted.n_read} for as many epochs"
            )


def digest_tokenizer(tokenizer: Tokenizer) -> str:
    """Returns a digest that changes with any token."""
    return sha256_of(tokenizer.to_str().encode())
