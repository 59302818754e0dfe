"""A recipe -> a corpus: many books, filtered, divided into splits, described and written.

The stages are maps over books, so an executor can do them anywhere. Each keeps what is done in the
working folder of the output, and a build that was killed continues there.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from miner.books.catalog import number_from_title
from miner.books.sources import find_sources
from miner.corpus.book_stage import BookJudge, MinedSource, Vocabulary, WordCounter, grouped
from miner.corpus.card import write_card
from miner.corpus.dialogue_stage import DialogueFilter, DialogueFinisher, DialogueSigner, SignedBook
from miner.corpus.duplicates import find_duplicates
from miner.corpus.executors import Executor, LocalExecutor, Lost
from miner.corpus.filter_settings import FilterCounts
from miner.corpus.mined_book import MinedBook
from miner.corpus.mining import MiningPlan, mine_sources
from miner.corpus.output_files import FileWriter, plan_output_files
from miner.corpus.pipeline import SetAside, open_tagger
from miner.corpus.progress import Progress
from miner.corpus.recipe import Recipe, parse_recipe
from miner.corpus.run_record import record_run
from miner.corpus.splits import split_of
from miner.corpus.statistics import LengthStatistics
from miner.corpus.word_counts import WordCounts, add_counts
from miner.corpus.works import BookRecord, find_copies
from miner.corpus.writer import OutputFolder
from miner.files import CARD, RUN_RECORD, json_lines, printable, read_text, writing

BOOKS_FILE = "books.jsonl"
RECIPE_FILE = "recipe.toml"
COPY = "works"  # the reason of a book that another one has, among those of the filters
_NO_DIALOGUES = "no dialogues"
_BOOKS_AT_ONCE = 32  # whose facts one call reads
_log = logging.getLogger(__name__)
Item = TypeVar("Item")
Result = TypeVar("Result")


class StageProgress(NamedTuple):
    """How far a stage after mining is: what it does, how many calls are done, and of how many."""

    name: str
    n_done: int
    n: int


@dataclass(frozen=True)
class BuiltCorpus:
    """A corpus that was built.

    Attributes:
        record: what run.json says.
        set_aside: the sources that could not be mined, with reasons.
        paths: the files.
    """

    record: Mapping[str, Any]
    set_aside: tuple[SetAside, ...]
    paths: tuple[Path, ...]


@dataclass(slots=True)
class _Book:
    """A mined book on its way into the corpus."""

    entry: Mapping[str, Any]
    shard: str
    split: str = ""
    left_out: str = ""  # the filter that took it
    copy_of: str = ""
    kept: str = ""  # the shard of what is left of it
    counts: Mapping[str, int] = field(default_factory=dict)  # of what is left of it

    @property
    def id(self) -> str:
        return self.entry["id"]

    @property
    def source(self) -> MinedSource:
        return MinedSource(self.shard, self.entry["language"])

    def leave_out(self, reason: str, counts: FilterCounts) -> FilterCounts:
        """Notes that a filter takes the book, and returns the counts with it."""
        self.left_out = reason
        mined = self.entry["counts"]
        return counts.add_book(reason, mined["dialogues"], mined["turns"])

    def row(self) -> dict[str, Any]:
        """The row of the book in books.jsonl."""
        keys = ("id", "title", "author", "language", "file", "sha256", "words")
        row = {key: self.entry[key] for key in keys}
        row |= {"split": self.split or None, "left_out": self.left_out or None}
        row |= {"copy_of": self.copy_of or None}
        return row | {key: self.counts.get(key, 0) for key in ("dialogues", "turns", "pairs")}


def build_corpus(
    recipe: str | Path,
    out: str | Path,
    *,
    books: str | Path | None = None,
    mirror: str | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    force: bool = False,
    resume: bool = False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    on_stage: Callable[[StageProgress], None] = lambda progress: None,
) -> BuiltCorpus:
    """Builds a corpus from a recipe.

    The same recipe and the same books give the same bytes, with any number of workers, any
    executor, and after an interrupted build that was resumed. A source that cannot be mined is set
    aside with its reason, and the others go on.

    Example:
        >>> import miner
        >>> built = miner.build_corpus("recipe.toml", "corpus")  # doctest: +SKIP
        >>> built.record["totals"]["pairs"]  # doctest: +SKIP
        104

    Args:
        recipe: the TOML file, see `recipe.example_recipe`.
        out: folder for the corpus.
        books: folder in which numbers are looked up first.
        mirror: URL template from which numbers are downloaded, if they are in no folder.
        workers: processes that read, filter and write.
        executor: where all this is done, instead of `workers` processes of this machine.
        force: whether to replace an earlier corpus in `out`.
        resume: whether to continue an interrupted build of the same recipe.
        on_progress: called with how far mining is, whenever that changes.
        on_stage: called with how far the stages after it are.

    Raises:
        ValueError: if the recipe is wrong, names a book that does not exist, or no book is left; if
            `out` exists, or an interrupted build of it, and neither `force` nor `resume` was given.
        OSError: if the recipe cannot be read, or `out` cannot be written.
    """
    text = read_text(Path(recipe))
    parsed = parse_recipe(text, printable(recipe))
    tagger, _ = open_tagger(
        parsed.mining.tagger, parsed.mining.dtype, parsed.filters.min_confidence or 0.0
    )
    options = parsed.mining.options()
    sources, missing = find_sources(
        parsed.words(), Path(books) if books else None, number_from_title=number_from_title
    )
    if missing:
        raise ValueError(f"{printable(recipe)}: {missing[0]}")
    head = record_run(options, tagger) | {"recipe": parsed.record()}
    del head["options"]  # what they say, the recipe says
    folder = OutputFolder(Path(out), force=force, resume=resume, head=head)
    plan = MiningPlan(tuple(sources), tagger, options, (), mirror, workers, executor, folder.shards)
    try:
        with folder:
            build = _Build(parsed, folder, Path(out), _executor(executor, workers), on_stage)
            build.mine(plan, on_progress)
            build.choose_books()
            build.choose_dialogues()
            return build.write(head, text)
    except BaseException as error:
        if note := folder.note():
            error.add_note(note)
        raise


def _executor(executor: Executor | None, workers: int) -> Executor:
    return executor or LocalExecutor(workers if workers > 1 else 0)


class _Build:
    """The stages of one build, in the order of its methods."""

    def __init__(
        self,
        recipe: Recipe,
        folder: OutputFolder,
        out: Path,
        executor: Executor,
        on_stage: Callable[[StageProgress], None],
    ) -> None:
        self._recipe = recipe
        self._folder = folder
        self._out = out
        self._executor = executor
        self._on_stage = on_stage
        self._books: list[_Book] = []
        self._set_aside: list[SetAside] = []
        self._filtered = FilterCounts()
        self._statistics: dict[tuple[str, str], LengthStatistics] = {}  # by split and language
        self._vocabulary = Vocabulary(folder.stages / "words")
        self._duplicates: list[dict[str, Any]] = []

    def mine(self, plan: MiningPlan, on_progress: Callable[[Progress], None]) -> None:
        """Mines all sources into shards."""
        _log.info("sources to mine by %s: %d", plan.options.tagger, len(plan.sources))
        with closing(mine_sources(plan, on_progress)) as results:
            for shard, result in results:
                if isinstance(result, MinedBook):
                    self._books.append(_Book(_short(result.entry), shard))
                    _log.info("mined: %s", result.id)
                else:
                    self._set_aside.append(result)
                    _log.warning("set aside: %s: %s", result.name, result.why)

    def choose_books(self) -> None:
        """Applies the filters on books, takes out copies, and divides the rest into splits."""
        settings = self._recipe.filters
        groups = grouped([book.source for book in self._books], _BOOKS_AT_ONCE)
        totals: dict[str, list[WordCounts]] = {}
        books = iter(self._books)
        for counted in self._map("counting words", WordCounter(self._shards, settings), groups):
            for reason in counted.reasons:
                self._leave_out(next(books), reason)
            for language, words in counted.words.items():
                so_far = totals.setdefault(language, [])
                so_far.append(WordCounts.from_bytes(words))
                if len(so_far) > _BOOKS_AT_ONCE:
                    totals[language] = [add_counts(so_far)]
        self._vocabulary.write(
            {language: add_counts(counts) for language, counts in totals.items()},
            settings.n_frequent_words,
            self._out,
        )
        left = self._left()
        judge = BookJudge(self._shards, settings, self._vocabulary)
        groups = grouped([book.source for book in left], _BOOKS_AT_ONCE)
        judged = (one for group in self._map("judging books", judge, groups) for one in group)
        records: list[BookRecord] = []
        for book, one in zip(left, judged, strict=True):
            self._leave_out(book, one.reason)
            records.append(_record(book, np.frombuffer(one.sketch, "<u8")))
        records = [one for book, one in zip(left, records, strict=True) if not book.left_out]
        if self._recipe.duplicates.works:
            copies = find_copies(records)
            for book in self._left():
                if (copy := copies.get(book.id)) is not None:
                    book.copy_of = copy.of
                    self._leave_out(book, COPY)
        for book in self._left():
            book.split = split_of(_record(book), self._recipe.splits)

    def choose_dialogues(self) -> None:
        """Applies the filters on dialogues, and takes out dialogues that the corpus has already."""
        filtering = DialogueFilter(
            self._shards, self._recipe.filters, self._recipe.mining.options(), self._vocabulary
        )
        left = self._left()
        dropped: Mapping[int, Sequence[tuple[int, int]]] = {}
        if (similarity := self._recipe.duplicates.dialogues) is not None:
            folder = self._folder.stages / "signatures"
            folder.mkdir(parents=True, exist_ok=True)
            signer = DialogueSigner(filtering, folder, self._out)
            signed = self._map("comparing dialogues", signer, [book.source for book in left])
            found = find_duplicates(signed, similarity, self._folder.stages / "bands")
            dropped = found.dropped
            self._duplicates = [...]
        kept = ShardFolder(self._folder.stages / "kept", self._out)
        kept.path.mkdir(parents=True, exist_ok=True)
        finisher = DialogueFinisher(filtering, kept)
        items = [
            SignedBook(book.source, tuple(dropped.get(number, ())))
            for number, book in enumerate(left)
        ]
        for book, finished in zip(
            left, self._map("choosing dialogues", finisher, items), strict=True
        ):
            self._filtered += finished.filtered
            if not finished.counts["dialogues"]:
                book.left_out = _NO_DIALOGUES
                continue
            book.kept, book.counts = finished.shard, finished.counts
            key = book.split, book.entry["language"]
            so_far = self._statistics.get(key)
            self._statistics[key] = (
                finished.statistics if so_far is None else so_far + finished.statistics
            )

    def write(self, head: Mapping[str, Any], recipe: str) -> BuiltCorpus:
        """Writes all files and puts them in place."""
        by_split: dict[str, list[tuple[str, int]]] = {}
        for book in self._left():
            by_split.setdefault(book.split, []).append((book.kept, book.counts["turns"]))
        if not by_split:
            self._folder.discard()
            raise ValueError(self._why_nothing_is_left())
        output, written = self._folder.output, self._folder.stages / "written"
        with writing(self._out):
            output.mkdir(parents=True, exist_ok=True)
            written.mkdir(parents=True, exist_ok=True)
        writer = FileWriter(self._kept, self._recipe.formats, output, written, self._out)
        planned = plan_output_files(self._recipe.formats, by_split)
        files: dict[str, str] = {}
        left_out: dict[str, Counter[str]] = {}
        for plan, done in zip(planned, self._map("writing", writer, planned), strict=True):
            files |= done.digests
            left_out.setdefault(plan.format, Counter()).update(done.left_out)
        record = {**head, **self._account(), "left_out_of_files": ...}
        self._write_file(RECIPE_FILE, recipe.encode())
        ...
