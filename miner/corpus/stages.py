"""The stages of a build: which books a corpus takes, which of their dialogues, and the files.

Each is called in other processes, for one book, some books or some files at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from miner.corpus.duplicates import Signatures, sign_dialogues
from miner.corpus.export import BookRows, find_format
from miner.corpus.facts import BookFacts
from miner.corpus.filters import DUPLICATES, FilterSettings, find_book_reason, find_language_reason
from miner.corpus.mined_book import MinedBook
from miner.corpus.options import MiningOptions
from miner.corpus.output import ShardFolder, keep_file, read_kept, take_kept
from miner.corpus.schema import rows_from_lines, rows_of_book
from miner.corpus.statistics import LengthStatistics, measure_rows
from miner.corpus.word_counts import WordCounts, add_counts, frequent_words
from miner.files import digest_of, json_line, json_lines, sha256_of, writing
from miner.people.spoken_book import SpokenBook
from miner.speech.dialogues import Dialogue, decode_dialogues
from miner.speech.filters import FilterCounts, FilteredDialogues, filter_dialogues
from miner.speech.letters_and_verse import is_set_piece


@dataclass(frozen=True, slots=True)
class MinedSource:
    """A mined book, as the stages after it know it.

    Attributes:
        shard: the name of its shard.
        language: the code of the language that it claims.
    """

    shard: str
    language: str


@dataclass(frozen=True, slots=True)
class CountedBooks:
    """What counting the words of some books gives.

    Attributes:
        foreign: the shards of the books that are not in the language that they claim.
        words: the sums of the word counts of the others, by language, as bytes.
    """

    foreign: tuple[str, ...]
    words: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class WordCounter:
    """Counts the words of some books that are in the language that they claim."""

    mined: ShardFolder
    settings: FilterSettings

    def __call__(self, books: tuple[MinedSource, ...]) -> CountedBooks:
        """Returns the words of the books, without those in another language."""
        foreign: list[str] = []
        words: dict[str, list[WordCounts]] = {}
        for book in books:
            facts = read_facts(self.mined, book.shard)
            if find_language_reason(facts, book.language, self.settings):
                foreign.append(book.shard)
            else:
                words.setdefault(book.language, []).append(facts.words)
        return CountedBooks(
            tuple(foreign),
            {language: add_counts(counts).to_bytes() for language, counts in words.items()},
        )


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a corpus by language, in a folder that every process can read.

    A file has the digest of its words in its name. So a process that remembers what it has read
    never takes the words of an earlier corpus in the same place.

    Attributes:
        folder: where the files are.
        totals: the digest of the word counts of all books, by language.
        frequents: the digest of the most frequent words, by language.
    """

    folder: Path
    totals: Mapping[str, str] = field(default_factory=dict)
    frequents: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def write(
        cls, folder: Path, totals: Mapping[str, WordCounts], n_frequent: int, out: Path
    ) -> Vocabulary:
        """Writes the word counts of each language, and its most frequent words."""
        with writing(out):
            folder.mkdir(parents=True, exist_ok=True)

        def keep(content: bytes) -> str:
            digest = sha256_of(content)
            keep_file(folder / digest, [content], out)
            return digest

        return cls(
            folder,
            {language: keep(total.to_bytes()) for language, total in totals.items()},
            {
                language: keep(frequent_words(total, n_frequent).astype("<u8").tobytes())
                for language, total in totals.items()
            },
        )

    def total(self, language: str) -> WordCounts:
        """The word counts of all books of a language."""
        return _read_total(self.folder / self.totals[language])

    def frequent(self, language: str) -> npt.NDArray[np.uint64]:
        """The hashes of the most frequent words of a language."""
        return _read_frequent(self.folder / self.frequents[language])

    def digest(self, language: str) -> str:
        """A name for the words of a language: another one if they are others."""
        return self.frequents[language]


@lru_cache(maxsize=2)
def _read_total(path: Path) -> WordCounts:
    return WordCounts.from_bytes(_read(path))


@lru_cache(maxsize=2)
def _read_frequent(path: Path) -> npt.NDArray[np.uint64]:
    return np.frombuffer(_read(path), "<u8").astype(np.uint64)


