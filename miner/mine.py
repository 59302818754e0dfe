"""Sources -> mined books -> files: the whole way for one book, and for many."""

from __future__ import annotations

import gc
import os
import pickle
import platform
import re
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp
from typing import Any

from heuristic.gap import DEFAULT_GAP
from miner import __version__
from miner.book import Book, parse_book
from miner.dialogues import Dialogue, by_span, dialogues, filtered
from miner.features import Chapter, chapters
from miner.files import Format, is_checkpoint
from miner.output import OutputFolder, encode
from miner.records import rows_of_book
from miner.sources import SAMPLE, Missing, Source
from miner.spans import BookSpans, split_book
from miner.taggers import (
    AUTO,
    checkpoint_tagger,
    load_tagger,
    may_read_text,
    tagger_for,
    tagger_signature,
)
from miner.tags import TaggedBook, TaggedSpan, Tagger
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

    tagger: str = AUTO
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
    return _decoded(book_spans, typography, tagger.tag(book_spans), options)


def _decoded(
    book_spans: BookSpans, typography: Typography, tags: Iterable[TaggedSpan], options: Options
) -> MinedBook:
    tagged = TaggedBook(book_spans.book.id, tuple(tags), options.tagger)
    kept = filtered(
        dialogues(tagged), options.max_utterance_words, options.min_turns, options.min_confidence
    )
    return MinedBook(book_spans, typography, tagged, kept.kept, kept.drops)


@dataclass(frozen=True, slots=True)
class ReadBook:
    """A book that is split and waits for a checkpoint to tag it; `chapters` are what that reads."""

    source: Source
    book_spans: BookSpans
    typography: Typography
    chapters: tuple[Chapter, ...]


def mine_source(source: Source, options: Options) -> Summary | SetAside:
    """What one source on disk gives; an unusable one is set aside with its reason, never raised."""
    read = read_source(source, options)
    return next(_tagged([read], options)) if isinstance(read, ReadBook) else read


def read_source(source: Source, options: Options) -> ReadBook | Summary | SetAside:
    """What one source gives without a checkpoint: all, or the book as a checkpoint takes it.

    Never raises for what is in the file.
    """
    path = source.path
    if path is None:
        return SetAside(source.word, "not on disk")
    with _collector_paused():
        try:
            split, typography = split_source(path.read_bytes(), source.id, options.quotes)
            name = tagger_for(options.tagger, split.book)
            if is_checkpoint(Path(name)):
                return ReadBook(source, split, typography, tuple(chapters(split)))
            read = ReadBook(source, split, typography, ())
            return _summed_up(read, load_tagger(name, options.gap).tag(split), options)
        except OSError as error:
            return SetAside(_name(source, path), f"cannot be read: {error.strerror or error}")
        except ValueError as error:
            return SetAside(_name(source, path), str(error))


def _summed_up(read: ReadBook, tags: Iterable[TaggedSpan], options: Options) -> Summary:
    """The rows of a book that is tagged.

    Raises:
        ValueError: if it was asked for confidence and its tags have none.
    """
    mined = _decoded(read.book_spans, read.typography, tags, options)
    rows = rows_of_book(mined.tagged, mined.dialogues, options.pairs_by_span)
    encoded = {kind: encode(kind, made, options.format) for kind, made in rows.items()}
    return Summary(_entry(read.source, mined, options), encoded)


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
    load_tagger(options.tagger, options.gap)  # a wrong name is one error, not one for each book
    run = Run()
    head = _head(options)
    with OutputFolder(out, options.format, force=force, resume=resume, head=head) as folder:
        same = zip(folder.notes, map(_identity, sources), strict=False)
        folder.cut(sum(1 for _ in takewhile(lambda pair: pair[0]["source"] == pair[1], same)))
        done = [_remembered(note) for note in folder.notes]
        todo = sources[len(done) :]
        for n, result in enumerate(chain(done, _results(todo, options, fetch, workers))):
            if isinstance(result, SetAside):
                run.set_aside.append(result)
            else:
                run.entries.append(result.entry)
            if n >= len(done):
                folder.add(_note(_identity(sources[n]), result), getattr(result, "encoded", None))
            on_book(result)
        if run.entries:
            run.paths = folder.finish(head | _account(run))
        else:
            folder.cut(0)
    return run


