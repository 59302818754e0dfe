"""How long dialogues and turns are, and what else the card and the tables say of a corpus.

The columns are those of *The Gutenberg Dialogue Dataset* (GD), section 3, Table 3. Words are what
stands between spaces. GD's code splits at spaces, too, but the lines that it splits for its mean
begin with the name of the book's file, so its means are one word higher
(`pipeline/dialog_extractor.py`). Sums add up in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import sqrt
from operator import add
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeAlias

from miner.corpus.export import Feature, Format
from miner.corpus.schema import Row

if TYPE_CHECKING:
    from miner.corpus.filters import FilterRow
    from miner.tagger.published_scores import PublishedScores

LONG = 20  # turns of a dialogue that GD counts as long (section 3)
Histogram: TypeAlias = tuple[tuple[int, int], ...]  # (length, how many), shortest first
# By split and language, such as ("train", "en").
CorpusStatistics: TypeAlias = "Mapping[tuple[str, str], LengthStatistics]"


@dataclass(frozen=True, slots=True)
class LengthStatistics:
    """How long the dialogues and turns of some books are. Sums of it count each book once."""

    n_books: int = 0  # books that have a dialogue
    turns_of_dialogues: Histogram = ()  # how many dialogues have each number of turns
    words_of_turns: Histogram = ()  # how many turns have each number of words

    def __post_init__(self) -> None:
        n_turns = sum(n for _, n in self.words_of_turns)
        if n_turns != self.n_turns:
            raise ValueError(
                f"found words of {n_turns} turns, expected those of {self.n_turns}, "
                "as many as the dialogues have"
            )

    @property
    def n_dialogues(self) -> int:
        """GD's #D."""
        return sum(n for _, n in self.turns_of_dialogues)

    @property
    def n_turns(self) -> int:
        """GD's #U: a turn is an utterance there."""
        return sum(length * n for length, n in self.turns_of_dialogues)

    @property
    def n_words(self) -> int:
        """The words of all turns."""
        return sum(length * n for length, n in self.words_of_turns)

    @property
    def n_pairs(self) -> int:
        """Turns that have a next turn in their dialogue."""
        return self.n_turns - self.n_dialogues

    @property
    def n_long(self) -> int:
        """Dialogues of 20 turns and more."""
        return sum(n for length, n in self.turns_of_dialogues if length >= LONG)

    @property
    def mean_words(self) -> float:
        """GD's |U|: the mean number of words of a turn; 0 without turns."""
        return self.n_words / self.n_turns if self.n_turns else 0.0

    @property
    def mean_turns(self) -> float:
        """GD's |D|: the mean number of turns of a dialogue; 0 without dialogues."""
        return self.n_turns / self.n_dialogues if self.n_dialogues else 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation of the turns of all dialogues; 0 without dialogues."""
        n, total = self.n_dialogues, self.n_turns
        squares = sum(length * length * count for length, count in self.turns_of_dialogues)
        return sqrt(n * squares - total * total) / n if n else 0.0

    def __add__(self, other: LengthStatistics) -> LengthStatistics:
        """The statistics of both. No book may be in both."""
        return LengthStatistics(
            self.n_books + other.n_books,
            _sum(self.turns_of_dialogues, other.turns_of_dialogues),
            _sum(self.words_of_turns, other.words_of_turns),
        )

    def to_json(self) -> dict[str, Any]:
        """The counts, the means that follow from them, and both histograms."""
        return {
            "books": self.n_books,
            "dialogues": self.n_dialogues,
            "turns": self.n_turns,
            "words": self.n_words,
            "pairs": self.n_pairs,
            "dialogues_of_20_turns_or_more": self.n_long,
            "mean_words_of_a_turn": round(self.mean_words, 4),
            "mean_turns_of_a_dialogue": round(self.mean_turns, 4),
            "standard_deviation_of_turns": round(self.deviation, 4),
            "turns_of_dialogues": {str(length): n for length, n in self.turns_of_dialogues},
            "words_of_turns": {str(length): n for length, n in self.words_of_turns},
        }


def measure_rows(dialogues: Iterable[Row]) -> LengthStatistics:
    """Returns the statistics of rows of dialogues, which are all rows of their books."""
    books: set[str] = set()
    turns, words = Counter[int](), Counter[int]()
    for row in dialogues:
        books.add(row["book"])
        turns[len(row["turns"])] += 1
        words.update(len(turn["text"].split()) for turn in row["turns"])
    return LengthStatistics(len(books), tuple(sorted(turns.items())), tuple(sorted(words.items())))


def sum_statistics(parts: Iterable[LengthStatistics]) -> LengthStatistics:
    """Returns the statistics of all parts. No book may be in two of them."""
    return reduce(add, parts, LengthStatistics())


def statistics_of_split(statistics: CorpusStatistics, split: str) -> LengthStatistics:
    """Returns the statistics of a split in all languages."""
    return sum_statistics(part for (name, _), part in statistics.items() if name == split)


def statistics_of_language(statistics: CorpusStatistics, language: str) -> LengthStatistics:
    """Returns the statistics of a language in all splits."""
    return sum_statistics(part for (_, name), part in statistics.items() if name == language)


def splits_of(statistics: CorpusStatistics) -> list[str]:
    """Returns the splits that have a book: train, validation, test."""
    order = ("train", "validation", "test")
    found = {split for split, _ in statistics}
    return [split for split in order if split in found] + sorted(found.difference(order))


def languages_of(statistics: CorpusStatistics) -> list[str]:
    """Returns the languages that have a book, those of most dialogues first."""
    found = {language for _, language in statistics}
    return sorted(
        found, key=lambda one: (-statistics_of_language(statistics, one).n_dialogues, one)
    )


def shares_at_least(lengths: Histogram) -> list[tuple[int, float]]:
    """Returns the share of what has at least each length that occurs.

    >>> shares_at_least(((1, 1), (3, 1)))
    [(1, 1.0), (3, 0.5)]
    """
    total = left = sum(n for _, n in lengths)
    shares = []
    for length, n in lengths:
        shares.append((length, left / total))
        left -= n
    return shares


def _sum(one: Histogram, other: Histogram) -> Histogram:
    total = Counter(dict(one))
    total.update(dict(other))
    return tuple(sorted(total.items()))


@dataclass(frozen=True, slots=True)
class DataFiles:
    """All files of one table of rows, or of one other thing, in one format."""

    format: str  # the name of the format
    name: str  # the name of the files without their ending, such as "pairs"
    about: str  # what is in them
    paths: Mapping[str, str]  # by split, a path or a pattern, relative to the folder of the corpus
    # its columns, as `export.features_of` gives them; none if unknown.
    features: Sequence[Feature] = ()

    @property
    def place(self) -> str:
        """The paths as one text: "parquet/pairs/SPLIT-*.parquet", where they differ in the split.

        >>> DataFiles("", "", "", {"train": "train/a.txt", "test": "test/a.txt"}).place
        'SPLIT/a.txt'
        """
        places = {path.replace(split, "SPLIT") for split, path in self.paths.items()}
        return places.pop() if len(places) == 1 else ", ".join(self.paths.values())

    @property
    def suffix(self) -> str:
        """The ending of the files, such as ".jsonl"."""
        return PurePosixPath(next(iter(self.paths.values()), "")).suffix


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Books or dialogues that were left out because the corpus has them already."""

    kind: str  # what they are, in as many as they are: "editions of one work"
    n: int  # how many were left out
    examples: Sequence[tuple[str, str]]  # some of them, each with the one that stayed
    file: str  # the file that names all of them


