"""A recipe -> a corpus: many books, filtered, divided into splits, described and written.

The stages are maps over books, so an executor can do them anywhere. Each keeps what is done in the
working folder of the output, and a build that was killed continues there.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from miner.books.catalog_search import number_from_title
from miner.books.sources import find_sources
from miner.corpus.card import write_card
from miner.corpus.duplicates import Duplicate, find_duplicates
from miner.corpus.duplicates import Duplicates as DuplicateDialogues
from miner.corpus.executors import Executor, LocalExecutor, Lost
from miner.corpus.export import find_format
from miner.corpus.facts import NO_SKETCH
from miner.corpus.filters import (
    WORKS,
    FilterRow,
    LanguageFilter,
    describe_filters,
    tabulate_filters,
)
from miner.corpus.mining import MiningPlan, mine_sources
from miner.corpus.output import OutputFolder, ShardFolder
from miner.corpus.pipeline import SetAside, open_tagger
from miner.corpus.progress import Progress
from miner.corpus.reading import words_of
from miner.corpus.recipe import (
    SPLITS,
    Recipe,
    divide_books,
    explain_empty_splits,
    parse_recipe,
    read_split_list,
)
from miner.corpus.run import warn_of_set_aside
from miner.corpus.run_record import record_run
from miner.corpus.stages import (
    BookJudge,
    BookOfDialogues,
    DialogueFilter,
    DialogueFinisher,
    DialogueSigner,
    FileWriter,
    MinedSource,
    Vocabulary,
    WordCounter,
    grouped,
    pattern_of,
    plan_output_files,
    read_signatures,
)
from miner.corpus.statistics import (
    CorpusAccount,
    Duplicates,
    Illustration,
    LengthStatistics,
    data_files_of,
    sum_statistics,
)
from miner.corpus.word_counts import Hashes, WordCounts, add_counts
from miner.corpus.works import BookRecord, Copy, Leak, find_copies, find_leaks
from miner.errors import InputError
from miner.files import (
    CARD,
    RUN_RECORD,
    digest_of,
    json_line,
    printable,
    read_text,
    sha256_of,
    writing,
)
from miner.speech.filters import FilterCounts
from miner.tagger.published_scores import find_published_scores
from miner.version import __version__

BOOKS_FILE = "books.jsonl"
DUPLICATES_FILE = "duplicates.jsonl"
RECIPE_FILE = "recipe.toml"
NO_DIALOGUES = "no_dialogues"  # why a book is left out of which the filters left nothing
_ENTRY = ("id", "title", "author", "language", "file", "sha256", "words")
_COUNTS = ("dialogues", "turns", "pairs")
_BESIDE = {
    BOOKS_FILE: "a row for each book: its split, or what took it out",
    DUPLICATES_FILE: "a row for each dialogue that another book has: both dialogues",
    RECIPE_FILE: "the recipe",
    RUN_RECORD: "versions, settings, counts and digests",
}
_EXAMPLES = 5  # of duplicates, in the card
_BOOKS_AT_ONCE = 32  # whose facts one call reads
_log = logging.getLogger(__name__)
Draw: TypeAlias = Callable[[CorpusAccount], Sequence[Illustration]]  # draws the figures of a corpus
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
        account: what the card says.
        set_aside: the sources that could not be mined, with reasons.
        paths: the files.
    """

    record: Mapping[str, Any]
    account: CorpusAccount
    set_aside: tuple[SetAside, ...]
    paths: tuple[Path, ...]