def _identity(source: Source | Missing) -> list[Any]:
    """What a source is known by when a run is gone on with; another where its file changed."""
    if isinstance(source, Missing) or source.path is None:
        return [source.word]
    try:
        state = source.path.stat()
    except OSError:
        return [source.word, source.id]
    return [source.word, source.id, str(source.path.resolve()), state.st_size, state.st_mtime_ns]


def _note(identity: list[Any], result: Summary | SetAside) -> dict[str, Any]:
    """What the journal of the run has of a source."""
    if isinstance(result, SetAside):
        return {"source": identity, "set_aside": [result.name, result.why]}
    return {"source": identity, "entry": result.entry}


def _remembered(note: Mapping[str, Any]) -> Summary | SetAside:
    """The result of which the note was made, without its rows, which are in the files."""
    return SetAside(*note["set_aside"]) if "set_aside" in note else Summary(note["entry"], {})


def _results(
    sources: Sequence[Source | Missing], options: Options, fetch: Fetch, workers: int
) -> Iterator[Summary | SetAside]:
    # Downloads stay in this process: one polite request at a time, whatever the workers.
    located = (_located(source, fetch) for source in sources)
    ahead = may_read_text(options.tagger) and len(sources) > 1
    if workers > 1 or ahead:
        read = _in_processes(located, options, workers)
    else:
        read = (_result(source, options) for source in located)
    yield from _tagged(read, options)


def _tagged(
    read: Iterable[ReadBook | Summary | SetAside], options: Options
) -> Iterator[Summary | SetAside]:
    """The results, in order; books that wait for a checkpoint are tagged, in batches across them.

    What needs none is passed on at once, unless books before it wait.
    """
    waiting = deque[ReadBook | Summary | SetAside]()
    left = iter(read)

    def readable(first: ReadBook) -> Iterator[tuple[Chapter, ...]]:
        waiting.append(first)
        yield first.chapters
        for item in left:
            waiting.append(item)
            if isinstance(item, ReadBook):
                yield item.chapters

    for item in left:
        if not isinstance(item, ReadBook):
            yield item
            continue
        tagger = checkpoint_tagger(options.tagger)
        for scores in tagger.scored(readable(item)):
            while not isinstance(book := waiting.popleft(), ReadBook):
                yield book
            tags = tagger.tagged(book.book_spans, book.chapters, scores)
            yield _summed_up(book, tags, options)
        yield from (book for book in waiting if not isinstance(book, ReadBook))


def _in_processes(
    located: Iterable[Source | Missing], options: Options, workers: int
) -> Iterator[ReadBook | Summary | SetAside]:
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


def _stored_result(source: Source | Missing, options: Options, folder: str) -> Path:
    """The result in a file. A worker that is killed while it sends a large one stops all others."""
    handle, name = mkstemp(dir=folder)
    with os.fdopen(handle, "wb") as file:
        pickle.dump(_result(source, options), file, pickle.HIGHEST_PROTOCOL)
    return Path(name)


def _taken(path: Path) -> ReadBook | Summary | SetAside:
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


def _result(source: Source | Missing, options: Options) -> ReadBook | Summary | SetAside:
    if isinstance(source, Missing):
        return SetAside(source.word or repr(source.word), source.why)
    return read_source(source, options)


def _entry(source: Source, mined: MinedBook, options: Options) -> dict[str, Any]:
    """What the run record says of a book."""
    assert source.path is not None
    book, spans = mined.book_spans.book, mined.book_spans.spans
    turns = sum(len(dialogue.turns) for dialogue in mined.dialogues)
    return {
        "id": source.id,
        "file": source.path.name,
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
        "tagger": tagger_signature(tagger_for(options.tagger, book)),
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


def _head(options: Options) -> dict[str, Any]:
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


def _library_versions(options: Options) -> dict[str, str]:
    from importlib.metadata import version

    names = ["beautifulsoup4", "lxml", "pyarrow"]
    names += ["torch", "transformers", "tokenizers"] * may_read_text(options.tagger)
    return {name: version(name) for name in names}


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