@dataclass(frozen=True, slots=True)
class Illustration:
    """A figure that is a file of the corpus."""

    path: str  # relative to the folder of the corpus, such as "figures/turns.png"
    caption: str  # what it shows
    content: bytes = field(repr=False)  # the bytes of the file


@dataclass(frozen=True, slots=True)
class CorpusAccount:
    """What is said of a corpus."""

    name: str  # what it is called
    version: str  # that of the miner
    statistics: CorpusStatistics  # by split and language
    files: Sequence[DataFiles]  # its data files, the preferred format first
    # the names of the files beside them, each with what is in it.
    other_files: Mapping[str, str] = field(default_factory=dict)
    # how many books each tagger tagged in each language, by (language, tagger). A checkpoint is
    # named with the start of its digest.
    taggers: Mapping[tuple[str, str], int] = field(default_factory=dict)
    # what was measured of taggers, see `tagger.published_scores.find_published_scores`.
    trusts: Sequence[PublishedScores] = ()
    min_confidence: float = 0.0  # the least confidence of its pairs; 0 if none was asked for
    # whether no book has a notice of copyright, as far as that was looked for.
    is_public_domain: bool = False
    # what always stays in one split ("book", "work" or "author"); "list" if a fixed list says which
    # book is in which; "" if there is only one split.
    splits_by: str = ""
    # which splits were asked for and have no book, and what helps; "" if none.
    empty_splits: str = ""
    # what each filter took, in their order; none if the run had no filters.
    filters: Sequence[FilterRow] = ()
    duplicates: Sequence[Duplicates] = ()  # what was left out as a duplicate
    n_set_aside: int = 0  # how many sources gave no dialogues
    illustrations: Sequence[Illustration] = ()  # its figures

    def trust_in(self, tagger: str, language: str) -> PublishedScores | None:
        """What was measured of a tagger for books of a language, if anything was."""
        fitting = (
            trust for trust in self.trusts if trust.tagger == tagger and language in trust.languages
        )
        return next(fitting, None)


def data_files_of(
    form: Format,
    options: Any,  # noqa: ANN401 - each format has its own
    splits: Iterable[str],
    path_of: Callable[[str, str], str],
    with_rows: Container[str] | None = None,
) -> list[DataFiles]:
    """Returns the data files of a format."""
    splits = list(splits)
    features = form.features(options)
    found = [
        DataFiles(
            form.name,
            PurePosixPath(name).stem,
            about,
            {
                split: path
                for split in splits
                if (path := path_of(name, split)) and (with_rows is None or path in with_rows)
            },
            features.get(name, ()),
        )
        for name, about in form.files_with(options).items()
    ]
    return [files for files in found if files.paths]
