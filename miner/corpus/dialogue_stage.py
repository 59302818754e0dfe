"""Mined books -> the dialogues that a corpus keeps, and their rows.

What stands here is called in other processes, for one book at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from miner.corpus.book_stage import MinedSource, Vocabulary, read_facts
from miner.corpus.duplicates import Signatures, sign_dialogues
from miner.corpus.filter_settings import FilterSettings
from miner.corpus.filter_table import DUPLICATES
from miner.corpus.kept_files import keep_file, read_kept, take_kept
from miner.corpus.mined_book import MinedBook
from miner.corpus.options import MiningOptions
from miner.corpus.schema import rows_from_lines, rows_of_book
from miner.corpus.shards import ShardFolder
from miner.corpus.statistics import LengthStatistics, measure_rows
from miner.files import json_line, json_lines, sha256_of
from miner.people.spoken_book import SpokenBook
from miner.speech.dialogues import Dialogue, decode_dialogues
from miner.speech.filter_counts import FilterCounts
from miner.speech.filters import FilteredDialogues, filter_dialogues
from miner.speech.letters_and_verse import is_set_piece


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
