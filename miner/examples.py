"""What a tagger is trained and judged on: chapters with their right tags."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from miner.annotations import AnnotatedBook
from miner.decoding import TAGS
from miner.editions import ReadBook, editions
from miner.features import Chapter, chapters
from miner.spans import BookSpans
from miner.tags import Tag, TaggedBook, Tagger


@dataclass(frozen=True, slots=True)
class Example:
    """A chapter and the index in `decoding.TAGS` of each utterance's tag, int64."""

    chapter: Chapter
    tags: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AnnotatedExamples:
    """The examples of some annotated books, and the gold they come from, to score against."""

    examples: tuple[Example, ...]
    book_spans: tuple[BookSpans, ...]
    gold: tuple[TaggedBook, ...]

    @property
    def digest(self) -> str:
        """8 hexadecimal digits that change with any text or tag."""
        digest = hashlib.sha256()
        for example in self.examples:
            for paragraph in example.chapter.paragraphs:
                digest.update(paragraph.text.encode())
            digest.update(example.tags.tobytes())
        return digest.hexdigest()[:8]


def annotated_examples(books: Iterable[AnnotatedBook], read: ReadBook) -> AnnotatedExamples:
    """The annotated chapters on their own spans.

    Raises:
        ValueError: as `editions.editions` does.
    """
    found: list[Example] = []
    spans: list[BookSpans] = []
    gold: list[TaggedBook] = []
    for edition in editions(books, read):
        located = edition.located
        spans.append(located.book_spans)
        gold.append(located.tagged())
        found += _examples(located.book_spans, [item.tag for item in gold[-1].spans])
    return AnnotatedExamples(tuple(found), tuple(spans), tuple(gold))


def weak_examples(book_spans: BookSpans, tagger: Tagger) -> list[Example]:
    """Every chapter of a book with the tags that a tagger, such as the gap heuristic, gives it."""
    return list(_examples(book_spans, [item.tag for item in tagger.tag(book_spans)]))


def _examples(book_spans: BookSpans, tags: list[Tag]) -> Iterator[Example]:
    for chapter in chapters(book_spans):
        of_chapter = [TAGS.index(tags[place]) for place in chapter.places]
        yield Example(chapter, np.array(of_chapter, dtype=np.int64))