@dataclass(slots=True)
class _Book:
    """A mined book on its way into the corpus."""

    entry: Mapping[str, Any]
    shard: str
    split: str = ""
    left_out: str = ""  # the filter that took it
    kept: str = ""  # the shard of what is left of it
    counts: Mapping[str, int] = field(default_factory=dict)  # of what is left of it
    # Of dialogues in duplicates.jsonl, by their place among those that the filters leave.
    numbers: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the book."""
        return self.entry["id"]

    @property
    def name(self) -> str:
        """Its title and its id: two editions may have one title."""
        return f"{self.entry['title']} ({self.id})"

    @property
    def source(self) -> MinedSource:
        """The book as stages in other processes know it."""
        return MinedSource(self.shard, self.entry["language"])

    def record(self, sketch: Hashes = NO_SKETCH) -> BookRecord:
        """What decides of which work it is an edition, and its split."""
        entry = self.entry
        return BookRecord(
            entry["id"], entry["title"], entry["author"], entry["language"], entry["words"], sketch
        )

    def row(self, copies: Mapping[str, Copy]) -> dict[str, Any]:
        """The row of the book in books.jsonl."""
        row = {key: self.entry[key] for key in (*_ENTRY, "tagger")}
        row |= {"split": self.split or None, "left_out": self.left_out or None}
        row["copy_of"] = copies[self.id].kept if self.left_out == WORKS else None
        return row | {key: self.counts.get(key, 0) for key in _COUNTS}


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
    draw: Draw | None = None,
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
        draw: draws the figures, if the recipe has `plots`: `miner.app.plots.corpus.draw_corpus`.
        on_progress: called with how far mining is, whenever that changes.
        on_stage: called with how far the stages after it are.

    Raises:
        InputError: if the recipe is wrong, names a book that does not exist, or no book is left; if
            `out` exists, or an interrupted build of it, and neither `force` nor `resume` was given.
        OSError: if the recipe cannot be read, or `out` cannot be written.
    """
    text = read_text(Path(recipe))
    parsed = parse_recipe(text, printable(recipe))
    if parsed.plots and draw is None:
        raise InputError(
            f"{printable(recipe)}: plots: found true without a function that draws them, "
            "expected draw=miner.app.plots.corpus.draw_corpus"
        )
    settings = parsed.mining
    tagger, _ = open_tagger(settings.tagger, settings.dtype, parsed.filters.min_confidence or 0.0)
    options = settings.options()
    queries = () if parsed.catalog is None else (parsed.catalog,)
    words, searches = words_of((*parsed.sources, *queries))
    sources, missing = find_sources(
        words, Path(books) if books else None, number_from_title=number_from_title
    )
    if missing:
        raise InputError(f"{printable(recipe)}: {missing[0]}")
    listed = read_split_list(Path(parsed.split_list)) if parsed.split_list else None
    head = record_run(options, tagger)
    head["tagger"] = head.pop("options")["tagger"]  # the recipe says the rest
    head["recipe"] = parsed.record()
    inputs = [Path(path) for path in (recipe, parsed.split_list) if path]
    folder = OutputFolder(Path(out), force=force, resume=resume, head=head, inputs=inputs)
    filters = (LanguageFilter(*parsed.languages),) if parsed.languages else ()
    plan = MiningPlan(
        tuple(sources), tagger, options, filters, mirror, workers, executor, folder.shards
    )
    try:
        with folder:
            build = _Build(parsed, folder, Path(out), _executor(executor, workers), on_stage)
            build.mine(plan, on_progress)
            build.choose_books(listed)
            build.choose_dialogues()
            head["split_list"] = listed  # a resumed build may have another one
            head["catalog"] = [search.record() for search in searches]
            built = build.write(head, text, draw if parsed.plots else None)
    except BaseException as error:
        if (note := folder.note()) and note not in getattr(error, "__notes__", ()):
            error.add_note(note)
        raise
    warn_of_set_aside(built.set_aside, stacklevel=2)
    return built


