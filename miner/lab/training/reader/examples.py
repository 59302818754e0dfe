"""Annotated chapters -> what the reader learns from, and a file of it.

The tokens of a chapter are there once, whatever the window. A link is learned for free: a noun or
pronoun that is the subject of a verb of saying beside an utterance of a known speaker means that
person.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from miner.annotation.annotations import read_split
from miner.books.download import read_book_bytes
from miner.errors import InputError
from miner.files import printable
from miner.lab.gold.editions import Edition, read_editions
from miner.lab.learning.prepared import Record, digest_prepared, read_prepared, write_prepared
from miner.lab.training.reader.training_config import ReaderTraining
from miner.lab.training.speakers.training import (
    find_targets,
    match_people,
    merge_gold,
    select_utterances,
)
from miner.lab.training.tagger.prepared_examples import PreparedSplit, digest_tokenizer
from miner.lab.training.tagger.training_data import (
    AnnotatedExamples,
    Example,
    examples_from_edition,
    join_examples,
)
from miner.people.clues import ChapterClues, Cue
from miner.people.features import FEATURES as CANDIDATE_FEATURES
from miner.people.features import CandidateChapter
from miner.people.mentions import UNKNOWN_NUMBER, MentionKind, read_people
from miner.reader.chapters import split_book
from miner.reader.units import UnitPlaces, Units, place_units
from miner.tagger.features import FEATURES

KIND = "reader"
# The choices that change what is in the file, as options name them.
_SHAPING = "language train_split dev_split test_split without ends".split()


@dataclass(frozen=True, slots=True)
class ReaderExample:
    """A chapter with its gold. All its utterances are annotated."""

    units: Units
    structure: NDArray[np.float16]  # (utterances, len(features.FEATURES))
    chapter: CandidateChapter  # the candidates of each utterance, without the people
    targets: tuple[int, ...]  # see `speakers.training.SpeakerExample`
    tags: NDArray[np.int8]  # the indices of the tags in `decoding.TAGS`: (utterances,)
    # mentions, as positions of units, with the people who they are: (links, 2)
    links: NDArray[np.int32]
    book: str  # the id of the book


@dataclass(frozen=True, slots=True)
class ReaderSplit:
    """The chapters of a split that scores, and the gold that they are scored against."""

    examples: tuple[ReaderExample, ...]  # in the order of `gold.examples`
    gold: AnnotatedExamples


class ReaderData(NamedTuple):
    """What a run trains on and is scored against."""

    train: Sequence[ReaderExample]
    splits: dict[str, ReaderSplit]  # the first one chooses the epoch
    record: Record  # what all of it was made from


class _PreparedReaderSplit(NamedTuple):
    examples: tuple[ReaderExample, ...]
    gold: PreparedSplit


@dataclass(frozen=True, slots=True)
class _PreparedData:
    """What a file holds."""

    train: list[ReaderExample]
    splits: dict[str, _PreparedReaderSplit]


def read_reader_data(
    config: ReaderTraining, tokenizer: Tokenizer, n_tokens: int, report: Callable[[str], object]
) -> ReaderData:
    """Returns the data of a run from annotations and books.

    Args:
        config: the choices of the run.
        tokenizer: the tokenizer of the encoder; it neither cuts nor pads texts.
        n_tokens: the tokens that the encoder knows.
        report: is told of chapters of the training that are left out.
    """

    def leave_out(line: str) -> None:
        left_out.append(line)
        report(f"left out, {line}")

    def refuse(line: str) -> None:
        raise InputError(line)

    def read_books(
        split: str, without: Sequence[str], leave_out: Callable[[str], object]
    ) -> Iterator[tuple[AnnotatedExamples, list[ReaderExample]]]:
        books = read_split(config.gold, split, without, config.language)
        read_book = partial(read_book_bytes, books=config.books)
        for edition in read_editions(books, read_book, leave_out):
            gold = examples_from_edition(edition)
            read = read_examples(edition, gold.examples, tokenizer, n_tokens, config.ends)
            for example in gold.examples:
                if example.chapter.number not in read:
                    leave_out(
                        f"{edition.annotated.card.book}: chapter {example.chapter.number} is not "
                        "in the story, expected one that is mined"
                    )
            yield gold, list(read.values())

    left_out: list[str] = []
    train: list[ReaderExample] = []
    for n, (_, examples) in enumerate(read_books(config.train_split, config.without, leave_out)):
        train += examples
        report(f"read {n + 1} books, {len(train)} chapters")
    splits: dict[str, ReaderSplit] = {}
    for split in filter(None, (config.dev_split, config.test_split)):
        parts = list(read_books(split, (), refuse))
        examples = tuple(example for _, of_book in parts for example in of_book)
        splits[split] = ReaderSplit(examples, join_examples(gold for gold, _ in parts))
    record: Record = {
        "data": f"{config.gold} {config.train_split}",
        "dev": config.dev_split,
        "test": config.test_split or "none",
        "left out": " ".join(config.without),
        "chapters left out": " | ".join(left_out),
        "digest of the data": digest_prepared(train),
        "digest of dev": digest_prepared(splits[config.dev_split].examples),
    }
    return ReaderData(train, splits, record)


def choose_chapters(data: ReaderData, config: ReaderTraining) -> ReaderData:
    """Returns the data with as many chapters to train on as a run asks for, and says how many."""
    train = list(data.train)
    if config.chapters:
        random.Random(config.seed).shuffle(train)
        train = train[: config.chapters]
    if not train:
        raise InputError("found no chapter to train on, expected one or more")
    counts: Record = {
        "books": len({example.book for example in train}),
        "chapters": len(train),
        "utterances": sum(len(example.tags) for example in train),
        "links": sum(len(example.links) for example in train),
    }
    return ReaderData(train, data.splits, data.record | counts)


def read_examples(
    edition: Edition, gold: Sequence[Example], tokenizer: Tokenizer, n_tokens: int, ends: int
) -> dict[int, ReaderExample]:
    """Returns the annotated chapters of a book by number, in the order of the tagger's examples.

    A chapter of a preface, which is not mined, is not among them.
    """
    book_spans, facts = merge_gold(edition)
    wanted = {example.chapter.number: example for example in gold}
    found: dict[int, ReaderExample] = {}
    for item in split_book(read_people(book_spans), book_spans):
        example = wanted.get(item.chapter.number)
        if example is None:
            continue
        names = [fact.speaker for place in item.candidates.spans if (fact := facts[place])]
        tags = example.tags.astype(np.int8)
        if not len(names) == len(tags) == len(item.candidates.spans):
            raise InputError(
                f"{edition.annotated.card.book}: chapter {item.chapter.number}: found "
                f"{len(item.candidates.spans)} utterances, expected {len(tags)} of the gold"
            )
        units, places = place_units(item.clues, tokenizer, n_tokens, ends)
        people = match_people(item.clues, range(len(names)), names)
        chapter = replace(select_utterances(item.candidates, range(len(names))), people=())
        found[item.chapter.number] = ReaderExample(
            units,
            item.chapter.features.astype(np.float16),
            chapter,
            find_targets(chapter, people),
            tags,
            find_links(item.clues, people, places),
            edition.annotated.card.book,
        )
    return {number: found[number] for number in wanted if number in found}


def find_links(
    found: ChapterClues, people: Sequence[int | None], places: UnitPlaces
) -> NDArray[np.int32]:
    """Returns the nouns and pronouns that say who speaks, with the people whom the gold names.

    Args:
        found: a chapter.
        people: the person who speaks each utterance; None where nobody is known.
        places: where its mentions stand among its units.
    """
    links: dict[int, int] = {}
    for clues, person in zip(found.clues, people, strict=True):
        if person is None or person == UNKNOWN_NUMBER:
            continue
        for cue in (Cue.SAYS_AFTER, Cue.SAYS_BEFORE):
            mention = clues.cue(cue)
            if mention is None or mention.kind is MentionKind.NAME:
                continue
            # What leads in to a paragraph that begins with speech stands in the one before it.
            for paragraph in (clues.paragraph, clues.paragraph - 1):
                if mention in found.chapter.mentions[paragraph]:
                    if (unit := places.get((paragraph, mention.start))) is not None:
                        links[unit] = person
                    break
    return np.array(sorted(links.items()), dtype=np.int32).reshape(-1, 2)


def write_reader_data(
    path: Path,
    data: ReaderData,
    config: ReaderTraining,
    tokenizer: Tokenizer,
    force: bool = False,
) -> None:
    """Writes the data of a run to a file, from which `load_reader_data` reads it."""
    splits = {
        name: _PreparedReaderSplit(split.examples, PreparedSplit.of(split.gold))
        for name, split in data.splits.items()
    }
    record: Record = {
        "data": data.record,
        "choices": _shaping_choices(config),
        "tokenizer": digest_tokenizer(tokenizer),
    }
    names = (*FEATURES, *CANDIDATE_FEATURES)
    write_prepared(path, KIND, record, _PreparedData(list(data.train), splits), names, force)


def load_reader_data(path: Path, config: ReaderTraining, tokenizer: Tokenizer) -> ReaderData:
    """Returns the data of a run from a file."""
    names = (*FEATURES, *CANDIDATE_FEATURES)
    found, record = read_prepared(path, KIND, _PreparedData, names)
    expected = _shaping_choices(config)
    for name, value in expected.items():
        if (was := record["choices"].get(name)) != value:
            raise InputError(
                f"{printable(path)}: found examples of `{name}={was}`, expected {value}; prepare "
                "the examples again"
            )
    if record["tokenizer"] != digest_tokenizer(tokenizer):
        raise InputError(
            f"{printable(path)}: found tokens of another tokenizer, expected that of "
            f"{config.encoder}; prepare the examples again"
        )
    splits = {
        name: ReaderSplit(split.examples, split.gold.restore())
        for name, split in found.splits.items()
    }
    return ReaderData(found.train, splits, record["data"])


def _shaping_choices(config: ReaderTraining) -> Record:
    choices = {name: getattr(config, name) for name in _SHAPING}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in choices.items()}
