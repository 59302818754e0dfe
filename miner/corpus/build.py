"""A recipe -> a corpus: many books, filtered, divided into splits, described and written.

The stages are maps over books, so an executor can do them anywhere. Each keeps what is done in the
working folder of the output, and a build that was killed continues there.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from miner.corpus.book_features import WordSum
from miner.corpus.card import write_card
from miner.corpus.duplicates import Duplicate, Signatures, find_duplicates
from miner.corpus.executors import Executor, LocalExecutor, Lost
from miner.corpus.export import find_format
from miner.corpus.filters import (
    WORKS,
    FilterRow,
    LanguageFilter,
    describe_filters,
    tabulate_filters,
)
from miner.corpus.mined_book import SetAside
from miner.corpus.mining import MiningPlan, Progress, mine_sources
from miner.corpus.output import OutputFolder
from miner.corpus.pipeline import open_tagger
from miner.corpus.reading import find_all
from miner.corpus.recipe import (
    SPLITS,
    Recipe,
    divide_books,
    explain_empty_splits,
    parse_recipe,
    read_split_list,
)
from miner.corpus.run import record_run, record_set_aside, warn_of_set_aside
from miner.corpus.stages import (
    Book,
    BookOfDialogues,
    DialogueFilter,
    FinishedBook,
    KeptBook,
    Vocabulary,
    WrittenFiles,
    count_words_of,
    finish_book,
    judge_books,
    pattern_of,
    plan_output_files,
    sign_book,
    write_files,
)
from miner.corpus.statistics import (
    CorpusAccount,
    Duplicates,
    Illustration,
    LengthStatistics,
    data_files_of,
    sum_statistics,
)
from miner.corpus.store import Store
from miner.corpus.works import BookRecord, Copy, Leak, find_copies, find_leaks
from miner.errors import InputError
from miner.files import (
    CARD,
    RUN_RECORD,
    json_lines,
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
_BOOKS_AT_ONCE = 32  # whose features one call reads
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
    """A corpus that was built."""

    record: Mapping[str, Any]  # what run.json says
    account: CorpusAccount  # what the card says
    set_aside: tuple[SetAside, ...]  # the sources that could not be mined, with reasons
    paths: tuple[Path, ...]  # the files


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
        draw: draws the figures, if the recipe has `plots`: `miner.app.plots.draw_corpus`.
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
            "expected draw=miner.app.plots.draw_corpus"
        )
    settings = parsed.mining
    tagger, _ = open_tagger(settings.tagger, settings.dtype, parsed.filters.min_confidence or 0.0)
    options = settings.options()
    queries = () if parsed.catalog is None else (parsed.catalog,)
    sources, missing, searches = find_all((*parsed.sources, *queries), books)
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
    local = LocalExecutor(workers if workers > 1 else 0)
    site = _Site(parsed, folder, Path(out), executor or local, on_stage)
    with folder:
        mined = _mine(plan, on_progress)
        chosen = _choose_books(site, mined.books, listed)
        selected = _choose_dialogues(site, chosen)
        corpus = _Corpus(parsed, mined, chosen, selected)
        head["split_list"] = listed  # a resumed build may have another one
        head["catalog"] = [search.record() for search in searches]
        built = _write(site, corpus, head, text, draw if parsed.plots else None)
    warn_of_set_aside(built.set_aside, stacklevel=2)
    return built


@dataclass(frozen=True, slots=True)
class _Site:
    """Where a build works, and on what."""

    recipe: Recipe
    folder: OutputFolder
    out: Path
    executor: Executor
    on_stage: Callable[[StageProgress], None]

    def store(self, name: str, made_of: type[Item]) -> Store[Item]:
        """Where a stage keeps what it makes."""
        return Store(self.folder.stages / name, self.out, made_of)

    def map(
        self, name: str, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[Result]:
        """The results of a stage, in order."""
        _log.info("%s: %d", name, len(items))
        self.on_stage(StageProgress(name, 0, len(items)))
        results = self.executor.map(function, items)
        try:
            for number, result in enumerate(results, 1):
                if isinstance(result, Lost):
                    raise result
                self.on_stage(StageProgress(name, number, len(items)))
                yield result
        finally:
            if isinstance(results, Generator):
                results.close()


@dataclass(frozen=True, slots=True)
class _Mined:
    """The books that were mined, and the sources that could not be."""

    books: tuple[Book, ...]
    set_aside: tuple[SetAside, ...]


def _mine(plan: MiningPlan, on_progress: Callable[[Progress], None]) -> _Mined:
    """Mines all sources into shards."""
    books: list[Book] = []
    set_aside: list[SetAside] = []
    _log.info("sources to mine by %s: %d", plan.options.tagger, len(plan.sources))
    with closing(mine_sources(plan, on_progress)) as results:
        for shard, result in results:
            if isinstance(result, SetAside):
                set_aside.append(result)
                _log.warning("set aside: %s: %s", result.name, result.why)
            else:
                entry = {key: result.entry[key] for key in (*_ENTRY, "tagger", "counts")}
                books.append(Book(entry, shard))
                _log.info("mined: %s", result.id)
    return _Mined(tuple(books), tuple(set_aside))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Which books the corpus takes."""

    books: tuple[Book, ...]  # those that it takes, in their order
    left_out: Mapping[str, str]  # the filter that took each other one, by shard
    splits: Mapping[str, str]  # the split of each book that it takes, by id
    copies: Mapping[str, Copy]  # what took the copies, by id
    # books of two splits that share text: none, unless the recipe keeps copies or has a fixed list
    # of splits.
    leaks: Sequence[Leak]
    unused: Sequence[str]  # the books of a fixed list of splits that the corpus lacks
    vocabulary: Vocabulary  # the words of all books


