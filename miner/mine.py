"""Sources -> mined books -> files: the whole way for one book, and for many."""

from __future__ import annotations

import gc
import platform
import re
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from heuristic.gap import DEFAULT_GAP
from miner import __version__
from miner.book import Book, parse_book
from miner.dialogues import Dialogue, by_span, dialogues, filtered
from miner.files import CHECKPOINT_WEIGHTS, Format, OutputFolder, encode
from miner.reading import source_of
from miner.records import rows_of_book
from miner.sources import SAMPLE, Missing, Source
from miner.spans import BookSpans, split_book
from miner.taggers import TAGGER_NAMES, load_tagger
from miner.tags import TaggedBook, Tagger
from miner.typography import Typography, infer_typography, prose, typography_from_names

# Blocks that begin with the same name and a stop, as in a play: so many make a name a speaker's,
# and such a share of all blocks makes a book a play.
_LINES_OF_A_SPEAKER = 3
_SHARE_OF_A_PLAY = 0.3
_DOUBTFUL = 0.5  # confidence in a book's typography below which it may be a play
_SPEAKER = re.compile(r"([A-Z\u00c0-\u00dd][\w\u2019'. -]{0,28}?)[.:\u2014](?:\s|$)")


@dataclass(frozen=True, slots=True)
class Options:
    """What decides the output of `mine`, beside the books themselves.

    Args:
        tagger: a name or a path, as `taggers.load_tagger` takes it.
        gap: characters of narration that begin a conversation, for the gap tagger.
        quotes: names of the marks that open speech; empty to infer them for each book.
        pairs_by_span: pair spans, as the seed work does, instead of turns.
        max_utterance_words: longest turn, in words; None for no limit.
        min_turns: fewest turns of a dialogue that is kept.
        min_confidence: least confidence at which a turn is paired with the one before.
        format: of the files.
    """

    tagger: str = "gap"
    gap: int = DEFAULT_GAP
    quotes: tuple[str, ...] = ()
    pairs_by_span: bool = False
    max_utterance_words: int | None = None
    min_turns: int = 1
    min_confidence: float = 0.0
    format: Format = "jsonl"


@dataclass(frozen=True, slots=True)
class MinedBook:
    """A book with its spans tagged and decoded; `filter_drops` counts what the filters took."""

    book_spans: BookSpans
    typography: Typography
    tagged: TaggedBook
    dialogues: tuple[Dialogue, ...]
    filter_drops: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SetAside:
    """A source that gave no dialogues, and why, in one line.

    `name` is the word that named it, or the file that was found under a folder or a glob.
    """

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What became of one source: its entry in the run record, and its rows, encoded by kind."""

    entry: dict[str, Any]
    encoded: dict[str, bytes]

    @property
    def n_words(self) -> int:
        """Words of the book."""
        return self.entry["words"]


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


def split_source(data: bytes, book_id: str, quotes: Sequence[str]) -> tuple[BookSpans, Typography]:
    """The spans of a book file, and the typography they were split by.

    Raises:
        ValueError: if the file cannot be parsed, or holds no dialogue; one line.
    """
    book = parse_book(data, book_id)
    typography = infer_typography(book)
    if quotes:
        typography = typography_from_names(quotes, typography.language)
    book_spans = split_book(book, typography)
    if not any(span.is_utterance for span in book_spans.spans):
        raise ValueError(_why_no_dialogue(book))
    if typography.confidence < _DOUBTFUL and _is_play(book):
        raise ValueError(_why_no_dialogue(book))
    return book_spans, typography


def mine_book(data: bytes, book_id: str, tagger: Tagger, options: Options) -> MinedBook:
    """One book all the way: parsed, split, tagged, decoded and filtered.

    Raises:
        ValueError: as `split_source` does, or if the tagger has no tags for the book.
    """
    book_spans, typography = split_source(data, book_id, options.quotes)
    tagged = TaggedBook(book_id, tuple(tagger.tag(book_spans)), options.tagger)
    kept = filtered(
        dialogues(tagged), options.max_utterance_words, options.min_turns, options.min_confidence
    )
    return MinedBook(book_spans, typography, tagged, kept.kept, kept.drops)


def mine_source(source: Source, options: Options) -> Summary | SetAside:
    """What one source on disk gives; an unusable one is set aside with its reason, never raised."""
    if source.path is None:
        return SetAside(source.word, "not on disk")
    with _collector_paused():
        return _mine_file(source, source.path, options)


def _mine_file(source: Source, path: Path, options: Options) -> Summary | SetAside:
    try:
        data = path.read_bytes()
        mined = mine_book(data, source.id, load_tagger(options.tagger, options.gap), options)
    except OSError as error:
        return SetAside(_name(source, path), f"cannot be read: {error.strerror or error}")
    except ValueError as error:
        return SetAside(_name(source, path), str(error))
    rows = rows_of_book(mined.tagged, mined.dialogues, options.pairs_by_span)
    encoded = {kind: encode(kind, made, options.format) for kind, made in rows.items()}
    return Summary(_entry(source, path, mined, options), encoded)


def _name(source: Source, path: Path) -> str:
    """The word, unless it names more than this file."""
    is_one = source.word == SAMPLE or source.word.isdecimal()
    return source.word if is_one else str(path)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """No garbage collection while one book is mined.

    A parsed page is tens of thousands of objects that the collector would walk again and again;
    its cycles are cut by hand when it is done with, so that nothing is left to collect.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def mine(
    sources: Sequence[Source | Missing],
    out: Path,
    options: Options,
    *,
    fetch: Fetch,
    workers: int = 1,
    force: bool = False,
    on_book: Callable[[Summary | SetAside], None] = lambda result: None,
) -> Run:
    """Mines all sources into the folder `out` and returns the account of it.

    The files are the same, byte for byte, for the same sources and options, whatever the number of
    workers. A source that cannot be mined is set aside and the others go on; if none can, no file
    is written.

    Args:
        sources: what `find_sources` found, in the order of the output; missing ones are set aside.
        out: folder for `spans`, `dialogues`, `pairs` and the run record.
        options: what decides the output.
        fetch: downloads a book that is not on disk.
        workers: processes.
        force: whether files of an earlier run in `out` may be replaced.
        on_book: told of every source as it is done.

    Raises:
        ValueError: if `out` exists and `force` was not given, or the tagger does not exist.
        OSError: if `out` cannot be written.
    """
    load_tagger(options.tagger, options.gap)  # a wrong name is one error, not one for each book
    run = Run()
    with OutputFolder(out, options.format, force) as folder:
        for result in _results(sources, options, fetch, workers):
            if isinstance(result, SetAside):
                run.set_aside.append(result)
            else:
                folder.add(result.encoded)
                run.entries.append(result.entry)
            on_book(result)
        if run.entries:
            run.paths = folder.finish(_record(run, options))
    return run