@dataclass(frozen=True, slots=True)
class JudgedBook:
    """What judging a book gives.

    Attributes:
        reason: the filter that takes it, or "".
        sketch: that of its text, as bytes; empty if a filter takes the book.
    """

    reason: str
    sketch: bytes


@dataclass(frozen=True, slots=True)
class BookJudge:
    """Applies the filters on books that need the words of all books."""

    mined: ShardFolder
    settings: FilterSettings
    vocabulary: Vocabulary

    def __call__(self, books: tuple[MinedSource, ...]) -> list[JudgedBook]:
        """Returns what becomes of each book."""
        judged: list[JudgedBook] = []
        for book in books:
            facts = read_facts(self.mined, book.shard)
            total = self.vocabulary.total(book.language)
            reason = find_book_reason(facts, self.settings, total)
            judged.append(
                JudgedBook(reason, b"" if reason else facts.sketch.astype("<u8").tobytes())
            )
        return judged


def read_facts(mined: ShardFolder, shard: str) -> BookFacts:
    """Returns the facts of a mined book."""
    return BookFacts.from_bytes(mined.take_facts(shard))


def _read(path: Path) -> bytes:
    return take_kept(path, "the words of a language; `resume=True` counts them again")


def grouped(books: Iterable[MinedSource], n: int) -> list[tuple[MinedSource, ...]]:
    """Returns the books in groups of at most `n`."""
    listed = list(books)
    return [tuple(listed[start : start + n]) for start in range(0, len(listed), n)]


@dataclass(frozen=True, slots=True)
class DialogueFilter:
    """Applies the filters on dialogues to a mined book."""

    mined: ShardFolder
    settings: FilterSettings
    options: MiningOptions
    vocabulary: Vocabulary

    def read(self, book: MinedSource) -> tuple[MinedBook, FilteredDialogues]:
        """Returns a mined book, and its dialogues that are left."""
        shard = self.mined.take(book.shard, "a mined book; `resume=True` mines it again")
        result = shard.result(self.options)
        assert isinstance(result, MinedBook)  # sources that were set aside do not come so far
        is_kept_out = None
        if self.settings.set_pieces:
            blocks = frozenset(read_facts(self.mined, book.shard).set_pieces)
            is_kept_out = partial(is_set_piece, blocks=blocks, language=book.language)
        filtered = filter_dialogues(
            decode_dialogues(result.tagged),
            self.settings.limits,
            is_set_piece=is_kept_out,
            is_rare=self.settings.rare_by(self.vocabulary.frequent(book.language)),
        )
        return result, filtered

    def key(self, book: MinedSource, *more: object) -> str:
        """A name for what is made of a book: another one if anything else decides it."""
        words = self.vocabulary.digest(book.language)
        return sha256_of(json_line({"book": book.shard, "words": words, "more": more}))[:32]


@dataclass(frozen=True, slots=True)
class DialogueSigner:
    """Signs the dialogues of a book, so that they can be compared with those of others.

    Args:
        filtering: leaves the dialogues that are compared.
        folder: where signatures are kept; it exists.
        out: the output of the build, which errors name.
    """

    filtering: DialogueFilter
    folder: Path
    out: Path

    def __call__(self, book: MinedSource) -> Path:
        """Returns the file of the signatures of a book, which is written if it is not there."""
        path = self.folder / self.filtering.key(book)
        if read_kept(path) is None:
            _, filtered = self.filtering.read(book)
            keep_file(path, [sign_dialogues(map(text_of, filtered.kept)).to_bytes()], self.out)
        return path


