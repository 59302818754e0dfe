"""Annotated books, or a file of prepared examples -> the weights of a network, with their record.

The tagger has a loop of its own in `train.py`. The other networks are trained in minutes, each by
a `NetworkTrainer`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Protocol, TypeVar

from miner.books.download import read_book_bytes
from miner.errors import InputError
from miner.files import refuse_existing
from miner.lab.gold.editions import BookReader
from miner.lab.learning.fields import Option
from miner.lab.learning.prepared import (
    Record,
    digest_prepared,
    read_prepared,
    write_prepared,
)
from miner.lab.learning.run_folder import Arrays, refuse_existing_weights, write_weights

Examples = TypeVar("Examples")


class NetworkTrainer(Protocol[Examples]):
    """Trains one network with given choices."""

    kind: ClassVar[str]  # of what it is ("speakers")
    form: ClassVar[Any]  # the class of its examples
    features: ClassVar[Sequence[str]]  # the names of what an example has

    @property
    def choices(self) -> Record:
        """The choices of the training by name."""
        ...

    def read(
        self,
        gold: Path,
        split: str,
        read: BookReader,
        without: Collection[str],
        leave_out: Callable[[str], object],
    ) -> Examples:
        """Returns the examples of a split of the annotations."""
        ...

    def describe(self, examples: Examples) -> Record:
        """Returns the books of the examples, and how many they are."""
        ...

    def fit(self, examples: Examples, report: Callable[[str], object]) -> Arrays:
        """Returns the weights that are learned from examples."""
        ...


class _Source(Protocol):
    """Where the examples of a run come from."""

    @property
    def gold(self) -> Path: ...
    @property
    def books(self) -> Path | None: ...
    @property
    def train_split(self) -> str: ...
    @property
    def without(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRun:
    """Where the examples of a run come from, and what is written.

    Raises:
        InputError: if nothing is to be written, or examples come from a file and go to one.
    """

    out: Annotated[
        Path | None,
        Option("File for the weights, such as en.safetensors.", short="-o", is_output=True),
    ] = None
    prepare: Annotated[Path | None, Option("File for prepared examples.", is_output=True)] = None
    examples: Annotated[
        Path | None, Option("Prepared examples to train on, without books and annotations.")
    ] = None
    gold: Annotated[Path, Option("Folder of annotations.")] = Path("annotations")
    books: Annotated[Path | None, Option("Folder of Gutenberg files.", envvar="MINER_BOOKS")] = None
    train_split: Annotated[str, Option("Splits to train on, joined with +.")] = "train"
    without: Annotated[tuple[str, ...], Option("Number of a book to leave out of training.")] = ()

    def __post_init__(self) -> None:
        if not self.out and not self.prepare:
            raise InputError("found neither `out=` nor `prepare=`, expected a file to write")
        if self.examples and self.prepare:
            raise InputError("found `examples=` with `prepare=`, expected one of them")


def train_network(
    trainer: NetworkTrainer[Examples],
    config: NetworkRun,
    force: bool,
    command: str,
    report: Callable[[str], object],
) -> None:
    """Prepares examples, trains a network on them, and writes what `config` names."""
    if config.prepare:
        refuse_existing(config.prepare, force)
    if config.out:
        refuse_existing_weights(config.out, force)
    started = time.monotonic()
    of_kind = trainer.kind, trainer.form, trainer.features
    if config.examples:
        examples, record = read_prepared(config.examples, *of_kind)
    else:
        examples, record = read_annotated(trainer, config, report)
    report(f"read {len(record['books'])} books in {time.monotonic() - started:.0f} seconds")
    if config.prepare:
        write_prepared(config.prepare, trainer.kind, record, examples, trainer.features, force)
        report(f"{config.prepare}: {config.prepare.stat().st_size / 1e6:.1f} MB of examples")
    if config.out:
        weights = trainer.fit(examples, report)
        whole = {"command": command, **trainer.choices, **record}
        write_weights(config.out, weights, whole, force)
        report(f"{config.out}: trained, {time.monotonic() - started:.0f} seconds in all")


def reporting_reader(
    books: Path | None, report: Callable[[str], object], pause: float = 30
) -> BookReader:
    """Returns what reads books by their ids."""
    seen: set[str] = set()
    told = time.monotonic()

    def read_book(book: str) -> bytes:
        nonlocal told
        seen.add(book)
        if time.monotonic() - told >= pause:
            told = time.monotonic()
            report(f"reading books: {len(seen)} so far")
        return read_book_bytes(book, books=books)

    return read_book


def read_annotated(
    trainer: NetworkTrainer[Examples], config: _Source, report: Callable[[str], object]
) -> tuple[Examples, Record]:
    """Returns the examples of books, and the record of what they are."""

    def leave_out(line: str) -> None:
        left_out.append(line)
        report(f"left out, {line}")

    read_book = reporting_reader(config.books, report)
    left_out: list[str] = []
    examples = trainer.read(config.gold, config.train_split, read_book, config.without, leave_out)
    return examples, {
        "data": f"{config.gold} {config.train_split}",
        "left out": list(config.without),
        "chapters left out": left_out,
        **trainer.describe(examples),
        "digest of the data": digest_prepared(examples),
    }
