"""The stages of a build: which books a corpus takes, which of their dialogues, and the files.

Each is called in other processes, for one book, some books or some files at a time. What a stage
makes is kept under a name that follows from all that decides it, and not made again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from miner.corpus.book_features import (
    NO_SKETCH,
    BookFeatures,
    Hashes,
    WordCounts,
    WordSum,
    frequent_words,
)
from miner.corpus.duplicates import Signatures, sign_dialogues
from miner.corpus.export import BookRows, find_format
from miner.corpus.filters import DUPLICATES, FilterSettings, find_book_reason, find_language_reason
from miner.corpus.mined_book import MinedBook, MiningOptions
from miner.corpus.schema import rows_from_lines, rows_of_book
from miner.corpus.statistics import LengthStatistics, measure_rows
from miner.corpus.store import Shard, Store
from miner.corpus.works import BookRecord
from miner.files import digest_of, json_line, json_lines, sha256_of, writing
from miner.people.character_files import SpokenBook
from miner.speech.dialogues import Dialogue, decode_dialogues, is_letter_or_verse
from miner.speech.filters import FilterCounts, FilteredDialogues, filter_dialogues

MOST_TURNS = 500_000  # in one output file; a gigabyte of pairs with their places


@dataclass(frozen=True, slots=True)
class Book:
    """A mined book: what run.json would say of it, and the name of its shard."""

    entry: Mapping[str, Any]
    shard: str

    @property
    def id(self) -> str:
        """The id of the book."""
        return self.entry["id"]

    @property
    def language(self) -> str:
        """The code of the language that it claims."""
        return self.entry["language"]

    @property
    def name(self) -> str:
        """Its title and its id: two editions may have one title."""
        return f"{self.entry['title']} ({self.id})"

    def record(self, sketch: Hashes = NO_SKETCH) -> BookRecord:
        """What decides of which work it is an edition, and its split."""
        entry = self.entry
        return BookRecord(
            entry["id"], entry["title"], entry["author"], entry["language"], entry["words"], sketch
        )


@dataclass(frozen=True, slots=True)
class CountedBooks:
    """What counting the words of some books gives."""

    foreign: tuple[str, ...]  # the shards of the books that are not in the language that they claim
    words: Mapping[str, WordCounts]  # the sums of the word counts of the others, by language


def count_words_of(
    books: Sequence[Book], mined: Store[Shard], settings: FilterSettings
) -> CountedBooks:
    """Returns the words of some books, without those in another language than they claim."""
    foreign: list[str] = []
    words: dict[str, WordSum] = {}
    for book in books:
        features = _features_of(book, mined)
        if find_language_reason(features, book.language, settings):
            foreign.append(book.shard)
        else:
            words.setdefault(book.language, WordSum()).add(features.words)
    return CountedBooks(tuple(foreign), {code: part.total() for code, part in words.items()})


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a corpus by language, in files that every process can read.

    A file is named by the digest of its words. So a process that remembers what it has read never
    takes the words of an earlier corpus in the same place.
    """

    totals: Store[WordCounts]  # the word counts of all books of a language
    frequents: Store[np.ndarray]  # the hashes of its most frequent words
    names: Mapping[str, str]  # the name of both files, by language

    @classmethod
    def write(
        cls, folder: Path, totals: Mapping[str, WordCounts], n_frequent: int, out: Path
    ) -> Vocabulary:
        """Writes the word counts of each language, and its most frequent words."""
        names = {
            language: sha256_of(total.hashes.tobytes() + total.counts.tobytes())
            for language, total in totals.items()
        }
        made = cls(
            Store(folder / "words", out, WordCounts),
            Store(folder / "frequent", out, np.ndarray),
            names,
        )
        for language, total in totals.items():
            made.totals.add(names[language], total)
            made.frequents.add(names[language], frequent_words(total, n_frequent))
        return made

    def total(self, language: str) -> WordCounts:
        """The word counts of all books of a language."""
        return _remembered(self.totals, self.names[language])

    def frequent(self, language: str) -> Hashes:
        """The hashes of the most frequent words of a language."""
        return _remembered(self.frequents, self.names[language])


@lru_cache(maxsize=2)
def _remembered(store: Store[Any], name: str) -> Any:  # noqa: ANN401 - what the store holds
    return store.take(name)


def judge_books(
    books: Sequence[Book], mined: Store[Shard], settings: FilterSettings, vocabulary: Vocabulary
) -> list[tuple[str, Hashes]]:
    """Returns the filter that takes each book, or "", and its sketch, by the words of all books."""
    judged = []
    for book in books:
        features = _features_of(book, mined)
        reason = find_book_reason(features, settings, vocabulary.total(book.language))
        judged.append((reason, NO_SKETCH if reason else features.sketch))
    return judged


def _features_of(book: Book, mined: Store[Shard]) -> BookFeatures:
    features = mined.take(book.shard).features
    assert features  # a build mines with them
    return features


@dataclass(frozen=True, slots=True)
class DialogueFilter:
    """Applies the filters on dialogues to a mined book."""

    mined: Store[Shard]
    settings: FilterSettings
    options: MiningOptions
    vocabulary: Vocabulary

    def read(self, book: Book) -> tuple[MinedBook, FilteredDialogues]:
        """Returns a mined book, and its dialogues that are left."""
        result = self.mined.take(book.shard).result(self.options)
        assert isinstance(result, MinedBook) and result.features
        is_kept_out = None
        if self.settings.set_pieces:
            blocks = frozenset(result.features.set_pieces)
            is_kept_out = partial(is_letter_or_verse, blocks=blocks, language=book.language)
        filtered = filter_dialogues(
            decode_dialogues(result.tagged),
            self.settings.limits,
            is_letter_or_verse=is_kept_out,
            is_rare=self.settings.rare_by(self.vocabulary.frequent(book.language)),
        )
        return result, filtered

    def key(self, book: Book, *more: object) -> str:
        """A name for what is made of a book: another one if anything else decides it."""
        words = self.vocabulary.names[book.language]
        return sha256_of(json_line({"book": book.shard, "words": words, "more": more}))[:32]