@dataclass(frozen=True, slots=True)
class BookOfDialogues:
    """A book whose rows are to be written.

    Attributes:
        book: the book.
        duplicates: the places, among the dialogues that the filters leave, of those that the corpus
            has already.
        named: the places of dialogues whose numbers are asked for.
    """

    book: MinedSource
    duplicates: tuple[int, ...]
    named: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FinishedBook:
    """What is left of a book.

    Attributes:
        shard: the name of the shard with its rows.
        counts: its dialogues, turns and pairs.
        filtered: what the filters took.
        statistics: the lengths of its dialogues and turns.
        numbers: of the dialogues that were asked for, by place: of the dialogue, and of its part.
    """

    shard: str
    counts: Mapping[str, int]
    filtered: FilterCounts
    statistics: LengthStatistics
    numbers: Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class DialogueFinisher:
    """Writes the rows of what is left of a book.

    Args:
        filtering: leaves the dialogues.
        kept: where the rows go; its folder exists.
        are_compared: whether dialogues were compared with those of other books.
    """

    filtering: DialogueFilter
    kept: ShardFolder
    are_compared: bool

    def __call__(self, given: BookOfDialogues) -> FinishedBook:
        """Returns what is left of a book. Its rows are written if they are not there."""
        name = f"{self.filtering.key(given.book, given.duplicates, given.named)}.shard"
        shard = self.kept.find(name)
        if shard is None:
            self._write(name, given)
            shard = self.kept.find(name)
            assert shard is not None
        return _finished(name, shard.record["entry"])

    def _write(self, name: str, given: BookOfDialogues) -> None:
        mined, filtered = self.filtering.read(given.book)
        numbers = {
            str(place): (filtered.kept[place].index, filtered.kept[place].part)
            for place in given.named
        }
        if self.are_compared:
            filtered = filtered.without(given.duplicates, DUPLICATES)
        spoken = SpokenBook(mined.tagged.spans, mined.characters)
        options = self.filtering.options
        rows = rows_of_book(
            mined, mined.tagged, filtered.kept, spoken, options.pairs_by_span, options.history_turns
        )
        encoded = {kind: json_lines(of_kind) for kind, of_kind in rows.items()}
        dialogues = rows_from_lines(encoded["dialogues"])
        n_turns = sum(row["n_turns"] for row in dialogues)
        entry: dict[str, Any] = {
            "counts": {
                "dialogues": len(filtered.kept),
                "turns": n_turns,
                "pairs": n_turns - len(filtered.kept),
            },
            "filtered": filtered.counts.to_record(),
            "statistics": measure_rows(dialogues).to_json(),
            "numbers": numbers,
        }
        self.kept.add(name, MinedBook(entry, encoded, (), options))


def _finished(name: str, entry: Mapping[str, Any]) -> FinishedBook:
    return FinishedBook(
        name,
        entry["counts"],
        FilterCounts.from_record(entry["filtered"]),
        LengthStatistics.from_json(entry["statistics"]),
        {int(place): tuple(numbers) for place, numbers in entry["numbers"].items()},
    )


def read_signatures(path: Path) -> Signatures:
    """Returns the signatures that a `DialogueSigner` wrote."""
    expected = "the signatures of a book; `resume=True` makes them again"
    return Signatures.from_bytes(take_kept(path, expected))


def text_of(dialogue: Dialogue) -> str:
    """Returns the words of a dialogue, a turn a line."""
    return "\n".join(turn.text for turn in dialogue.turns)


MOST_TURNS = 500_000  # in one output file; a gigabyte of pairs with their places


@dataclass(frozen=True, slots=True)
class OutputFile:
    """What one call of a format writes: some whole books of one split.

    Attributes:
        format: the name of the format.
        split: the name of the split.
        number: counts from 0 among the calls of a format and a split.
        n: how many calls there are.
        books: the names of the shards of the kept books, in the order of the corpus.
    """

    format: str
    split: str
    number: int
    n: int
    books: tuple[str, ...]


def plan_output_files(
    formats: Iterable[str],
    books: Mapping[str, Sequence[tuple[str, int]]],
    most_turns: int = MOST_TURNS,
) -> list[OutputFile]:
    """Returns what each format writes.

    A format that can be divided gets as many books at a time as have at most `most_turns` turns, or
    one book. Other formats get all books of a split.
    """
    planned: list[OutputFile] = []
    for format in formats:
        for split, of_split in books.items():
            if find_format(format).is_divisible:
                groups = list(_groups(of_split, most_turns))
            else:
                groups = [tuple(name for name, _ in of_split)]
            planned += (
                OutputFile(format, split, number, len(groups), group)
                for number, group in enumerate(groups)
            )
    return planned


