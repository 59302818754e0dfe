"""A finished book <-> its shard, one file.

The first line is a record in JSON: what run.json says of the book and how many bytes each kind of
row takes, or why the source was set aside. The rows follow, kind by kind, as JSON Lines. The facts
of the book, if a run asks for them, are in a file beside. A shard is written whole
(`kept_files`), and it is independent of all others, so shards can be written in any order and by
any process.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from miner.books.book_file import read_book_file
from miner.books.sources import Source
from miner.corpus.kept_files import keep_file, read_kept, take_kept
from miner.corpus.mined_book import MinedBook
from miner.corpus.options import MiningOptions
from miner.corpus.pipeline import SetAside
from miner.errors import InputError
from miner.files import json_line, printable

_SUFFIX = ".shard"
_FACTS = ".facts"  # after the name of a shard


@dataclass(frozen=True, slots=True)
class Shard:
    """What a whole shard holds."""

    record: dict[str, Any]
    rows: dict[str, bytes]  # by kind; empty for a source that was set aside

    def result(self, options: MiningOptions) -> MinedBook | SetAside:
        """The result that the shard was written from."""
        if "set_aside" in self.record:
            return SetAside(*self.record["set_aside"])
        confidences = tuple(self.record["confidences"])
        return MinedBook(self.record["entry"], self.rows, confidences, options)


@dataclass(frozen=True, slots=True)
class ShardFolder:
    """The folder of the shards of one run. It can be sent to other processes.

    Args:
        path: the folder.
        out: where the output will be, which errors name.
    """

    path: Path
    out: Path

    def add(self, name: str, result: MinedBook | SetAside) -> None:
        """Writes a shard that is whole from the moment it has its name."""
        if isinstance(result, SetAside):
            rows: dict[str, bytes] = {}
            record: dict[str, Any] = {"set_aside": [result.name, result.why]}
        else:
            rows = dict(result.encoded)
            record = {"entry": result.entry, "confidences": result.confidences}
            record["bytes"] = {kind: len(data) for kind, data in rows.items()}
            if result.facts:
                # First, so that a shard never lacks its facts.
                keep_file(self._facts_file(name), [result.facts], self.out)
        keep_file(self.path / name, [json_line(record), *rows.values()], self.out)

    def find(self, name: str) -> Shard | None:
        """The shard of that name, or None if it is not there or is not as it was written."""
        content = read_kept(self.path / name)
        return None if content is None else _shard_from_bytes(content)

    def take(self, name: str, expected: str) -> Shard:
        """The shard of a source that is done."""
        return _shard_from_bytes(take_kept(self.path / name, expected))

    def holds(self, name: str, with_facts: bool) -> bool:
        """Whether a source is done, and its facts are there if they are asked for."""
        shard = self.find(name)
        if shard is None:
            return False
        return not with_facts or not shard.rows or self.find_facts(name) is not None

    def find_facts(self, name: str) -> bytes | None:
        """The facts of a book, by the name of its shard; None as `find` gives it."""
        return read_kept(self._facts_file(name))

    def take_facts(self, name: str) -> bytes:
        """The facts of a book that is mined, by the name of its shard."""
        expected = "the facts of a mined book; `resume=True` mines it again"
        return take_kept(self._facts_file(name), expected)

    def _facts_file(self, name: str) -> Path:
        return self.path / f"{name}{_FACTS}"

    def count(self) -> int:
        """How many sources are done."""
        return sum(1 for _ in self.path.glob(f"*{_SUFFIX}"))


def _shard_from_bytes(content: bytes) -> Shard:
    line, _, rest = content.partition(b"\n")
    record = json.loads(line)
    rows: dict[str, bytes] = {}
    start = 0
    for kind, length in record.get("bytes", {}).items():
        rows[kind] = rest[start : start + length]
        start += length
    return Shard(record, rows)


def shard_name(source: Source) -> str:
    """The name of a source's shard, which is another one after the content of its file changed.

    It is "" for a file that cannot be read or is too large, so that a resumed run tries it again.
    """
    assert source.path is not None
    try:
        content = sha256(read_book_file(source.path)).hexdigest()
    except (InputError, OSError):
        return ""
    identity = [printable(source.word), source.id, printable(source.path), content]
    return sha256(json_line({"source": identity})).hexdigest()[:32] + _SUFFIX