def _choose_books(site: _Site, books: Sequence[Book], listed: Mapping[str, str] | None) -> _Chosen:
    """Applies the filters on books, takes out copies, and divides the rest into splits."""
    recipe, shards = site.recipe, site.folder.shards
    foreign, vocabulary = _count_words(site, books)
    left_out = dict.fromkeys(foreign, "own_language")
    left = [book for book in books if book.shard not in left_out]
    judge = partial(judge_books, mined=shards, settings=recipe.filters, vocabulary=vocabulary)
    judged = chain.from_iterable(site.map("judging books", judge, list(_grouped(left))))
    records: list[BookRecord] = []
    for book, (reason, sketch) in zip(left, judged, strict=True):
        if reason:
            left_out[book.shard] = reason
        else:
            records.append(book.record(sketch))
    work = site.folder.stages
    with writing(site.out):
        copies = find_copies(records, work) if recipe.duplicates.works else {}
    left_out |= {book.shard: WORKS for book in left if book.id in copies}
    left = [book for book in left if book.shard not in left_out]
    division = divide_books([book.record() for book in left], recipe.splits, listed)
    with writing(site.out):
        leaks = find_leaks(records, division.splits, work=work)
    return _Chosen(
        tuple(left), left_out, division.splits, copies, leaks, division.unused, vocabulary
    )


def _count_words(site: _Site, books: Sequence[Book]) -> tuple[list[str], Vocabulary]:
    """The shards of books in another language than they claim, and the words of the others."""
    settings = site.recipe.filters
    count = partial(count_words_of, mined=site.folder.shards, settings=settings)
    totals: dict[str, WordSum] = {}
    foreign: list[str] = []
    for counted in site.map("counting words", count, list(_grouped(books))):
        foreign += counted.foreign
        for language, words in counted.words.items():
            totals.setdefault(language, WordSum()).add(words)
    words = {language: total.total() for language, total in totals.items()}
    stages = site.folder.stages
    return foreign, Vocabulary.write(stages, words, settings.n_frequent_words, site.out)


def _grouped(books: Sequence[Book]) -> Iterator[Sequence[Book]]:
    """The books that one call reads."""
    for start in range(0, len(books), _BOOKS_AT_ONCE):
        yield books[start : start + _BOOKS_AT_ONCE]


@dataclass(frozen=True, slots=True)
class _Selected:
    """What is left of the books that the corpus takes."""

    books: tuple[tuple[Book, FinishedBook], ...]  # the same books, with what is left of each
    # of each of them, the dialogues that the corpus has already; None if they were not looked for.
    duplicates: Sequence[Sequence[Duplicate]] | None


def _choose_dialogues(site: _Site, chosen: _Chosen) -> _Selected:
    """Applies the filters on dialogues, and takes out dialogues that the corpus has already."""
    recipe, books = site.recipe, chosen.books
    filtering = DialogueFilter(
        site.folder.shards, recipe.filters, recipe.mining.options(), chosen.vocabulary
    )
    duplicates = None
    if recipe.duplicates.dialogues is not None:
        signatures = site.store("signatures", Signatures)
        sign = partial(sign_book, filtering=filtering, signatures=signatures)
        signed = map(signatures.take, site.map("comparing dialogues", sign, books))
        with writing(site.out):
            duplicates = find_duplicates(signed, site.folder.stages, recipe.duplicates.dialogues)
    gone = duplicates or [()] * len(books)
    named = [{one.key for one in of_book} for of_book in gone]
    for one in chain.from_iterable(gone):
        named[one.kept_book].add(one.kept_key)
    items = [
        BookOfDialogues(book, tuple(one.key for one in of_book), tuple(sorted(asked)))
        for book, of_book, asked in zip(books, gone, named, strict=True)
    ]
    finish = partial(
        finish_book,
        filtering=filtering,
        kept=site.store("kept", KeptBook),
        are_compared=duplicates is not None,
    )
    finished = site.map("choosing dialogues", finish, items)
    return _Selected(tuple(zip(books, finished, strict=True)), duplicates)


