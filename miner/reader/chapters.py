"""A book with its people -> its chapters, as the tagger and the attributor read them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from miner.people.attributor import read_chapters
from miner.people.clues import ChapterClues
from miner.people.features import CandidateChapter
from miner.people.mentions import BookPeople
from miner.speech.spans import BookSpans, Span
from miner.tagger.features import Chapter, chapter_of


class BookChapter(NamedTuple):
    """A chapter; all three have the same utterances in the same order."""

    chapter: Chapter  # the chapter as the tagger reads it, with the structure features
    clues: ChapterClues  # its paragraphs and mentions
    candidates: CandidateChapter  # the candidates of each utterance


def split_book(book: BookPeople, book_spans: BookSpans) -> Iterator[BookChapter]:
    """Yields the chapters that hold an utterance, in order."""
    of_chapter: defaultdict[int, list[Span]] = defaultdict(list)
    for span in book_spans.spans:
        of_chapter[span.chapter].append(span)
    name, language = book_spans.book.id, book_spans.book.language
    for clues, candidates in read_chapters(book, book_spans):
        spans = of_chapter[clues.chapter.number]
        yield BookChapter(chapter_of(name, spans, candidates.spans, language), clues, candidates)
