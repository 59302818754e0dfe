"""Kept books -> the files of a corpus: which books each file holds, and the files themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from miner.corpus.export import BookRows, find_format
from miner.corpus.kept_files import keep_file, read_kept
from miner.corpus.shards import ShardFolder
from miner.files import digest_of, json_line, sha256_of, writing

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