class _Corpus:
    """What a build has found out, and what run.json, the card and the lists say of it."""

    def __init__(self, recipe: Recipe, mined: _Mined, chosen: _Chosen, selected: _Selected) -> None:
        self.recipe, self.mined, self.chosen, self.selected = recipe, mined, chosen, selected
        empty = {
            book.shard: NO_DIALOGUES
            for book, finished in selected.books
            if not finished.counts["dialogues"]
        }
        self.left_out = {**chosen.left_out, **empty}
        self.books = [pair for pair in selected.books if pair[0].shard not in empty]
        self.by_split = {
            split: of_split
            for split in SPLITS
            if (of_split := [pair for pair in self.books if chosen.splits[pair[0].id] == split])
        }
        self.statistics: dict[tuple[str, str], LengthStatistics] = {}  # by split and language
        for book, finished in self.books:
            key = chosen.splits[book.id], book.language
            lengths = self.statistics.get(key, LengthStatistics())
            self.statistics[key] = lengths + finished.statistics

    @property
    def n_duplicates(self) -> int:
        """How many dialogues went because the corpus has them already."""
        return sum(map(len, self.selected.duplicates or ()))

    def filter_rows(self) -> list[FilterRow]:
        """A row for each filter and for duplicates, in the order in which they took."""
        counts = FilterCounts()
        for book in self.mined.books:
            if name := self.chosen.left_out.get(book.shard):
                n = book.entry["counts"]
                counts = counts.add_book(name, n["dialogues"], n["turns"])
        for _, finished in self.selected.books:
            counts += finished.filtered
        duplicates = self.recipe.duplicates
        lines = describe_filters(self.recipe.filters, duplicates.works, duplicates.dialogues)
        return tabulate_filters(counts, lines)

    def book_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of books.jsonl."""
        counts = {book.shard: finished.counts for book, finished in self.books}
        for book in self.mined.books:
            row = {key: book.entry[key] for key in (*_ENTRY, "tagger")}
            left_out = self.left_out.get(book.shard)
            row["split"] = None if left_out else self.chosen.splits[book.id]
            row["left_out"] = left_out
            row["copy_of"] = self.chosen.copies[book.id].kept if left_out == WORKS else None
            yield row | {key: counts.get(book.shard, {}).get(key, 0) for key in _COUNTS}

    def duplicate_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of duplicates.jsonl."""
        books = self.selected.books
        for (book, finished), gone in zip(books, self.selected.duplicates or (), strict=False):
            for one in gone:
                other, stays = books[one.kept_book]
                dialogue, part = finished.numbers[one.key]
                of_dialogue, of_part = stays.numbers[one.kept_key]
                row = {"book": book.id, "dialogue": dialogue, "part": part}
                row |= {"of_book": other.id, "of_dialogue": of_dialogue, "of_part": of_part}
                yield row | {"similarity": round(one.similarity, 3)}

    def record(self) -> dict[str, Any]:
        """What run.json says of the books."""
        books = self.mined.books
        n_mined = Counter[str]()
        for book in books:
            n_mined.update({key: book.entry["counts"][key] for key in _COUNTS})
        n_words = sum(book.entry["words"] for book in books)
        return {
            "mined": {"books": len(books), "words": n_words, **n_mined},
            "filters": [row.to_record() for row in self.filter_rows()],
            "statistics": [
                {"split": split, "language": language, **lengths.to_json()}
                for (split, language), lengths in sorted(self.statistics.items())
            ],
            "totals": sum_statistics(self.statistics.values()).to_json(),
            "unused_of_split_list": list(self.chosen.unused),
            "books_that_share_text_over_splits": [asdict(leak) for leak in self.chosen.leaks],
            "set_aside": record_set_aside(self.mined.set_aside),
        }

    def account(self, with_rows: Set[str]) -> CorpusAccount:
        """What the card says."""
        recipe = self.recipe
        data_files = [
            files
            for format, options in recipe.formats.items()
            for files in data_files_of(
                find_format(format), options, self.by_split, partial(pattern_of, format), with_rows
            )
        ]
        splits_by = "list" if recipe.split_list else recipe.splits.by
        return CorpusAccount(
            name=recipe.name,
            version=__version__,
            statistics=self.statistics,
            files=data_files,
            other_files=_BESIDE,
            taggers=Counter((book.language, book.entry["tagger"]) for book, _ in self.books),
            trusts=find_published_scores(recipe.mining.tagger, recipe.mining.dtype),
            min_confidence=recipe.filters.min_confidence or 0.0,
            # Works in copyright were set aside, of those whose header would say so.
            is_public_domain=all(book.id.isdecimal() for book, _ in self.books),
            splits_by=splits_by if len(self.by_split) > 1 else "",
            empty_splits=self._empty_splits(),
            filters=self.filter_rows(),
            duplicates=[one for one in self._duplicates() if one.n],
            n_set_aside=len(self.mined.set_aside),
        )

    def _empty_splits(self) -> str:
        settings = self.recipe.splits
        if self.recipe.split_list and settings.unlisted == "error":
            return ""  # the list says which there are
        return explain_empty_splits(self.by_split, settings, len(self.books))

    def _duplicates(self) -> Iterator[Duplicates]:
        """What was left out as duplicates: dialogues, and editions."""
        compared = [book.name for book, _ in self.selected.books]
        of_dialogues = (
            (name, compared[gone[0].kept_book])
            for name, gone in zip(compared, self.selected.duplicates or (), strict=False)
            if gone
        )
        n, examples = self.n_duplicates, list(islice(of_dialogues, _EXAMPLES))
        yield Duplicates(f"dialogue{'s' * (n != 1)}", n, examples, DUPLICATES_FILE)
        copies = self.chosen.copies
        names = {book.id: book.name for book in self.mined.books}
        editions = [
            (book.name, names[copies[book.id].kept])
            for book in self.mined.books
            if self.left_out.get(book.shard) == WORKS
        ]
        n = len(copies)
        yield Duplicates(f"edition{'s' * (n != 1)} of one work", n, editions, BOOKS_FILE)

    def why_it_is_empty(self) -> str:
        """One line that says which filters took all books."""
        reasons = Counter(self.left_out[book.shard] for book in self.mined.books)
        taken = [f"{name}: {n:,}" for name, n in reasons.most_common()]
        if self.mined.set_aside:
            first = self.mined.set_aside[0]
            such = f"{printable(first.name)}: {first.why}"
            taken.append(f"set aside: {len(self.mined.set_aside):,}, such as {such}")
        return f"found no book for the corpus ({', '.join(taken) or 'no sources'}), expected one"


