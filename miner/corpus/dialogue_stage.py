"""Mined books -> the dialogues that a corpus keeps, and their rows.

What stands here is called in other processes, for one book at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from miner.characters.spoken_book import SpokenBook
from miner.corpus.book_stage import MinedSource, Vocabulary, read_facts
from miner.corpus.duplicates import sign_dialogues
from miner.corpus.filter_settings import FilterCounts, FilterSettings
from miner.corpus.kept_files import keep_file, read_kept
from miner.corpus.mined_book import MinedBook
from miner.corpus.options import MiningOptions
from miner.corpus.schema import rows_from_lines, rows_of_book
from miner.corpus.shards import ShardFolder
from miner.corpus.statistics import LengthStatistics, measure_rows
from miner.corpus.word_counts import share_of_rare_words
from miner.dialogue.dialogues import Dialogue, decode_dialogues
from miner.dialogue.filters import FilteredDialogues, filter_dialogues
from miner.dialogue.set_pieces import is_set_piece
from miner.files import json_line, json_lines, sha256_of


@dataclass(frozen=True, slots=True)
class DialogueFilter:
    """Applies the filters on dialogues to a mined book."""

    mined: ShardFolder
    settings: FilterSettings
    options: MiningOptions
    vocabulary: Vocabulary

    def read(self, book: MinedSource) -> tuple[MinedBook, FilteredDialogues]:
        """Returns a mined book, and its dialogues that are left.

        Raises:
            ValueError: if it is not as it was written.
        """
        shard = self.mined.find(book.shard)
        result = shard.result(self.options) if shard else None
        if not isinstance(result, MinedBook):
            raise ValueError(
                f"{self.mined.path / book.shard}: not there or not as it was written, "
                "expected a mined book; --resume mines it again"
            )
        facts = read_facts(self.mined, book.shard)
        settings = self.settings
        frequent = self.vocabulary.frequent(book.language)
        limits = settings.limits(
            is_set_piece=partial(is_set_piece, ...),
            share_of_rare_words=partial(share_of_rare_words, frequent=frequent),
        )
        return result, filter_dialogues(decode_dialogues(result.tagged), limits)

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
class SignedBook:
    """A book, and the positions among its dialogues of those that the corpus has already."""

    book: MinedSource
    duplicates: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FinishedBook:
    """What is left of a book.

    Attributes:
        shard: the name of the shard with its rows.
        counts: its dialogues, turns and pairs.
        filtered: what the filters took.
        statistics: the lengths of its dialogues and turns.
    """

    shard: str
    counts: Mapping[str, int]
    filtered: FilterCounts
    statistics: LengthStatistics


@dataclass(frozen=True, slots=True)
class DialogueFinisher:
    """Writes the rows of what is left of a book.

    Args:
        filtering: leaves the dialogues.
        kept: where the rows go; its folder exists.
    """

    filtering: DialogueFilter
    kept: ShardFolder

    def __call__(self, signed: SignedBook) -> FinishedBook:
        """Returns what is left of a book. Its rows are written if they are not there."""
        name = f"{self.filtering.key(signed.book, *signed.duplicates)}.shard"
        shard = self.kept.find(name)
        if shard is None:
            self._write(name, signed)
            shard = self.kept.find(name)
            assert shard is not None
        return _finished(name, shard.record["entry"])

    def _write(self, name: str, signed: SignedBook) -> None:
        mined, filtered = self.filtering.read(signed.book)
        gone = set(signed.duplicates)
        left = [one for number, one in enumerate(filtered.kept) if number not in gone]
        counts = filtered.counts.add_dialogues(
            "dialogues", len(gone), sum(len(filtered.kept[number].turns) for number in gone)
        )
        spoken = SpokenBook(mined.tagged.spans, mined.characters)
        options = self.filtering.options
        rows = rows_of_book(
            mined, mined.tagged, left, spoken, options.pairs_by_span, options.history_turns
        )
        encoded = {kind: json_lines(of_kind) for kind, of_kind in rows.items()}
        dialogues = rows_from_lines(encoded["dialogues"])
        n_turns = sum(row["n_turns"] for row in dialogues)
        entry: dict[str, Any] = {
            "counts": {
                "dialogues": len(left),
                "turns": n_turns,
                "pairs": n_turns - len(left),
            },
            "filtered": counts.to_json(),
            "statistics": measure_rows(dialogues).to_json(),
        }
        self.kept.add(name, MinedBook(entry, encoded, (), options))


def _finished(name: str, entry: Mapping[str, Any]) -> FinishedBook:
    return FinishedBook(
        name,
        entry["counts"],
        FilterCounts.from_json(entry["filtered"]),
        LengthStatistics.from_json(entry["statistics"]),
    )


def text_of(dialogue: Dialogue) -> str:
    """Returns the words of a dialogue, a turn a line."""
    return "\n".join(turn.text for turn in dialogue.turns)
