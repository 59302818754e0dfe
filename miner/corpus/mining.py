"""Sources -> their results, in order, each kept in a shard as soon as it is there.

Every run over many books goes this way, whatever becomes of the books.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from miner.books.sources import Missing, Source
from miner.corpus.executors import Executor, LocalExecutor, Lost, TaggingExecutor
from miner.corpus.filters import BookFilter
from miner.corpus.mined_book import MinedBook
from miner.corpus.options import MiningOptions
from miner.corpus.output import ShardFolder, shard_name
from miner.corpus.pipeline import SetAside, UntaggedBook, lost_book, read_source, tag_books
from miner.corpus.progress import Progress, ProgressCounter
from miner.errors import InputError
from miner.files import printable
from miner.speech.tags import Tagger, TwoStepTagger
from miner.tagger.load import uses_checkpoint
from miner.tagger.routing import route_in_order

_MOST_READ_AHEAD = 10**9  # sources: no limit, since the executor takes only a few ahead


class MiningPlan(NamedTuple):
    """What is mined, and how.

    Attributes:
        sources: the books, and the words that name none.
        tagger: the tagger of all books.
        options: what decides the rows.
        filters: the filters on books.
        mirror: where books that are on no disk are downloaded; None for the usual place.
        workers: processes that read books.
        executor: where books are read, instead of `workers` processes of this machine.
        shards: where results are kept; None to keep none.
    """

    sources: tuple[Source | Missing, ...]
    tagger: Tagger
    options: MiningOptions
    filters: tuple[BookFilter, ...]
    mirror: str | None
    workers: int
    executor: Executor | None
    shards: ShardFolder | None


@dataclass(frozen=True, slots=True)
class _Located:
    """A source on disk and the name of its shard, or one that is missing and has none."""

    source: Source | Missing
    shard: str
    is_done: bool


def mine_sources(
    plan: MiningPlan, on_progress: Callable[[Progress], None]
) -> Generator[tuple[str, MinedBook | SetAside], None, None]:
    """Yields the result of each source, in order, and the name of its shard ("" if it has none)."""
    shards, options = plan.shards, plan.options
    located = deque[_Located]()  # the sources under way
    progress = ProgressCounter(len(plan.sources), on_progress)

    def locate_all() -> Iterator[_Located]:
        # Downloads stay in this process: one polite request at a time, whatever the workers.
        for source in plan.sources:
            located.append(_locate(source, plan))
            yield located[-1]

    def read(
        is_todo: bool, items: Iterator[_Located]
    ) -> Iterator[MinedBook | SetAside | UntaggedBook]:
        for item, result in (_read_all if is_todo else _remember_all)(items, plan, shards):
            progress.add_read(_n_words(result) if is_todo else None)
            if isinstance(result, UntaggedBook) and item.shard:
                untagged.add(item.shard)
            yield result

    untagged = set[str]()  # the shards that no process has written yet
    results = route_in_order(locate_all(), _is_todo, read, _MOST_READ_AHEAD)
    tagged = tag_books(results, plan.tagger, options, progress.add_tagged)
    # Closed here, so that no process is left while somebody holds the traceback of an error.
    with closing(results), closing(tagged):
        for result in tagged:
            item = located.popleft()
            if item.shard in untagged:
                untagged.remove(item.shard)
                _keep(item, result, shards)
            progress.add_result()
            yield item.shard if _is_lasting(result) else "", result


def _locate(source: Source | Missing, plan: MiningPlan) -> _Located:
    """The source with its file, which is downloaded if it is on no disk."""
    if isinstance(source, Source) and source.path is None:
        from miner.books.download import download

        try:
            source = replace(source, path=download(source.id, mirror=plan.mirror))
        except (InputError, OSError) as error:
            source = Missing(source.word, str(error).removeprefix(f"{source.id}: "))
    shards = plan.shards
    if isinstance(source, Missing) or not shards:
        return _Located(source, "", False)
    name = shard_name(source)
    return _Located(source, name, bool(name and shards.holds(name, plan.options.with_facts)))


def _is_todo(item: _Located) -> bool:
    return isinstance(item.source, Source) and not item.is_done


def _read_all(
    items: Iterator[_Located], plan: MiningPlan, shards: ShardFolder | None
) -> Iterator[tuple[_Located, MinedBook | SetAside | UntaggedBook]]:
    """The sources that an executor reads, with their results."""
    taken = deque[_Located]()

    def noted() -> Iterator[_Located]:
        for item in items:
            taken.append(item)
            yield item

    function = partial(
        _read_and_keep,
        tagger=plan.tagger,
        options=plan.options,
        filters=plan.filters,
        shards=shards,
    )
    executor = _executor_of(plan)
    if isinstance(executor, TaggingExecutor) and isinstance(plan.tagger, TwoStepTagger):
        make_tag = partial(_make_tag, tagger=plan.tagger, options=plan.options, shards=shards)
        results = executor.map_in_steps(lambda item: (item, function(item)), make_tag, noted())
    else:
        results = executor.map(function, noted())
    try:
        for result in results:
            item = taken.popleft()
            if isinstance(result, Lost):
                assert isinstance(item.source, Source)
                why = (str(result),) if isinstance(result, ChildProcessError) else ()
                result = lost_book(item.source, *why)
            yield item, result
    finally:
        if isinstance(results, Generator):
            results.close()


def _read_and_keep(
    item: _Located,
    tagger: Tagger,
    options: MiningOptions,
    filters: tuple[BookFilter, ...],
    shards: ShardFolder | None,
) -> MinedBook | SetAside | UntaggedBook:
    """The result of a source, which is kept at once, whatever becomes of the books before it."""
    assert isinstance(item.source, Source)
    result = read_source(item.source, tagger, options, filters)
    if not isinstance(result, UntaggedBook):
        _keep(item, result, shards)
    return result


def _make_tag(
    tagger: Tagger, options: MiningOptions, shards: ShardFolder | None
) -> Callable[[tuple[_Located, MinedBook | SetAside | UntaggedBook]], MinedBook | SetAside]:
    """The second step where books are tagged outside of this process."""

    def tag(
        read: tuple[_Located, MinedBook | SetAside | UntaggedBook],
    ) -> MinedBook | SetAside:
        item, book = read
        result = next(tag_books([book], tagger, options))
        if isinstance(book, UntaggedBook):
            _keep(item, result, shards)
        return result

    return tag


def _keep(item: _Located, result: MinedBook | SetAside, shards: ShardFolder | None) -> None:
    """Writes the shard of a result, unless another try may give another result."""
    if shards and item.shard and _is_lasting(result):
        shards.add(item.shard, result)


def _is_lasting(result: MinedBook | SetAside) -> bool:
    return isinstance(result, MinedBook) or result.is_lasting


def _remember_all(
    items: Iterator[_Located], plan: MiningPlan, shards: ShardFolder | None
) -> Iterator[tuple[_Located, MinedBook | SetAside]]:
    """The sources that need not be read, with their results."""
    for item in items:
        if isinstance(item.source, Missing):
            word = printable(item.source.word) or repr(item.source.word)
            yield item, SetAside(word, item.source.why, is_lasting=False)
            continue
        shard = shards.find(item.shard) if shards else None
        assert shard
        yield item, shard.result(plan.options)


def _n_words(result: MinedBook | SetAside | UntaggedBook) -> int:
    if isinstance(result, UntaggedBook):
        return result.book_spans.book.n_words
    return result.n_words if isinstance(result, MinedBook) else 0


def _executor_of(plan: MiningPlan) -> Executor:
    """The executor of a plan: other processes where they do something beside this one."""
    if plan.executor:
        return plan.executor
    reads_ahead = uses_checkpoint(plan.options.tagger) and len(plan.sources) > 1
    n_processes = min(plan.workers, len(plan.sources))
    return LocalExecutor(n_processes if n_processes > 1 or reads_ahead else 0)