def _write(
    site: _Site, corpus: _Corpus, head: Mapping[str, Any], recipe: str, draw: Draw | None
) -> BuiltCorpus:
    """Writes all files and puts them in place."""
    folder, formats, set_aside = site.folder, site.recipe.formats, corpus.mined.set_aside
    if not corpus.by_split:
        if all(item.is_lasting for item in set_aside):
            folder.discard()  # a resumed build would end as this one
        raise InputError(corpus.why_it_is_empty())
    output = folder.output
    with writing(site.out):
        output.mkdir(parents=True, exist_ok=True)
    planned = plan_output_files(
        formats,
        {
            split: [(finished.name, finished.counts["turns"]) for _, finished in of_split]
            for split, of_split in corpus.by_split.items()
        },
    )
    write = partial(
        write_files,
        formats=formats,
        kept=site.store("kept", KeptBook),
        written=site.store("written", WrittenFiles),
        output=output,
    )
    files: dict[str, str] = {}
    left_out: dict[str, Counter[str]] = {}
    with_rows: set[str] = set()
    for plan, done in zip(planned, site.map("writing", write, planned), strict=True):
        files |= done.digests
        left_out.setdefault(plan.format, Counter()).update(done.left_out)
        with_rows.update(done.with_rows)

    def add(name: str, content: bytes) -> None:
        (output / name).parent.mkdir(exist_ok=True)
        (output / name).write_bytes(content)
        files[name] = sha256_of(content)

    with writing(site.out):
        add(RECIPE_FILE, recipe.encode())
        add(BOOKS_FILE, json_lines(corpus.book_rows()))
        add(DUPLICATES_FILE, json_lines(corpus.duplicate_rows()))
        account = corpus.account(with_rows)
        if draw:
            account = replace(account, illustrations=tuple(draw(account)))
        for figure in account.illustrations:
            add(figure.path, figure.content)
        add(CARD, write_card(account).encode())
        record = {**head, **corpus.record(), "empty_splits": account.empty_splits}
        record |= {"left_out_of_files": left_out, "files": files}
        text = json.dumps(record, ensure_ascii=False, indent=2) + "\n"
        (output / RUN_RECORD).write_text(text, encoding="utf-8")
        folder.keep_only({*files, RUN_RECORD})
    paths = folder.put_in_place()
    return BuiltCorpus(record, account, set_aside, tuple(paths))
