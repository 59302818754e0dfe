"""The facts of many books -> which of them a corpus takes.

What stands here is called in other processes, for some books at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from miner.corpus.facts import BookFacts
from miner.corpus.filter_settings import FilterSettings, find_book_reason, find_language_reason
from miner.corpus.kept_files import keep_file, take_kept
from miner.corpus.shards import ShardFolder
from miner.corpus.word_counts import WordCounts, add_counts, frequent_words
from miner.files import sha256_of, writing


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
