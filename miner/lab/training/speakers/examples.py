"""Annotated books -> the chapters that the network of the speakers learns from, and their file.

The names of the annotators are matched to people of the chapter. An example has numbers alone: the
candidates of each utterance with their features, where it stands, and which candidate speaks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from miner.annotation.annotations import UNKNOWN, Annotation, read_split
from miner.errors import InputError
from miner.files import printable
from miner.lab.gold.editions import BookReader, Edition, read_editions
from miner.lab.learning.prepared_files import (
    Arrays,
    Record,
    digest_arrays,
    read_prepared,
    write_prepared,
)
from miner.lab.measure.speaker_matching import match_speakers
from miner.people.clues import find_clues
from miner.people.features import FEATURES, CandidateChapter, Place, read_candidates
from miner.people.mentions import read_people
from miner.speech.spans import BookSpans, Span

KIND = "speakers"
UNKNOWN_TARGET = -1  # of an utterance whose speaker the annotator did not know
_FLAGS = ("is_first", "continues", "has_lead_in", "is_apart")


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


def write_examples(
    path: Path, examples: Sequence[SpeakerExample], record: Record, force: bool = False
) -> None:
    """Writes examples to a file, from which `load_examples` reads them."""
    arrays = arrays_of(examples)
    names = np.array(FEATURES)
    write_prepared(path, KIND, record, arrays | {"feature_names": names}, force)


def load_examples(path: Path) -> tuple[list[SpeakerExample], Record]:
    """Returns the examples of a file, and what they were made from."""
    record, arrays = read_prepared(path, KIND)
    try:
        if arrays["feature_names"].tolist() != list(FEATURES):
            raise ValueError("examples of other features")
        return list(_examples_from(arrays)), record
    except (KeyError, IndexError, ValueError) as error:
        raise InputError(
            f"{printable(path)}: found {error}, expected examples of our {len(FEATURES)} features: "
            "prepare them again with this version"
        ) from error


def digest_examples(examples: Sequence[SpeakerExample]) -> str:
    """Returns 8 hexadecimal digits that change with any number of the examples."""
    return digest_arrays(arrays_of(examples))


def arrays_of(examples: Sequence[SpeakerExample]) -> Arrays:
    """Returns all that the network learns from, utterance by utterance and row by row."""
    chapters = [example.chapter for example in examples]
    places = [place for chapter in chapters for place in chapter.places]
    candidates = [numbers for chapter in chapters for numbers in chapter.candidates]
    features = [rows for chapter in chapters for rows in chapter.features]
    flags = np.array([[getattr(place, flag) for flag in _FLAGS] for place in places], dtype=bool)
    return {
        "books": np.array([example.book for example in examples], dtype=np.str_),
        "authors": np.array([example.author for example in examples], dtype=np.str_),
        "n_utterances": _whole(len(chapter.spans) for chapter in chapters),
        "spans": _whole(span for chapter in chapters for span in chapter.spans),
        "targets": _whole(target for example in examples for target in example.targets),
        "paragraphs": _whole(place.paragraph for place in places),
        "flags": flags.reshape(-1, len(_FLAGS)),
        "n_candidates": _whole(map(len, candidates)),
        "candidates": _whole(number for numbers in candidates for number in numbers),
        # By column: values of one feature are much alike, so the file is a third as large.
        "features": np.concatenate(
            [np.zeros((len(FEATURES), 0), dtype=np.float16)] + [rows.T for rows in features], axis=1
        ),
    }


def _whole(numbers: Iterable[int]) -> NDArray[np.int32]:
    return np.fromiter(numbers, np.int32)


def _examples_from(arrays: Arrays) -> Iterator[SpeakerExample]:
    features = np.ascontiguousarray(arrays["features"].T)
    n_candidates = arrays["n_candidates"].tolist()
    if len(features) != sum(n_candidates) or len(arrays["candidates"]) != sum(n_candidates):
        raise ValueError(f"{len(features)} rows of {sum(n_candidates)} candidates")
    parts = [slice(*part) for part in pairwise(accumulate(n_candidates, initial=0))]
    numbers, spans = arrays["candidates"].tolist(), arrays["spans"].tolist()
    targets = arrays["targets"].tolist()
    places = [
        Place(paragraph, *flags)
        for paragraph, flags in zip(
            arrays["paragraphs"].tolist(), arrays["flags"].tolist(), strict=True
        )
    ]
    first = 0
    chapters: Iterator[tuple[Any, ...]] = zip(
        arrays["books"].tolist(),
        arrays["authors"].tolist(),
        arrays["n_utterances"].tolist(),
        strict=True,
    )
    for book, author, n in chapters:
        own = slice(first, first + n)
        chapter = CandidateChapter(
            (),
            tuple(spans[own]),
            tuple(places[own]),
            tuple(tuple(numbers[part]) for part in parts[own]),
            tuple(features[part] for part in parts[own]),
        )
        yield SpeakerExample(chapter, tuple(targets[own]), book, author)
        first += n
    if not first == len(spans) == len(targets) == len(places) == len(parts):
        raise ValueError(f"{len(targets)} targets of {first} utterances")
