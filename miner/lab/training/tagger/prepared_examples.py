"""The data of a training run <-> a file, from which the run needs neither books nor annotations.

The file has chapters in tokens with their features, tags and speakers. Splitting paragraphs needs
the text, so a chapter is there in as many versions as there are epochs. Of the splits that score,
it has where the spans stand. It has no text, but the tokens give most of it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from miner.books.book import Book
from miner.errors import InputError
from miner.files import printable, sha256_of
from miner.lab.learning.prepared_files import Arrays, Record, read_prepared, write_prepared
from miner.lab.training.tagger.examples import AnnotatedExamples, Example
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.lab.training.tagger.training_data import TrainingData, VersionedChapters
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan
from miner.tagger.config import TaggingConfig
from miner.tagger.encoding import UNREAD, Encoding, Window, encode_chapter
from miner.tagger.features import FEATURES, Chapter, Paragraph

KIND = "tagger"
# The choices that change what is in the file, as options name them.
_SHAPING = (
    "language dev_language dev_book train_split dev_split test_split without chapters balance "
    "epoch_chapters weak context window margin ends".split()
)
_ALL_TAGS = tuple(Tag)
_FLAGS = ("is_utterance", "quoted", "continues")
_PLACE = ("chapter", "paragraph", "index", "start", "end")


@dataclass(frozen=True, slots=True)
class PreparedChapters:
    """Chapters from a file, in versions.

    Attributes:
        n_versions: the versions of each chapter; 1 if all epochs read the same.
        examples: all versions of the first chapter, then those of the second ...
    """

    n_versions: int
    examples: tuple[Example, ...]

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


def write_training_data(
    path: Path,
    data: TrainingData,
    config: TrainingConfig,
    tokenizer: Tokenizer,
    tagging: TaggingConfig,
    force: bool = False,
) -> None:
    """Writes the data of a run to a file, from which `load_training_data` reads it."""
    arrays: Arrays = {"feature_names": np.array(FEATURES)}
    wanted = _wanted_versions(config)

    def encode(example: Example, is_read: bool = True) -> tuple[Example, Encoding]:
        return example, encode_chapter(example.chapter, tokenizer, tagging) if is_read else UNREAD

    for name, chapters in (("gold", data.gold), ("weak", data.weak)):
        n_all, n_read = wanted[name]
        versions = [
            [encode(example, version < n_read) for example in chapters.version(version)]
            for version in range(n_all)
        ]
        # Versions of a chapter stand side by side, so that what they share takes little room.
        arrays |= _named(name, _arrays_of(chain.from_iterable(zip(*versions, strict=True))))
    for n, gold in enumerate(data.splits.values()):
        arrays |= _named(f"split {n}", _arrays_of(map(encode, gold.examples)))
        arrays |= _named(f"split {n} spans", _arrays_of_spans(gold))
    record: Record = {
        "data": data.record,
        "splits": list(data.splits),
        "choices": _shaping_choices(config),
        "versions": {name: versions._asdict() for name, versions in wanted.items()},
        "tokenizer": _digest(tokenizer),
    }
    write_prepared(path, KIND, record, arrays, force)


def load_training_data(path: Path, config: TrainingConfig, tokenizer: Tokenizer) -> TrainingData:
    """Returns the data of a run from a file."""
    record, arrays = read_prepared(path, KIND)
    try:
        _refuse_other_choices(record, config, tokenizer)
        if arrays["feature_names"].tolist() != list(FEATURES):
            raise InputError("found other features, expected those of this version")
        versions = {name: _Versions(**found) for name, found in record["versions"].items()}
        return TrainingData(
            _chapters_from(_part(arrays, "gold"), versions["gold"].n_all),
            _chapters_from(_part(arrays, "weak"), versions["weak"].n_all),
            {
                split: _gold_from(_part(arrays, f"split {n}"), _part(arrays, f"split {n} spans"))
                for n, split in enumerate(record["splits"])
            },
            record["data"],
        )
    except (KeyError, IndexError, TypeError) as error:
        raise InputError(f"{printable(path)}: found no {error}, expected whole examples") from error
    except ValueError as error:
        raise InputError(f"{printable(path)}: {error}; prepare the examples again") from error


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
    return {name: list(v) if isinstance(v, tuple) else v for name, v in choices.items()}


def _refuse_other_choices(record: Record, config: TrainingConfig, tokenizer: Tokenizer) -> None:
    found, expected = record["choices"], _shaping_choices(config)
    for name in dict.fromkeys([*expected, *found]):
        if found.get(name) != expected.get(name):
            raise InputError(
                f"found examples of `{name}={found.get(name)}`, expected {expected.get(name)}"
            )
    if record["tokenizer"] != _digest(tokenizer):
        raise InputError(f"found tokens of another tokenizer, expected that of {config.encoder}")
    for name, wanted in _wanted_versions(config).items():
        versions = _Versions(**record["versions"][name])
        if versions.n_all < wanted.n_all or versions.n_read < wanted.n_read:
            raise InputError(
                f"found {versions.n_all} versions of {name} chapters, {versions.n_read} of them in "
                f"tokens, expected {wanted.n_all} and {wanted.n_read} for as many epochs"
            )


def _digest(tokenizer: Tokenizer) -> str:
    return sha256_of(tokenizer.to_str().encode())


def _named(name: str, arrays: Arrays) -> Arrays:
    return {f"{name}: {part}": values for part, values in arrays.items()}


def _part(arrays: Arrays, name: str) -> Arrays:
    return {
        key.removeprefix(f"{name}: "): values
        for key, values in arrays.items()
        if key.startswith(f"{name}: ")
    }


def _arrays_of(prepared: Iterable[tuple[Example, Encoding]]) -> Arrays:
    """Returns chapters as arrays: one row a chapter, paragraph, utterance, window or token."""
    pairs = list(prepared)
    chapters = [example.chapter for example, _ in pairs]
    windows = [window for _, encoding in pairs for window in encoding.windows]
    sizes = [
        [len(paragraph.utterances) for paragraph in chapter.paragraphs if paragraph.utterances]
        for chapter in chapters
    ]
    ranges = [
        (*own, *told)
        for _, encoding in pairs
        for own, told in zip(encoding.utterances, encoding.narration, strict=True)
    ]
    return {
        "books": np.array([chapter.book for chapter in chapters], dtype=np.str_),
        "chapters": _whole(chapter.number for chapter in chapters),
        "n_utterances": _whole(len(chapter.places) for chapter in chapters),
        "n_paragraphs": _whole(map(len, sizes)),
        "n_windows": _whole(len(encoding.windows) for _, encoding in pairs),
        "n_tokens": _whole(encoding.n_tokens for _, encoding in pairs),
        "n_ranges": _whole(len(encoding.utterances) for _, encoding in pairs),
        "paragraph sizes": _whole(chain.from_iterable(sizes)),
        "places": _whole(place for chapter in chapters for place in chapter.places),
        "tags": _whole(tag for example, _ in pairs for tag in example.tags.tolist()),
        "speakers": _whole(number for example, _ in pairs for number in example.speakers.tolist()),
        "ranges": _whole(chain.from_iterable(ranges)),
        "windows": _whole(
            chain.from_iterable((len(item.ids), *item.taken, item.start) for item in windows)
        ),
        "ids": _whole(token for window in windows for token in window.ids),
        # By column: values of one feature are much alike.
        "features": np.concatenate(
            [np.zeros((len(FEATURES), 0), dtype=np.float32)]
            + [chapter.features.T for chapter in chapters],
            axis=1,
        ),
    }


def _whole(numbers: Iterable[int]) -> NDArray[Any]:
    """Returns whole numbers in as few bits as they fit in."""
    found = np.fromiter(numbers, np.int64)
    if not len(found):
        return found
    least, most = np.min_scalar_type(found.min()), np.min_scalar_type(found.max())
    return found.astype(np.promote_types(least, most))


class _Rows:
    """Hands out the rows of arrays from the first on."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._taken = dict.fromkeys(arrays, 0)

    def take(self, name: str, n: int) -> NDArray[Any]:
        """Returns the next n rows of an array."""
        first = self._taken[name]
        self._taken[name] = first + n
        found = self._arrays[name][first : first + n]
        if len(found) < n:
            raise InputError(f"found {len(found)} {name}, expected {n}")
        return found