def _results(
    sources: Iterable[Source | Missing], options: Options, fetch: Fetch, workers: int
) -> Iterator[Summary | SetAside]:
    # Downloads stay in this process: one polite request at a time, whatever the workers.
    located = (_located(source, fetch) for source in sources)
    if workers == 1:
        for source in located:
            yield _result(source, options)
        return
    yield from _in_processes(located, options, workers)


def _in_processes(
    located: Iterable[Source | Missing], options: Options, workers: int
) -> Iterator[Summary | SetAside]:
    """The results in the order of the sources; so many are under way that no worker waits."""
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context, resource_tracker

    resource_tracker.ensure_running()  # its start would unblock interrupts
    pool = ProcessPoolExecutor(workers, get_context("spawn"))
    waiting = deque[Future[Summary | SetAside]]()
    try:
        for source in located:
            with _interrupts_blocked():
                waiting.append(pool.submit(_result, source, options))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise ChildProcessError(
            f"one of {workers} workers was killed, perhaps for want of memory: "
            "nothing was written; fewer --workers need less"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


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


def _result(source: Source | Missing, options: Options) -> Summary | SetAside:
    if isinstance(source, Missing):
        return SetAside(source.word or repr(source.word), source.why)
    return mine_source(source, options)


def _entry(source: Source, path: Path, mined: MinedBook, options: Options) -> dict[str, Any]:
    """What the run record says of a book."""
    book, spans = mined.book_spans.book, mined.book_spans.spans
    turns = sum(len(dialogue.turns) for dialogue in mined.dialogues)
    return {
        "id": source.id,
        "file": path.name,
        "sha256": book.sha256,
        "title": book.title,
        "author": book.author,
        "language": book.language,
        "words": book.n_words,
        "chapters": book.n_chapters,
        "blocks": dict(sorted(Counter(block.kind.value for block in book.blocks).items())),
        "dropped_words": dict(book.drops),
        "typography": {
            "language": mined.typography.language,
            "marks": list(mined.typography.names),
            "confidence": round(mined.typography.confidence, 4),
        },
        "counts": {
            "utterances": sum(span.is_utterance for span in spans),
            "quoted_not_speech": sum(span.quoted for span in spans),
            "dialogues": len(mined.dialogues),
            "turns": turns,
            "pairs": sum(
                len((by_span(dialogue) if options.pairs_by_span else dialogue).turns) - 1
                for dialogue in mined.dialogues
            ),
        },
        "filtered": dict(mined.filter_drops),
    }


def _record(run: Run, options: Options) -> dict[str, Any]:
    """The run record. It holds no time and no path, so that equal runs have equal records."""
    return {
        "miner": __version__,
        "python": platform.python_version(),
        "libraries": _library_versions(),
        "options": asdict(replace(options, tagger=_signature(options))),
        "totals": run.totals,
        "books": run.entries,
        "set_aside": [
            {"file": Path(item.name).name or item.name, "why": item.why} for item in run.set_aside
        ],
    }


def _signature(options: Options) -> str:
    """The tagger's name; of a file or checkpoint, its name and the start of its digest."""
    if options.tagger in TAGGER_NAMES:
        return options.tagger
    path = Path(options.tagger)
    file = path / CHECKPOINT_WEIGHTS if path.is_dir() else path
    return source_of(path, sha256(file.read_bytes()).hexdigest())


def _library_versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("beautifulsoup4", "lxml", "pyarrow")}


def _why_no_dialogue(book: Book) -> str:
    if _is_play(book):
        return "a play: lines are headed by their speakers' names, not set in quotation marks"
    return (
        "no dialogue: found no speech between quotation marks or after dashes "
        f"in {book.n_words:,} words"
    )


def _is_play(book: Book) -> bool:
    blocks = prose(book.blocks)
    labels = [match[1] for block in blocks if (match := _SPEAKER.match(block.text))]
    counts = Counter(labels)
    lines = sum(count for count in counts.values() if count >= _LINES_OF_A_SPEAKER)
    return bool(blocks) and lines >= _SHARE_OF_A_PLAY * len(blocks)