def _groups(books: Iterable[tuple[str, int]], most_turns: int) -> Iterator[tuple[str, ...]]:
    group: list[str] = []
    n_turns = 0
    for name, n in books:
        if group and n_turns + n > most_turns:
            yield tuple(group)
            group, n_turns = [], 0
        group.append(name)
        n_turns += n
    if group:
        yield tuple(group)


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """What one call of a format has written.

    Attributes:
        digests: the SHA-256 of each file, by its name in the corpus.
        left_out: what the format left out, by reason.
        with_rows: the names, without a number, of the files that have a row: what `pattern_of`
            returns for them.
    """

    digests: Mapping[str, str]
    left_out: Mapping[str, int]
    with_rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileWriter:
    """Writes output files, wherever it is called.

    Args:
        kept: the rows of the kept books.
        formats: the formats with their options.
        output: the folder of all files; it exists.
        written: the folder in which it is noted what is done; it exists.
        out: where the files will be, which errors name.
    """

    kept: ShardFolder
    formats: Mapping[str, Any]
    output: Path
    written: Path
    out: Path

    def __call__(self, planned: OutputFile) -> WrittenFiles:
        """Writes the files of one call of a format.

        Files that an interrupted run has written are not written again.
        """
        note = self.written / sha256_of(json_line(asdict(planned)))
        if (done := self._find_written(note)) is not None:
            return done
        digests: dict[str, str] = {}
        with_rows: list[str] = []
        with (
            writing(self.out),
            TemporaryDirectory(dir=self.output, prefix=".", suffix=".part") as folder,
        ):
            work = Path(folder)
            form = find_format(planned.format)
            left_out = form.write_books(
                work, self._rows(planned.books), planned.split, self.formats[planned.format]
            )
            for file in sorted(path for path in work.rglob("*") if path.is_file()):
                name = _name_of(planned, file.relative_to(work).as_posix(), form.is_divisible)
                digests[name] = digest_of(file)
                if _has_rows(file):
                    with_rows.append(pattern_of(planned.format, file.name, planned.split))
                (self.output / name).parent.mkdir(parents=True, exist_ok=True)
                os.replace(file, self.output / name)
        record = {"digests": digests, "left_out": left_out, "with_rows": with_rows}
        keep_file(note, [json_line(record)], self.out)
        return WrittenFiles(digests, left_out, tuple(with_rows))

    def _find_written(self, note: Path) -> WrittenFiles | None:
        """What an earlier run has written in a call, if all its files are as it wrote them."""
        content = read_kept(note)
        if content is None:
            return None
        record = orjson.loads(content)
        for name, digest in record["digests"].items():
            file = self.output / name
            # Not the size alone: another list of splits gives other books to a file of this name.
            if not file.is_file() or digest_of(file) != digest:
                return None
        return WrittenFiles(record["digests"], record["left_out"], tuple(record["with_rows"]))

    def _rows(self, names: Iterable[str]) -> Iterator[BookRows]:
        for name in names:
            expected = "the dialogues of a book; `resume=True` makes them again"
            yield self.kept.take(name, expected).rows


def _has_rows(file: Path) -> bool:
    """Whether a table has a row. Of other files, whether there is anything in them."""
    if file.suffix == ".parquet":
        from pyarrow.parquet import read_metadata

        return read_metadata(file).num_rows > 0
    with file.open("rb") as content:
        if file.suffix == ".csv":
            content.readline()  # the names of the columns
        return bool(content.read(1))


def _name_of(planned: OutputFile, file: str, is_divisible: bool) -> str:
    """The name of a file in the corpus, after the conventions of Hugging Face's `datasets`."""
    if not is_divisible:
        return f"{planned.format}/{planned.split}/{file}"
    stem, _, suffix = file.partition(".")
    number = f"{planned.number:05}-of-{planned.n:05}"
    return f"{planned.format}/{stem}/{planned.split}-{number}.{suffix}"


def pattern_of(format: str, file: str, split: str) -> str:
    """Returns the name in the corpus of a format's file; of a divided one, a pattern."""
    if not find_format(format).is_divisible:
        return f"{format}/{split}/{file}"
    stem, _, suffix = file.partition(".")
    return f"{format}/{stem}/{split}-*.{suffix}"
