"""Many books -> mined books, one after another, and a folder with all of them."""

from __future__ import annotations

import logging
import os
import platform
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from inspect import GEN_CREATED, getgeneratorstate
from numbers import Integral
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from miner.books.catalog import number_from_title
from miner.books.sources import Missing, Source, find_sources
from miner.characters.character_files import open_characters
from miner.corpus.executors import Executor, LocalExecutor, Lost
from miner.corpus.filters import BookFilter, list_filters
from miner.corpus.mined_book import MinedBook
from miner.corpus.options import MiningOptions, describe
from miner.corpus.pipeline import (
    SetAside,
    UntaggedBook,
    lost_book,
    open_tagger,
    read_source,
    tag_books,
)
from miner.corpus.progress import Progress, ProgressCounter
from miner.corpus.reading import names_of_marks, word_of
from miner.corpus.shards import ShardFolder, shard_name
from miner.corpus.writer import OutputFolder
from miner.dialogue.filters import MIN_TURNS
from miner.dialogue.tags import Tagger
from miner.files import printable
from miner.models.load import AUTO, FLOAT32, tagger_signature, uses_checkpoint, weight_signatures
from miner.models.routing import route_in_order
from miner.version import __version__

_log = logging.getLogger(__name__)
_MOST_READ_AHEAD = 10**9  # sources: no limit, since the executor takes only a few ahead


