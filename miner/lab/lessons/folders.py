"""A folder -> the files of pairs in it, by split, and what they are called.

A corpus of `miner build` has a folder for each format, and in it either a folder for each table,
whose files begin with their split, or a folder for each split. `miner mine` writes the files of one
format into its folder. Each of these folders is found here, and any part of a corpus, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from miner.errors import InputError
from miner.files import printable

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True, slots=True)
class PairFiles:
    """The files of pairs of a source.

    Attributes:
        name: which of the files of a folder they are ("jsonl/pairs"), or the name of the file.
        of_split: the files by split, in their order; under "" where there are no splits.
    """

    name: str
    of_split: Mapping[str, tuple[Path, ...]]

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits; none where the files are not divided."""
        return tuple(name for name in self.of_split if name)


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of a format that holds pairs, or dialogues that are made into pairs."""

    format: str
    name: str
    ending: str


# Those first that hold most. Examples lack what is short or long, and Ubuntu's triples each
# response before the third turn.
_TABLES = (
    _Table("jsonl", "pairs", ".jsonl"),
    _Table("parquet", "pairs", ".parquet"),
    _Table("csv", "pairs", ".csv"),
    _Table("jsonl", "dialogues", ".jsonl"),
    _Table("parquet", "dialogues", ".parquet"),
    _Table("csv", "turns", ".csv"),
    _Table("convokit", "utterances", ".jsonl"),
    _Table("parlai", "dialogues", ".txt"),
    _Table("chat", "chat", ".jsonl"),
    _Table("text", "dialogues", ".txt"),
    _Table("examples", "examples", ".jsonl"),
    _Table("ubuntu", "triples", ".csv"),
)
_ENDINGS = (".jsonl", ".csv", ".tsv", ".parquet", ".txt")


def find_pair_files(path: Path) -> PairFiles:
    """Returns the files of pairs of a folder, or the file that the path names."""
    if not path.is_dir():
        path.stat()  # raises an error that names it
        return PairFiles(path.name, {"": (path,)})
    for table in _TABLES:
        for place, name in (
            (path / table.format, f"{table.format}/{table.name}"),
            (path, f"{table.name}{table.ending}"),
        ):
            if files := _files_of_table(place, table):
                return PairFiles(name, files)
    for ending in _ENDINGS:  # a folder of one table, or train.csv and test.csv of a user
        if files := _files_by_split(path, ending):
            return PairFiles(f"*{ending}", files)
    raise InputError(
        f"{printable(path)}: found no pairs, expected a folder of `miner mine` or `miner build`, "
        "of annotations, or files such as train.csv and test.csv"
    )


def _files_of_table(folder: Path, table: _Table) -> dict[str, tuple[Path, ...]]:
    """The files of a table: in a folder of its own, in folders of splits, or here."""
    if files := _files_by_split(folder / table.name, table.ending):
        return files
    name = f"{table.name}{table.ending}"
    found = {split: (folder / split / name,) for split in SPLITS}
    if found := {split: paths for split, paths in found.items() if paths[0].is_file()}:
        return found
    return {"": (folder / name,)} if (folder / name).is_file() else {}


def _files_by_split(folder: Path, ending: str) -> dict[str, tuple[Path, ...]]:
    """The files whose names are a split or begin with one: train.csv, train-00000-of-00002.csv."""
    found = {
        split: tuple(sorted([*folder.glob(f"{split}-*{ending}"), *folder.glob(f"{split}{ending}")]))
        for split in SPLITS
    }
    return {split: paths for split, paths in found.items() if paths}
