"""Many sources -> one output: books are read ahead, tagged in batches across them, resumable."""

from __future__ import annotations

import os
import pickle
import platform
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, islice, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp
from typing import TYPE_CHECKING, Any

from miner import __version__
from miner.books.sources import Missing, Source
from miner.corpus.pipeline import (
    MiningOptions,
    SetAside,
    Summary,
    UntaggedBook,
    read_source,
    summed_up,
)
from miner.corpus.writer import OutputFolder
from miner.files import printable
from miner.models.load import checkpoint_tagger, load_tagger, may_read_text, tagger_signature

if TYPE_CHECKING:
    from miner.models.tagger.features import Chapter


@dataclass(slots=True)
class Run:
    """The account of a run over many books."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    set_aside: list[SetAside] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)

    @property
    def totals(self) -> dict[str, int]:
        """Sums over all books: books, words, utterances, dialogues, turns, pairs."""
        counts = Counter[str]()
        for entry in self.entries:
            counts.update(entry["counts"])
        words = sum(entry["words"] for entry in self.entries)
        return {"books": len(self.entries), "words": words, **counts}


Fetch = Callable[[str], Path]
_MOST_WAITING = 64  # books that are read and wait for those before them; more would fill memory


def mine_corpus(
    sources: Sequence[Source | Missing],
    out: Path,
    options: MiningOptions,
    *,
    fetch: Fetch,
    workers: int = 1,
    force: bool = False,
    resume: bool = False,
    on_book: Callable[[Summary | SetAside], None] = lambda result: None,
) -> Run:
    """Mines all sources into the folder `out` and returns the account of it.

    The files are the same, byte for byte, for the same sources and options, whatever the number of
    workers, and whether the run was interrupted and gone on with. A source that cannot be mined is
    set aside and the others go on; if none can, no file is written.

    Args:
        sources: what `find_sources` found, in the order of the output; missing ones are set aside.
        out: folder for `spans`, `dialogues`, `pairs` and the run record.
        options: what decides the output.
        fetch: downloads a book that is not on disk.
        workers: processes that read and split books. A heuristic tags in them, too; a checkpoint
            tags in this process, on all its cores, while they read ahead.
        force: whether files of an earlier run in `out` may be replaced.
        resume: whether to go on with an interrupted run of the same options: books at the front of
            `sources` that it has done, and that have not changed since, are not done again.
        on_book: told of every source as it is done, those done before included.

    Raises:
        ValueError: if `out` exists, or an interrupted run of it, and neither `force` nor `resume`
            was given; if that had other options; or if the tagger does not exist.
        OSError: if `out` cannot be written.
    """
    load_tagger(options.tagger)  # a wrong name is one error, not one for each book
    run = Run()
    head = _head(options)
    identities: list[list[Any]] = []

    def located(source: Source | Missing) -> Source | Missing:
        found = _located(source, fetch)
        identities.append(_identity(found))
        return found

    with OutputFolder(out, options.format, force=force, resume=resume, head=head) as folder:
        # A download that had failed is tried again; one that fails again is done.
        now = (_identity(_located(source, fetch)) for source in sources)
        then = (note["source"] for note in folder.notes)
        same = takewhile(lambda pair: pair[0] == pair[1], zip(then, now, strict=False))
        identities += [identity for identity, _ in same]
        folder.cut(len(identities))
        done = [_remembered(note) for note in folder.notes]
        # Downloads stay in this process: one polite request at a time, whatever the workers.
        todo = map(located, sources[len(done) :])
        results = _results(todo, len(sources) - len(done), options, workers)
        for n, result in enumerate(chain(done, results)):
            encoded: dict[str, bytes] = {}
            if isinstance(result, SetAside):
                run.set_aside.append(result)
            else:
                run.entries.append(result.entry)
                encoded = result.encoded
            if n >= len(done):
                folder.add(_note(identities[n], result), encoded)
            on_book(result)
        if run.entries:
            run.paths = folder.finish(head | _account(run))
        else:
            folder.cut(0)
    return run


def _identity(source: Source | Missing) -> list[Any]:
    """What a source is known by when a run is gone on with; another where its file changed."""
    word = printable(source.word)
    if isinstance(source, Missing) or source.path is None:
        return [word]
    try:
        state = source.path.stat()
    except OSError:
        return [word, source.id]
    path = printable(source.path.resolve())
    return [word, source.id, path, state.st_size, state.st_mtime_ns]


def _note(identity: list[Any], result: Summary | SetAside) -> dict[str, Any]:
    """What the journal of the run has of a source."""
    if isinstance(result, SetAside):
        return {"source": identity, "set_aside": [result.name, result.why]}
    return {"source": identity, "entry": result.entry}


def _remembered(note: Mapping[str, Any]) -> Summary | SetAside:
    """The result of which the note was made, without its rows, which are in the files."""
    return SetAside(*note["set_aside"]) if "set_aside" in note else Summary(note["entry"], {})


def _results(
    located: Iterable[Source | Missing], n: int, options: MiningOptions, workers: int
) -> Iterator[Summary | SetAside]:
    """The results of `n` sources, in order."""
    ahead = may_read_text(options.tagger) and n > 1
    if workers > 1 or ahead:
        read = _in_processes(located, options, workers)
    else:
        read = (_result(source, options) for source in located)
    yield from _tagged(read, options)


def _tagged(
    read: Iterable[UntaggedBook | Summary | SetAside], options: MiningOptions
) -> Iterator[Summary | SetAside]:
    """The results, in order; books that wait for a checkpoint are tagged, in batches across them.

    What needs none is passed on at once, unless books before it wait; no more than a few dozen do.
    """
    waiting = deque[UntaggedBook | Summary | SetAside]()
    left = iter(read)

    def readable(first: UntaggedBook) -> Iterator[tuple[Chapter, ...]]:
        waiting.append(first)
        yield first.chapters
        for item in islice(left, _MOST_WAITING):
            waiting.append(item)
            if isinstance(item, UntaggedBook):
                yield item.chapters

    for item in left:
        if not isinstance(item, UntaggedBook):
            yield item
            continue
        tagger = checkpoint_tagger(options.tagger)
        for scored in tagger.score_books(readable(item)):
            while not isinstance(book := waiting.popleft(), UntaggedBook):
                yield book
            tags = tagger.decode_book(book.book_spans, scored)
            yield summed_up(book, tags, options)
        yield from (book for book in waiting if not isinstance(book, UntaggedBook))
        waiting.clear()


def _in_processes(
    located: Iterable[Source | Missing], options: MiningOptions, workers: int
) -> Iterator[UntaggedBook | Summary | SetAside]:
    """The results in the order of the sources; so many are under way that no worker waits."""
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context, resource_tracker

    resource_tracker.ensure_running()  # its start would unblock interrupts
    pool = ProcessPoolExecutor(workers, get_context("spawn"))
    waiting = deque[Future[Path]]()
    with TemporaryDirectory(prefix="miner-") as folder:
        try:
            for source in located:
                with _interrupts_blocked():
                    waiting.append(pool.submit(_stored_result, source, options, folder))
                if len(waiting) > 2 * workers:
                    yield _taken(waiting.popleft().result())
            while waiting:
                yield _taken(waiting.popleft().result())
        except BrokenProcessPool as error:
            raise ChildProcessError(
                f"one of {workers} workers was killed, perhaps for want of memory: "
                "fewer --workers need less"
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


def _stored_result(source: Source | Missing, options: MiningOptions, folder: str) -> Path:
    """The result in a file. A worker that is killed while it sends a large one stops all others."""
    handle, name = mkstemp(dir=folder)
    with os.fdopen(handle, "wb") as file:
        pickle.dump(_result(source, options), file, pickle.HIGHEST_PROTOCOL)
    return Path(name)


def _taken(path: Path) -> UntaggedBook | Summary | SetAside:
    result = pickle.loads(path.read_bytes())
    path.unlink()
    return result


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Ctrl-C waits until the block ends, and never reaches the processes that start in it.

    A terminal sends it to all; this process ends the workers, which would have their own say.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _located(source: Source | Missing, fetch: Fetch) -> Source | Missing:
    if isinstance(source, Missing) or source.path is not None:
        return source
    try:
        return replace(source, path=fetch(source.id))
    except (ValueError, OSError) as error:
        return Missing(source.word, str(error).removeprefix(f"{source.id}: "))


def _result(source: Source | Missing, options: MiningOptions) -> UntaggedBook | Summary | SetAside:
    if isinstance(source, Missing):
        return SetAside(printable(source.word) or repr(source.word), source.why)
    return read_source(source, options)


def mine_source(source: Source, options: MiningOptions) -> Summary | SetAside:
    """What one source on disk gives; an unusable one is set aside with its reason, never raised."""
    read = read_source(source, options)
    return next(_tagged([read], options)) if isinstance(read, UntaggedBook) else read


def _head(options: MiningOptions) -> dict[str, Any]:
    """The first part of the run record: what decides the output, beside the books.

    The record holds no time and no path, so that equal runs have equal records.
    """
    return {
        "miner": __version__,
        "python": platform.python_version(),
        "libraries": _library_versions(options),
        "options": asdict(replace(options, tagger=tagger_signature(options.tagger))),
    }


def _account(run: Run) -> dict[str, Any]:
    """The rest of the run record."""
    return {
        "totals": run.totals,
        "books": run.entries,
        "set_aside": [
            {"file": Path(item.name).name or item.name, "why": item.why} for item in run.set_aside
        ],
    }


def _library_versions(options: MiningOptions) -> dict[str, str]:
    from importlib.metadata import version

    names = ["beautifulsoup4", "lxml", "pyarrow"]
    names += ["torch", "transformers", "tokenizers"] * may_read_text(options.tagger)
    return {name: version(name) for name in names}