def mine_corpus(
    sources: str | int | Path | Iterable[str | int | Path],
    out: str | Path | None = None,
    *,
    tagger: str | Path | Tagger = AUTO,
    books: str | Path | None = None,
    mirror: str | None = None,
    quotes: Iterable[str] = (),
    pairs_by_span: bool = False,
    max_utterance_words: int | None = None,
    min_turns: int = MIN_TURNS,
    min_confidence: float = 0.0,
    dtype: str = FLOAT32,
    characters: str | Path | None = None,
    format: str = "jsonl",
    filters: BookFilter | Iterable[BookFilter] = (),
    workers: int = 1,
    executor: Executor | None = None,
    force: bool = False,
    resume: bool = False,
    on_result: Callable[[MinedBook | SetAside], None] = lambda result: None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> CorpusRun:
    """Mines many books, one after another, as you iterate over the result.

    A book that cannot be mined is set aside with its reason (`CorpusRun.set_aside`), and the others
    are mined. So is a book that needs more memory than there is, even if the system kills a worker
    for it. The files are written after the last book. They are the same, byte for byte, with any
    number of workers, and after an interrupted run that was resumed. If no book can be mined, no
    file is written.

    The run is logged (`logging`, "miner"): each book, what is set aside, and the files.

    Example:
        >>> import miner
        >>> with miner.mine_corpus(["sample"], tagger="gap") as run:
        ...     for book in run:
        ...         print(book.title, len(book.pairs))
        The Lock-Keeper’s Winter 104

    Args:
        sources: one or several of: Gutenberg number, title, book's file, folder of such files,
            pattern ("books/*.htm"), "sample".
        out: folder for `spans`, `dialogues`, `pairs`, `characters` and run.json; None to write
            nothing.
        tagger: "auto", a registered tagger ("gap", "gap:300"), the path of a tags file or of a
            checkpoint, or any object with a method `tag` (see `miner.Tagger`). The record names an
            object by its `repr`, so that should tell its options.
        books: folder in which numbers are looked up first.
        mirror: URL template from which numbers are downloaded, if they are in no folder.
        quotes: names of the marks that open speech; without any they are inferred for each book.
        pairs_by_span: pair spans, as MCN does, instead of turns.
        max_utterance_words: leave out longer turns and divide the dialogue there.
        min_turns: leave out dialogues of fewer turns.
        min_confidence: leave out pairs of lower confidence, 0 to 1, and divide the dialogue there.
        dtype: in which the encoder of a checkpoint computes, "float32" or "bfloat16".
        characters: a `characters.jsonl`, perhaps corrected by hand, whose characters the books
            have. Without it they are found, and so are those of a book that it lacks, with a
            warning.
        format: of the files: "jsonl", "parquet", "csv", "convokit" or "chat".
        filters: one or several; a book that one refuses is set aside, see `corpus.filters`.
        workers: processes that read books. Heuristics tag in them, too. A checkpoint tags in this
            process, one book after the other, while one process or more read ahead.
        executor: where books are read, instead of `workers` processes of this machine.
        force: whether to replace the output of an earlier run in `out`.
        resume: whether to continue an interrupted run of the same options. Books that it finished,
            and whose files have the same content still, are not mined again.
        on_result: called with the result of every source when it is done, set aside or not.
        on_progress: called with how far the run is, in books and in words, whenever that changes;
            with a checkpoint that is several times in a book.

    Returns:
        An iterator over the mined books, in the order of the sources. Nothing is mined before it is
        iterated over; `finish` mines all books at once.

    Raises:
        ValueError: if the tagger does not exist, or is a heuristic and `min_confidence` is given;
            if `characters` has none of the books; if `out` exists, or an interrupted run of it, and
            neither `force` nor `resume` was given; or, at the first book, if the interrupted run
            had other options.
        TypeError: if an argument is of another type; says what was expected.
        OSError: if `characters` cannot be read, or `out` cannot be written.
    """
    if not isinstance(workers, int):
        raise TypeError(f"found workers {workers!r}, expected a whole number")
    if workers < 1:
        raise ValueError(f"found workers {workers}, expected at least 1")
    given = None if characters is None else open_characters(characters)
    loaded, name = open_tagger(tagger, dtype, min_confidence, given)
    options = MiningOptions(
        name,
        names_of_marks(quotes),
        pairs_by_span,
        max_utterance_words,
        min_turns,
        min_confidence,
        format,
        dtype,
        given,
    )
    found, missing = find_sources(
        map(word_of, _listed(sources)),
        Path(books) if books else None,
        number_from_title=number_from_title,
    )
    if given is not None:
        given.refuse_others(source.id for source in found)
    chosen = list_filters(filters)
    head = _head(options, chosen, loaded)
    folder = None
    if out is not None:
        folder = OutputFolder(Path(out), force=force, resume=resume, head=head)
    plan = _Plan((*found, *missing), loaded, options, chosen, mirror, workers, executor, folder)
    return CorpusRun(plan, head, on_result, on_progress)


class _Plan(NamedTuple):
    """What a run is to do."""

    sources: tuple[Source | Missing, ...]
    tagger: Tagger
    options: MiningOptions
    filters: tuple[BookFilter, ...]
    mirror: str | None
    workers: int
    executor: Executor | None
    folder: OutputFolder | None


class CorpusRun:
    """A run over many books: an iterator over the mined books, and the account of the run.

    As a context manager it ends the run when the block ends. If books are left then, they are not
    mined and no file is written, but the finished books are kept for `resume`.

    Attributes:
        entries: what run.json says of the books that are mined so far.
        set_aside: the sources that gave no dialogues so far, with reasons.
        paths: the files that were written; empty until all books are mined.
        n_sources: how many sources there are.
    """

    def __init__(
        self,
        plan: _Plan,
        head: dict[str, Any],
        on_result: Callable[[MinedBook | SetAside], None],
        on_progress: Callable[[Progress], None],
    ) -> None:
        self.n_sources = len(plan.sources)
        self.entries: list[dict[str, Any]] = []
        self.set_aside: list[SetAside] = []
        self.paths: list[Path] = []
        self._plan = plan
        # The generator does not know this object. Without a cycle between the two, Python ends the
        # run, with its processes and its lock, as soon as a loop over it is left.
        self._books = _mine(
            plan, head, on_result, on_progress, self.entries, self.set_aside, self.paths
        )

    @property
    def totals(self) -> dict[str, int]:
        """Sums over the books so far: books, words, utterances, dialogues, speakers and more."""
        return _sum_counts(self.entries)

    def finish(self) -> Self:
        """Mines all books that are left, and returns the run."""
        for _ in self:
            pass
        return self

    def close(self) -> None:
        """Ends the run. Books that are done are kept for `resume`."""
        self._books.close()

    def __repr__(self) -> str:
        n_done, n = len(self.entries) + len(self.set_aside), self.n_sources
        left = "" if n_done == n else "; iterate over it, or call finish(), to mine the rest"
        return f"<CorpusRun: {n_done} of {n} sources done{left}>"

    def __iter__(self) -> Iterator[MinedBook]:
        return self

    def __next__(self) -> MinedBook:
        try:
            return next(self._books)
        except StopIteration:
            raise
        except BaseException as error:
            self._add_note(error)
            raise

    def __del__(self) -> None:
        if self._plan.folder and getgeneratorstate(self._books) == GEN_CREATED:
            warnings.warn(
                "mine_corpus mined nothing: iterate over what it returns, or call finish()",
                RuntimeWarning,
                stacklevel=2,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if error is not None:
            self._add_note(error)

    def _add_note(self, error: BaseException) -> None:
        """Says on the error what is left of the run."""
        folder = self._plan.folder
        note = folder.note() if folder and not self.paths else ""
        if note and note not in getattr(error, "__notes__", ()):
            error.add_note(note)


def _mine(
    plan: _Plan,
    head: dict[str, Any],
    on_result: Callable[[MinedBook | SetAside], None],
    on_progress: Callable[[Progress], None],
    entries: list[dict[str, Any]],
    set_aside: list[SetAside],
    paths: list[Path],
) -> Generator[MinedBook, None, None]:
    """The mined books. It notes in the lists what `CorpusRun` tells of the run."""
    folder = plan.folder
    names: list[str] = []
    block: AbstractContextManager[object] = folder or nullcontext()
    _log.info("sources to mine by %s: %d", head["options"]["tagger"], len(plan.sources))
    with block, closing(_results(plan, on_progress)) as results:
        for name, result in results:
            if name:
                names.append(name)
            if isinstance(result, SetAside):
                set_aside.append(result)
                _log.warning("set aside: %s: %s", result.name, result.why)
            else:
                entries.append(dict(result.entry))
                _log.info("done: %s", _describe_entry(result.entry))
            on_result(result)
            if isinstance(result, MinedBook):
                yield result
        if folder and entries:
            record = head | _account(entries, set_aside)
            paths += folder.finish(names, plan.options.format, record)
            _log.info("wrote %s", ", ".join(map(str, paths)))
        elif folder:
            folder.discard()


def _account(entries: list[dict[str, Any]], set_aside: list[SetAside]) -> dict[str, Any]:
    """What run.json says of the books."""
    return {
        "totals": _sum_counts(entries),
        "books": entries,
        "set_aside": [
            {"file": Path(item.name).name or item.name, "why": item.why} for item in set_aside
        ],
    }


def _describe_entry(entry: Mapping[str, Any]) -> str:
    counts = entry["counts"]
    return (
        f"{entry['id']}: {entry['title']!r}, {entry['words']:,} words, "
        f"{counts['dialogues']:,} dialogues, {counts['pairs']:,} pairs, by {entry['tagger']}"
    )


def _sum_counts(entries: list[dict[str, Any]]) -> dict[str, int]:
    """Sums over books: books, words, utterances, dialogues, speakers and more."""
    counts = Counter[str]()
    for entry in entries:
        counts.update(entry["counts"])
    return {"books": len(entries), "words": sum(entry["words"] for entry in entries), **counts}


@dataclass(frozen=True, slots=True)
class _Located:
    """A source on disk and the name of its shard, or one that is missing and has none."""

    source: Source | Missing
    shard: str
    is_done: bool


def _results(
    plan: _Plan, on_progress: Callable[[Progress], None]
) -> Generator[tuple[str, MinedBook | SetAside], None, None]:
    """The result of each source, in order, and the name of its shard ("" if it has none)."""
    shards, options = plan.folder.shards if plan.folder else None, plan.options
    located = deque[_Located]()  # the sources under way
    progress = ProgressCounter(len(plan.sources), on_progress)

    def locate_all() -> Iterator[_Located]:
        # Downloads stay in this process: one polite request at a time, whatever the workers.
        for source in plan.sources:
            located.append(_locate(source, plan.mirror, shards))
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


def _locate(source: Source | Missing, mirror: str | None, shards: ShardFolder | None) -> _Located:
    """The source with its file, which is downloaded if it is on no disk."""
    if isinstance(source, Source) and source.path is None:
        from miner.books.download import download

        try:
            source = replace(source, path=download(source.id, mirror=mirror))
        except (ValueError, OSError) as error:
            source = Missing(source.word, str(error).removeprefix(f"{source.id}: "))
    if isinstance(source, Missing) or not shards:
        return _Located(source, "", False)
    name = shard_name(source)
    return _Located(source, name, bool(name and shards.find(name)))


def _is_todo(item: _Located) -> bool:
    return isinstance(item.source, Source) and not item.is_done


def _read_all(
    items: Iterator[_Located], plan: _Plan, shards: ShardFolder | None
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
    results = _executor_of(plan).map(function, noted())
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


def _keep(item: _Located, result: MinedBook | SetAside, shards: ShardFolder | None) -> None:
    """Writes the shard of a result, unless another try may give another result."""
    if shards and item.shard and _is_lasting(result):
        shards.add(item.shard, result)


def _is_lasting(result: MinedBook | SetAside) -> bool:
    return isinstance(result, MinedBook) or result.is_lasting


def _remember_all(
    items: Iterator[_Located], plan: _Plan, shards: ShardFolder | None
) -> Iterator[tuple[_Located, MinedBook | SetAside]]:
    """The sources that need not be read, with their results."""
    for item in items:
        if isinstance(item.source, Missing):
            word = printable(item.source.word) or repr(item.source.word)
            yield item, SetAside(word, item.source.why)
            continue
        shard = shards.find(item.shard) if shards else None
        assert shard
        yield item, shard.result(plan.options)


def _n_words(result: MinedBook | SetAside | UntaggedBook) -> int:
    if isinstance(result, UntaggedBook):
        return result.book_spans.book.n_words
    return result.n_words if isinstance(result, MinedBook) else 0


def _executor_of(plan: _Plan) -> Executor:
    """The executor of a plan: other processes where they do something beside this one."""
    if plan.executor:
        return plan.executor
    reads_ahead = uses_checkpoint(plan.options.tagger) and len(plan.sources) > 1
    n_processes = min(plan.workers, len(plan.sources))
    return LocalExecutor(n_processes if n_processes > 1 or reads_ahead else 0)


def _listed(
    sources: str | int | Path | Iterable[str | int | Path],
) -> list[str | int | Path]:
    if isinstance(sources, str | Integral | os.PathLike):
        return [sources]
    if isinstance(sources, bytes) or not isinstance(sources, Iterable):
        raise TypeError(
            f"found {type(sources).__name__} as sources, "
            "expected Gutenberg numbers, paths or 'sample', one or a list of them"
        )
    return list(sources)


def _head(
    options: MiningOptions, filters: tuple[BookFilter, ...], tagger: Tagger
) -> dict[str, Any]:
    """The first part of the run record: what decides the output, beside the books.

    It holds no time and no path, so equal runs have equal records.
    """
    given = options.characters
    signatures = {
        "tagger": tagger_signature(options.tagger),
        "characters": None if given is None else given.signature,
    }
    head = {
        "miner": __version__,
        "python": platform.python_version(),
        "libraries": _library_versions(tagger),
        "weights": weight_signatures(),
        "options": asdict(options) | signatures,
    }
    return head | ({"filters": [describe(item) for item in filters]} if filters else {})


def _library_versions(tagger: Tagger) -> dict[str, str]:
    from importlib.metadata import version

    names = ("beautifulsoup4", "lxml", "pyarrow", *getattr(tagger, "libraries", ()))
    return {name: version(name) for name in names}