def sign_book(book: Book, filtering: DialogueFilter, signatures: Store[Signatures]) -> str:
    """Signs the dialogues of a book for comparison, and returns the name of the signatures."""
    name = filtering.key(book)
    signatures.find_or_make(
        name, lambda: sign_dialogues(map(text_of, filtering.read(book)[1].kept))
    )
    return name


def text_of(dialogue: Dialogue) -> str:
    """Returns the words of a dialogue, a turn a line."""
    return "\n".join(turn.text for turn in dialogue.turns)


@dataclass(frozen=True, slots=True)
class BookOfDialogues:
    """A book whose rows are to be written."""

    book: Book  # the book
    # the places, among the dialogues that the filters leave, of those that the corpus has already.
    duplicates: tuple[int, ...]
    named: tuple[int, ...]  # the places of dialogues whose numbers are asked for


@dataclass(frozen=True, slots=True)
class FinishedBook:
    """What is left of a book."""

    name: str  # of the `KeptBook` with its rows
    counts: dict[str, int]  # its dialogues, turns and pairs
    filtered: FilterCounts  # what the filters took
    statistics: LengthStatistics  # the lengths of its dialogues and turns
    # of the dialogues that were asked for, by place: of the dialogue, and of its part.
    numbers: dict[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class KeptBook:
    """The rows of what is left of a book, by kind, and what is known of them."""

    rows: dict[str, bytes]
    finished: FinishedBook


def finish_book(
    given: BookOfDialogues, filtering: DialogueFilter, kept: Store[KeptBook], are_compared: bool
) -> FinishedBook:
    """Writes the rows of what is left of a book.

    `are_compared` says whether its dialogues were compared with those of other books.
    """
    name = f"{filtering.key(given.book, given.duplicates, given.named)}.shard"
    return kept.find_or_make(name, lambda: _finish(name, given, filtering, are_compared)).finished


def _finish(
    name: str, given: BookOfDialogues, filtering: DialogueFilter, are_compared: bool
) -> KeptBook:
    mined, filtered = filtering.read(given.book)
    numbers = {
        place: (filtered.kept[place].index, filtered.kept[place].part) for place in given.named
    }
    if are_compared:
        filtered = filtered.without(given.duplicates, DUPLICATES)
    options, spoken = filtering.options, SpokenBook(mined.tagged.spans, mined.characters)
    rows = rows_of_book(
        mined, mined.tagged, filtered.kept, spoken, options.pairs_by_span, options.history_turns
    )
    encoded = {kind: json_lines(of_kind) for kind, of_kind in rows.items()}
    lengths = measure_rows(rows_from_lines(encoded["dialogues"]))
    counts = {
        "dialogues": lengths.n_dialogues,
        "turns": lengths.n_turns,
        "pairs": lengths.n_pairs,
    }
    return KeptBook(encoded, FinishedBook(name, counts, filtered.counts, lengths, numbers))


@dataclass(frozen=True, slots=True)
class OutputFile:
    """What one call of a format writes: some whole books of one split."""

    format: str  # the name of the format
    split: str  # the name of the split
    number: int  # counts from 0 among the calls of a format and a split
    n: int  # how many calls there are
    books: tuple[str, ...]  # the names of the kept books, in the order of the corpus


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
    """What one call of a format has written."""

    digests: dict[str, str]  # the SHA-256 of each file, by its name in the corpus
    left_out: dict[str, int]  # what the format left out, by reason
    # the names, without a number, of the files that have a row: what `pattern_of` returns for them.
    with_rows: tuple[str, ...]


def write_files(
    planned: OutputFile,
    formats: Mapping[str, Any],
    kept: Store[KeptBook],
    written: Store[WrittenFiles],
    output: Path,
) -> WrittenFiles:
    """Writes the files of one call of a format, unless an interrupted run has written them."""
    note = sha256_of(json_line(asdict(planned)))
    done = written.find(note)
    # Not the size alone: another list of splits gives other books to a file of this name.
    if done and all(_is_as_written(output / name, one) for name, one in done.digests.items()):
        return done
    digests: dict[str, str] = {}
    with_rows: list[str] = []
    with (
        writing(kept.out),
        TemporaryDirectory(dir=output, prefix=".", suffix=".part") as folder,
    ):
        work = Path(folder)
        form = find_format(planned.format)
        books: Iterator[BookRows] = (kept.take(name).rows for name in planned.books)
        left_out = form.write_books(work, books, planned.split, formats[planned.format])
        for file in sorted(path for path in work.rglob("*") if path.is_file()):
            name = _name_of(planned, file.relative_to(work).as_posix(), form.is_divisible)
            digests[name] = digest_of(file)
            if _has_rows(file):
                with_rows.append(pattern_of(planned.format, file.name, planned.split))
            (output / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(file, output / name)
    done = WrittenFiles(digests, left_out, tuple(with_rows))
    written.add(note, done)
    return done


def _is_as_written(file: Path, digest: str) -> bool:
    return file.is_file() and digest_of(file) == digest


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
