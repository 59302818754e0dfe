"""Many books -> mined books, one after another, and a folder with all of them."""

from __future__ import annotations

import logging
import os
import platform
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import asdict
from inspect import GEN_CREATED, getgeneratorstate
from numbers import Integral
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from miner.books.catalog import CatalogQuery
from miner.books.catalog_search import CatalogResult
from miner.corpus.executors import Executor
from miner.corpus.mined_book import MinedBook, MiningOptions, SetAside, describe
from miner.corpus.mining import MiningPlan, Progress, mine_sources
from miner.corpus.output import OutputFolder
from miner.corpus.pipeline import BookFilter, open_tagger
from miner.corpus.reading import find_all, names_of_marks
from miner.errors import InputError, SetAsideWarning
from miner.files import one_line
from miner.people.character_files import open_characters
from miner.speech.filters import MIN_TURNS
from miner.speech.tags import Tagger
from miner.tagger.load import AUTO, FLOAT32, tagger_signature, weight_signatures
from miner.version import __version__

_log = logging.getLogger(__name__)
_SHOWN = 3  # sources whose reasons a warning has


def mine_corpus(
    sources: str | int | Path | CatalogQuery | Iterable[str | int | Path | CatalogQuery],
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
    history_turns: int | None = 0,
    front_matter: bool = False,
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
    for it. A `SetAsideWarning` at the end of the run says how many. The files are written after the
    last book. They are the same, byte for byte, with any number of workers, and after an
    interrupted run that was resumed. If no book can be mined, no file is written.

    The run is logged (`logging`, "miner"): each book, what is set aside, and the files.

    Example:
        >>> import miner
        >>> with miner.mine_corpus(["sample"], tagger="gap") as run:
        ...     for book in run:
        ...         print(book.title, len(book.pairs))
        The Lock-Keeper’s Winter 103

    Args:
        sources: one or several of: Gutenberg number, title, HTML file, folder of such files,
            pattern ("books/*.htm"), "sample", or a `miner.CatalogQuery`, which stands for the texts
            of Gutenberg's catalogue that it fits.
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
        front_matter: mine whole books, not only their stories: title pages, prefaces, notes and
            advertisements, too.
        history_turns: how many turns before its context a row of `pairs` has; None for all.
        format: of the files: "jsonl", "parquet", "csv", "convokit" or "chat".
        filters: one or several; a book that one refuses is set aside, see `corpus.filters`.
        workers: processes, each of which mines one book after the other; 1 for this process. Each
            has its own copy of a checkpoint's weights.
        executor: where books are mined, instead of `workers` processes of this machine.
        force: whether to replace the output of an earlier run in `out`.
        resume: whether to continue an interrupted run of the same options. Books that it finished,
            and whose files have the same content still, are not mined again.
        on_result: called with the result of every source when it is done, set aside or not.
        on_progress: called with how far the run is, in books and in words, whenever that changes;
            with a checkpoint and one worker that is several times in a book.

    Returns:
        An iterator over the mined books, in the order of the sources. Nothing is mined before it is
        iterated over; `finish` mines all books at once.

    Raises:
        InputError: if the tagger does not exist, or is a heuristic and `min_confidence` is given;
            if `characters` has none of the books; if a query fits no text; if `out` exists, or an
            interrupted run of it, and neither `force` nor `resume` was given; or, at the first
            book, if the interrupted run had other options.
        TypeError: if an argument is of another type; says what was expected.
        OSError: if `characters` cannot be read, or `out` cannot be written.
    """
    if not isinstance(workers, int):
        raise TypeError(f"found workers {workers!r}, expected a whole number")
    if workers < 1:
        raise InputError(f"found workers {workers}, expected at least 1")
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
        history_turns,
        front_matter,
    )
    found, missing, searches = find_all(_listed(sources), books)
    if given is not None:
        given.refuse_others(source.id for source in found)
    chosen = _list_filters(filters)
    head = record_run(options, loaded)
    if chosen:
        head["filters"] = [describe(item) for item in chosen]
    folder = None
    if out is not None:
        inputs = [] if given is None else [given.path]
        folder = OutputFolder(Path(out), force=force, resume=resume, head=head, inputs=inputs)
    shards = folder.shards if folder else None
    plan = MiningPlan(
        (*found, *missing), loaded, options, chosen, mirror, workers, executor, shards
    )
    return CorpusRun(plan, tuple(searches), folder, head, on_result, on_progress)


class CorpusRun:
    """A run over many books: an iterator over the mined books, and the account of the run.

    As a context manager it ends the run when the block ends. If books are left then, they are not
    mined and no file is written, but the finished books are kept for `resume`.

    Attributes:
        entries: what run.json says of the books that are mined so far.
        set_aside: the sources that gave no dialogues so far, with reasons.
        paths: the files that were written; empty until all books are mined.
        n_sources: how many sources there are.
        searches: what each query among the sources found and left out.
    """

    def __init__(
        self,
        plan: MiningPlan,
        searches: tuple[CatalogResult, ...],
        folder: OutputFolder | None,
        head: dict[str, Any],
        on_result: Callable[[MinedBook | SetAside], None],
        on_progress: Callable[[Progress], None],
    ) -> None:
        self.n_sources = len(plan.sources)
        self.searches = searches
        self.entries: list[dict[str, Any]] = []
        self.set_aside: list[SetAside] = []
        self.paths: list[Path] = []
        self._folder = folder
        # The generator does not know this object. Without a cycle between the two, Python ends the
        # run, with its processes and its lock, as soon as a loop over it is left.
        self._books = _mine(
            plan,
            searches,
            folder,
            head,
            on_result,
            on_progress,
            self.entries,
            self.set_aside,
            self.paths,
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
        return next(self._books)

    def __del__(self) -> None:
        if self._folder and getgeneratorstate(self._books) == GEN_CREATED:
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
        if error is not None and self._folder and not self.paths:
            self._folder.add_note(error)


def _mine(
    plan: MiningPlan,
    searches: tuple[CatalogResult, ...],
    folder: OutputFolder | None,
    head: dict[str, Any],
    on_result: Callable[[MinedBook | SetAside], None],
    on_progress: Callable[[Progress], None],
    entries: list[dict[str, Any]],
    set_aside: list[SetAside],
    paths: list[Path],
) -> Generator[MinedBook, None, None]:
    """The mined books. It notes in the lists what `CorpusRun` tells of the run."""
    from miner.tagger.published_scores import find_published_scores  # which takes a while to import

    trusts = find_published_scores(plan.options.tagger, plan.options.dtype) if folder else ()
    names: list[str] = []
    block: AbstractContextManager[object] = folder or nullcontext()
    _log.info("sources to mine by %s: %d", head["options"]["tagger"], len(plan.sources))
    with block, closing(mine_sources(plan, on_progress)) as results:
        for name, result in results:
            if name:
                names.append(name)
            if isinstance(result, SetAside):
                set_aside.append(result)
                _log.warning("set aside: %s: %s", result.name, result.why)
                on_result(result)
            else:
                entries.append(dict(result.entry))
                _log.info("done: %s, by %s", _describe(result), result.entry["tagger"])
                on_result(result)
                yield result
        if folder and entries:
            record = dict(head)
            if searches:
                record["catalog"] = [search.record() for search in searches]
            record |= {"totals": _sum_counts(entries), "books": entries}
            record["set_aside"] = record_set_aside(set_aside)
            paths += folder.finish(names, plan.options.format, record, trusts)
            _log.info("wrote %s", ", ".join(map(str, paths)))
        elif folder:
            folder.discard()
    warn_of_set_aside(set_aside, stacklevel=3)


def warn_of_set_aside(set_aside: Sequence[SetAside], stacklevel: int) -> None:
    """Warns once of all sources that a run set aside, with the first reasons."""
    if not set_aside:
        return
    n, first = len(set_aside), set_aside[:_SHOWN]
    reasons = "; ".join(one_line(f"{item.name}: {item.why}") for item in first)
    sources = "1 source was" if n == 1 else f"{n:,} sources were"
    more = " ..." if n > _SHOWN else ""
    message = f"{sources} set aside: {reasons}{more} (all are in `set_aside`)"
    warnings.warn(message, SetAsideWarning, stacklevel=stacklevel + 1)


def record_set_aside(set_aside: Iterable[SetAside]) -> list[dict[str, str]]:
    """What run.json says of sources that were set aside."""
    return [{"file": Path(item.name).name or item.name, "why": item.why} for item in set_aside]


def _describe(book: MinedBook) -> str:
    counts = book.entry["counts"]
    said = f"{book.n_words:,} words, {counts['dialogues']:,} dialogues, {counts['pairs']:,} pairs"
    return f"{book.id}: {book.title!r}, {said}"


def _sum_counts(entries: list[dict[str, Any]]) -> dict[str, int]:
    """Sums over books: books, words, utterances, dialogues, speakers and more."""
    counts = Counter[str]()
    for entry in entries:
        counts.update(entry["counts"])
    return {"books": len(entries), "words": sum(entry["words"] for entry in entries), **counts}


def _list_filters(filters: BookFilter | Iterable[BookFilter]) -> tuple[BookFilter, ...]:
    """The filters; one may stand alone."""
    listed = (filters,) if callable(filters) else tuple(filters)
    for item in listed:
        if not callable(item):
            raise TypeError(
                f"found {item!r} as a filter, expected a function of a book's spans "
                "or an object such as LanguageFilter('en')"
            )
    return listed


def _listed(
    sources: str | int | Path | CatalogQuery | Iterable[str | int | Path | CatalogQuery],
) -> list[str | int | Path | CatalogQuery]:
    if isinstance(sources, str | Integral | os.PathLike | CatalogQuery):
        return [sources]
    if isinstance(sources, bytes) or not isinstance(sources, Iterable):
        raise TypeError(
            f"found {type(sources).__name__} as sources, "
            "expected Gutenberg numbers, paths, queries or 'sample', one or a list of them"
        )
    return list(sources)


def record_run(options: MiningOptions, tagger: Tagger) -> dict[str, Any]:
    """What decides the output of a run, beside the books. Equal runs have equal records."""
    from importlib.metadata import version

    libraries = ["beautifulsoup4", "lxml", *getattr(tagger, "libraries", ())]
    if options.format == "parquet" or options.with_features:
        libraries.insert(2, "pyarrow")  # of the extra build
    described = asdict(options) | {"tagger": tagger_signature(options.tagger)}
    described["characters"] = options.characters and options.characters.signature
    del described["with_features"]  # decides what a run keeps for itself, and nothing of its output
    return {
        "miner": __version__,
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in libraries},
        "weights": weight_signatures(),
        "options": described,
    }
