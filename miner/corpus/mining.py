"""Sources -> their results, in order, each kept as soon as it is there, and how far that is.

Every run over many books goes this way, whatever becomes of the books.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple

from miner.books.sources import Missing, Source
from miner.corpus.executors import Executor, LocalExecutor, Lost, closable
from miner.corpus.mined_book import MinedBook, MiningOptions, SetAside
from miner.corpus.pipeline import BookFilter, lost_book, mine_book
from miner.corpus.store import Shard, Store, shard_name
from miner.errors import InputError
from miner.files import printable
from miner.speech.spans import BookSpans
from miner.speech.tags import TaggedSpan, Tagger
from miner.tagger.load import AutoTagger, CheckpointTagger


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Books that an earlier run has mined count as sources that are done. Their words do not count, so
    words over time is the speed of this run.
    """

    n_sources: int
    n_done: int = 0  # sources that have a result
    n_words: int = 0  # that are tagged, those of a book under way included
    # Of all books. Those that are not read yet are taken to be as long as the mean of the others.
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


class MiningPlan(NamedTuple):
    """What is mined, and how."""

    sources: tuple[Source | Missing, ...]
    tagger: Tagger
    options: MiningOptions
    filters: tuple[BookFilter, ...]
    mirror: str | None  # where books that are on no disk are downloaded; None: the usual place
    workers: int  # processes that mine books; 1: this one
    executor: Executor | None  # instead of `workers` processes of this machine
    shards: Store[Shard] | None  # where results are kept


class _Mined(NamedTuple):
    """The result of a source, and its shard: "" if it has none, so that a resumed run tries."""

    shard: str
    result: MinedBook | SetAside
    is_new: bool  # not of an earlier run, and not of a word that names no book


@dataclass(frozen=True, slots=True)
class BookMiner:
    """Mines a source and keeps the result, wherever it is called."""

    tagger: Tagger
    options: MiningOptions
    filters: tuple[BookFilter, ...]
    shards: Store[Shard] | None

    def __call__(self, source: Source | Missing) -> _Mined:
        """The result of a source: what an earlier run has kept, or what is mined now."""
        if isinstance(source, Missing):
            word = printable(source.word) or repr(source.word)
            return _Mined("", SetAside(word, source.why, is_lasting=False), False)
        name = shard_name(source) if self.shards else ""
        if self.shards and name and (shard := self.shards.find(name)):
            return _Mined(name, shard.result(self.options), False)
        result = mine_book(source, self.tagger, self.options, self.filters)
        if isinstance(result, SetAside) and not result.is_lasting:
            return _Mined("", result, True)
        if self.shards and name:
            self.shards.add(name, Shard.of(result))
        return _Mined(name, result, True)


@dataclass(frozen=True, slots=True)
class _TellingTagger:
    """A tagger that tells how far it is, in the process of the run."""

    tagger: Tagger
    progress: ProgressCounter

    def tag(self, book_spans: BookSpans) -> Sequence[TaggedSpan]:
        """What the tagger gives."""
        self.progress.add_read(book_spans.book.n_words)
        if isinstance(self.tagger, AutoTagger | CheckpointTagger):
            return self.tagger.tag(book_spans, self.progress.add_tagged)
        return self.tagger.tag(book_spans)


def mine_sources(
    plan: MiningPlan, on_progress: Callable[[Progress], None]
) -> Generator[tuple[str, MinedBook | SetAside], None, None]:
    """Yields the result of each source, in order, and the name of its shard ("" if it has none)."""
    progress = ProgressCounter(len(plan.sources), on_progress)
    n_processes = min(plan.workers, len(plan.sources))
    executor = plan.executor or LocalExecutor(n_processes if n_processes > 1 else 0)
    tagger = plan.tagger
    if isinstance(executor, LocalExecutor) and not executor.n_processes:
        tagger = _TellingTagger(tagger, progress)
    mine = BookMiner(tagger, plan.options, plan.filters, plan.shards)
    under_way = deque[Source | Missing]()

    def located() -> Iterator[Source | Missing]:
        # Downloads stay in this process: one polite request at a time, whatever the workers.
        for source in plan.sources:
            under_way.append(_locate(source, plan.mirror))
            yield under_way[-1]

    # Closed here, so that no process is left while somebody holds the traceback of an error.
    with closing(closable(executor.map(mine, located()))) as results:
        for mined in results:
            source = under_way.popleft()
            if isinstance(mined, Lost):
                assert isinstance(source, Source)
                why = (str(mined),) if isinstance(mined, ChildProcessError) else ()
                mined = _Mined("", lost_book(source, *why), True)
            n_words = mined.result.n_words if isinstance(mined.result, MinedBook) else 0
            progress.add_result(n_words if mined.is_new else None)
            yield mined.shard, mined.result


def _locate(source: Source | Missing, mirror: str | None) -> Source | Missing:
    """The source with its file, which is downloaded if it is on no disk."""
    if isinstance(source, Missing) or source.path is not None:
        return source
    from miner.books.download import download

    try:
        return replace(source, path=download(source.id, mirror=mirror))
    except (InputError, OSError) as error:
        return Missing(source.word, str(error).removeprefix(f"{source.id}: "))