def _chapters_from(arrays: Arrays, n_versions: int) -> VersionedChapters:
    return PreparedChapters(n_versions, tuple(_examples_from(arrays)))


def _examples_from(arrays: Arrays) -> Iterator[Example]:
    features = np.ascontiguousarray(arrays["features"].T, dtype=np.float32)
    rows = _Rows(arrays | {"features": features})
    counts = ("n_utterances", "n_paragraphs", "n_windows", "n_tokens", "n_ranges")
    numbers = zip(*(arrays[name].tolist() for name in ("chapters", *counts)), strict=True)
    for book, numbered in zip(arrays["books"].tolist(), numbers, strict=True):
        chapter, n_utterances, n_paragraphs, n_windows, n_tokens, n_ranges = numbered
        sizes = rows.take("paragraph sizes", n_paragraphs).tolist()
        windows: list[Window] = []
        for length, low, high, start in _parted(rows.take("windows", 4 * n_windows), 4):
            ids = rows.take("ids", length).tolist()
            windows.append(Window(tuple(ids), (low, high), start))
        ranges = _parted(rows.take("ranges", 4 * n_ranges), 4)
        yield Example(
            Chapter(
                book,
                chapter,
                "",
                tuple(Paragraph("", ((0, 0),) * size) for size in sizes),
                tuple(rows.take("places", n_utterances).tolist()),
                rows.take("features", n_utterances),
            ),
            (),
            rows.take("tags", n_utterances).astype(np.int64),
            rows.take("speakers", n_utterances).astype(np.int64),
            Encoding(
                tuple(windows),
                n_tokens,
                tuple((first, last) for first, last, _, _ in ranges),
                tuple((first, last) for _, _, first, last in ranges),
            ),
        )