def _executor(given: Executor | None, workers: int) -> Executor:
    return given or LocalExecutor(workers if workers > 1 else 0)


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
        self._copies: Mapping[str, Copy] = {}
        self._leaks: Sequence[Leak] = ()  # none, unless the recipe keeps copies or has a fixed list
        self._duplicates: DuplicateDialogues | None = None
        self._compared: Sequence[_Book] = ()  # the books whose places these are
        self._unused: Sequence[str] = ()  # of a fixed list of splits
        self._vocabulary = Vocabulary(folder.stages / "words")
        self._kept = ShardFolder(folder.stages / "kept", out)

    def mine(self, plan: MiningPlan, on_progress: Callable[[Progress], None]) -> None:
        """Mines all sources into shards."""
        _log.info("sources to mine by %s: %d", plan.options.tagger, len(plan.sources))
        with closing(mine_sources(plan, on_progress)) as results:
            for shard, result in results:
                if isinstance(result, SetAside):
                    self._set_aside.append(result)
                    _log.warning("set aside: %s: %s", result.name, result.why)
                else:
                    entry = {key: result.entry[key] for key in (*_ENTRY, "tagger", "counts")}
                    self._books.append(_Book(entry, shard))
                    _log.info("mined: %s", result.id)

    def choose_books(self, listed: Mapping[str, str] | None) -> None:
        """Applies the filters on books, takes out copies, and divides the rest into splits."""
        settings = self._recipe.filters
        self._take_books("own_language", self._count_words())
        left = self._left()
        groups = grouped((book.source for book in left), _BOOKS_AT_ONCE)
        judge = BookJudge(self._folder.shards, settings, self._vocabulary)
        judged = [one for group in self._map("judging books", judge, groups) for one in group]
        for name in ("max_kl_divergence", "min_delimiters"):
            taken = (book for book, one in zip(left, judged, strict=True) if one.reason == name)
            self._take_books(name, {book.shard for book in taken})
        records = [
            book.record(np.frombuffer(one.sketch, "<u8").astype(np.uint64, copy=False))
            for book, one in zip(left, judged, strict=True)
            if not book.left_out
        ]
        if self._recipe.duplicates.works:
            self._copies = find_copies(records)
            taken = (book for book in self._left() if book.id in self._copies)
            self._take_books(WORKS, {book.shard for book in taken})
        division = divide_books(
            [book.record() for book in self._left()], self._recipe.splits, listed
        )
        self._unused = division.unused
        self._leaks = find_leaks(
            [record for record in records if record.id in division.splits], division.splits
        )
        for book in self._left():
            book.split = division.splits[book.id]

    def _count_words(self) -> set[str]:
        """Counts the words of each language, and returns the shards of books in another one."""
        counter = WordCounter(self._folder.shards, self._recipe.filters)
        groups = grouped((book.source for book in self._books), _BOOKS_AT_ONCE)
        totals: dict[str, list[WordCounts]] = {}
        foreign: set[str] = set()
        for counted in self._map("counting words", counter, groups):
            foreign.update(counted.foreign)
            for language, words in counted.words.items():
                so_far = totals.setdefault(language, [])
                so_far.append(WordCounts.from_bytes(words))
                if len(so_far) > _BOOKS_AT_ONCE:
                    totals[language] = [add_counts(so_far)]
        self._vocabulary = Vocabulary.write(
            self._folder.stages / "words",
            {language: add_counts(counts) for language, counts in totals.items()},
            self._recipe.filters.n_frequent_words,
            self._out,
        )
        return foreign

    def _take_books(self, name: str, shards: Set[str]) -> None:
        """Takes books out, and counts them for a filter."""
        for book in self._left():
            if book.shard in shards:
                book.left_out = name
                counts = book.entry["counts"]
                self._filtered = self._filtered.add_book(name, counts["dialogues"], counts["turns"])

    def choose_dialogues(self) -> None:
        """Applies the filters on dialogues, and takes out dialogues that the corpus has already."""
        filtering = DialogueFilter(
            self._folder.shards,
            self._recipe.filters,
            self._recipe.mining.options(),
            self._vocabulary,
        )
        self._compared = left = self._left()
        self._duplicates = self._find_duplicates(filtering)
        with writing(self._out):
            self._kept.path.mkdir(parents=True, exist_ok=True)
        finisher = DialogueFinisher(filtering, self._kept, self._duplicates is not None)
        gone = [self._duplicates_of(place) for place in range(len(left))]
        named = [{one.key for one in of_book} for of_book in gone]
        for one in chain.from_iterable(gone):
            named[one.kept_book].add(one.kept_key)
        items = [
            BookOfDialogues(book.source, tuple(one.key for one in of_book), tuple(sorted(asked)))
            for book, of_book, asked in zip(left, gone, named, strict=True)
        ]
        finished = self._map("choosing dialogues", finisher, items)
        for book, one in zip(left, finished, strict=True):
            self._filtered += one.filtered
            book.numbers = one.numbers
            if not one.counts["dialogues"]:
                book.left_out, book.split = NO_DIALOGUES, ""
                continue
            book.kept, book.counts = one.shard, one.counts
            key = book.split, book.entry["language"]
            self._statistics[key] = self._statistics.get(key, LengthStatistics()) + one.statistics

    def _find_duplicates(self, filtering: DialogueFilter) -> DuplicateDialogues | None:
        """The dialogues that the corpus has already; None if they are not looked for."""
        similarity = self._recipe.duplicates.dialogues
        if similarity is None:
            return None
        folder = self._folder.stages / "signatures"
        with writing(self._out):
            folder.mkdir(parents=True, exist_ok=True)
            signer = DialogueSigner(filtering, folder, self._out)
            sources = [book.source for book in self._compared]
            signed = self._map("comparing dialogues", signer, sources)
            return find_duplicates(map(read_signatures, signed), folder, similarity)

    def _duplicates_of(self, place: int) -> list[Duplicate]:
        return self._duplicates.of_book(place) if self._duplicates else []

    def write(self, head: Mapping[str, Any], recipe: str, draw: Draw | None = None) -> BuiltCorpus:
        """Writes all files and puts them in place."""
        by_split = {
            split: of_split
            for split in SPLITS
            if (of_split := [book for book in self._left() if book.split == split])
        }
        if not by_split:
            if all(item.is_lasting for item in self._set_aside):
                self._folder.discard()  # a resumed build would end as this one
            raise InputError(self._why_nothing_is_left())
        planned = plan_output_files(
            self._recipe.formats,
            {
                split: [(book.kept, book.counts["turns"]) for book in of_split]
                for split, of_split in by_split.items()
            },
        )
        output, written = self._folder.output, self._folder.stages / "written"
        with writing(self._out):
            output.mkdir(parents=True, exist_ok=True)
            written.mkdir(parents=True, exist_ok=True)
        writer = FileWriter(self._kept, self._recipe.formats, output, written, self._out)
        files: dict[str, str] = {}
        left_out: dict[str, Counter[str]] = {}
        with_rows: set[str] = set()
        for plan, done in zip(planned, self._map("writing", writer, planned), strict=True):
            files |= done.digests
            left_out.setdefault(plan.format, Counter()).update(done.left_out)
            with_rows.update(done.with_rows)
        with writing(self._out):
            self._write_beside(output, recipe)
            beside = (RECIPE_FILE, BOOKS_FILE, DUPLICATES_FILE)
            files |= {name: digest_of(output / name) for name in beside}
            account = self._account(by_split, with_rows)
            if draw:
                account = replace(account, illustrations=tuple(draw(account)))
            for figure in account.illustrations:
                (output / figure.path).parent.mkdir(exist_ok=True)
                (output / figure.path).write_bytes(figure.content)
                files[figure.path] = sha256_of(figure.content)
            (output / CARD).write_text(write_card(account), encoding="utf-8")
            files[CARD] = digest_of(output / CARD)
            record = {**head, **self._record(), "empty_splits": account.empty_splits}
            record |= {"left_out_of_files": left_out, "files": files}
            (output / RUN_RECORD).write_text(
                json.dumps(record, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
            )
            self._folder.keep_only({*files, RUN_RECORD})
        paths = self._folder.put_in_place()
        return BuiltCorpus(record, account, tuple(self._set_aside), tuple(paths))

    def _write_beside(self, output: Path, recipe: str) -> None:
        """Writes the recipe, a row for each book, and a row for each duplicate."""
        (output / RECIPE_FILE).write_text(recipe, encoding="utf-8")
        with (output / BOOKS_FILE).open("wb") as file:
            file.writelines(json_line(book.row(self._copies)) for book in self._books)
        with (output / DUPLICATES_FILE).open("wb") as file:
            for place, book in enumerate(self._compared):
                for one in self._duplicates_of(place):
                    other = self._compared[one.kept_book]
                    dialogue, part = book.numbers[one.key]
                    of_dialogue, of_part = other.numbers[one.kept_key]
                    row = {"book": book.id, "dialogue": dialogue, "part": part}
                    row |= {"of_book": other.id, "of_dialogue": of_dialogue, "of_part": of_part}
                    file.write(json_line(row | {"similarity": round(one.similarity, 3)}))

    def _record(self) -> dict[str, Any]:
        """What run.json says of the books."""
        n_mined = Counter[str]()
        for book in self._books:
            n_mined.update({key: book.entry["counts"][key] for key in _COUNTS})
        return {
            "mined": {"books": len(self._books), "words": self._n_words(), **n_mined},
            "filters": [row.to_record() for row in self._filter_rows()],
            "statistics": [
                {"split": split, "language": language, **lengths.to_json()}
                for (split, language), lengths in sorted(self._statistics.items())
            ],
            "totals": sum_statistics(self._statistics.values()).to_json(),
            "unused_of_split_list": list(self._unused),
            "books_that_share_text_over_splits": [asdict(leak) for leak in self._leaks],
            "set_aside": [
                {"file": Path(item.name).name or item.name, "why": item.why}
                for item in self._set_aside
            ],
        }

    def _n_words(self) -> int:
        return sum(book.entry["words"] for book in self._books)

    def _filter_rows(self) -> list[FilterRow]:
        """A row for each filter and for duplicates, in the order in which they took."""
        duplicates = self._recipe.duplicates
        lines = describe_filters(self._recipe.filters, duplicates.works, duplicates.dialogues)
        return tabulate_filters(self._filtered, lines)

    def _account(
        self, by_split: Mapping[str, Sequence[_Book]], with_rows: Set[str]
    ) -> CorpusAccount:
        """What the card says."""
        recipe = self._recipe
        left = self._left()
        data_files = [
            files
            for format, options in recipe.formats.items()
            for files in data_files_of(
                find_format(format), options, by_split, partial(pattern_of, format), with_rows
            )
        ]
        names = {book.id: book.name for book in self._books}
        duplicates = [
            Duplicates(
                "dialogue" if len(self._duplicates or ()) == 1 else "dialogues",
                len(self._duplicates or ()),
                list(islice(self._examples_of_duplicates(), _EXAMPLES)),
                DUPLICATES_FILE,
            ),
            Duplicates(
                "edition of one work" if len(self._copies) == 1 else "editions of one work",
                len(self._copies),
                [
                    (book.name, names[self._copies[book.id].kept])
                    for book in self._books
                    if book.left_out == WORKS
                ],
                BOOKS_FILE,
            ),
        ]
        return CorpusAccount(
            name=recipe.name,
            version=__version__,
            statistics=self._statistics,
            files=data_files,
            other_files=_BESIDE,
            taggers=Counter((book.entry["language"], book.entry["tagger"]) for book in left),
            trusts=find_published_scores(recipe.mining.tagger, recipe.mining.dtype),
            min_confidence=recipe.filters.min_confidence or 0.0,
            # Works in copyright were set aside, of those whose header would say so.
            is_public_domain=all(book.id.isdecimal() for book in left),
            splits_by=self._splits_by() if len(by_split) > 1 else "",
            empty_splits=self._empty_splits(by_split),
            filters=self._filter_rows(),
            duplicates=[one for one in duplicates if one.n],
            n_set_aside=len(self._set_aside),
        )

    def _empty_splits(self, by_split: Mapping[str, Sequence[_Book]]) -> str:
        settings = self._recipe.splits
        if self._recipe.split_list and settings.unlisted == "error":
            return ""  # the list says which there are
        return explain_empty_splits(by_split, settings, sum(map(len, by_split.values())))

    def _splits_by(self) -> str:
        return "list" if self._recipe.split_list else self._recipe.splits.by

    def _examples_of_duplicates(self) -> Iterator[tuple[str, str]]:
        """Yields the names of a book that lost a dialogue, and of the one that has it still."""
        for place, book in enumerate(self._compared):
            for one in self._duplicates_of(place)[:1]:
                yield book.name, self._compared[one.kept_book].name

    def _left(self) -> list[_Book]:
        """The books that nothing has taken yet."""
        return [book for book in self._books if not book.left_out]

    def _why_nothing_is_left(self) -> str:
        """One line that says which filters took all books."""
        reasons = Counter(book.left_out for book in self._books)
        taken = [f"{name}: {n:,}" for name, n in reasons.most_common()]
        if self._set_aside:
            first = self._set_aside[0]
            such = f"{printable(first.name)}: {first.why}"
            taken.append(f"set aside: {len(self._set_aside):,}, such as {such}")
        return f"found no book for the corpus ({', '.join(taken) or 'no sources'}), expected one"

    def _map(
        self, name: str, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result]:
        """The results of a stage, in order."""
        listed = list(items)
        _log.info("%s: %d", name, len(listed))
        self._on_stage(StageProgress(name, 0, len(listed)))
        results = self._executor.map(function, listed)
        try:
            for number, result in enumerate(results, 1):
                if isinstance(result, Lost):
                    raise result
                self._on_stage(StageProgress(name, number, len(listed)))
                yield result
        finally:
            if isinstance(results, Generator):
                results.close()
