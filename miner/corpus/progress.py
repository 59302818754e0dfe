"""How far a run over many books is, in words: what a progress bar shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Books that an earlier run has mined count as sources that are done. Their words do not count, so
    words over time is the speed of this run.

    Attributes:
        n_sources: how many sources the run has.
        n_done: how many of them have a result.
        n_words: words that are tagged, those of a book under way included.
        n_words_expected: words of all books. Those that are not read yet are taken to be as long as
            the mean of the others. 0 until the first book is read.
    """

    n_sources: int
    n_done: int = 0
    n_words: int = 0
    n_words_expected: int = 0


class ProgressCounter:
    """Counts the words of a run, and reports each change."""

    def __init__(self, n_sources: int, report: Callable[[Progress], None]) -> None:
        """Reports that nothing is done."""
        self._n_sources = n_sources
        self._report = report
        self._n_done = 0
        self._under_way: int | None = None  # the words of the book that is read and has no result
        self._n_read, self._words_read = 0, 0  # without sources that need not be read
        self._words_tagged, self._words_done = 0, 0
        self._tell()

    def add_read(self, n_words: int) -> None:
        """Notes the words of the next book, before it has a result."""
        self._under_way = n_words
        self._n_read += 1
        self._words_read += n_words
        self._tell()

    def add_tagged(self, n_words: int) -> None:
        """Notes words that were tagged."""
        self._words_tagged += n_words
        self._tell()

    def add_result(self, n_words: int | None) -> None:
        """Notes the result of the next source and its words; None for one that is not new."""
        if n_words is not None and self._under_way is None:
            self.add_read(n_words)
        self._n_done += 1
        self._words_done += self._under_way or 0
        self._under_way = None
        # Not all taggers tell of their words, and they may leave out chapters without speech.
        self._words_tagged = max(self._words_tagged, self._words_done)
        self._tell()

    def _tell(self) -> None:
        n_unread = self._n_sources - self._n_done - (self._under_way is not None)
        mean = self._words_read / self._n_read if self._n_read else 0
        expected = self._words_read + round(mean * n_unread)
        tagged = min(self._words_tagged, self._words_read)
        self._report(Progress(self._n_sources, self._n_done, tagged, expected))