def _parted(values: NDArray[Any], size: int) -> list[list[int]]:
    return values.reshape(-1, size).tolist()


def _arrays_of_spans(gold: AnnotatedExamples) -> Arrays:
    """Returns where the spans of books stand, and their gold tags."""
    spans = [item.span for book in gold.gold for item in book.spans]
    return {
        "books": np.array([book.book for book in gold.gold], dtype=np.str_),
        "sources": np.array([book.source for book in gold.gold], dtype=np.str_),
        "n_spans": _whole(len(book.spans) for book in gold.gold),
        "tags": _whole(_ALL_TAGS.index(item.tag) for book in gold.gold for item in book.spans),
        **{name: _whole(getattr(span, name) for span in spans) for name in (*_PLACE, *_FLAGS)},
    }


def _gold_from(chapters: Arrays, arrays: Arrays) -> AnnotatedExamples:
    places = zip(*(arrays[name].tolist() for name in _PLACE), strict=True)
    flags = zip(*(arrays[name].tolist() for name in _FLAGS), strict=True)
    tagged = [
        # Scoring compares texts; of one edition each place has a text of its own.
        TaggedSpan(
            Span(chapter, paragraph, index, start, end, f"{paragraph}.{index}", *map(bool, flag)),
            _ALL_TAGS[tag],
        )
        for (chapter, paragraph, index, start, end), flag, tag in zip(
            places, flags, arrays["tags"].tolist(), strict=True
        )
    ]
    ends = accumulate(arrays["n_spans"].tolist(), initial=0)
    books = [tuple(tagged[first:last]) for first, last in pairwise(ends)]
    gold = tuple(
        TaggedBook(book, spans, source)
        for book, spans, source in zip(
            arrays["books"].tolist(), books, arrays["sources"].tolist(), strict=True
        )
    )
    book_spans = tuple(
        BookSpans(Book(item.book, "", "", "", (), (), ""), tuple(one.span for one in item.spans))
        for item in gold
    )
    return AnnotatedExamples(tuple(_examples_from(chapters)), book_spans, gold)
