"""Annotated books -> examples: the chapters with gold tags to train and evaluate a tagger on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from miner.annotation.annotations import (
    ENGLISH,
    UNKNOWN,
    AnnotatedBook,
    is_annotations,
    read_split,
)
from miner.errors import InputError
from miner.lab.gold.editions import BookReader, read_editions
from miner.lab.gold.mcn import McnData, read_mcn
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import TAGS, Tag, TaggedBook, Tagger
from miner.tagger.encoding import Encoding
from miner.tagger.features import Chapter, split_chapters


@dataclass(frozen=True, slots=True)
class Example:
    """A chapter with its gold tags.

    Attributes:
        chapter: the chapter as the tagger reads it.
        spans: all spans of the chapter.
        tags: the indices of the tags in `decoding.TAGS`: (utterances,).
        speakers: a number for each speaker of the chapter, -1 where the speaker is unknown:
            (utterances,).
        encoding: the chapter in tokens, if it is from a file of prepared examples. Then its
            paragraphs have no text, and there are no spans.
    """

    chapter: Chapter
    spans: tuple[Span, ...]
    tags: NDArray[np.int64]
    speakers: NDArray[np.int64]
    encoding: Encoding | None = None


@dataclass(frozen=True, slots=True)
class AnnotatedExamples:
    """The examples of annotated books, and the gold that predictions are scored against."""

    examples: tuple[Example, ...]
    book_spans: tuple[BookSpans, ...]
    gold: tuple[TaggedBook, ...]

    def join(self, others: AnnotatedExamples) -> AnnotatedExamples:
        """Returns these examples and others."""
        return AnnotatedExamples(
            self.examples + others.examples,
            self.book_spans + others.book_spans,
            self.gold + others.gold,
        )


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
    found: list[Example] = []
    spans: list[BookSpans] = []
    gold: list[TaggedBook] = []
    for edition in read_editions(books, read, leave_out):
        located = edition.located
        spans.append(located.book_spans)
        gold.append(located.tagged())
        speakers = [fact.speaker if fact else UNKNOWN for fact in located.facts]
        found += _examples(located.book_spans, [item.tag for item in gold[-1].spans], speakers)
    return AnnotatedExamples(tuple(found), tuple(spans), tuple(gold))


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


def examples_from_tagger(book_spans: BookSpans, tagger: Tagger) -> list[Example]:
    """Returns the chapters of a book with the tags that a tagger gives them."""
    return list(_examples(book_spans, [item.tag for item in tagger.tag(book_spans)]))


def _examples(
    book_spans: BookSpans, tags: Sequence[Tag], speakers: Sequence[str] | None = None
) -> Iterator[Example]:
    by_chapter = {
        number: tuple(spans)
        for number, spans in groupby(book_spans.spans, key=lambda span: span.chapter)
    }
    for chapter in split_chapters(book_spans):
        of_chapter = _open_conversation([tags[place] for place in chapter.places])
        names = [speakers[place] if speakers else UNKNOWN for place in chapter.places]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        numbers[UNKNOWN] = -1
        yield Example(
            chapter,
            by_chapter[chapter.number],
            np.array([TAGS.index(tag) for tag in of_chapter], dtype=np.int64),
            np.array([numbers[name] for name in names], dtype=np.int64),
        )


def _open_conversation(tags: list[Tag]) -> list[Tag]:
    """Returns the tags of a chapter with its first turn as the start of a conversation."""
    end = next((n for n, tag in enumerate(tags) if n and tag is not Tag.I_OTHER), len(tags))
    if tags[0] is Tag.B_OTHER:
        return [Tag.B_START, *[Tag.I_START] * (end - 1), *tags[end:]]
    return tags
